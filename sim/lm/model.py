"""The transformer, and a reader of texts with its cache: logits after every new position in one pass.

Why it exists: a target and its learned drafts are this one network in different sizes, and a pass over several new
positions must cost about what a pass over one costs, in a browser too. So every product with weights or with the cache
goes through `sim.kernel`, one call for all rows, and what can be done to the weights is done once, at loading:
gains, the attention's scale and the norm's square root are multiplied in, and the two halves of each query and key
that turn together lie beside each other, as complex numbers.

With the kernel a row's bits do not depend on how many rows go with it, nor on what the cache held before: its products
add in a fixed order, what lies past a position has share 0 there, the sum of the shares is one more row of the values'
product, and everything else here is element by element or within one row. NumPy's own products promise no such
thing. This module must not know text, sampling or drafts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sim._numbers import number, whole
from sim.kernel import matmul_t, prepared
from sim.lm.file import Tensors

__all__ = ["Head", "Layer", "Network", "Reader", "Shape"]

Floats: TypeAlias = NDArray[np.float32]
BLOCK = 32
"""Positions at a time while a prompt is read, and the most rows of logits in one pass."""
LARGEST: Mapping[str, int] = MappingProxyType(
    {"vocab": 1 << 16, "width": 4096, "layers": 64, "heads": 64, "hidden": 1 << 14, "context": 1 << 13}
)
"""The largest sizes that are believed: a cache is as large as its config says."""


@dataclass(frozen=True)
class Shape:
    """Sizes of a network, as the file's config states them."""

    vocab: int
    width: int
    layers: int
    heads: int
    hidden: int
    context: int
    rope_theta: float
    eps: float

    @classmethod
    def of(cls, config: Mapping[str, Any], where: str) -> Shape:
        """From a config; ValueError names what is missing or cannot be."""
        try:
            sizes = {key: whole(f"{where}: {key}", config.get(key), 1, most) for key, most in LARGEST.items()}
            made = cls(
                **sizes,
                rope_theta=number(f"{where}: rope_theta", config.get("rope_theta"), 1.0),
                eps=number(f"{where}: eps", config.get("eps"), 0.0, 1.0),
            )
        except TypeError:
            raise ValueError(f"{where}: the sizes are not numbers") from None
        if made.width % (2 * made.heads):
            raise ValueError(f"{where}: width {made.width} does not divide into {made.heads} heads of even size")
        return made

    @property
    def size(self) -> int:
        """Numbers in a head."""
        return self.width // self.heads


