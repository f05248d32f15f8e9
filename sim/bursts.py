"""Acceptance that comes in runs: a two-state model for look-up drafters.

Why it exists: an n-gram drafter copies from the text, so its hits come in long runs, and one alpha is wrong by up
to 1.8× (literature C.7, traces of SpecDecode-Bench). `runs_tokens` is the two-number summary; `Burst` is the model
behind it. It must not know about tokens' identities or costs.
"""

from dataclasses import dataclass
from random import Random

from sim._numbers import geometric_sum, number, probability, whole
from sim.theory import tokens_from_survival

__all__ = ["Burst", "draw_burst_rounds", "burst_survival", "burst_tokens", "runs_tokens", "then_from_tokens"]


def runs_tokens(first: float, then: float, gamma: int) -> float:
    """Tokens per pass when the first draft is kept with chance `first`, each later one (all before kept) with `then`.

    1 + first·(1 + then + … + then^(gamma - 1)) (derived); equal to `expected_tokens` when first = then.
    """
    start, stay = probability("first", first), probability("then", then)
    return 1.0 + start * geometric_sum(stay, whole("gamma", gamma, 0))


def then_from_tokens(tau: float, first: float, gamma: int) -> float:
    """The `then` at which `runs_tokens(first, then, gamma)` is tau: what a trace's tau and first-draft share imply.

    gamma ≥ 2, first > 0, tau from 1 + first to 1 + first·gamma. Halving: the sum rises with `then`.
    """
    start = number("first", first, 0.0, 1.0, open_low=True)
    length = whole("gamma", gamma, 2)
    aim = (number("tau", tau, 1.0 + start, 1.0 + start * length) - 1.0) / start
    low, high = 0.0, 1.0
    for _ in range(53):
        middle = (low + high) / 2.0
        low, high = (middle, high) if geometric_sum(middle, length) < aim else (low, middle)
    return (low + high) / 2.0


@dataclass(frozen=True)
class Burst:
    """Each position of the text is inside a run or outside; the state follows a Markov chain along the text.

    `enter` and `leave` are the chances to change state from one position to the next (not both 0), `inside` and
    `outside` the acceptance in each state. All in [0, 1].
    """

    enter: float
    leave: float
    inside: float
    outside: float

    def __post_init__(self) -> None:
        for name in ("enter", "leave", "inside", "outside"):
            probability(name, getattr(self, name))
        if self.enter + self.leave <= 0.0:
            raise ValueError("enter and leave are both 0; one must be above 0, or the text never changes state")


def burst_survival(burst: Burst, gamma: int) -> tuple[float, ...]:
    """P(positions 0…k all kept) for k < gamma, in the long run over rounds (derived).

    A round's first state depends on how the round before ended, so the start is the stationary law of the
    round-to-round chain: longer drafts swallow whole runs, and the next round then starts more often outside one.
    """
    length = whole("gamma", gamma, 0)
    inside = _start_inside(burst, length)
    state = (inside, 1.0 - inside)
    survival: list[float] = []
    for _ in range(length):
        state = (state[0] * burst.inside, state[1] * burst.outside)
        survival.append(min(state[0] + state[1], survival[-1] if survival else 1.0))
        state = _step(burst, state)
    return tuple(survival)


def burst_tokens(burst: Burst, gamma: int) -> float:
    """Tokens per pass under the burst model, 1 + sum of `burst_survival` (derived)."""
    return tokens_from_survival(burst_survival(burst, gamma))


def draw_burst_rounds(burst: Burst, gamma: int, rounds: int, seed: int) -> tuple[int, ...]:
    """Accepted drafts of each of `rounds` consecutive rounds of one text, from the long-run state; `Random(seed)`."""
    length = whole("gamma", gamma, 0)
    uniform = Random(whole("seed", seed, 0)).random
    inside = uniform() < _start_inside(burst, length)
    counts = []
    for _ in range(whole("rounds", rounds, 0)):
        kept = 0
        while kept < length and uniform() < (burst.inside if inside else burst.outside):
            kept += 1
            inside = uniform() < (1.0 - burst.leave if inside else burst.enter)
        inside = uniform() < (1.0 - burst.leave if inside else burst.enter)  # past the correction or bonus token
        counts.append(kept)
    return tuple(counts)


def _step(burst: Burst, state: tuple[float, float]) -> tuple[float, float]:
    """Mass inside and outside a run, one position further on."""
    stay, back = 1.0 - burst.leave, 1.0 - burst.enter
    return (state[0] * stay + state[1] * burst.enter, state[0] * burst.leave + state[1] * back)


def _next_start(burst: Burst, gamma: int, state: tuple[float, float]) -> tuple[float, float]:
    """Where the next round starts, if this one starts with this mass: the token after the kept drafts moves on too."""
    ended_inside, ended_outside = 0.0, 0.0
    for _ in range(gamma):
        ended_inside += state[0] * (1.0 - burst.inside)
        ended_outside += state[1] * (1.0 - burst.outside)
        state = _step(burst, (state[0] * burst.inside, state[1] * burst.outside))
    return _step(burst, (ended_inside + state[0], ended_outside + state[1]))


def _start_inside(burst: Burst, gamma: int) -> float:
    """The long-run chance that a round starts inside a run."""
    leaves, enters = _next_start(burst, gamma, (1.0, 0.0))[1], _next_start(burst, gamma, (0.0, 1.0))[0]
    if leaves + enters <= 0.0:  # rounds keep step with a chain that alternates for sure: take the text's own share
        leaves, enters = burst.leave, burst.enter
    return enters / (leaves + enters)
