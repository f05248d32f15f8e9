"""Conversions between the numbers that people publish about speculative decoding.

Why it exists: an acceptance rate of 59 %, 3.36 tokens per pass, 2.36 accepted tokens and alpha 0.8 are one and the same
run with 4 drafted tokens; engines and papers each print another of them. Conversions stand here, impossible pairs are
found here; closed forms stay in `sim.theory`.

It must not know: logs, files, engines. Names: `tau` counts the correction or bonus token, `accepted` does not, `rate`
is accepted / drafted = (tau - 1) / gamma, positions count from 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sim._numbers import number, probability, whole
from sim.theory import alpha_from_tokens, tokens_from_survival

__all__ = [
    "Metrics",
    "accepted_from_tau",
    "conditional_from_survival",
    "contradictions",
    "convert",
    "counts_per_position",
    "drafted_from_tau",
    "positions_from_labels",
    "rate_from_tau",
    "sglang_rate",
    "speedup_from_times",
    "survival_from_histogram",
    "tau_from_accepted",
    "tau_from_rate",
    "tau_from_sglang_rate",
    "tau_from_times",
]


def tau_from_accepted(accepted: float, rounds: float = 1.0) -> float:
    """Tokens per pass from accepted drafts: 1 + accepted / rounds. For a printed mean, rounds is 1."""
    return 1.0 + number("accepted", accepted, 0.0) / number("rounds", rounds, 0.0, open_low=True)


def accepted_from_tau(tau: float) -> float:
    """Accepted drafts per pass, without the correction or bonus token: tau - 1."""
    return number("tau", tau, 1.0) - 1.0


def rate_from_tau(tau: float, gamma: int) -> float:
    """The engines' acceptance rate (tau - 1) / gamma of a chain of constant length gamma; it is not alpha."""
    gamma = whole("gamma", gamma, 1)
    return (number("tau", tau, 1.0, gamma + 1.0) - 1.0) / gamma


def tau_from_rate(rate: float, gamma: int) -> float:
    """Tokens per pass from accepted / drafted of a chain of constant length gamma: 1 + gamma * rate."""
    return 1.0 + whole("gamma", gamma, 0) * probability("rate", rate)


def drafted_from_tau(tau: float, rate: float) -> float:
    """Drafts a round on average that make a rate and a mean agree: (tau - 1) / rate.

    Below the set length the engine stopped drafting early in some rounds; above it the pair is impossible.
    """
    return (number("tau", tau, 1.0) - 1.0) / number("rate", rate, 0.0, 1.0, open_low=True)


def tau_from_sglang_rate(rate: float, gamma: int) -> float:
    """Tokens per pass from the rate SGLang printed until April 2026, rate * (gamma + 1); see `sglang_rate`."""
    gamma = whole("gamma", gamma, 1)
    return number("rate", rate, 1.0 / (gamma + 1) - 1e-12, 1.0) * (gamma + 1)


def sglang_rate(tau: float, gamma: int) -> float:
    """The rate SGLang printed until April 2026: tau / (gamma + 1), which counts the extra token on both sides.

    Source: https://github.com/sgl-project/sglang/pull/23530. Nothing accepted shows as 1 / (gamma + 1).
    """
    gamma = whole("gamma", gamma, 1)
    return number("tau", tau, 1.0, gamma + 1.0) / (gamma + 1)


def survival_from_histogram(histogram: Sequence[int]) -> tuple[float, ...]:
    """Share of rounds that kept position i, from the number of rounds that kept exactly 0, 1, 2, … drafts.

    (11, 14, 11, 4, 0, 3) gives 32/43, 18/43, 7/43, 3/43, 3/43. ValueError when no round is counted.
    """
    counts = [whole(f"histogram[{place}]", item, 0) for place, item in enumerate(histogram)]
    rounds = sum(counts)
    if rounds == 0:
        raise ValueError(f"histogram is {histogram!r}; it must count at least one round")
    left = rounds
    kept = []
    for count in counts[:-1]:
        left -= count
        kept.append(left / rounds)
    return tuple(kept)


def conditional_from_survival(survival: Sequence[float]) -> tuple[float | None, ...]:
    """Acceptance of each position given that all before it were kept; None where no round ever got that far."""
    tokens_from_survival(survival)
    before = 1.0
    found: list[float | None] = []
    for share in survival:
        found.append(share / before if before > 0 else None)
        before = share
    return tuple(found)


def counts_per_position(survival: Sequence[float], rounds: int) -> tuple[int, ...]:
    """Rounds that kept each position, the nearest whole numbers."""
    tokens_from_survival(survival)
    rounds = whole("rounds", rounds, 0)
    return tuple(round(share * rounds) for share in survival)