@dataclass(frozen=True)
class Layer:
    """One block's weights, each (out, in): gains of the norms, and what the docstring above names, multiplied in."""

    qkv: Floats
    out: Floats
    up: Floats
    down: Floats

    @classmethod
    def of(cls, tensors: Tensors, prefix: str, shape: Shape) -> Layer:
        """From a file."""
        width, size = shape.width, shape.size
        qkv = tensors.matrix(f"{prefix}qkv", 3 * width, width)
        qkv *= tensors.vector(f"{prefix}norm1", width) * np.float32(width**0.5)
        qkv[:width] *= np.float32(size**-0.5)
        # Rows i and i + size/2 of a head turn together: put them side by side.
        turning = qkv[: 2 * width].reshape(2 * shape.heads, 2, size // 2, width).swapaxes(1, 2)
        qkv[: 2 * width] = turning.reshape(2 * width, width)
        up = tensors.matrix(f"{prefix}up", shape.hidden, width)
        up *= tensors.vector(f"{prefix}norm2", width) * np.float32(width**0.5)
        out = tensors.matrix(f"{prefix}out", width, width)
        return cls(qkv, out, up, tensors.matrix(f"{prefix}down", width, shape.hidden))


@dataclass(frozen=True)
class Head:
    """From the last layer's x to logits: norm(x + x · mapᵀ) · gain, times the embedding."""

    embedding: Floats
    gain: Floats
    map: Floats | None = None


@dataclass(frozen=True)
class Network:
    """Weights, shared by all readers and never written."""

    shape: Shape
    embedding: Floats
    layers: tuple[Layer, ...]
    head: Head

    @classmethod
    def of(cls, tensors: Tensors, shape: Shape, prefix: str = "") -> Network:
        """From a file, its tensors' names after `prefix`."""
        embedding = tensors.matrix(f"{prefix}embedding", shape.vocab, shape.width)
        layers = tuple(Layer.of(tensors, f"{prefix}layers.{i}.", shape) for i in range(shape.layers))
        gain = tensors.vector(f"{prefix}norm", shape.width) * np.float32(shape.width**0.5)
        return cls(shape, embedding, layers, Head(embedding, gain))

    def early(self, layers: int, gain: Floats, into: Floats) -> Network:
        """The first `layers` of this network with a head of their own; `gain` as in a file."""
        whole("exit layer", layers, 1, len(self.layers))
        head = Head(self.embedding, gain * np.float32(self.shape.width**0.5), into)
        return Network(self.shape, self.embedding, self.layers[:layers], head)


class Reader:
    """Reads texts with one network and keeps keys and values of what it read last.

    A text that begins as the last one did is read on from where they part: a rejected draft costs nothing but its own
    positions. The arrays returned are overwritten by the next call.
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        shape = network.shape
        self._tokens: list[int] = []
        depth, heads, size, context = len(network.layers), shape.heads, shape.size, shape.context
        self._keys = np.zeros((depth, heads, context, size), np.float32)
        # Values lie the other way round, so that their product with the shares is an x · Wᵀ as well; a row of ones
        # below them makes the sum of the shares.
        self._values = np.zeros((depth, heads, size + 1, context), np.float32)
        self._values[:, :, size] = 1.0
        angles = np.outer(np.arange(context), shape.rope_theta ** (-np.arange(size // 2) / (size // 2)))
        self._turn = np.exp(1j * angles).astype(np.complex64)[:, None, :]
        self._later = np.triu(np.full((BLOCK, BLOCK), -np.inf, np.float32), 1)
        self._eps = np.float32(shape.width * shape.eps)
        self._places: dict[int, _Places] = {}

    @property
    def tokens(self) -> tuple[int, ...]:
        """What the cache holds."""
        return tuple(self._tokens)

    def read(self, text: Sequence[int]) -> Iterator[int]:
        """Read a text into the cache, a block a step; yields how many of its tokens are there. For a long prompt."""
        text = self._checked(text, 0)
        self._rewind(text, len(text))
        yield len(self._tokens)
        while len(self._tokens) < len(text):
            self._pass(text[len(self._tokens) : len(self._tokens) + BLOCK])
            yield len(self._tokens)

    def logits(self, text: Sequence[int], rows: int = 1) -> Floats:
        """Logits (rows, vocabulary) after each of the text's last `rows` prefixes, the whole text's in the last row.

        ValueError for a text longer than the context, or a token that does not exist.
        """
        text = self._checked(text, whole("rows", rows, 1, min(BLOCK, max(1, len(text)))))
        self._rewind(text, len(text) - rows)
        while (left := len(text) - len(self._tokens)) > BLOCK:
            self._pass(text[len(self._tokens) : len(self._tokens) + min(BLOCK, left - rows)])
        return self._head(self._pass(text[len(self._tokens) :])[-rows:])

    def _checked(self, text: Sequence[int], least: int) -> list[int]:
        context = self.network.shape.context
        if not least <= len(text) <= context:
            raise ValueError(f"text has {len(text)} tokens; it must have from {least} to {context}, the context")
        return list(text)

    def _rewind(self, text: list[int], most: int) -> None:
        """Forget what is not the beginning of `text`, and all after `most` tokens."""
        seen = self._tokens
        low, high = 0, min(len(seen), most)
        if seen[:high] == text[:high]:
            low = high
        while low < high:  # the longest common prefix, by halving
            middle = (low + high + 1) // 2
            if seen[low:middle] == text[low:middle]:
                low = middle
            else:
                high = middle - 1
        del seen[low:]

    def _place(self, rows: int) -> _Places:
        found = self._places.get(rows)
        if found is None:
            found = self._places[rows] = _Places(self.network, self._keys, self._values, rows)
        return found

    def _pass(self, tokens: list[int]) -> Floats:
        """Read new tokens after those in the cache; x after the last layer, one row each."""
        vocab, start, rows = self.network.shape.vocab, len(self._tokens), len(tokens)
        if min(tokens) < 0 or max(tokens) >= vocab:
            wrong = next(token for token in tokens if not 0 <= token < vocab)
            raise ValueError(f"a token of the text is {wrong!r}; it must be from 0 to {vocab - 1}")
        at = self._place(rows)
        x, hidden, end = at.x, at.hidden, start + rows
        x[...] = self.network.embedding[tokens]
        turn = self._turn[start:end]
        scores = at.score_space[:, : rows * end].reshape(-1, rows, end)
        shares = at.shares[:, :, :end]
        at.shares[:, :, end:] = 0.0
        for layer in at.layers:
            self._norm(x, at)
            layer.qkv()
            np.multiply(at.turning_queries, turn, out=at.queries)
            np.multiply(at.turning_keys, turn, out=layer.keys[start:end])
            layer.values[:, :, start:end] = at.new_values
            for score in layer.scores:
                score(end)
            if rows > 1:
                scores[:, :, start:] += self._later[:rows, :rows]
            np.subtract(scores, np.maximum.reduce(scores, axis=-1, keepdims=True), out=scores)
            np.exp(scores, out=shares)
            for mix in layer.mixes:
                mix()
            np.divide(at.mixed, at.mass, out=at.joined)
            layer.out()
            np.add(x, at.add, out=x)
            self._norm(x, at)
            layer.up()
            np.maximum(hidden, 0.0, out=hidden)
            np.multiply(hidden, hidden, out=hidden)
            layer.down()
            np.add(x, at.add, out=x)
        self._tokens += tokens
        return x

    def _head(self, x: Floats) -> Floats:
        head, at = self.network.head, self._place(len(x))
        if x is not at.x:
            at.x[...] = x
        if head.map is not None:
            matmul_t(at.x, head.map, at.add)
            np.add(at.x, at.add, out=at.x)
        self._norm(at.x, at)
        np.multiply(at.normed, head.gain, out=at.normed)
        at.head()
        return at.logits

    def _norm(self, x: Floats, at: _Places) -> None:
        """x over the root of its sum of squares; the square root of the width is in the weights that follow."""
        np.vecdot(x, x, out=at.square)
        np.add(at.square, self._eps, out=at.square)
        np.sqrt(at.square, out=at.square)
        np.divide(x, at.root, out=at.normed)


class _Places:
    """Where a pass over so many rows puts its results; the views and the prepared products it needs, made once."""

    def __init__(self, network: Network, keys: Floats, values: Floats, rows: int) -> None:
        shape = network.shape
        heads, size, width = shape.heads, shape.size, shape.width
        self.x = np.empty((rows, width), np.float32)
        self.normed = np.empty((rows, width), np.float32)
        self.add = np.empty((rows, width), np.float32)
        self.hidden = np.empty((rows, shape.hidden), np.float32)
        self.logits = np.empty((rows, shape.vocab), np.float32)
        self.square = np.empty(rows, np.float32)
        self.root = self.square[:, None]
        self.qkv = np.empty((rows, 3 * width), np.float32)
        pairs = self.qkv[:, : 2 * width].view(np.complex64).reshape(rows, 2 * heads, size // 2)
        self.turning_queries, self.turning_keys = pairs[:, :heads], pairs[:, heads:]
        self.new_values = self.qkv[:, 2 * width :].reshape(rows, heads, size).transpose(1, 2, 0)
        self.turned = np.empty((heads, rows, size), np.float32)
        self.queries = self.turned.view(np.complex64).swapaxes(0, 1)
        self.scores = np.empty((heads, rows, shape.context), np.float32)
        self.score_space = self.scores.reshape(heads, -1)
        self.shares = np.zeros((heads, rows, shape.context), np.float32)
        self.mix = np.empty((heads, rows, size + 1), np.float32)
        self.mixed, self.mass = self.mix[:, :, :size], self.mix[:, :, size:]
        self.flat = np.empty((rows, width), np.float32)
        self.joined = self.flat.reshape(rows, heads, size).swapaxes(0, 1)
        self.head = prepared(self.normed, network.head.embedding, self.logits)
        self.layers = [_Products(self, *each) for each in zip(network.layers, keys, values, strict=True)]


class _Products:
    """A layer's products between those places, and its part of the cache."""

    def __init__(self, at: _Places, layer: Layer, keys: Floats, values: Floats) -> None:
        self.keys = keys.view(np.complex64).swapaxes(0, 1)
        self.values = values[:, :-1]
        self.qkv = prepared(at.normed, layer.qkv, at.qkv)
        self.scores = [prepared(*each) for each in zip(at.turned, keys, at.scores, strict=True)]
        self.mixes = [prepared(*each) for each in zip(at.shares, values, at.mix, strict=True)]
        self.out = prepared(at.flat, layer.out, at.add)
        self.up = prepared(at.normed, layer.up, at.hidden)
        self.down = prepared(at.hidden, layer.down, at.add)
