"""The real pair at work: rounds as text, recorded or written now, and two lanes that race on one machine.

Why it exists: a recorded trace, the reader's own run and the benchmark must be one thing. The lanes take turns, and
each has a clock of its own that runs only while it works: whoever has used less time goes next. So a busy moment meets
both, and at every moment both have had the same time. Prompts are read, and engines warmed up, before the clocks start.
What is written follows from the seed; only the times are measured. It must not know a picture or a browser; NumPy and
`sim.lm` are imported when a run begins.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sim.lm import Pair, Step

__all__ = ["BUDGET", "Clock", "Race", "Round", "Setting", "encoded", "loaded", "race"]

BUDGET = 96
"""Tokens that each lane writes."""
TURN_S = 0.03
"""A lane's turn; with the rest of a round it stays below the 50 ms after which a figure must listen."""
WARM_UP = 6
"""Rounds of each lane before its clock starts: engines translate what is used often."""


@dataclass(frozen=True)
class Round:
    """One round in text, as `sim.lm.recorded` writes it: the drafts, how many were kept, the target's own token.

    `p`, `q`: of each draft, and last of `token`; `coins`: each draft's, and last the one that chose `token`; `top`: at
    every position up to that of `token` the likeliest tokens as (text, p, q or None).
    """

    draft: tuple[str, ...]
    accepted: int
    token: str
    p: tuple[float, ...]
    q: tuple[float, ...]
    coins: tuple[float, ...]
    top: tuple[tuple[tuple[str, float, float | None], ...], ...]

    @classmethod
    def of(cls, written: Mapping[str, Any]) -> Round:
        """From the JSON of a trace."""
        top = tuple(tuple((text, p, q) for text, p, q in position) for position in written["top"])
        p, q, coins = (tuple(written[key]) for key in ("p", "q", "coins"))
        return cls(tuple(written["draft"]), written["accepted"], written["token"], p, q, coins, top)

    @property
    def failed(self) -> bool:
        """Whether a draft was rejected: then `token` is a correction, else a bonus."""
        return self.accepted < len(self.draft)

    @property
    def emitted(self) -> int:
        """Tokens it adds to the text."""
        return self.accepted + 1


@dataclass(frozen=True)
class Setting:
    """What a run is of: the draft's name, its length, temperature, seed, and tokens to go on from."""

    draft: str
    gamma: int
    temperature: float
    seed: int
    prompt: tuple[int, ...]


@dataclass(frozen=True)
class Clock:
    """A lane's own time, in milliseconds, and what it did in it."""

    rounds: int = 0
    tokens: int = 0
    drafted: int = 0
    draft_ms: float = 0.0
    pass_ms: float = 0.0
    other_ms: float = 0.0

    def plus(self, step: Step) -> Clock:
        """With one more round. Where nothing was drafted, no time was spent on it: what the clock says is the rest."""
        draft_ms = step.draft_ms if step.draft else 0.0
        return Clock(
            self.rounds + 1,
            self.tokens + len(step.emitted),
            self.drafted + len(step.draft),
            self.draft_ms + draft_ms,
            self.pass_ms + step.pass_ms,
            self.other_ms + step.other_ms + (step.draft_ms - draft_ms),
        )

    @property
    def ms(self) -> float:
        """All of it."""
        return math.fsum((self.draft_ms, self.pass_ms, self.other_ms))

    @property
    def rate(self) -> float:
        """Tokens a second; 0.0 before the first."""
        return 1e3 * self.tokens / self.ms if self.ms > 0.0 else 0.0

    @property
    def one_pass_ms(self) -> float:
        """A pass of the target."""
        return self.pass_ms / self.rounds if self.rounds else 0.0

    @property
    def one_draft_ms(self) -> float:
        """One drafted token."""
        return self.draft_ms / self.drafted if self.drafted else 0.0


