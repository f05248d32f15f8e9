"""The sampler: why checking does not change the answer. Two distributions, one round slowly, then many rounds counted.

Works in steps: the exact picture and the first draws at once, the rest while the reader looks. Every rule is
`sim`'s, drawn from the very parts whose law is computed beside the draws.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Any

from sim import (
    RULES,
    Fit,
    chi_square,
    greedy_token,
    noise_floor,
    overlap,
    pick_token,
    reshaped,
    total_variation,
)
from sim.sampling import Position, position
from widgets._kit.columns import Column, Part, Tick, columns
from widgets._kit.drawing import Axis, linear
from widgets._kit.lanes import Lane, Segment, lanes
from widgets._kit.params import Bars, Choice, Slider, Step
from widgets._kit.text import number, percent
from widgets._kit.view import Progress, Row, Table, Verdict, View

TITLE = "The sampler: draft, check, redraw"

WORDS = ("mat", "floor", "roof", "chair", "bed")
BLOCK = 2500
"""Rounds between two yields: about 15 ms in the browser."""

_SHORT = {
    "lossless": "✓ exact: keep p/q, redraw the rest",
    "match": "✓ exact: keep what p draws too",
    "lenient": "≈ lossy: lenient, q times 0.8",
    "typical": "≈ lossy: typical acceptance",
    "threshold": "≈ lossy: accept thresholds",
    "redraw_from_p": "✗ mistake: redraw from p",
    "redraw_greedy": "✗ mistake: redraw the likeliest",
    "greedy_draft_softmax_ratio": "✗ mistake: greedy draft, soft check",
    "absolute_residual": "✗ mistake: residual of |p − q|",
    "swapped_ratio": "✗ mistake: ratio upside down",
    "shared_uniform": "✗ mistake: one number used twice",
    "untruncated_ratio": "✗ mistake: cut missing in the check",
    "temperature_on_draft_only": "✗ mistake: one temperature missing",
    "accept_always": "✗ mistake: keep every draft",
}

_SETTINGS = {"lenient": {"lenience": 0.8}}

PARAMS = {
    "p": Bars("Target", dict(zip(WORDS, (0.4, 0.25, 0.2, 0.1, 0.05), strict=True)), tone="target"),
    "q": Bars("Draft", dict(zip(WORDS, (0.5, 0.1, 0.25, 0.05, 0.1), strict=True)), tone="draft"),
    "rule": Choice("Rule", _SHORT, "lossless", help="✓ keeps p, ≈ moves away from it on purpose, ✗ by mistake."),
    "step": Step("One round, slowly", 3, 1400, 3),
    "draws": Choice(
        "Rounds to count", {"100": "100", "1000": "1,000", "10000": "10,000", "100000": "100,000"}, "100000"
    ),
    "seed": Slider("Sample", 1, 20, 1, 5, help="Other random numbers, same chances."),
    "temperature": Slider("Temperature", 0, 2, 0.1, 1, help="0 is greedy."),
    "top_k": Slider("Top-k", 1, 5, 1, 5, unit="words", one="word"),
    "top_p": Slider("Top-p", 0.1, 1, 0.05, 1, help="All three reshape both rows; p and q are what is left after them."),
}
NEEDS: tuple[str, ...] = ()
DATA: tuple[str, ...] = ()
SOURCE = (
    "Rule and residual: Leviathan, Kalman and Matias 2023, https://arxiv.org/abs/2211.17192. Laws are summed exactly,"
    " over every draft and both outcomes; draws are seeded; the p‑value is Pearson’s chi-square test."
)


@dataclass(frozen=True)
class _Count:
    """Rounds counted so far: how often each word came out, and how many drafts were kept."""

    emitted: tuple[int, ...]
    kept: int

    @property
    def rounds(self) -> int:
        return int(math.fsum(self.emitted))

    def plus(self, other: _Count) -> _Count:
        return _Count(tuple(a + b for a, b in zip(self.emitted, other.emitted, strict=True)), self.kept + other.kept)


@dataclass(frozen=True)
class _Rows:
    """What one state is about: both rows after reshaping, the rule's parts, and its exact law."""

    p: tuple[float, ...]
    q: tuple[float, ...]
    rule: str
    parts: Position
    law: tuple[float, ...]

    @property
    def off(self) -> float:
        """How far the rule's law is from p; rounding is nothing."""
        found = total_variation(self.law, self.p)
        return found if found > 1e-12 else 0.0


