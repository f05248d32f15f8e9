"""A decoder's pass as products of random matrices, written once for both libraries.

Why it exists: a pass over some positions must read every weight and do the arithmetic of a real model of that shape.
Token embedding, rotary angles and sampling are left out: they read next to nothing. The output matrix is there when
all layers run; with fewer layers it would weigh too much, and is left out. It must not know about clocks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .backend import Backend
from .shapes import Heads, Mixture, Shape

__all__ = ["Cache", "Experts", "MedusaHeads", "Stack", "WrongResult", "check_stack"]


class Cache:
    """Random keys and values of `context` tokens for `batch` sequences, one pair for every layer that runs."""

    def __init__(self, library: Backend, shape: Shape, layers: int, batch: int, context: int) -> None:
        self.context, self.batch = context, batch
        size = (batch, shape.kv_heads, context, shape.head_size)
        self.pairs = [(library.random(*size), library.random(*size)) for _ in range(layers if context else 0)]

    def pair(self, layer: int) -> tuple[Any, Any]:
        """Keys and values of a layer; (None, None) for an empty cache."""
        return self.pairs[layer] if self.pairs else (None, None)

    def bytes(self, shape: Shape, width: float) -> float:
        """Bytes a pass reads of it."""
        return len(self.pairs) * self.batch * self.context * shape.kv_numbers * width


class Stack:
    """`layers` decoder layers of `shape` with weights in `format`."""

    def __init__(
        self,
        library: Backend,
        shape: Shape,
        layers: int,
        format: str,
        *,
        head: bool | None = None,
        joins: bool = False,
    ) -> None:
        self.library, self.shape, self.layers, self.format = library, shape, layers, format
        width, wide = shape.width, shape.heads * shape.head_size

        def make(rows: int, columns: int) -> Any:
            return library.weight(rows, columns, format)

        self.weights = [
            (make(shape.queries, width), make(width, wide), make(2 * shape.inner, width), make(width, shape.inner))
            for _ in range(layers)
        ]
        with_head = layers == shape.layers if head is None else head
        self.head = make(shape.vocabulary, width) if with_head else None
        self.join = make(width, 2 * width) if joins else None

    @property
    def matrices(self) -> list[Any]:
        """Every weight that one pass reads."""
        every = [matrix for layer in self.weights for matrix in layer]
        return every + [matrix for matrix in (self.head, self.join) if matrix is not None]

    def bytes(self) -> float:
        """Bytes of weights that one pass reads."""
        return sum(self.library.weight_bytes(matrix) for matrix in self.matrices)

    def operations(self, positions: int) -> float:
        """Multiplications and additions of the weight products of a pass over so many positions in all."""
        joined = 2 * self.shape.width**2 if self.join is not None else 0
        headed = self.shape.head_numbers if self.head is not None else 0
        return 2.0 * positions * (self.layers * self.shape.layer_numbers + headed + joined)

    def forward(self, x: Any, batch: int, positions: int, cache: Cache) -> Any:
        """One pass over x of (batch × positions, width); logits, or the last layer's output when there is no head."""
        library = self.library
        h = library.fresh(x) if self.join is None else library.linear(library.beside(x, x), self.join)
        for layer in range(self.layers):
            h = self.layer(h, layer, batch, positions, cache)
        h = library.norm(h)
        return library.linear(h, self.head) if self.head is not None else h

    def layer(self, h: Any, index: int, batch: int, positions: int, cache: Cache) -> Any:
        """One decoder layer; may overwrite h."""
        library, shape = self.library, self.shape
        queries, out, up, down = self.weights[index]
        joint = library.linear(library.norm(h), queries)
        joint = joint.reshape(batch, positions, shape.heads + 2 * shape.kv_heads, shape.head_size)
        q = joint[:, :, : shape.heads]
        k = joint[:, :, shape.heads : shape.heads + shape.kv_heads]
        v = joint[:, :, shape.heads + shape.kv_heads :]
        mixed = library.attend(q, k, v, *cache.pair(index))
        h = library.added(h, mixed.reshape(batch * positions, -1), out)
        return library.added(h, library.gate(library.linear(library.norm(h), up)), down)

    def matrices_alone(self, x: Any) -> None:
        """Only the weight products of a pass over x, for telling reading from everything between it."""
        library, shape = self.library, self.shape
        wide, inner = shape.heads * shape.head_size, shape.inner
        for queries, out, up, down in self.weights:
            a = library.linear(x, queries)
            library.linear(a[:, :wide], out)
            b = library.linear(x, up)
            library.linear(b[:, :inner], down)
        if self.head is not None:
            library.linear(x, self.head)


