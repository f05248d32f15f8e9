"""Rounds of a real pair: drafts one by one, one pass of the target over all of them, the rule, one `Step` a round.

Why it exists: `sim.decode` asks the target for one row at a time, which is the clearest way to say what happens and
saves nothing. Here the target scores gamma + 1 positions in one pass. The rule and the order of the random numbers are
those of `sim.decode`: the same rows and the same seed give the same tokens. It must not know pages or files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from sim._numbers import tokens_of, whole
from sim.lm.drafts import Draft, Target
from sim.lm.rows import Row, Sampler, draw, replacement

if TYPE_CHECKING:
    from sim.lm.pair import Pair

__all__ = ["Candidate", "Step", "generate", "recorded"]

Candidate: TypeAlias = tuple[int, float, float | None]
"""A token, its p, and its q; None where nothing was drafted."""
SHOWN = 3


@dataclass(frozen=True)
class Step:
    """One round. Positions are counted from the round's first draft; position len(draft) is the one past the last.

    `p` and `q`: of each draft token, and last of `token` at the position where it stands (q 0.0 for a bonus: nothing
    was drafted there). `coins`: the number each draft was tested with, kept iff coin·q < p, and last the one that chose
    `token`. `top`: the likeliest tokens of the target's row at every position up to that of `token`. Milliseconds:
    drafting, the target's pass, all else; 0.0 without a clock.
    """

    draft: tuple[int, ...]
    accepted: int
    token: int
    kind: str
    p: tuple[float, ...]
    q: tuple[float, ...]
    coins: tuple[float, ...]
    top: tuple[tuple[Candidate, ...], ...] = ()
    draft_ms: float = 0.0
    pass_ms: float = 0.0
    other_ms: float = 0.0

    @property
    def emitted(self) -> tuple[int, ...]:
        """What the round adds to the text: at least one token, at most len(draft) + 1."""
        return (*self.draft[: self.accepted], self.token)


def generate(
    pair: Pair,
    draft: str | Draft | None,
    prompt: Sequence[int],
    gamma: int,
    max_tokens: int,
    *,
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
    seed: int = 0,
    clock: Callable[[], float] | None = None,
    target: Target | None = None,
    top: int = SHOWN,
) -> Iterator[Step]:
    """Rounds after `prompt` until `max_tokens` are there; gamma 0 or no draft: plain decoding, a token a round.

    The last round may emit past `max_tokens`: cut the text, as `sim.decode` does. `draft` and `target` may be objects
    made before (`pair.draft`, `pair.target`), with what they have already read; their temperature and cuts must be the
    ones given here. `clock` returns seconds. `top`: how many candidates a Step shows at each position.

    ValueError at the call, not at the first step, for an empty prompt or one that leaves too little room in the
    context (`Pair.fit` makes one that does), and for bad arguments.
    """
    length, budget, shown = whole("gamma", gamma, 0, 16), whole("max_tokens", max_tokens, 0), whole("top", top, 0, 16)
    sampler = Sampler(float(temperature), int(top_k), float(top_p))
    text = list(tokens_of("prompt", prompt, pair.vocab))
    if not text:
        raise ValueError("prompt is empty; it must have at least one token (Pair.fit starts a text with a new line)")
    if draft is None:
        length = 0
    most = pair.context - budget - length
    if len(text) > most:
        raise ValueError(
            f"prompt has {len(text)} tokens; it must have at most {most}: the context of {pair.context} less "
            f"max_tokens {budget} and gamma {length} (Pair.fit shortens one)"
        )
    if target is None:
        target = pair.target(sampler.temperature, sampler.top_k, sampler.top_p)
    if isinstance(draft, str):
        draft = pair.draft(draft, target, sampler.temperature, sampler.top_k, sampler.top_p)
    for name, model in (("target", target), ("draft", draft)):
        if model is not None and model.sampler != sampler:
            raise ValueError(f"{name} was made with {model.sampler}; it must be {sampler}, as given here")
    uniform = Random(whole("seed", seed, 0)).random
    return _rounds(target, draft if length else None, text, length, budget, uniform, clock or _no_clock, shown)


def _no_clock() -> float:
    return 0.0


def _rounds(
    target: Target,
    draft: Draft | None,
    text: list[int],
    gamma: int,
    budget: int,
    uniform: Callable[[], float],
    clock: Callable[[], float],
    shown: int,
) -> Iterator[Step]:
    """The steps; `text` grows by what each emits."""
    end = len(text) + budget
    while len(text) < end:
        started = clock()
        q_rows: list[Row] = []
        guesses: list[int] = []
        while draft is not None and len(guesses) < gamma:
            q_row = draft.row(text)
            if q_row is None:
                break
            q_rows.append(q_row)
            guesses.append(draw(q_row, uniform()))
            text.append(guesses[-1])
        drafted = clock()
        p_rows = target.rows(text, len(guesses) + 1)
        passed = clock()
        coins = tuple(uniform() for _ in range(len(guesses) + 1))
        p = [float(p_rows[k, token]) for k, token in enumerate(guesses)]
        q = [float(q_row[token]) for q_row, token in zip(q_rows, guesses, strict=True)]
        kept = 0
        while kept < len(guesses) and coins[kept] * q[kept] < p[kept]:
            kept += 1
        law = replacement(p_rows[kept], q_rows[kept]) if kept < len(guesses) else p_rows[kept]
        token = draw(law, coins[-1])
        del text[len(text) - len(guesses) + kept :]
        text.append(token)
        p.append(float(p_rows[kept, token]))
        q.append(float(q_rows[kept][token]) if kept < len(guesses) else 0.0)
        best = tuple(_top(p_rows[k], q_rows[k] if k < len(q_rows) else None, shown) for k in range(kept + 1))
        yield Step(
            draft=tuple(guesses),
            accepted=kept,
            token=token,
            kind="correction" if kept < len(guesses) else "bonus",
            p=tuple(p),
            q=tuple(q),
            coins=coins,
            top=best if shown else (),
            draft_ms=(drafted - started) * 1e3,
            pass_ms=(passed - drafted) * 1e3,
            other_ms=(clock() - passed) * 1e3,
        )


def _top(p: Row, q: Row | None, count: int) -> tuple[Candidate, ...]:
    """The `count` likeliest tokens of p, the smaller of equals first; never one of probability 0."""
    if not count:
        return ()
    likely = np.argpartition(p, -count)[-count:].tolist()
    likely.sort(key=lambda token: (-p[token], token))
    return tuple((token, float(p[token]), None if q is None else float(q[token])) for token in likely if p[token] > 0.0)


def recorded(pair: Pair, step: Step, digits: int = 4) -> dict[str, Any]:
    """A Step as JSON holds it, tokens as text: what docs/data/traces keeps and the page shows, live and replayed.

    {"draft": [text…], "accepted": n, "token": text, "p": […], "q": […], "coins": […],
     "top": [[[text, p, q or null]…]…]}: as in `Step`, kind left out ("bonus" iff accepted is len(draft)). Numbers have
    `digits` significant digits; where that would turn the test of a draft around, those three keep all of theirs.
    """
    p, q, coins = (list(map(_shortened(digits), values)) for values in (step.p, step.q, step.coins))
    for k in range(len(step.draft)):
        if (coins[k] * q[k] < p[k]) != (step.coins[k] * step.q[k] < step.p[k]):
            p[k], q[k], coins[k] = step.p[k], step.q[k], step.coins[k]
    short = _shortened(digits)
    return {
        "draft": [pair.text((token,)) for token in step.draft],
        "accepted": step.accepted,
        "token": pair.text((step.token,)),
        "p": p,
        "q": q,
        "coins": coins,
        "top": [
            [[pair.text((token,)), short(a), None if b is None else short(b)] for token, a, b in position]
            for position in step.top
        ],
    }


def _shortened(digits: int) -> Callable[[float], float]:
    return lambda value: float(f"{value:.{digits}g}")
