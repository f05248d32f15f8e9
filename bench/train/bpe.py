"""The tokenizer: byte-level byte-pair encoding, its training and an encoder, in the standard library alone.

Ids 0 to 255 are the bytes, id 256 + i is merge i; there are no special tokens. It must not know of corpora or models.
`PRETOKENIZE` cuts a text into short pieces (a newline with its indentation, a word with the space before it, digits, a
run of punctuation) and merges never cross a piece: an encoder needs this pattern and the merges, nothing else. Every
piece has at most 36 bytes, so that encoding is linear in the length of the text whatever the text is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

PRETOKENIZE = (
    rb"\n{1,4}[ \t]{0,32}"
    rb"| ?_{0,2}[A-Za-z\x80-\xff]{1,32}"
    rb"| ?[0-9]{1,3}"
    rb"| {1,31}(?= )"
    rb"| ?[^\sA-Za-z0-9\x80-\xff]{1,16}"
    rb"|\s"
)
_PIECES = re.compile(PRETOKENIZE)

Merges = Sequence[tuple[int, int]]


def pieces(data: bytes) -> list[bytes]:
    """The pre-tokens of a text; joined they are the text."""
    return _PIECES.findall(data)


def train(texts: Iterable[bytes], vocab: int) -> list[tuple[int, int]]:
    """The merges of a byte-level BPE with `vocab` ids: always the most frequent pair, ties to the smaller ids."""
    if vocab < 256:
        raise ValueError(f"vocab must be 256 or more, got {vocab}")
    counts: Counter[bytes] = Counter()
    for text in texts:
        counts.update(pieces(text))
    words = [list(piece) for piece in counts]
    weights = list(counts.values())
    pairs: Counter[tuple[int, int]] = Counter()
    where: dict[tuple[int, int], set[int]] = {}
    for number, word in enumerate(words):
        for pair in pairwise(word):
            pairs[pair] += weights[number]
            where.setdefault(pair, set()).add(number)
    merges: list[tuple[int, int]] = []
    while 256 + len(merges) < vocab and pairs:
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        if pairs[best] < 2:
            break
        new = 256 + len(merges)
        merges.append(best)
        for number in where.pop(best):
            word = words[number]
            for pair in pairwise(word):
                pairs[pair] -= weights[number]
            words[number] = word = _join(word, best, new)
            for pair in pairwise(word):
                pairs[pair] += weights[number]
                where.setdefault(pair, set()).add(number)
        del pairs[best]
    return merges


def _join(word: list[int], pair: tuple[int, int], new: int) -> list[int]:
    """The word with every occurrence of the pair replaced, from the left."""
    found: list[int] = []
    at = 0
    while at < len(word):
        if at + 1 < len(word) and (word[at], word[at + 1]) == pair:
            found.append(new)
            at += 2
        else:
            found.append(word[at])
            at += 1
    return found


class Encoder:
    """Text to ids with given merges; remembers the pieces it has met."""

    def __init__(self, merges: Merges) -> None:
        self.ranks = {(int(a), int(b)): rank for rank, (a, b) in enumerate(merges)}
        self.bytes = [bytes([value]) for value in range(256)]
        for a, b in merges:
            if not (0 <= a < len(self.bytes) and 0 <= b < len(self.bytes)):
                raise ValueError(f"merges must join ids that exist, got {a} and {b} with {len(self.bytes)} ids")
            self.bytes.append(self.bytes[a] + self.bytes[b])
        self._known: dict[bytes, tuple[int, ...]] = {}

    def encode(self, data: bytes) -> list[int]:
        """The ids of a text."""
        found: list[int] = []
        for piece in pieces(data):
            ids = self._known.get(piece)
            if ids is None:
                ids = self._known[piece] = self._piece(piece)
            found.extend(ids)
        return found

    def _piece(self, piece: bytes) -> tuple[int, ...]:
        word = list(piece)
        while len(word) > 1:
            rank, pair = min((self.ranks.get(pair, len(self.ranks)), pair) for pair in pairwise(word))
            if rank == len(self.ranks):
                break
            word = _join(word, pair, 256 + rank)
        return tuple(word)

    def decode(self, ids: Iterable[int]) -> bytes:
        """The bytes of ids."""
        return b"".join(self.bytes[token] for token in ids)
