"""Draft a few, verify in one pass: rounds as token strips, two ways of decoding on one time axis, and the best length.

Which token is kept comes from `sim.draw_rounds`, every time and every expectation from `sim` as well; the words in the
cells are only there to be read. Two stops of `step` make a round: drafts stand hollow, then the verdict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sim import (
    break_even_alpha,
    engine_acceptance_rate,
    expected_tokens,
    optimal_gamma,
    passes_for,
    round_time,
    share_discarded,
    speedup,
)
from sim.beside import PublishedSpeedup, published_speedups
from widgets._kit.chart import Curve, Level, Mark, Now, Points, Wall, linear, plot
from widgets._kit.lanes import Lane, lanes
from widgets._kit.params import Slider, Step, Toggle
from widgets._kit.rounds import KEY, TEXT, TIME, factor, plain_lane, rounds_in_words, strip, tokens_in, two_ways
from widgets._kit.text import brief, number, percent, times
from widgets._kit.view import Row, Table, Token, Verdict, View

TITLE = "Draft a few, verify in one pass"

ROUNDS = 6
LONGEST = 16

PARAMS = {
    "on": Toggle("Speculation", True),
    "gamma": Slider("Draft length", 1, 8, 1, 4, unit="tokens", one="token", extend=LONGEST),
    "alpha": Slider(
        "Accept rate",
        0,
        1,
        0.01,
        0.8,
        help="The chance that the target keeps a drafted token, if it kept those before it.",
    ),
    "c": Slider("Draft cost", 0, 0.5, 0.01, 0.17, help="The time of one draft step, in passes of the target."),
    "step": Step("Step through", 2 * ROUNDS, 700, 2 * ROUNDS, help="Two stops a round: the drafts, then the verdict."),
    "seed": Slider("Sample", 1, 20, 1, 17, help="Another draw with the same chances."),
}
NEEDS: tuple[str, ...] = ()
DATA: tuple[str, ...] = ()
SOURCE = (
    "Computed for one sequence, each drafted token kept with the same chance, and a verifying pass that costs one plain"
    " pass: Leviathan, Kalman and Matias 2023, https://arxiv.org/abs/2211.17192. The rounds shown are a seeded sample;"
    " their words are made up."
)


def view(*, data: Mapping[str, Any], on: bool, gamma: int, alpha: float, c: float, step: int, seed: int) -> View:
    """One state of the figure."""
    best = optimal_gamma(alpha, c, max_gamma=LONGEST)
    curve = tuple((length, speedup(alpha, length, c)) for length in range(LONGEST + 1))
    if not on:
        return _plain(alpha, c, step, curve, best)
    rounds, beside = rounds_in_words(alpha, gamma, ROUNDS, seed), published_speedups(alpha, c)
    shown, waiting = rounds[: step // 2], rounds[step // 2 : step // 2 + step % 2]
    tau, faster = expected_tokens(alpha, gamma), speedup(alpha, gamma, c)
    written = tokens_in(shown)
    return View(
        summary=_summary(alpha, gamma, written, len(shown)),
        readout=_readout(alpha, gamma, faster, best, written, len(shown)),
        svg=two_ways(rounds, shown, bool(waiting), gamma, c) + _curve(curve, gamma, best, beside),
        table=_table(curve, alpha, c),
        tokens=strip(shown, waiting),
        verdict=_verdict(alpha, gamma, c, faster, best),
        title=_title(round_time(gamma, c), tau),
        note=_note(beside, gamma),
    )


def _title(cost: float, tau: float) -> str:
    passes = "1 pass" if cost == 1 else f"{brief(cost)} passes"
    return f"A round costs {passes} and yields {number(tau, '.2f')} tokens on average"


def _note(beside: Sequence[PublishedSpeedup], gamma: int) -> str | None:
    """How far the formula is off from the published row nearest in length, of those near this rate and cost."""
    if not beside:
        return None
    row = min(beside, key=lambda item: (abs(item.gamma - gamma), item.id))
    word = "low" if row.error < 0 else "high"
    return (
        "Squares: speed-ups that Leviathan et al. measured near this accept rate and draft cost. At draft length"
        f" {number(row.gamma)} they had {times(row.speedup, 1)}; the model is off by {percent(abs(row.error))}, too"
        f" {word}."
    )


def _plain(alpha: float, c: float, step: int, curve: tuple[tuple[int, float], ...], best: int) -> View:
    """Speculation off: every pass writes one token, and nothing is drafted."""
    passes = passes_for(100, alpha, 0)
    axis = linear(2 * ROUNDS, TIME)
    rows = (
        plain_lane(step),
        Lane("Speculation", (), aside="off"),
    )
    return View(
        summary="Without speculation every pass of the target writes one token, so 100 tokens take 100 passes.",
        readout=(
            Row("tokens", "tokens per pass", expected_tokens(alpha, 0), "", number(expected_tokens(alpha, 0), ".2f")),
            Row("mean", "per pass in the passes shown", 1 if step else None, "", number(1, ".2f") if step else _NONE),
            Row("passes", "passes for 100 tokens", passes, "", number(passes, ".0f")),
            Row("speedup", "speed-up", curve[0][1], "", factor(curve[0][1])),
            Row("best", "best draft length, if it were on", best, "", _length(best)),
            Row("discarded", "of drafted tokens thrown away", None, "", _NONE),
            Row("engine_rate", "what engines print as “acceptance rate”", None, "", _NONE),
        ),
        svg=lanes("Plain decoding on a time axis: every token takes one pass", axis, rows, key=KEY)
        + _curve(curve, 0, best, ()),
        table=_table(curve, alpha, c),
        tokens=tuple(Token(TEXT[place], "target", place + 1) for place in range(step)),
        verdict=Verdict("info", "Plain decoding: one pass, one token. Switch speculation on to see what changes."),
        title="One pass, one token",
    )


_NONE = "–"


def _length(best: int) -> str:
    return number(best) if best else "none"


def _readout(alpha: float, gamma: int, faster: float, best: int, written: int, shown: int) -> tuple[Row, ...]:
    tau, passes = expected_tokens(alpha, gamma), passes_for(100, alpha, gamma)
    waste, rate = share_discarded(alpha, gamma), engine_acceptance_rate(alpha, gamma)
    mean = written / shown if shown else None
    sample = "in the round shown" if shown == 1 else f"in the {number(shown)} rounds shown" if shown else "so far"
    return (
        Row("tokens", "tokens per verification, expected", tau, "", number(tau, ".2f")),
        Row("mean", f"tokens per verification {sample}", mean, "", _NONE if mean is None else number(mean, ".2f")),
        Row("passes", "passes for 100 tokens", passes, "", number(passes, ".0f")),
        Row("speedup", "speed-up", faster, "", factor(faster)),
        Row("best", f"best draft length up to {number(LONGEST)}", best, "", _length(best)),
        Row("discarded", "of drafted tokens thrown away", waste, "", percent(waste)),
        Row("engine_rate", "what engines print as “acceptance rate”", rate, "", number(rate, ".2f")),
    )


def _curve(curve: tuple[tuple[int, float], ...], gamma: int, best: int, beside: Sequence[PublishedSpeedup]) -> str:
    """Speed-up of every length, the best marked at the foot, the one that is set marked on the line."""
    x = linear(LONGEST, "draft length, in tokens", ticks=8)
    most = max([value for _, value in curve] + [row.speedup for row in beside])
    y = linear(most * 1.12, "speed-up", ticks=5, show=lambda value: number(value) + "×")
    now, top = curve[gamma][1], curve[best][1]
    label = f"best: {number(best)}" if best else "best: none"
    tall = y.hi > 6  # then the 1× line is near the foot, and the label goes up to the curve
    marks: list[Mark] = [
        Level(1.0, "1×"),
        Wall(best, "" if tall or gamma == best else label, "ink", top),
        Curve(curve, "muted", dots=True),
    ]
    if beside:
        places = tuple((row.gamma, row.speedup) for row in beside)
        marks.append(Points(places, "published", "ink", shape="square"))
    if gamma != best:
        marks.append(Now(best, top, label if tall else "", "ink", hollow=True, side="deep"))
    side = "below" if beside else "above"  # squares mostly lie above the line
    marks.append(Now(gamma, now, f"{factor(now)}, best" if gamma == best else factor(now), "ink", side=side))
    return plot(
        f"Speed-up against draft length: {factor(now)} at {number(gamma)}, at most {factor(top)} at {number(best)}",
        x,
        y,
        marks,
        height=230,
    )


def _table(curve: tuple[tuple[int, float], ...], alpha: float, c: float) -> Table:
    rows = tuple(
        (
            number(length),
            number(expected_tokens(alpha, length), ".2f"),
            number(passes_for(100, alpha, length), ".0f"),
            number(round_time(length, c), ".2f"),
            times(value, 2),
        )
        for length, value in curve
    )
    head = ("draft length", "tokens per verification", "passes for 100 tokens", "time of a round, passes", "speed-up")
    return Table(f"Every draft length at accept rate {number(alpha)} and draft cost {number(c)}", head, rows)


def _summary(alpha: float, gamma: int, written: int, shown: int) -> str:
    drafted = "1 token" if gamma == 1 else f"{number(gamma)} tokens"
    text = (
        f"With {drafted} drafted at an accept rate of {number(alpha)}, a verification yields"
        f" {number(expected_tokens(alpha, gamma), '.2f')} tokens on average, so 100 tokens take about"
        f" {number(passes_for(100, alpha, gamma), '.0f')} passes of the target instead of 100."
    )
    if not shown:
        return text
    rounds = "The round" if shown == 1 else f"The {number(shown)} rounds"
    each = "" if shown == 1 else f", {number(written / shown, '.2f')} each"
    what = "a sample, not the average" if 0 < alpha < 1 else "no other number is possible at this accept rate"
    many = "1 token" if written == 1 else f"{number(written)} tokens"
    return f"{text} {rounds} shown wrote {many}{each}: {what}."


def _verdict(alpha: float, gamma: int, c: float, faster: float, best: int) -> Verdict:
    length = "1 token" if best == 1 else f"{number(best)} tokens"
    if abs(faster - 1) <= 1e-9:
        more = f" The best length is {length}." if best else " No length does better."
        return Verdict("info", f"Nothing gained, nothing lost: this is exactly as fast as plain decoding.{more}")
    if abs(faster - 1) < 0.005:
        side = "faster" if faster > 1 else "slower"
        more = "" if best == gamma else f" The best length is {length}." if best else " No length pays."
        return Verdict("info", f"It makes no difference worth having: less than half a percent {side}.{more}")
    if faster < 1:
        slower = f"Do not use it here: it runs at {factor(faster)} the speed of plain decoding."
        if best:
            top = factor(speedup(alpha, best, c))
            return Verdict("loss", f"{slower} At this accept rate and cost, drafting {length} would give {top}.")
        return Verdict("loss", f"{slower} No length pays while the accept rate is not above the draft cost.")
    edge = break_even_alpha(gamma, c)
    floor = ""
    if c == 0:
        floor = " Drafts that cost nothing pay at any accept rate above 0."
    elif edge is not None:
        floor = f" At the length set, it stops paying below an accept rate of {number(edge, '.2f')}."
    if gamma == best:
        return Verdict("gain", f"It pays, and no other length up to {number(LONGEST)} pays more.{floor}")
    top = factor(speedup(alpha, best, c))
    return Verdict("gain", f"It pays. The best length up to {number(LONGEST)} is {length}, at {top}.{floor}")
