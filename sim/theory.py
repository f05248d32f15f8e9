"""Closed forms: what speculative decoding gains when acceptance and costs are known.

Why it exists: every number a lesson states about tokens, passes and speed-up comes from here. Sources are named in
each docstring: "Leviathan" is Leviathan, Kalman, Matias 2023 (arXiv 2211.17192v2); "derived" means it follows in a
line or two from those. It must not know about tokens, models, hardware or random numbers.

Names: `alpha` acceptance per draft token, `gamma` drafted tokens a round, `c` one draft step in units of a plain target
pass, `verify` the verifying pass in the same unit, `tau` tokens per target pass counting the correction or bonus token.
"""

import math
from collections.abc import Callable, Sequence

from sim._numbers import geometric_sum, number, probability, whole

__all__ = [
    "alpha_from_tokens",
    "break_even_alpha",
    "break_even_cost",
    "cost_from_speedup",
    "engine_acceptance_rate",
    "expected_tokens",
    "operations_factor",
    "optimal_gamma",
    "oracle_tokens",
    "passes_for",
    "round_time",
    "share_discarded",
    "speedup",
    "survival_from_rates",
    "tokens_from_survival",
]

GAIN_TOLERANCE = 1e-12


def expected_tokens(alpha: float, gamma: int) -> float:
    """Tokens per target pass, tau = (1 - alpha^(gamma + 1)) / (1 - alpha): Leviathan eq. 1.

    Acceptance is independent with the same alpha at every position. gamma + 1 at alpha 1, 1 at alpha 0 or gamma 0.
    """
    return geometric_sum(probability("alpha", alpha), whole("gamma", gamma, 0) + 1)


def passes_for(tokens: float, alpha: float, gamma: int) -> float:
    """Target passes for `tokens` tokens in the long run, `tokens / expected_tokens`, not rounded (Leviathan 3.1)."""
    return number("tokens", tokens, 0.0) / expected_tokens(alpha, gamma)


def round_time(gamma: int, c: float, verify: float = 1.0) -> float:
    """Time of one round in plain target passes: gamma draft steps and one verifying pass, gamma·c + verify.

    Leviathan Theorem 3.8 has verify = 1: checking gamma + 1 positions costs what a plain pass costs.
    """
    return whole("gamma", gamma, 0) * number("c", c, 0.0) + number("verify", verify, 0.0, open_low=True)


def speedup(alpha: float, gamma: int, c: float, verify: float = 1.0) -> float:
    """How many times faster than plain decoding, expected_tokens / (gamma·c + verify): Leviathan Theorem 3.8.

    Below 1 it is a slow-down. `verify` = 1 is the theorem; gamma 0 gives 1 / verify.
    """
    return expected_tokens(alpha, gamma) / round_time(gamma, c, verify)


def optimal_gamma(alpha: float, c: float, verify: Callable[[int], float] | None = None, max_gamma: int = 64) -> int:
    """The draft length with the largest speed-up in 0 … max_gamma; 0 where drafting does not pay (derived).

    `verify(gamma)` is the cost of the verifying pass in plain passes (None: 1). Of lengths within 1e-12 (relative) of
    the best the smallest is taken, and 0 unless the best exceeds 1 + 1e-12.
    """
    ratio, cost = probability("alpha", alpha), number("c", c, 0.0)
    speeds = []
    tokens = 1.0
    for gamma in range(whole("max_gamma", max_gamma, 0) + 1):
        check = 1.0 if verify is None else number(f"verify({gamma})", verify(gamma), 0.0, open_low=True)
        speeds.append(tokens / (gamma * cost + check))
        tokens = 1.0 + ratio * tokens
    best = max(speeds)
    if best <= 1.0 + GAIN_TOLERANCE:
        return 0
    return next(gamma for gamma, speed in enumerate(speeds) if speed >= best * (1.0 - GAIN_TOLERANCE))


def operations_factor(alpha: float, gamma: int, c_hat: float) -> float:
    """Arithmetic per token against plain decoding, (gamma·c_hat + gamma + 1) / expected_tokens: Leviathan Theorem 3.11.

    `c_hat` is the draft's operations per token over the target's. Never below 1.
    """
    length = whole("gamma", gamma, 0)
    return (length * number("c_hat", c_hat, 0.0) + length + 1) / expected_tokens(alpha, length)


