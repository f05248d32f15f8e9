"""NumPy: many rounds at once, for the labs that draw millions.

Why it exists: a closed form is believed when a million dice agree with it. Laws and rules come from the other
modules of `sim`; this one only draws. Imported by its own name, never by `sim` itself. Draws come from
`Generator(PCG64(seed))` and are the same bytes on every machine.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sim._numbers import probability, row, whole
from sim.sampling import position
from sim.theory import tokens_from_survival

__all__ = ["Draws", "accepted_counts", "draw_positions", "draw_vocabulary_rounds", "mean_tokens"]

BLOCK = 1 << 16
"""Rounds at a time: small enough to stay in a processor's cache, so comparing costs less than drawing."""


def accepted_counts(survival: Sequence[float], rounds: int, seed: int) -> NDArray[np.uint8]:
    """Accepted drafts of each of `rounds` rounds under any acceptance model, shape (rounds,), dtype uint8.

    survival[k] = P(positions 0…k all kept), at most 255 of them (`survival_from_rates`, `burst_survival`). One uniform
    a round: the count is the number of survival values above it, which has exactly the wanted law.
    """
    tokens_from_survival(survival)  # refuses values outside [0, 1] and increasing ones
    levels = [probability("survival", value) for value in survival]
    whole("len(survival)", len(levels), 0, 255)
    count = whole("rounds", rounds, 0)
    generator = np.random.Generator(np.random.PCG64(whole("seed", seed, 0)))
    kept = np.zeros(count, dtype=np.uint8)
    for start in range(0, count, BLOCK):
        block = kept[start : start + BLOCK]
        uniforms = generator.random(block.size)
        for level in levels:
            block += uniforms < level
    return kept


def mean_tokens(counts: NDArray[np.uint8]) -> tuple[float, float]:
    """Mean tokens per pass of these rounds (accepted + 1) and its standard error; at least two rounds."""
    size = whole("len(counts)", counts.size, 2)
    return 1.0 + float(counts.mean(dtype=np.float64)), float(counts.std(dtype=np.float64, ddof=1)) / size**0.5


@dataclass(frozen=True)
class Draws:
    """Many draws of one position: how often each token was drafted, kept and emitted; how many were kept in all."""

    drafted: tuple[int, ...]
    kept: tuple[int, ...]
    emitted: tuple[int, ...]
    accepted: int


def draw_positions(
    p: Sequence[float], q: Sequence[float], count: int, seed: int, rule: str = "lossless", **settings: float
) -> Draws:
    """Draw one position `count` times under any rule of `sim.RULES`: draft, test, replace.

    `emitted` over count is an estimate of `output_law`, `accepted` over count one of `acceptance`. ValueError as there.
    """
    parts = position(p, q, rule, **settings)
    size = len(parts.drafted)
    total = whole("count", count, 0)
    generator = np.random.Generator(np.random.PCG64(whole("seed", seed, 0)))
    drafted = _pick(parts.drafted, generator.random(total))
    passed = generator.random(total) < np.array(parts.accept)[drafted]
    emitted = drafted.copy()
    picks = generator.random(total)
    for token in range(size):
        rejected = ~passed & (drafted == token)
        if rejected.any():
            emitted[rejected] = _pick(parts.replacement(token), picks[rejected])
    return Draws(
        drafted=_tally(drafted, size),
        kept=_tally(drafted[passed], size),
        emitted=_tally(emitted, size),
        accepted=int(passed.sum()),
    )


def draw_vocabulary_rounds(
    p_rows: Sequence[Sequence[float]], q_rows: Sequence[Sequence[float]], rounds: int, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Whole lossless rounds with the same rows each time: accepted counts (rounds,) and tokens (rounds, gamma + 1).

    p_rows: gamma + 1 rows, q_rows: gamma rows. Unused places of `tokens` are -1, as engines print them.
    """
    size = len(p_rows[0])
    targets = [row(f"p_rows[{k}]", values, size) for k, values in enumerate(p_rows)]
    gamma = whole("len(q_rows)", len(q_rows), len(targets) - 1, len(targets) - 1)
    total = whole("rounds", rounds, 0)
    generator = np.random.Generator(np.random.PCG64(whole("seed", seed, 0)))
    tokens = np.full((total, gamma + 1), -1, dtype=np.int64)
    accepted = np.zeros(total, dtype=np.int64)
    alive = np.ones(total, dtype=bool)
    for k in range(gamma):
        parts = position(targets[k], q_rows[k])
        drafted = _pick(parts.drafted, generator.random(total))
        passed = generator.random(total) < np.array(parts.accept)[drafted]
        redrawn = _pick(parts.replacement(0), generator.random(total))
        tokens[alive, k] = np.where(passed, drafted, redrawn)[alive]
        alive &= passed
        accepted += alive
    tokens[alive, gamma] = _pick(targets[gamma], generator.random(total))[alive]
    return accepted, tokens


def _pick(weights: Sequence[float], uniforms: NDArray[np.float64]) -> NDArray[np.int64]:
    """Tokens by inverse cumulative sum; never one of probability 0."""
    edges = np.cumsum(np.array(weights))
    last = int(np.flatnonzero(np.array(weights))[-1])
    chosen: NDArray[np.int64] = np.searchsorted(edges, uniforms * edges[-1], side="right").astype(np.int64)
    return np.minimum(chosen, last)


def _tally(tokens: NDArray[np.int64], size: int) -> tuple[int, ...]:
    return tuple(int(n) for n in np.bincount(tokens, minlength=size))
