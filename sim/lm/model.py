"""The transformer, and a reader of texts with its cache: logits after every new position in one pass.

Why it exists: a target and its learned drafts are this one network in different sizes, and a pass over several new
positions must cost about what a pass over one costs, in a browser too. So every product with weights or with the cache
goes through `sim.kernel.matmul_t`, one call for all rows, and what can be done to the weights is done once, at loading:
gains, the attention's scale and the norm's square root are multiplied in, and the two halves of each query and key
that turn together lie beside each other, as complex numbers.

With the kernel a row's bits do not depend on how many rows go with it, nor on what the cache held before: its products
add in a fixed order, what lies past a position has weight 0 there, the sum of those weights is one more row of the
values' product, and everything else here is element by element or within one row. NumPy's own products promise no such
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
from sim.kernel import matmul_t
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
        # Values lie the other way round, so that their product with the weights is an x · Wᵀ as well; a row of ones
        # below them makes the sum of the weights.
        self._values = np.zeros((depth, heads, size + 1, context), np.float32)
        self._values[:, :, size] = 1.0
        self._key_heads = [list(layer) for layer in self._keys]
        self._value_heads = [list(layer) for layer in self._values]
        self._turned_keys = self._keys.view(np.complex64)
        angles = np.outer(np.arange(context), shape.rope_theta ** (-np.arange(size // 2) / (size // 2)))
        self._turn = np.exp(1j * angles).astype(np.complex64)[:, None, :]
        self._later = np.triu(np.full((BLOCK, BLOCK), -np.inf, np.float32), 1)
        self._scores = np.empty(heads * BLOCK * context, np.float32)
        self._shares = np.zeros(heads * BLOCK * context, np.float32)
        self._eps = np.float32(shape.width * shape.eps)
        self._places: dict[int, _Places] = {}

    @property
    def read_tokens(self) -> tuple[int, ...]:
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
        return self._head(self._pass(text[len(self._tokens) :])[-rows:], rows)

    def _checked(self, text: Sequence[int], least: int) -> list[int]:
        context = self.network.shape.context
        if not least <= len(text) <= context:
            raise ValueError(
                f"text has {len(text)} tokens; it must have from {least} to {context}, the model's context"
            )
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

    def _pass(self, tokens: list[int]) -> Floats:
        """Read new tokens after those in the cache; x after the last layer, one row each."""
        shape, start, rows = self.network.shape, len(self._tokens), len(tokens)
        if min(tokens) < 0 or max(tokens) >= shape.vocab:
            wrong = next(token for token in tokens if not 0 <= token < shape.vocab)
            raise ValueError(f"a token of the text is {wrong!r}; it must be from 0 to {shape.vocab - 1}")
        at = self._places.get(rows)
        if at is None:
            at = self._places[rows] = _Places(shape, rows)
        x, hidden, end = at.x, at.hidden, start + rows
        x[...] = self.network.embedding[tokens]
        turn = self._turn[start:end]
        cells = shape.heads * rows
        scores = self._scores[: cells * end].reshape(shape.heads, rows, end)
        shares = self._shares[: cells * shape.context].reshape(shape.heads, rows, shape.context)
        shares[:, :, end:] = 0.0
        within = shares[:, :, :end]
        score_heads, share_heads = list(scores), list(shares)
        later = self._later[:rows, :rows]
        for depth, layer in enumerate(self.network.layers):
            matmul_t(self._norm(x, at), layer.qkv, at.qkv)
            np.multiply(at.turning_queries, turn, out=at.queries)
            np.multiply(at.turning_keys, turn, out=self._turned_keys[depth, :, start:end].swapaxes(0, 1))
            self._values[depth, :, :-1, start:end] = at.new_values
            for query, key, score in zip(at.query_heads, self._key_heads[depth], score_heads, strict=True):
                matmul_t(query, key[:end], score)
            if rows > 1:
                scores[:, :, start:] += later
            np.subtract(scores, np.maximum.reduce(scores, axis=-1, keepdims=True), out=scores)
            np.exp(scores, out=within)
            for share, value, mix in zip(share_heads, self._value_heads[depth], at.mix_heads, strict=True):
                matmul_t(share, value, mix)
            np.divide(at.mixed, at.mass, out=at.joined)
            x += matmul_t(at.flat, layer.out, at.add)
            matmul_t(self._norm(x, at), layer.up, hidden)
            np.maximum(hidden, 0.0, out=hidden)
            np.multiply(hidden, hidden, out=hidden)
            x += matmul_t(hidden, layer.down, at.add)
        self._tokens += tokens
        return x

    def _head(self, x: Floats, rows: int) -> Floats:
        head = self.network.head
        at = self._places.get(rows)
        if at is None:
            at = self._places[rows] = _Places(self.network.shape, rows)
        if head.map is not None:
            matmul_t(x, head.map, at.add)
            x = np.add(at.add, x, out=at.add)
        normed = self._norm(x, at)
        np.multiply(normed, head.gain, out=normed)
        return matmul_t(normed, head.embedding, at.logits)

    def _norm(self, x: Floats, at: _Places) -> Floats:
        """x over the root of its sum of squares; the square root of the width is in the weights that follow."""
        np.vecdot(x, x, out=at.square)
        np.add(at.square, self._eps, out=at.square)
        np.sqrt(at.square, out=at.square)
        return np.divide(x, at.root, out=at.normed)


class _Places:
    """Where a pass over so many rows puts its results, and the views of it that the pass needs, made once."""

    def __init__(self, shape: Shape, rows: int) -> None:
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
        turned = np.empty((heads, rows, size), np.float32)
        self.queries = turned.view(np.complex64).swapaxes(0, 1)
        self.query_heads = list(turned)
        mix = np.empty((heads, rows, size + 1), np.float32)
        self.mix_heads = list(mix)
        self.mixed, self.mass = mix[:, :, :size], mix[:, :, size:]
        self.flat = np.empty((rows, width), np.float32)
        self.joined = self.flat.reshape(rows, heads, size).swapaxes(0, 1)
