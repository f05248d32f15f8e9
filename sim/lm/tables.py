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

__all__ = ["TABLES", "Bigram", "Trigram"]

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
            np.add.at(row, self._tokens[token], squares * ((1.0 - rest) / total))
        return row


class _Lists:
    """Continuations by place: `counts` (U8) of them each, their tokens and weights; a weight w is (w / 255)²."""

    def __init__(self, file: Tensors, prefix: str, places: int, vocab: int) -> None:
        counts = file.take(f"{prefix}counts", "U8", (places,))
        self._starts = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).tolist()
        self._tokens = file.take(f"{prefix}tokens", "U16", (self._starts[-1],))
        self._shares = (file.take(f"{prefix}weights", "U8", (self._starts[-1],)) / 255.0) ** 2
        if len(self._tokens) and int(self._tokens.max()) >= vocab:
            raise ValueError(f"{file.name}: {prefix}tokens holds token {int(self._tokens.max())} of {vocab}")

    def over(self, row: Row, place: int) -> Row:
        """The place's listed continuations, and for what they leave the row given."""
        start, stop = self._starts[place], self._starts[place + 1]
        shares = self._shares[start:stop]
        total = float(shares.sum())
        mixed = row * max(0.0, 1.0 - total)
        np.add.at(mixed, self._tokens[start:stop], shares / max(1.0, total))
        return mixed


class Trigram:
    """Counted continuations of the last two tokens; what they leave goes to those of the last, then to the unigram."""

    order = 2

    def __init__(self, contexts: NDArray[np.int32], threes: _Lists, twos: _Lists, unigram: Row) -> None:
        self._contexts, self._threes, self._twos, self._unigram = contexts, threes, twos, unigram

    @classmethod
    def of(cls, file: Tensors, name: str, config: Mapping[str, Any], vocab: int) -> Trigram:
        """From a file; ValueError for contexts out of order or a unigram of nothing."""
        contexts = file.take(f"{name}.contexts", "I32", (None,))
        if len(contexts) and ((np.diff(contexts) <= 0).any() or contexts[0] < 0 or contexts[-1] >= vocab * vocab):
            raise ValueError(f"{file.name}: {name}.contexts is not in order")
        threes = _Lists(file, f"{name}.", len(contexts), vocab)
        twos = _Lists(file, f"{name}.bigram.", vocab, vocab)
        squares = file.take(f"{name}.unigram", "U8", (vocab,)).astype(np.float64) ** 2
        if squares.sum() <= 0.0:
            raise ValueError(f"{file.name}: {name}.unigram holds nothing")
        return cls(contexts, threes, twos, squares / squares.sum())

    def row(self, last: tuple[int, ...]) -> Row:
        """See `Table`."""
        row = self._twos.over(self._unigram, last[-1])
        if len(last) < 2:
            return row
        context = last[-2] * len(row) + last[-1]
        place = int(self._contexts.searchsorted(context))
        if place < len(self._contexts) and int(self._contexts[place]) == context:
            return self._threes.over(row, place)
        return row


TABLES: Mapping[str, Made] = {"bigram": Bigram.of, "trigram": Trigram.of}
"""By the draft's name: how its table is made from a file."""