def steps(
    *,
    data: Mapping[str, Any],
    p: tuple[float, ...],
    q: tuple[float, ...],
    rule: str,
    step: int,
    draws: str,
    seed: int,
    temperature: float,
    top_k: int,
    top_p: float,
) -> Iterator[Progress | View]:
    """One state of the figure: the picture with the first draws at once, then with all of them."""
    target, draft = (reshaped(row, temperature, top_k, top_p) for row in (p, q))
    parts = position(target, draft, rule, **_SETTINGS.get(rule, {}))
    rows = _Rows(target, draft, rule, parts, parts.law)
    greedy, wanted = temperature <= 0, int(draws)
    told = _round(rows, step, seed)
    total = _Count((0,) * len(WORDS), 0)
    for start in range(0, wanted, BLOCK):
        fresh = _block.cache_info().misses
        total = total.plus(_block(target, draft, rule, seed, start, min(BLOCK, wanted - start)))
        if start == 0 and wanted > BLOCK:
            yield _view(rows, total, told, greedy)
        elif _block.cache_info().misses > fresh:  # what was drawn a moment ago takes no time
            yield Progress(total.rounds / wanted, "Drawing…")
    yield _view(rows, total, told, greedy)


@lru_cache(maxsize=256)
def _block(p: tuple[float, ...], q: tuple[float, ...], rule: str, seed: int, start: int, size: int) -> _Count:
    """`size` rounds, drawn one by one as an engine would: draft, check, and redraw where the check fails.

    The same chances in every round, so the drafts of one word may be checked one after the other.
    """
    parts = position(p, q, rule, **_SETTINGS.get(rule, {}))
    chance = Random(f"{seed}/{start}")
    uniform, words = chance.random, range(len(p))
    drafts = chance.choices(words, weights=parts.drafted, k=size)
    emitted, kept = [0] * len(p), 0
    for word, accept in enumerate(parts.accept):
        times = drafts.count(word)
        stay = [uniform() < accept for _ in range(times)].count(True)
        emitted[word] += stay
        kept += stay
        if stay < times:
            again = chance.choices(words, weights=parts.replacement(word), k=times - stay)
            for other in words:
                emitted[other] += again.count(other)
    return _Count(tuple(emitted), kept)


def _round(rows: _Rows, step: int, seed: int) -> tuple[str, str]:
    """One round up to `step`: its picture, and its story in words."""
    chance = Random(f"one round {seed}")
    first, second, third = chance.random(), chance.random(), chance.random()
    drafted = pick_token(rows.parts.drafted, first)
    share = rows.parts.accept[drafted]
    kept = second < share
    again = rows.parts.replacement(drafted) if not kept else None
    word = WORDS[drafted]
    out = word if again is None else WORDS[pick_token(again, third)]
    strips = [
        Lane(
            "1 Draft: a word from q",
            _strip(rows.parts.drafted, "draft"),
            aside=f"{number(first, '.2f')} draws {word}" if step >= 1 else "",
            needle=first if step >= 1 else None,
        ),
        Lane(
            f"2 Check: keep {word} or not" if step >= 1 else "2 Check: keep it or not",
            _check(share) if step >= 1 else (),
            aside=f"{number(second, '.2f')}: {'✓ kept' if kept else '✗ rejected'}" if step >= 2 else "",
            needle=second if step >= 2 else None,
        ),
        Lane(
            "3 Redraw: from the rest" if rows.rule == "lossless" else "3 Redraw",
            _strip(again, "target") if again is not None and step >= 2 else (),
            aside="" if step < 3 else "not needed" if again is None else f"{number(third, '.2f')} draws {out}",
            needle=third if again is not None and step >= 3 else None,
        ),
    ]
    label = "One round as three strips from 0 to 1, each with the number drawn on it"
    axis = Axis(0.0, 1.0, (0.0, 0.25, 0.5, 0.75, 1.0), "a random number from 0 to 1")
    story = _story(rows, step, word, drafted, (share, second), out if not kept else "")
    return lanes(label, axis, strips, stepped=True), story


def _strip(row: tuple[float, ...], tone: str) -> tuple[Segment, ...]:
    """A row laid end to end; names only where a narrow screen has room for them."""
    found, start = [], 0.0
    for word, share in zip(WORDS, row, strict=True):
        if share > 0.0:
            found.append(Segment(start, share, tone, text=word if share * 300 > 8 * len(word) + 6 else ""))
        start += share
    return tuple(found)


def _check(share: float) -> tuple[Segment, ...]:
    keep = Segment(0.0, share, "accepted", text="keep" if share > 0.16 else "")
    reject = Segment(share, 1.0 - share, "rejected", "ghost", text="reject" if share < 0.8 else "")
    return tuple(part for part in (keep, reject) if part.width > 0.0)