@dataclass(frozen=True)
class Race:
    """Where a race stands, after every turn.

    `finish`: the tokens (plain, speculative) that were there when the first lane had all of its own; `same`: at the
    end, whether both lanes wrote the same.
    """

    plain: Clock = field(default_factory=Clock)
    speculative: Clock = field(default_factory=Clock)
    rounds: tuple[Round, ...] = ()
    finish: tuple[int, int] | None = None
    done: float = 0.0
    by_kernel: bool = False
    same: bool | None = None

    @property
    def over(self) -> bool:
        """Whether both lanes have all their tokens."""
        return self.done >= 1.0

    @property
    def speedup(self) -> float | None:
        """Measured: tokens a second of the one over those of the other."""
        if not (self.plain.tokens and self.speculative.tokens and self.plain.ms > 0.0 and self.speculative.ms > 0.0):
            return None
        return self.speculative.rate / self.plain.rate

    @property
    def c(self) -> float | None:
        """One draft step over a plain pass, as measured; None without a drafted token."""
        if not self.speculative.drafted or not self.plain.one_pass_ms > 0.0:
            return None
        return self.speculative.one_draft_ms / self.plain.one_pass_ms

    @property
    def verify(self) -> float | None:
        """The verifying pass over a plain pass, as measured."""
        if not self.speculative.one_pass_ms > 0.0 or not self.plain.one_pass_ms > 0.0:
            return None
        return self.speculative.one_pass_ms / self.plain.one_pass_ms


@lru_cache(maxsize=1)
def loaded(target: bytes, drafts: bytes) -> Pair:
    """The pair of these two files, kept for the next run. ValueError for files that are no pair."""
    from sim.lm import load

    return load(target, drafts)


def encoded(pair: Pair, text: str, gamma: int) -> tuple[tuple[int, ...], int]:
    """The tokens that a run goes on from, and how many at the text's beginning had to be left out."""
    fitted = pair.fit(pair.encode(text.encode("utf-8", "replace")), BUDGET + gamma)
    return fitted.tokens, fitted.left_out


@dataclass
class _Lane:
    """One lane: its rounds to come, its clock, and the rounds it has made."""

    steps: Iterator[Any]
    clock: Clock = field(default_factory=Clock)
    made: list[Any] = field(default_factory=list)

    @property
    def left(self) -> bool:
        return self.clock.tokens < BUDGET

    @property
    def tokens(self) -> tuple[int, ...]:
        return tuple(token for step in self.made for token in step.emitted)[:BUDGET]

    def go(self) -> None:
        step = next(self.steps)
        self.made.append(step)
        self.clock = self.clock.plus(step)


def race(pair: Pair, setting: Setting, *, kernel: bool, clock: Callable[[], float]) -> Iterator[Race | None]:
    """Run it: None while prompts are read and engines warm up, then where it stands after every turn.

    `kernel` False: NumPy multiplies, even where a kernel is plugged in. `clock` gives seconds.
    """
    from sim.kernel import plugged, set_aside
    from sim.lm import recorded

    by = contextlib.nullcontext if kernel else set_aside
    lanes: list[_Lane] = []
    for name in (None, setting.draft):
        yield from _ready(pair, setting, name, by, clock, lanes)
    plain, speculative = lanes
    finish: tuple[int, int] | None = None
    rounds: tuple[Round, ...] = ()
    while plain.left or speculative.left:
        behind = min((one for one in lanes if one.left), key=lambda one: one.clock.ms)
        began = clock()
        with by():
            while behind.left:
                behind.go()
                if clock() - began >= TURN_S:
                    break
        rounds += tuple(Round.of(recorded(pair, step)) for step in speculative.made[len(rounds) :])
        if finish is None and not behind.left:
            finish = (min(BUDGET, plain.clock.tokens), min(BUDGET, speculative.clock.tokens))
        done = math.fsum(min(BUDGET, one.clock.tokens) for one in lanes) / (2 * BUDGET)
        same = plain.tokens == speculative.tokens if done >= 1.0 else None
        yield Race(plain.clock, speculative.clock, rounds, finish, done, kernel and plugged(), same)


def _ready(
    pair: Pair,
    setting: Setting,
    name: str | None,
    by: Callable[[], contextlib.AbstractContextManager[None]],
    clock: Callable[[], float],
    lanes: list[_Lane],
) -> Iterator[None]:
    """A lane with its prompt read and its engine warm, put to `lanes`. Reading is not timed: the kernel may do it."""
    from sim.lm import generate

    target = pair.target(setting.temperature)
    draft = pair.draft(name, target, setting.temperature) if name else None
    for reader in (target, draft):
        if reader is not None:
            for _ in reader.read(setting.prompt[:-1]):
                yield None

    def steps() -> Iterator[Any]:
        return generate(
            pair,
            draft,
            setting.prompt,
            setting.gamma if draft else 0,
            BUDGET,
            temperature=setting.temperature,
            seed=setting.seed,
            clock=clock,
            target=target,
        )

    warming = steps()
    for _ in range(WARM_UP):
        with by():
            next(warming)
        yield None
    lanes.append(_Lane(steps()))
