"""The target and its drafts behind one small interface: a text in, a row out.

Why it exists: speculation does not ask where a guess comes from. A one-layer network, a table of counts, a look into
the text itself and the target's own first layer all answer the same question here, to `sim.lm.rounds` and to
`sim.decode` alike. Rows are after temperature, top-k and top-p, on both sides. It must not know rounds.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from sim.lm.model import Network, Reader
from sim.lm.rows import Row, Rows, Sampler

__all__ = ["Draft", "LookUp", "NetworkDraft", "Table", "TableDraft", "Target"]

LONGEST = 3
"""Tokens of the text's end that a look-up wants to find again; it takes fewer where there are no more."""
_REMEMBERED = 1024


class Draft(Protocol):
    """What drafts. `row` is None where it has nothing to propose; `sim.decode` gets a row without a favourite then."""

    name: str
    sampler: Sampler

    def row(self, text: Sequence[int]) -> Row | None:
        """The row (vocabulary,) that the next draft is drawn from; not to be written to."""
        ...

    def read(self, text: Sequence[int]) -> Iterator[int]:
        """Read a prompt beforehand, in steps; yields how many of its tokens were read."""
        ...

    def __call__(self, prefix: Sequence[int]) -> tuple[float, ...]:
        """The same as plain floats, for `sim.decode`."""
        ...


class Target:
    """The target, with its cache."""

    def __init__(self, network: Network, sampler: Sampler) -> None:
        self.sampler = sampler
        self.reader = Reader(network)

    def rows(self, text: Sequence[int], count: int) -> Rows:
        """The rows (count, vocabulary) after the text's last `count` prefixes, in one pass."""
        return self.sampler.rows(self.reader.logits(text, count))

    def read(self, text: Sequence[int]) -> Iterator[int]:
        """Read a prompt beforehand, in steps; yields how many of its tokens were read."""
        return self.reader.read(text)

    def __call__(self, prefix: Sequence[int]) -> tuple[float, ...]:
        """The row after `prefix` as plain floats, for `sim.decode`."""
        return tuple(self.rows(prefix, 1)[0].tolist())


class NetworkDraft:
    """A network smaller than the target, or the target's own first layers."""

    def __init__(self, name: str, network: Network, sampler: Sampler) -> None:
        self.name, self.sampler = name, sampler
        self.reader = Reader(network)

    def row(self, text: Sequence[int]) -> Row:
        """See `Draft`."""
        row: Row = self.sampler.rows(self.reader.logits(text))[0]
        return row

    def read(self, text: Sequence[int]) -> Iterator[int]:
        """See `Draft`."""
        return self.reader.read(text)

    def __call__(self, prefix: Sequence[int]) -> tuple[float, ...]:
        """See `Draft`."""
        return tuple(self.row(prefix).tolist())


class Table(Protocol):
    """A draft that looks at the last tokens only."""

    order: int

    def row(self, last: tuple[int, ...]) -> Row:
        """Probabilities (vocabulary,) at temperature 1 after at most `order` tokens."""
        ...


class TableDraft:
    """A table's rows at a temperature. Those it made are kept: the same few words come again and again."""

    def __init__(self, name: str, table: Table, sampler: Sampler) -> None:
        self.name, self.sampler = name, sampler
        self._table = table
        self._known: dict[tuple[int, ...], Row] = {}

    def row(self, text: Sequence[int]) -> Row:
        """See `Draft`."""
        last = tuple(text[-self._table.order :])
        known = self._known.get(last)
        if known is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            with np.errstate(divide="ignore"):  # a token of probability 0 keeps it at every temperature
                logits = np.log(self._table.row(last))
            known = self._known[last] = self.sampler.rows(logits[None])[0]
        return known

    def read(self, text: Sequence[int]) -> Iterator[int]:
        """See `Draft`."""
        yield len(text)

    def __call__(self, prefix: Sequence[int]) -> tuple[float, ...]:
        """See `Draft`."""
        return tuple(self.row(prefix).tolist())


class LookUp:
    """Copies from the text: what followed the last time that it ended as it ends now.

    The longest ending of 3, 2 or 1 tokens that stands in the text before, at its latest place; nothing otherwise. The
    guess is certain (a one-hot row) at every temperature.
    """

    name = "look-up"

    def __init__(self, vocab: int, sampler: Sampler) -> None:
        self.sampler = sampler
        self._vocab = vocab

    def token(self, text: Sequence[int]) -> int | None:
        """The guess, or None."""
        data = array("H", text).tobytes()
        for length in range(min(LONGEST, len(text) - 1), 0, -1):
            ending, end = data[-2 * length :], len(data) - 2
            while (place := data.rfind(ending, 0, end)) >= 0:
                if place % 2 == 0:
                    return text[place // 2 + length]
                end = place + len(ending) - 1
        return None

    def row(self, text: Sequence[int]) -> Row | None:
        """See `Draft`."""
        token = self.token(text)
        if token is None:
            return None
        row = np.zeros(self._vocab)
        row[token] = 1.0
        return row

    def read(self, text: Sequence[int]) -> Iterator[int]:
        """See `Draft`."""
        yield len(text)

    def __call__(self, prefix: Sequence[int]) -> tuple[float, ...]:
        """See `Draft`. With nothing found, all tokens alike: `sim.decode(…, confidence=0.5)` drafts nothing then."""
        row = self.row(prefix)
        return (1.0 / self._vocab,) * self._vocab if row is None else tuple(row.tolist())