def _story(rows: _Rows, step: int, word: str, drafted: int, check: tuple[float, float], redrawn: str) -> str:
    share, drawn = check
    if step == 0:
        return "Nothing has been drawn yet. Step on: first the draft draws a word."
    text = f"The draft draws {word}."
    if step == 1:
        return f"{text} Whether it stays is a question of chance: {percent(share)} here."
    p, q = number(rows.p[drafted], ".2f"), number(rows.q[drafted], ".2f")
    if rows.rule == "lossless":
        why = f"The target wants it no less ({p} against {q})" if share >= 1 else f"p/q is {p}/{q}"
        text += f" {why}, so it stays with chance {number(share, '.2f')}."
    else:
        text += f" Under this rule it stays with chance {number(share, '.2f')} (p is {p}, q is {q})."
    if not redrawn:
        return f"{text} The number drawn is {number(drawn, '.2f')}: {word} is kept."
    text += f" The number drawn is {number(drawn, '.2f')}: {word} is rejected."
    return text if step == 2 else f"{text} The redraw gives {redrawn}."


def _view(rows: _Rows, count: _Count, told: tuple[str, str], greedy: bool) -> View:
    drawn = tuple(n / count.rounds for n in count.emitted)
    fit = chi_square(count.emitted, rows.p)
    strip, story = told
    top = max(*rows.p, *rows.q, *drawn, *rows.law)
    axis = linear(min(1.0, top * 1.04), ticks=5, snug=True)
    note = "At temperature 0 nothing is left to chance: the sample makes no difference." if greedy else None
    return View(
        summary=story,
        readout=_readout(rows, count, drawn, fit),
        svg=_shared(rows, axis) + strip + _counted(rows, count, drawn, axis),
        table=_table(rows, count, drawn, fit),
        verdict=_verdict(rows, count, fit),
        title=_title(rows),
        note=note,
    )


def _shared(rows: _Rows, axis: Axis) -> str:
    """What both rows share, what p has more of, what q has more of."""
    items = []
    for word, p, q in zip(WORDS, rows.p, rows.q, strict=True):
        both = min(p, q)
        kept = Part(both, "accepted", text=number(both, ".2f"))
        lacks = Part(p - q, "target", "ghost") if p > q else Part(q - p, "rejected", "struck")
        gap, tone = ("+" + number(p - q, ".2f"), "target") if p > q else ("−" + number(q - p, ".2f"), "rejected")
        items.append(Column(word, (kept, lacks), notes=((gap, tone) if abs(p - q) > 1e-12 else ("0", "muted"),)))
    key = (("solid", "accepted", "✓ kept"), ("ghost", "target", "↻ missing"), ("struck", "rejected", "✗ too much"))
    shared = percent(overlap(rows.p, rows.q))
    label = f"Overlap of target and draft: {shared} is shared, the rest is missing or too much"
    return columns(label, axis, items, key=key, height=300)


def _counted(rows: _Rows, count: _Count, drawn: tuple[float, ...], axis: Axis) -> str:
    """The shares that came out, with p and the rule's law marked."""
    items = []
    for word, p, law, share in zip(WORDS, rows.p, rows.law, drawn, strict=True):
        ticks = [Tick(p, "target")]
        if rows.off:
            ticks.insert(0, Tick(law, "ink", dashed=True))
        error = _error(p, count.rounds)
        inside = abs(share - p) <= 3 * error + 1e-12
        sign = "✓" if inside else "✗"
        note = (f"{sign}{_points(share - p)}", "accepted" if inside else "rejected")
        items.append(Column(word, (Part(share, "memory", text=number(share, ".3f")),), tuple(ticks), (note,)))
    key = [("solid", "memory", "drawn"), ("tick", "target", "p")]
    if rows.off:
        key.append(("dashed", "ink", "this rule’s law"))
    rounds = number(count.rounds, ",d")
    return columns(f"Shares of the words in {rounds} rounds, with p marked on each", axis, items, key=key, height=300)


def _error(p: float, rounds: int) -> float:
    """The standard error of a share: how far an honest one strays."""
    return math.sqrt(p * (1.0 - p) / rounds)


def _points(x: float) -> str:
    """A difference in percentage points, with its sign."""
    text = number(abs(100 * x), ".2f" if abs(x) < 0.0995 else ".1f")
    return ("−" if x < 0 else "+") + text if text.strip("0.") else text


def _share(x: float) -> str:
    """A small share as a percentage that keeps its digits."""
    return "0%" if x <= 0 else percent(x, 2 if x < 0.0995 else 1)


