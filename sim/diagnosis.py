"""What one measured run says: its accept rate, whether one rate is a fair summary, and the draft length it speaks for.

Why it exists: a log gives means and, at best, acceptance by position. Which draft length would have been better follows
from those positions themselves, not from a formula with one accept rate. And a run may be worth little for reasons that
stand elsewhere in the same text (random prompts, ends ignored): `Signs` looks for them. It must not know how logs are
read (`sim.logs`) nor how anything is shown.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from sim._numbers import number, whole
from sim.logs import Measured
from sim.metrics import conditional_from_survival
from sim.theory import alpha_from_tokens, expected_tokens, round_time, survival_from_rates, tokens_from_survival

__all__ = ["Diagnosis", "Signs", "best_cut", "diagnose", "explained_cost", "predicted_speedup", "verify_line"]

MISLEADS = 0.05
"""From this relative difference on, one accept rate is a poor summary: learned drafters stay within about 6 %, look-up
drafters are off by up to 1.8× (literature C.7)."""


@dataclass(frozen=True)
class Diagnosis:
    """A run in the terms of the formulas. None is "the run does not say".

    `gamma` is the draft length, `drafted` the mean a round really drafted; `alpha` the constant accept rate with the
    same `tau`; `fit` its survival by position; `first` the share of rounds that kept the first draft, `by_first` the
    tau that this share alone would predict, `off` = tau / by_first - 1. `then` are conditional rates by position.
    """

    tau: float
    gamma: int | None
    drafted: float | None
    alpha: float | None
    survival: tuple[float, ...] | None
    fit: tuple[float, ...]
    first: float | None
    by_first: float | None
    off: float | None
    then: tuple[float | None, ...]
    misleads: bool


def diagnose(run: Measured) -> Diagnosis | None:
    """The diagnosis of a run; None without a mean length, or where kept drafts were counted behind a failure (V0)."""
    if run.length is None or run.rule == "independent":
        return None
    places = run.per_position
    drafted = run.drafted / run.rounds if run.drafted is not None and run.rounds else None
    if drafted is None and run.rate:
        drafted = (run.length - 1.0) / run.rate
    gamma = len(places) if places else None if drafted is None else max(1, int(drafted + 0.5))
    tau = run.length if gamma is None else min(run.length, gamma + 1.0)
    alpha = alpha_from_tokens(tau, gamma) if gamma else None
    first = places[0] if places else None
    by_first = expected_tokens(first, len(places)) if places and first is not None else None
    by_places = tokens_from_survival(places) if places else None
    off = by_places / by_first - 1.0 if by_first and by_places else None
    return Diagnosis(
        tau=tau,
        gamma=gamma,
        drafted=drafted,
        alpha=alpha,
        survival=places,
        fit=survival_from_rates((alpha,) * gamma) if gamma and alpha is not None else (),
        first=first,
        by_first=by_first,
        off=off,
        then=conditional_from_survival(places) if places else (),
        misleads=off is not None and abs(off) > MISLEADS + 1e-9,
    )


def verify_line(verify: float, gamma: int) -> Callable[[int], float]:
    """The cost of a verifying pass by its drafts, in plain passes: a straight line from 1 at none to `verify` at gamma.

    It is straight where passes are memory plus arithmetic, as fitted engines are (literature D.4).
    """
    slope = (number("verify", verify, 0.0, open_low=True) - 1.0) / whole("gamma", gamma, 1)
    return lambda drafts: 1.0 + slope * drafts


def best_cut(
    survival: Sequence[float], c: float, verify: Callable[[int], float] | None = None
) -> tuple[int, float, tuple[float, ...]]:
    """The best draft length up to the measured one, its speed-up, and the speed-up of each length from 0.

    Cutting a chain shorter leaves the positions before the cut as they were, in the rounds that were run. A decoder
    that drafts less begins its rounds at other places: where hits come in runs, a short length yields more than is
    said here. Of equals within 1e-12 the shortest.
    """
    speeds = []
    for length in range(len(survival) + 1):
        check = 1.0 if verify is None else number(f"verify({length})", verify(length), 0.0, open_low=True)
        speeds.append(tokens_from_survival(survival[:length]) / round_time(length, c, check))
    best = 0
    for length, speed in enumerate(speeds):
        if speed > speeds[best] * (1.0 + 1e-12):
            best = length
    return best, speeds[best], tuple(speeds)


def predicted_speedup(found: Diagnosis, c: float, verify: float = 1.0) -> float:
    """The speed-up of a run with these tokens a round, tau / (drafted·c + verify): Theorem 3.8 with its tau.

    Where the run does not say how much it drafted, drafts count as nothing.
    """
    drafts = found.drafted if found.drafted is not None else float(found.gamma or 0)
    return found.tau / (drafts * number("c", c, 0.0) + number("verify", verify, 0.0, open_low=True))


def explained_cost(found: Diagnosis, reported: float, verify: float = 1.0) -> float | None:
    """The draft cost c at which the prediction is what was reported; None when no c ≥ 0 does, or without drafts."""
    drafts = found.drafted if found.drafted is not None else float(found.gamma or 0)
    if drafts <= 0.0:
        return None
    cost = (found.tau / number("reported", reported, 0.0, open_low=True) - verify) / drafts
    return cost if cost >= 0.0 else None


_RANDOM = re.compile(r"""(?:dataset[-_]name|data-?set)["']?[\s:=]+["']?random\b""", re.IGNORECASE)
_IGNORE = re.compile(r"""ignore[-_]eos["']?(?:\s*[:=]\s*["']?(\w+))?""", re.IGNORECASE)


class Signs:
    """Looks through lines for what makes a measurement worth little: `feed` them, then read the two fields."""

    def __init__(self) -> None:
        self.random_prompts = False
        self.ignore_eos = False

    def feed(self, lines: Iterable[str]) -> None:
        """Look at lines. A line without the words costs two substring tests."""
        for line in lines:
            if "random" in line and not self.random_prompts and _RANDOM.search(line[:20_000]):
                self.random_prompts = True
            if "ignore" in line and not self.ignore_eos and (found := _IGNORE.search(line[:20_000])):
                self.ignore_eos = (found[1] or "true").lower() not in ("false", "0", "none", "null", "no", "off")
