"""Drafts that are tables: bigram rows and a trigram with back-off, made from counts or probabilities, and read again.

NumPy only. A stored weight w stands for the probability (w / 255)², so that small probabilities keep some precision in
8 bits. Trigram: for a context known by its two last tokens the listed continuations have these probabilities and what
is left goes to the row of the last token; there again what is left goes to the unigram. It must not know texts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.train.files import Arrays

__all__ = ["TRIGRAM_FORMAT", "bigram", "bigram_rows", "trigram", "trigram_row"]

DISCOUNT = 0.75
TRIGRAM_FORMAT = {
    "contexts": "I32 (n,), ascending: vocab * (last but one token) + (last token)",
    "counts": "U8 (n,): how many continuations each context has, in the order of contexts",
    "tokens, weights": "U16 and U8 (sum of counts,): continuations; probability = (weight / 255)^2",
    "bigram.counts, bigram.tokens, bigram.weights": "the same for every last token, counts (vocab,)",
    "unigram": "U8 (vocab,): probability proportional to weight^2, at least 1",
    "rule": "row = listed + (1 - sum of listed) * row of the last token; that one = listed + (1 - sum) * unigram",
}


def _squares(shares: NDArray[Any]) -> NDArray[np.uint8]:
    """Probabilities as weights, rounded down so that no row exceeds one."""
    found: NDArray[np.uint8] = np.floor(np.sqrt(shares) * 255).astype(np.uint8)
    return found


def bigram(rows: NDArray[Any], followers: int) -> Arrays:
    """The likeliest followers of every token: tokens, weights (relative), and the share of what is not listed."""
    vocab = len(rows)
    order = np.argsort(-rows, axis=1, kind="stable")[:, :followers]
    top = np.take_along_axis(rows, order, axis=1)
    peaks = np.maximum(top[:, :1], 1e-12)
    weights = np.rint(np.sqrt(top / peaks) * 255).astype(np.uint8)
    rest = 1 - top.sum(axis=1) / np.maximum(rows.sum(axis=1), 1e-12)
    # The unlisted tokens' mass is spread over all tokens, the listed ones too.
    rest = np.clip(rest * vocab / max(1, vocab - followers), 1e-3, 1)
    return {"bigram.tokens": order.astype(np.uint16), "bigram.weights": weights, "bigram.rest": rest.astype(np.float16)}


def bigram_rows(tables: Arrays) -> NDArray[np.float64]:
    """The whole table of a stored bigram (vocab, vocab)."""
    tokens, weights = tables["bigram.tokens"], tables["bigram.weights"].astype(np.float64) ** 2
    rest = tables["bigram.rest"].astype(np.float64)
    vocab = len(rest)
    totals = weights.sum(axis=1)
    rest = np.where(totals > 0, rest, 1.0)
    found = np.repeat(rest[:, None] / vocab, vocab, axis=1)
    shares = weights * ((1 - rest) / np.maximum(totals, 1e-12))[:, None]
    np.add.at(found, (np.arange(vocab)[:, None], tokens), shares)
    return found


def _listed(
    contexts: NDArray[Any], tokens: NDArray[Any], counts: NDArray[Any], seen: int, least: int, most: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Contexts, continuations kept of each, tokens and weights, of (context, token) pairs sorted by context."""
    kept_contexts, numbers, kept_tokens, kept_weights = [], [], [], []
    starts = np.flatnonzero(np.r_[True, contexts[1:] != contexts[:-1]])
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(contexts)], strict=True):
        row = counts[start:end]
        total = row.sum()
        if total < seen:
            continue
        order = np.argsort(-row, kind="stable")[:most]
        order = order[row[order] >= least]
        weights = _squares(np.maximum(row[order] - DISCOUNT, 0) / total)
        order = order[weights > 0]
        if len(order):
            kept_contexts.append(contexts[start])
            numbers.append(len(order))
            kept_tokens.append(tokens[start:end][order])
            kept_weights.append(weights[weights > 0])
    return (
        np.array(kept_contexts, dtype=np.int32),
        np.array(numbers, dtype=np.uint8),
        np.concatenate(kept_tokens).astype(np.uint16),
        np.concatenate(kept_weights),
    )


