"""Drafts that are tables: a bigram and a trigram with back-off, unpacked into rows on demand.

Why it exists: the cheapest drafts are no networks, and a page must show how far they come. It must not know
temperatures or texts, only the last one or two tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sim.lm.drafts import Table
from sim.lm.file import Tensors
from sim.lm.rows import Row

__all__ = ["TABLES", "Bigram"]

Made: TypeAlias = Callable[[Tensors, str, Mapping[str, Any], int], Table]


class Bigram:
    """After each token its likeliest followers, by the squares of 8-bit weights; what is left goes to all alike."""

    order = 1

    def __init__(self, tokens: NDArray[np.uint16], weights: NDArray[np.uint8], rest: NDArray[np.float32]) -> None:
        self._tokens, self._weights, self._rest = tokens, weights, rest

    @classmethod
    def of(cls, file: Tensors, name: str, config: Mapping[str, Any], vocab: int) -> Bigram:
        """From a file; ValueError for followers that do not exist or a rest that is no share."""
        tokens = file.take(f"{name}.tokens", "U16", (vocab, None))
        weights = file.take(f"{name}.weights", "U8", tokens.shape)
        rest = file.vector(f"{name}.rest", vocab)
        if tokens.size and int(tokens.max()) >= vocab:
            raise ValueError(f"{file.name}: {name}.tokens holds token {int(tokens.max())} of {vocab}")
        if not ((rest >= 0.0) & (rest <= 1.0)).all():
            raise ValueError(f"{file.name}: {name}.rest holds a number that is no share")
        return cls(tokens, weights, rest)

    def row(self, last: tuple[int, ...]) -> Row:
        """See `Table`."""
        token = last[-1]
        vocab = len(self._rest)
        squares = self._weights[token].astype(np.float64) ** 2
        total = float(squares.sum())
        rest = float(self._rest[token]) if total > 0.0 else 1.0
        row = np.full(vocab, rest / vocab)
        if total > 0.0:
            row[self._tokens[token]] += squares * ((1.0 - rest) / total)
        return row


TABLES: Mapping[str, Made] = {"bigram": Bigram.of}
"""By the draft's name: how its table is made from a file."""
