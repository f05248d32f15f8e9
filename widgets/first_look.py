"""A first look for the home page: the same tokens written one by one and in rounds, with the two things that decide.

A small cut of `draft_verify`: the draft length stands still, and there is one sample. Every number comes from `sim`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sim import break_even_alpha, expected_tokens, speedup
from widgets._kit.params import Slider
from widgets._kit.rounds import factor, rounds_in_words, strip, tokens_in, two_ways
from widgets._kit.text import brief, number, percent
from widgets._kit.view import Link, Row, Table, Verdict, View

TITLE = "Guess four, check them in one run"

GAMMA = 4
_ROUNDS = 4
_SEED = 17

PARAMS = {
    "alpha": Slider(
        "How often a guess is right",
        0,
        1,
        0.05,
        0.8,
        help="The chance that the large model keeps a guess, if it kept those before it.",
    ),
    "c": Slider(
        "What a guess costs",
        0,
        0.5,
        0.01,
        0.17,
        help="The time to make one guess, in runs of the large model.",
    ),
}
NEEDS: tuple[str, ...] = ()
DATA: tuple[str, ...] = ()
BAKED = ("alpha", "c")
SOURCE = (
    "Computed for one reader at a time and a checking run that costs what a plain one costs: Leviathan, Kalman and"
    " Matias 2023, https://arxiv.org/abs/2211.17192. The rounds are a seeded sample; their words are made up."
)


def view(*, data: Mapping[str, Any], alpha: float, c: float) -> View:
    """One state of the figure."""
    rounds = rounds_in_words(alpha, GAMMA, _ROUNDS, _SEED)
    tau, faster = expected_tokens(alpha, GAMMA), speedup(alpha, GAMMA, c)
    count = tokens_in(rounds)
    return View(
        summary=f"Guessing {number(GAMMA)} tokens at a time, right {percent(alpha)} of the time, a run of the large"
        f" model yields {number(tau, '.2f')} tokens on average. With guesses that cost {brief(c)} runs each, that is"
        f" {factor(faster)} the speed of one token a run.",
        readout=(
            Row("tokens", "tokens a run, on average", tau, "", number(tau, ".2f")),
            Row("speedup", "the speed of plain decoding", faster, "", factor(faster)),
        ),
        svg=two_ways(rounds, rounds, False, GAMMA, c),
        table=_table(alpha, c),
        tokens=strip(rounds),
        verdict=_verdict(alpha, c, faster),
        title=f"{number(_ROUNDS)} runs of the large model write {number(count)} tokens here",
        links=(
            Link("All the controls, in node 2", "lessons/02-draft-and-verify/", "draft_verify", _carried(alpha, c)),
        ),
    )


def _carried(alpha: float, c: float) -> tuple[tuple[str, str], ...]:
    return (("alpha", brief(alpha)), ("c", brief(c)))


def _verdict(alpha: float, c: float, faster: float) -> Verdict:
    if abs(faster - 1) < 0.005:
        return Verdict("info", "Nothing gained and nothing lost.")
    if faster < 1:
        return Verdict("loss", "Slower than not guessing: the guesses cost more than they save. Do not use it here.")
    edge = break_even_alpha(GAMMA, c)
    if c == 0 or edge is None:
        return Verdict("gain", "Faster: guesses that cost nothing pay as soon as any of them is right.")
    return Verdict("gain", f"Faster, as long as more than {percent(edge)} of the guesses are right.")


def _table(alpha: float, c: float) -> Table:
    rates = sorted((*(rate for rate in (0.2, 0.4, 0.6, 0.8, 0.9, 1.0) if rate != alpha), alpha))
    rows = tuple(
        (percent(rate), number(expected_tokens(rate, GAMMA), ".2f"), factor(speedup(rate, GAMMA, c))) for rate in rates
    )
    head = ("guesses right", "tokens a run", "speed")
    return Table(f"{number(GAMMA)} guesses a round, each costing {brief(c)} runs of the large model", head, rows)