def positions_from_labels(labelled: Mapping[int, float], first: int) -> tuple[float, ...]:
    """Per-position values in our one order, from the label `first` (0 or 1) that the source gives to position 0.

    ValueError when a label is missing or does not belong: an array shifted by one is worse than none.
    """
    first = whole("first", first, 0, 1)
    wanted = list(range(first, first + len(labelled)))
    if sorted(labelled) != wanted:
        raise ValueError(f"labels are {sorted(labelled)}; they must be {wanted}")
    return tuple(labelled[label] for label in wanted)


def speedup_from_times(baseline_ms: float, speculative_ms: float) -> float:
    """Speed-up as the quotient of two times per token, in the same unit."""
    return number("baseline_ms", baseline_ms, 0.0) / number("speculative_ms", speculative_ms, 0.0, open_low=True)


def tau_from_times(ms_per_token: float, pass_ms: float, draft_ms: float = 0.0, gamma: int = 0) -> float:
    """Tokens per pass that explain a time per token: (pass + gamma * draft) / ms per token."""
    spent = number("pass_ms", pass_ms, 0.0) + whole("gamma", gamma, 0) * number("draft_ms", draft_ms, 0.0)
    return spent / number("ms_per_token", ms_per_token, 0.0, open_low=True)


@dataclass(frozen=True, slots=True)
class Metrics:
    """One run in every notation. alpha is the constant acceptance that would give this tau; None without drafts."""

    gamma: int
    tau: float
    accepted: float
    rate: float | None
    alpha: float | None


def convert(
    gamma: int,
    *,
    tau: float | None = None,
    accepted: float | None = None,
    rate: float | None = None,
    survival: Sequence[float] | None = None,
) -> Metrics:
    """All notations from exactly one of them, for a chain of constant length gamma.

    tau with the extra token, `accepted` per pass without it, `rate` accepted / drafted, or survival by position.
    """
    gamma = whole("gamma", gamma, 0)
    given = [
        name
        for name, value in (("tau", tau), ("accepted", accepted), ("rate", rate), ("survival", survival))
        if value is not None
    ]
    if len(given) != 1:
        raise ValueError(
            f"exactly one of tau, accepted, rate, survival must be given, not {', '.join(given) or 'none'}"
        )
    if accepted is not None:
        tau = tau_from_accepted(accepted)
    elif rate is not None:
        tau = tau_from_rate(rate, gamma)
    elif survival is not None:
        if len(survival) != gamma:
            raise ValueError(f"survival has {len(survival)} positions; gamma is {gamma}")
        tau = tokens_from_survival(survival)
    tau = number("tau", tau, 1.0, gamma + 1.0)
    return Metrics(
        gamma, tau, tau - 1.0, (tau - 1.0) / gamma if gamma else None, alpha_from_tokens(tau, gamma) if gamma else None
    )


def contradictions(
    *,
    gamma: int | None = None,
    rate: float | None = None,
    tau: float | None = None,
    speedup: float | None = None,
    survival: Sequence[float] | None = None,
    lossless: bool = True,
    slack: float = 0.005,
) -> tuple[str, ...]:
    """Why these printed numbers cannot belong to one run of a chain of constant length; () when they can.

    `slack` is half a unit of the last printed digit of tau. A rate of 0.65 and 3.25 tokens with gamma 5: 0.65 gives
    4.25. A speed-up above tau: one pass of the target cannot be cheaper than one pass of the target.
    """
    found: list[str] = []
    if rate is not None and not 0 <= rate <= 1:
        found.append(f"rate {rate:g} is outside 0 to 1")
    if tau is not None and tau < 1 - slack:
        found.append(f"{tau:g} tokens per pass: a pass emits at least 1")
    if gamma is not None and tau is not None and tau > gamma + 1 + slack:
        found.append(f"{tau:g} tokens per pass from {gamma} drafts: at most {gamma + 1}")
    if gamma is not None and rate is not None and tau is not None and not found:
        fits = 1 + gamma * rate
        if abs(fits - tau) > slack * (1 + gamma) + 1e-9:
            found.append(f"rate {rate:g} with {gamma} drafts gives {fits:g} tokens per pass, not {tau:g}")
    if survival is not None:
        before = 1.0
        for place, share in enumerate(survival):
            if not 0 <= share <= before + 1e-12:
                found.append(f"position {place} is kept in {share:g} of the rounds, the one before it in {before:g}")
                break
            before = share
        else:
            total = 1 + math.fsum(survival)
            if tau is not None and abs(total - tau) > slack * (1 + len(survival)) + 1e-9:
                found.append(f"the positions give {total:g} tokens per pass, not {tau:g}")
    if lossless and speedup is not None and tau is not None and speedup > tau + slack:
        found.append(f"speed-up {speedup:g} is above {tau:g} tokens per pass: verification cannot give that")
    return tuple(found)
