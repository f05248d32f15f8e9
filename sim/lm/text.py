"""Bytes to tokens and back: byte-level BPE by merge ranks, in plain Python.

Why it exists: a prompt is whatever a reader types. Every byte is a token of its own (ids 0 to 255), so nothing is
unknown and nothing is refused; id 256 + i stands for the i-th merged pair, and the earlier merge goes first. It must
not know models.
"""

from __future__ import annotations

import heapq
import itertools
import re
from collections.abc import Sequence

__all__ = ["Vocabulary"]

_REMEMBERED = 20_000
"""Pieces whose tokens are kept: texts repeat their words."""


class Vocabulary:
    """The tokens of one tokeniser. `pattern`, for `re` over bytes, cuts a text into pieces that merge on their own."""

    def __init__(self, merges: Sequence[tuple[int, int]], pattern: str) -> None:
        self._ranks: dict[tuple[int, int], int] = {}
        pieces = [bytes([byte]) for byte in range(256)]
        for rank, (left, right) in enumerate(merges):
            if not (0 <= left < len(pieces) and 0 <= right < len(pieces)):
                raise ValueError(f"merges[{rank}] is {(left, right)}; both must be tokens before {len(pieces)}")
            if (left, right) in self._ranks:
                raise ValueError(f"merges[{rank}] is {(left, right)}, as merges[{self._ranks[left, right]}] is")
            self._ranks[left, right] = rank
            pieces.append(pieces[left] + pieces[right])
        self.pieces = tuple(pieces)
        try:
            self._pattern = re.compile(pattern.encode("latin-1"))
        except (re.error, UnicodeError, OverflowError, RecursionError) as error:
            raise ValueError(f"pretokenize is not a pattern: {error}") from None
        self._known: dict[bytes, tuple[int, ...]] = {}

    def __len__(self) -> int:
        return len(self.pieces)

    def encode(self, text: str | bytes) -> tuple[int, ...]:
        """Tokens of a text (UTF-8) or of bytes; half a surrogate pair, which no bytes can hold, becomes "?"."""
        data = text.encode("utf-8", "replace") if isinstance(text, str) else bytes(text)
        found: list[int] = []
        end = 0
        for match in self._pattern.finditer(data):
            if match.start() > end:  # the pattern knows no such byte: what lies between is a piece too
                found += self._piece(data[end : match.start()])
            found += self._piece(match[0])
            end = match.end()
        return (*found, *self._piece(data[end:]))

    def decode(self, tokens: Sequence[int]) -> bytes:
        """The bytes of tokens; ValueError names one that does not exist."""
        for place, token in enumerate(tokens):
            if not 0 <= token < len(self.pieces):
                raise ValueError(f"tokens[{place}] is {token!r}; it must be from 0 to {len(self.pieces) - 1}")
        return b"".join(self.pieces[token] for token in tokens)

    def _piece(self, piece: bytes) -> tuple[int, ...]:
        known = self._known.get(piece)
        if known is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            known = self._known[piece] = self._merged(piece)
        return known

    def _merged(self, data: bytes) -> tuple[int, ...]:
        """Merge the earliest-ranked pair, the leftmost of equals, until no pair has a rank. A heap: a page of one
        letter is one piece of 10,000."""
        tokens: list[int] = list(data)
        after = [*range(1, len(tokens)), -1]
        before = list(range(-1, len(tokens) - 1))
        ranks = self._ranks
        heap = [
            (rank, place, pair)
            for place, pair in enumerate(itertools.pairwise(tokens))
            if (rank := ranks.get(pair)) is not None
        ]
        heapq.heapify(heap)
        while heap:
            rank, place, pair = heapq.heappop(heap)
            right = after[place]
            if right < 0 or (tokens[place], tokens[right]) != pair:
                continue  # one of the two was merged meanwhile
            tokens[place], tokens[right] = 256 + rank, -1
            beyond = after[place] = after[right]
            if beyond >= 0:
                before[beyond] = place
            for start, stop in ((before[place], place), (place, beyond)):
                if start >= 0 and stop >= 0:
                    made = (tokens[start], tokens[stop])
                    if (fresh := ranks.get(made)) is not None:
                        heapq.heappush(heap, (fresh, start, made))
        return tuple(token for token in tokens if token >= 0)