class MedusaHeads:
    """All heads of a Medusa drafter: for each x + silu(W x), then an output matrix."""

    def __init__(self, library: Backend, shape: Heads, format: str) -> None:
        self.library = library
        self.weights = [
            (library.weight(shape.width, shape.width, format), library.weight(shape.vocabulary, shape.width, format))
            for _ in range(shape.count)
        ]

    def bytes(self) -> float:
        """Bytes of weights that one step reads."""
        return sum(self.library.weight_bytes(matrix) for pair in self.weights for matrix in pair)

    def forward(self, x: Any) -> list[Any]:
        """Logits of every head for x of (positions, width)."""
        library = self.library
        return [library.linear(x + library.silu(library.linear(x, block)), out) for block, out in self.weights]


class Experts:
    """The routed part of `layers` layers of a mixture, as one batched product over the experts that are touched.

    Experts are numbered anew in every pass so that the touched ones lie together; rows are padded to the busiest
    expert. Reading is what a real grouped product reads; padding costs arithmetic that one does not spend.
    """

    def __init__(self, library: Backend, shape: Mixture, layers: int) -> None:
        self.library, self.shape = library, shape
        size, width, inner = shape.experts, shape.width, shape.inner
        self.weights = [
            (
                library.random(size, 2 * inner, width, scale=width**-0.5),
                library.random(size, width, inner, scale=inner**-0.5),
            )
            for _ in range(layers)
        ]

    def forward(self, rows: Any) -> Any:
        """rows (touched experts, most rows of one, width) through every layer."""
        touched = rows.shape[0]
        for up, down in self.weights:
            rows = self.library.batched(self.library.gate(self.library.batched(rows, up[:touched])), down[:touched])
        return rows


class WrongResult(RuntimeError):
    """A product came out wrong; nothing that follows would be worth timing."""


_CLOSE = {"float32": 1e-4, "bf16": 0.03, "fp8": 0.12}
"""Largest distance from the float64 result, as a share of it, by format (8 bits: the input is rounded as well)."""


def check_stack(stack: Stack, positions: int = 3, batch: int = 2, context: int = 8) -> float:
    """Relative error of the first layer against float64 NumPy, written plainly and from the same weights.

    WrongResult when it is larger than rounding explains.
    """
    library, shape = stack.library, stack.shape
    cache = Cache(library, shape, 1, batch, context)
    x = library.random(batch * positions, shape.width)
    start = library.exact(x)
    got = library.exact(stack.layer(library.fresh(x), 0, batch, positions, cache)) - start
    want = _plain(library, stack, start, batch, positions, cache) - start
    error = float(np.linalg.norm(got - want) / np.linalg.norm(want))
    if not error <= _CLOSE[stack.format]:
        raise WrongResult(
            f"a layer of {shape.title} in {stack.format} is off by {error:.2g} of its size against float64"
            f" (context {context}); nothing was timed"
        )
    return error


def _plain(library: Backend, stack: Stack, x: Any, batch: int, positions: int, cache: Cache) -> Any:
    """One layer in float64: one sequence, one head and one position at a time."""
    shape, size = stack.shape, stack.shape.head_size

    def product(rows: Any, which: int) -> Any:
        return rows @ library.exact(stack.weights[0][which]).T  # one copy at a time: they are large

    old = [library.exact(part) for part in cache.pair(0)] if cache.pairs else []

    def norm(rows: Any) -> Any:
        return rows / np.sqrt((rows**2).mean(-1, keepdims=True) + 1e-5)

    joint = product(norm(x), 0).reshape(batch, positions, -1, size)
    mixed = np.zeros((batch, positions, shape.heads, size))
    for b in range(batch):
        for head in range(shape.heads):
            kv = head * shape.kv_heads // shape.heads
            k, v = joint[b, :, shape.heads + kv], joint[b, :, shape.heads + shape.kv_heads + kv]
            if cache.pairs:
                k, v = np.concatenate([old[0][b, kv], k]), np.concatenate([old[1][b, kv], v])
            for place in range(positions):
                seen = len(k) - positions + place + 1
                scores = k[:seen] @ joint[b, place, head] / size**0.5
                weights = np.exp(scores - scores.max())
                mixed[b, place, head] = weights / weights.sum() @ v[:seen]
    h = x + product(mixed.reshape(batch * positions, -1), 1)
    both = product(norm(h), 2)
    left, right = both[:, : shape.inner], both[:, shape.inner :]
    return h + product(left / (1 + np.exp(-left)) * right, 3)