def _stored(numbers: NDArray[Any]) -> NDArray[np.int64]:
    """Where the continuations of each context start, and the end."""
    return np.concatenate([[0], np.cumsum(numbers, dtype=np.int64)])


def trigram(texts: list[NDArray[Any]], vocab: int, budget: int = 500_000, seen: int = 4, most: int = 12) -> Arrays:
    """Counts of token texts as a table: of the contexts seen often enough, those that help most for their bytes."""
    twos = np.concatenate([text[:-1].astype(np.int64) * vocab + text[1:].astype(np.int64) for text in texts])
    keys, counts = np.unique(twos, return_counts=True)
    lasts, some, two_tokens, two_weights = _listed(keys // vocab, keys % vocab, counts, 1, 2, 48)
    two_numbers = np.zeros(vocab, dtype=np.uint8)
    two_numbers[lasts] = some
    ones = np.bincount(np.concatenate(texts), minlength=vocab) + 0.5
    found: Arrays = {
        "trigram.bigram.counts": two_numbers,
        "trigram.bigram.tokens": two_tokens,
        "trigram.bigram.weights": two_weights,
        "trigram.unigram": np.maximum(np.rint(np.sqrt(ones / ones.max()) * 255), 1).astype(np.uint8),
    }
    threes = np.concatenate(
        [(text[:-2].astype(np.int64) * vocab + text[1:-1]) * vocab + text[2:].astype(np.int64) for text in texts]
    )
    keys, counts = np.unique(threes, return_counts=True)
    contexts, numbers, tokens, weights = _listed(keys // vocab, keys % vocab, counts, seen, 2, most)
    known = np.isin(keys // vocab, contexts)
    per_context = np.bincount(np.searchsorted(contexts, keys[known] // vocab), weights=counts[known])
    starts = _stored(numbers)
    owner = np.repeat(np.arange(len(contexts)), numbers)
    shares = (weights / 255.0) ** 2
    rows = np.stack([two_row(found, last) for last in range(vocab)])
    below = rows[contexts[owner] % vocab, tokens]
    left = 1 - np.add.reduceat(shares, starts[:-1])
    gain = np.add.reduceat(shares * np.log((shares + left[owner] * below) / below), starts[:-1])
    gain += left * np.log(np.maximum(left, 1e-3))
    worth = per_context * gain / (5 + 3.0 * numbers)
    order = np.argsort(-worth, kind="stable")
    sizes = np.cumsum(5 + 3 * numbers[order].astype(np.int64))
    kept = np.zeros(len(contexts), dtype=bool)
    kept[order[(sizes <= budget) & (worth[order] > 0)]] = True
    return {
        "trigram.contexts": contexts[kept],
        "trigram.counts": numbers[kept],
        "trigram.tokens": tokens[kept[owner]],
        "trigram.weights": weights[kept[owner]],
        **found,
    }


def two_row(tables: Arrays, last: int) -> NDArray[np.float64]:
    """The row after one token."""
    unigram = tables["trigram.unigram"].astype(np.float64) ** 2
    return _over(unigram / unigram.sum(), tables, "trigram.bigram.", last)


def _over(row: NDArray[np.float64], tables: Arrays, prefix: str, place: int) -> NDArray[np.float64]:
    """A row with the listed continuations of one context over it."""
    numbers = tables[prefix + "counts"]
    start = int(numbers[:place].sum(dtype=np.int64))
    some = slice(start, start + int(numbers[place]))
    shares = (tables[prefix + "weights"][some] / 255.0) ** 2
    row = row * (1 - shares.sum())
    row[tables[prefix + "tokens"][some]] += shares
    return row


def trigram_row(tables: Arrays, before: int, last: int) -> NDArray[np.float64]:
    """The row after two tokens."""
    row = two_row(tables, last)
    context = before * len(row) + last
    place = int(np.searchsorted(tables["trigram.contexts"], context))
    if place < len(tables["trigram.contexts"]) and tables["trigram.contexts"][place] == context:
        row = _over(row, tables, "trigram.", place)
    return row