def engine_acceptance_rate(alpha: float, gamma: int) -> float:
    """What engines print as acceptance rate: accepted over drafted, (tau - 1) / gamma. Not alpha (derived).

    alpha 0.8 and gamma 4 give 0.59. gamma ≥ 1: without drafts there is no rate.
    """
    ratio, length = probability("alpha", alpha), whole("gamma", gamma, 1)
    return ratio * geometric_sum(ratio, length) / length  # tau - 1 without the cancellation at small alpha


def share_discarded(alpha: float, gamma: int) -> float:
    """Expected share of drafted tokens that are thrown away, 1 - engine_acceptance_rate (derived); gamma ≥ 1."""
    return 1.0 - engine_acceptance_rate(alpha, gamma)


def alpha_from_tokens(tau: float, gamma: int) -> float:
    """The one alpha at which `expected_tokens(alpha, gamma)` is tau, within 1e-9 (derived).

    1 ≤ tau ≤ gamma + 1, gamma ≥ 1. tau rises with alpha at a slope of at least 1, so halving the interval is safe.
    """
    length = whole("gamma", gamma, 1)
    target = number("tau", tau, 1.0, length + 1.0)
    if target in (1.0, length + 1.0):
        return 0.0 if target == 1.0 else 1.0
    low, high = 0.0, 1.0
    for _ in range(40):  # 2^-40 is below 1e-12
        middle = (low + high) / 2.0
        if geometric_sum(middle, length + 1) < target:
            low = middle
        else:
            high = middle
    return (low + high) / 2.0


def break_even_alpha(gamma: int, c: float, verify: float = 1.0) -> float | None:
    """The alpha at which the speed-up is 1; None when not even alpha 1 breaks even (derived from Theorem 3.8).

    0.0 when it pays at any alpha (a round no longer than a plain pass). gamma ≥ 1.
    """
    length = whole("gamma", gamma, 1)
    needed = round_time(length, c, verify)
    if needed > length + 1:
        return None
    return alpha_from_tokens(max(needed, 1.0), length)


def break_even_cost(alpha: float, gamma: int, verify: float = 1.0) -> float:
    """The draft cost c at which the speed-up is 1, (tau - verify) / gamma (derived); gamma ≥ 1.

    Negative: not even a free draft pays. With gamma 1 and verify 1 it is alpha (Leviathan Corollary 3.9).
    """
    return (expected_tokens(alpha, whole("gamma", gamma, 1)) - number("verify", verify, 0.0, open_low=True)) / gamma


def cost_from_speedup(speed: float, alpha: float, gamma: int, verify: float = 1.0) -> float:
    """The draft cost c that explains a printed speed-up, (tau / speed - verify) / gamma (derived); gamma ≥ 1.

    ValueError when no c ≥ 0 does: the speed-up is above tau / verify, so the formula cannot be what made it.
    """
    length = whole("gamma", gamma, 1)
    most = expected_tokens(alpha, length) / number("verify", verify, 0.0, open_low=True)
    printed = number("speed", speed, 0.0, open_low=True)
    if printed > most:
        raise ValueError(
            f"speed is {speed!r}; it must be at most {most!r}: above that no draft cost c >= 0 explains it"
        )
    return (expected_tokens(alpha, length) / printed - verify) / length


def oracle_tokens(alpha: float) -> float:
    """Tokens per pass if each round drafted exactly as far as will be accepted, 1 / (1 - alpha): Leviathan section 3.5.

    0 ≤ alpha < 1.
    """
    return 1.0 / (1.0 - number("alpha", alpha, 0.0, 1.0, open_high=True))


def survival_from_rates(rates: Sequence[float]) -> tuple[float, ...]:
    """P(positions 0…k all kept) from the acceptance at each position given that all before were kept: a product."""
    survival: list[float] = []
    kept = 1.0
    for k, rate in enumerate(rates):
        kept *= probability(f"rates[{k}]", rate)
        survival.append(kept)
    return tuple(survival)


def tokens_from_survival(survival: Sequence[float]) -> float:
    """Tokens per target pass when acceptance varies by position, tau = 1 + sum of survival (derived from eq. 1).

    survival[k] = P(positions 0…k all kept), so it must not increase; () gives 1.
    """
    kept = [probability(f"survival[{k}]", value) for k, value in enumerate(survival)]
    for k in range(1, len(kept)):
        if kept[k] > kept[k - 1]:
            raise ValueError(
                f"survival[{k}] is {kept[k]!r}; it must be from 0 to {kept[k - 1]!r}: what is lost cannot come back"
            )
    return math.fsum((1.0, *kept))