def _p_value(fit: Fit) -> str:
    if fit.p_value is None:
        return "–"
    return "<0.0001" if fit.p_value < 0.0001 else number(fit.p_value, ".4f" if fit.p_value < 0.01 else ".2f")


def _readout(rows: _Rows, count: _Count, drawn: tuple[float, ...], fit: Fit) -> tuple[Row, ...]:
    away, floor = total_variation(drawn, rows.p), noise_floor(rows.p, count.rounds)
    rounds = number(count.rounds, ",d")
    return (
        Row("accepted", "of drafts kept, exactly", rows.parts.acceptance, "", percent(rows.parts.acceptance, 1)),
        Row("off", "of this rule’s law in the wrong place", rows.off, "", _share(rows.off)),
        Row("away", f"of {rounds} drawn words in the wrong place", away, "", _share(away)),
        Row("noise", "to be expected from noise alone", floor, "", _share(floor)),
        Row("p_value", "p‑value: would p stray as far?", fit.p_value, "", _p_value(fit)),
    )


def _table(rows: _Rows, count: _Count, drawn: tuple[float, ...], fit: Fit) -> Table:
    body = []
    for place, word in enumerate(WORDS):
        p, q, share = rows.p[place], rows.q[place], drawn[place]
        body.append(
            (
                word,
                *(number(x, ".3f") for x in (p, q, min(p, q), max(0.0, p - q), max(0.0, q - p), rows.law[place])),
                number(count.emitted[place], ",d"),
                _points(share - p),
                "±" + number(300 * _error(p, count.rounds), ".2f"),
            )
        )
    missing = 1.0 - overlap(rows.p, rows.q)
    together = (
        *("together", "1", "1", number(1 - missing, ".3f"), number(missing, ".3f"), number(missing, ".3f")),
        f"off by {_share(rows.off)}",
        number(count.rounds, ",d"),
        _share(total_variation(drawn, rows.p)),
        _share(noise_floor(rows.p, count.rounds)),
    )
    kept = percent(count.kept / count.rounds, 1)
    test = (
        *("chi-square", "", "", percent(rows.parts.acceptance, 1), f"{kept} drawn", "", _share(rows.off)),
        number(fit.statistic, ".2f"),
        f"{number(fit.degrees)} degrees",
        f"p‑value {_p_value(fit)}",
    )
    return Table(
        "Each word: both rows, what is kept, missing and too much, the rule’s exact law, and the draws",
        ("word", "p", "q", "kept", "missing", "too much", "law", "drawn", "off p, points", "noise, 3 errors"),
        (*body, together, test),
    )


def _title(rows: _Rows) -> str:
    if rows.off:
        worst = greedy_token([abs(a - b) for a, b in zip(rows.law, rows.p, strict=True)])
        gap = rows.law[worst] - rows.p[worst]
        way = "too often" if gap > 0 else "too rarely"
        return f"{WORDS[worst]} comes out {_points(abs(gap)).lstrip('+')} points {way}"
    share = rows.parts.acceptance
    kept = percent(share, 0 if abs(100 * share - int(100 * share + 0.5)) < 0.05 else 1)
    if rows.parts.acceptance >= 1 - 1e-12:
        return "Everything is kept, and what comes out is p"
    return f"{kept} of drafts are kept, and what comes out is p all the same"


def _verdict(rows: _Rows, count: _Count, fit: Fit) -> Verdict:
    rule, rounds = RULES[rows.rule], number(count.rounds, ",d")
    test = (
        "there is nothing left to chance"
        if fit.p_value is None
        else f"an honest sampler almost never strays this far (p‑value {_p_value(fit)})"
        if fit.p_value < 0.0001
        else f"an honest sampler strays this far or further in {percent(fit.p_value, 1)} of its samples"
    )
    if rule.lossless:
        if fit.p_value is not None and fit.p_value < 0.001:
            return Verdict("care", f"The law is exact, and this sample is a rare one: {test}. Take another sample.")
        return Verdict("gain", f"The law is p, whatever the draft. {rounds} rounds agree: {test}.")
    kind, lead = ("care", "Lossy on purpose") if rule.kind == "lossy" else ("loss", "A mistake")
    if not rows.off:
        return Verdict("info", f"{lead}. {rule.sentence} At these settings it does no harm: its law happens to be p.")
    seen = fit.p_value is not None and fit.p_value < 0.001
    shown = f"{rounds} rounds show it: {test}." if seen else f"{rounds} rounds cannot show it yet: {test}."
    exactly = f"Exactly {_share(rows.off)} of its law is in the wrong place."
    return Verdict(kind, f"{lead}. {rule.sentence} {exactly} {shown}")
