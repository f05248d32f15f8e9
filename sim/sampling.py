"""Accepting and rejecting drafted tokens.

Why it exists: the rule that keeps the target's distribution lives here. It must not know about models, caches or time.
"""

from random import Random

from sim._numbers import probability, whole

__all__ = ["draw_rounds"]


def draw_rounds(alpha: float, gamma: int, rounds: int, seed: int) -> tuple[int, ...]:
    """How many drafts each of `rounds` rounds keeps when every one is kept with probability alpha, independently.

    Each count is in 0 … gamma. Every round takes gamma uniforms from `Random(seed)`, kept or not: with one seed a larger
    alpha never keeps fewer, so a slider moves the same story and does not tell a new one.
    """
    ratio, length = probability("alpha", alpha), whole("gamma", gamma, 0)
    uniform = Random(whole("seed", seed, 0)).random
    counts = []
    for _ in range(whole("rounds", rounds, 0)):
        kept = [uniform() < ratio for _ in range(length)]
        counts.append(kept.index(False) if False in kept else length)
    return tuple(counts)
