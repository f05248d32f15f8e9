"""One number, many names: what is printed as length, mean or rate, in every other notation, with who prints it.

All conversions and the search for contradictions are `sim`'s. Positions count from 1 for the reader, as drafts do in
speech; engines label them from 0.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sim import (
    Metrics,
    contradictions,
    convert,
    drafted_from_tau,
    engine_acceptance_rate,
    expected_tokens,
    sglang_rate,
    share_discarded,
    survival_from_rates,
    tau_from_sglang_rate,
)
from widgets._kit.chart import Axis, Curve, Mark, Points, linear, plot
from widgets._kit.drawing import frame, rule, write
from widgets._kit.lanes import Lane, Segment, lanes
from widgets._kit.params import Choice, Slider, Text
from widgets._kit.text import count, number, percent
from widgets._kit.view import Row, Table, Verdict, View

TITLE = "One number, many names"

LONGEST = 16
_GIVEN = {
    "length": "tokens per pass, the extra one counted",
    "accepted": "accepted drafts per pass",
    "rate": "acceptance rate: accepted over drafted",
    "old": "SGLang’s accept rate before April 2026",
    "alpha": "accept rate of a single draft (alpha)",
    "positions": "acceptance by position",
    "pair": "a rate and a length of one run",
}
_USES = {"length": "Mean", "accepted": "Mean", "rate": "Rate", "old": "Rate", "alpha": "Rate"}

PARAMS = {
    "given": Choice("What you have", _GIVEN, "length"),
    "gamma": Slider("Draft length", 1, 8, 1, 4, unit="tokens", one="token", extend=LONGEST),
    "mean": Slider("Mean", 0, 9, 0.01, 3.36, help="The length or the number of accepted drafts, as printed."),
    "rate": Slider("Rate", 0, 1, 0.005, 0.59, help="As a fraction: 59% is 0.59."),
    "positions": Text(
        "Acceptance by position",
        "",
        300,
        1,
        help="As printed, the first draft first: shares of all rounds, falling. Only used when chosen above.",
        placeholder="0.739, 0.478, 0.261",
    ),
}
NEEDS: tuple[str, ...] = ()
DATA: tuple[str, ...] = ()
SOURCE = (
    "Computed for a chain of constant length. Who prints what: https://github.com/vllm-project/vllm/pull/17908,"
    " https://github.com/sgl-project/sglang/pull/23530 and https://github.com/ggml-org/llama.cpp/pull/24536."
)


@dataclass(frozen=True)
class _Read:
    """What the reader's numbers mean: all notations, or None and the reasons why they mean nothing."""

    all: Metrics | None
    survival: tuple[float, ...]
    wrong: tuple[str, ...]
    shown: str


def view(*, data: Mapping[str, Any], given: str, gamma: int, mean: float, rate: float, positions: str) -> View:
    """One state of the figure."""
    found = _read(given, gamma, mean, rate, positions)
    length = found.all.gamma if found.all else gamma
    names = _names(found.all)
    return View(
        summary=_summary(given, found),
        readout=_readout(found.all),
        svg=_mean_round(found.all, length) + _by_position(found, given, length) + _dictionary(names),
        table=Table(
            "Who prints it, how it is called there, and whether the extra token is counted in it",
            ("where", "called", "here", "extra token"),
            (*names, *_plain_rows(found.all)),
        ),
        verdict=_verdict(given, found, gamma, mean, rate),
        title=_title(found, length),
    )


def _read(given: str, gamma: int, mean: float, rate: float, positions: str) -> _Read:
    try:
        if given == "positions":
            return _from_positions(positions)
        if given == "pair":
            wrong = contradictions(gamma=gamma, rate=rate, tau=mean)
            return _whole(convert(gamma, tau=mean), f"a rate of {number(rate)} and {number(mean)} tokens", wrong)
        shown = f"“{_GIVEN[given]}”, {number(mean if _USES[given] == 'Mean' else rate)}"
        if given == "length":
            return _whole(convert(gamma, tau=mean), shown)
        if given == "accepted":
            return _whole(convert(gamma, accepted=mean), shown)
        if given == "rate":
            return _whole(convert(gamma, rate=rate), shown)
        if given == "old":
            return _whole(convert(gamma, tau=tau_from_sglang_rate(rate, gamma)), shown)
        return _whole(convert(gamma, tau=expected_tokens(rate, gamma)), shown)
    except ValueError:
        return _Read(None, (), (_impossible(given, gamma, mean, rate),), "")


def _impossible(given: str, gamma: int, mean: float, rate: float) -> str:
    drafts = count(gamma, "draft", "drafts")
    if given == "old":
        least = number(sglang_rate(1.0, gamma), ".3f")
        return f"{number(rate)} with {drafts}: this rate counts the extra token, so it never falls below {least}"
    if given == "accepted":
        return f"{number(mean)} accepted of {drafts}: not more can be accepted than was drafted"
    return f"{number(mean)} tokens per pass from {drafts}: it lies between 1 and {number(gamma + 1)}"


def _whole(all: Metrics, shown: str, wrong: tuple[str, ...] = ()) -> _Read:
    """With one mean only, the positions are those of a constant accept rate."""
    alpha = all.alpha if all.alpha is not None else 0.0
    return _Read(all, survival_from_rates((alpha,) * all.gamma), wrong, shown)


def _from_positions(text: str) -> _Read:
    words = [word for word in re.split(r"[\s,;()\[\]]+", text.strip()) if word]
    if not words:
        return _Read(None, (), ("type the shares above, such as 0.739, 0.478, 0.261",), "")
    if len(words) > LONGEST:
        return _Read(None, (), (f"{number(len(words))} numbers: at most {number(LONGEST)} positions are read",), "")
    shares = []
    for word in words:
        if not re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,9})?%?|\.[0-9]{1,9}%?", word):
            return _Read(None, (), (f"“{word[:20]}” is not a share such as 0.739 or 73.9%",), "")
        shares.append(float(word.rstrip("%")) / (100.0 if word.endswith("%") else 1.0))
    wrong = contradictions(survival=shares)
    if wrong:
        return _Read(None, tuple(shares), wrong, "")
    return _Read(convert(len(shares), survival=shares), tuple(shares), (), "the acceptance at each position")


def _readout(all: Metrics | None) -> tuple[Row, ...]:
    if all is None or all.rate is None or all.alpha is None:
        keys = (("tau", "tokens per pass"), ("accepted", "accepted drafts per pass"), ("rate", "accepted over drafted"),
                ("old", "the same, extra token on both sides"), ("alpha", "constant accept rate (alpha)"),
                ("discarded", "of all drafts are thrown away"))  # fmt: skip
        return tuple(Row(key, label, None, "", "–") for key, label in keys)
    old, gone = sglang_rate(all.tau, all.gamma), 1.0 - all.rate
    return (
        Row("tau", "tokens per pass", all.tau, "", number(all.tau, ".2f")),
        Row("accepted", "accepted drafts per pass", all.accepted, "", number(all.accepted, ".2f")),
        Row("rate", "accepted over drafted", all.rate, "", percent(all.rate, 1)),
        Row("old", "the same, extra token on both sides", old, "", percent(old, 1)),
        Row("alpha", "constant accept rate (alpha)", all.alpha, "", number(all.alpha, ".3f")),
        Row("discarded", "of all drafts are thrown away", gone, "", percent(gone, 1)),
    )


def _names(all: Metrics | None) -> tuple[tuple[str, str, str, str], ...]:
    """Where, called, value, extra token. Definitions: the log formats of each engine."""
    tau = accepted = rate = old = alpha = "–"
    if all is not None and all.rate is not None and all.alpha is not None:
        tau, accepted = number(all.tau, ".2f"), number(all.accepted, ".2f")
        rate, old = percent(all.rate, 1), number(sglang_rate(all.tau, all.gamma), ".2f")
        alpha = number(all.alpha, ".2f")
    return (
        ("vLLM, log", "Mean acceptance length", tau, "counted since May 2025"),
        ("vLLM, log", "Draft acceptance rate", rate, "not counted"),
        ("vLLM, bench serve", "Acceptance length", tau, "counted"),
        ("SGLang, log", "accept len", tau, "counted"),
        ("SGLang, log, since April 2026", "accept rate", rate, "not counted"),
        ("SGLang, log, before", "accept rate", old, "counted on both sides"),
        ("llama.cpp, server log", "mean acceptance length", tau, "counted"),
        ("llama.cpp, speculative", "accept", rate, "not counted"),
        ("EAGLE papers", "average acceptance length", tau, "counted"),
        ("Spec-Bench", "#MAT", tau, "counted"),
        ("older code and some papers", "mean accepted tokens", accepted, "not counted"),
        ("Leviathan et al.", "α", alpha, "no length at all"),
    )


def _plain_rows(all: Metrics | None) -> tuple[tuple[str, str, str, str], ...]:
    return tuple(("this figure", row.label, row.text, "") for row in _readout(all))


def _dictionary(names: Sequence[tuple[str, str, str, str]]) -> str:
    """Two lines an entry: where and whether the extra token counts, then the name and its value."""
    head, step = 24, 44
    inner = [write("0", 12, "where, and how it is called"), write("100%", 12, "extra token", anchor="end")]
    for index, (where, name, value, extra) in enumerate(names):
        top = float(head + index * step)
        inner.append(rule("0", top, "100%", top))
        inner.append(write("0", top + 17, where))
        inner.append(write("100%", top + 17, extra, anchor="end"))
        inner.append(write("0", top + 35, name, tone="ink", strong=True))
        inner.append(write("100%", top + 35, value, anchor="end", tone="target", strong=True))
    spoken = "; ".join(f"{where}, {name}: {value}" for where, name, value, _ in names)
    return frame(f"What each calls it. {spoken}", head + step * len(names) + 4, (0, 2, 4, 2), inner)


def _mean_round(all: Metrics | None, gamma: int) -> str:
    """The mean round as one bar: kept drafts, the target's own token, and drafts thrown away."""
    axis = linear(float(gamma + 1), "tokens", ticks=6)
    if all is None:
        return lanes("No mean round can be drawn from these numbers", axis, (Lane("A mean round", ()),), key=_KEY)
    kept, gone = all.accepted, all.gamma - all.accepted
    parts = [Segment(0.0, kept, "accepted"), Segment(kept, 1.0, "target")]
    if gone > 1e-9:
        parts.append(Segment(kept + 1.0, gone, "rejected", "ghost"))
    words = f"{number(kept, '.2f')} ✓ + 1 ↻ = {number(all.tau, '.2f')}"
    return lanes(
        f"A mean round: {number(kept, '.2f')} drafts kept, one token of the target’s own, {number(gone, '.2f')} drafts"
        f" thrown away",
        axis,
        (Lane("A mean round", tuple(parts), aside=words),),
        key=_KEY,
    )


_KEY = (("accepted", "kept"), ("target", "own"), ("rejected", "thrown away"))


def _by_position(found: _Read, given: str, gamma: int) -> str:
    """Acceptance by position: typed shares as points, and the constant accept rate that has the same mean."""
    marks: list[Mark] = []
    if found.all is not None and found.all.alpha is not None:
        line = tuple(enumerate(survival_from_rates((found.all.alpha,) * gamma), 1))
        marks.append(
            Curve(
                tuple((float(place), share) for place, share in line),
                "target",
                f"constant {number(found.all.alpha, '.2f')}",
                0,
                "corner",
                dots=True,
            )
        )
    if given == "positions" and found.survival:
        points = tuple((float(place), min(1.0, share)) for place, share in enumerate(found.survival, 1))
        marks.append(Points(points, "measured", "accepted", "yours", at=-1, side="under"))
        gamma = max(gamma, len(points))
    spoken = ", ".join(number(share, ".2f") for share in found.survival) or "unknown"
    return plot(
        f"Share of rounds in which each draft is kept: {spoken}",
        Axis(0.5, gamma + 0.5, tuple(float(place) for place in range(1, gamma + 1)), "draft, from the first"),
        linear(1.0, "share of rounds that keep it", ticks=4),
        marks,
        height=200,
    )


def _title(found: _Read, gamma: int) -> str:
    drafts = count(gamma, "draft", "drafts")
    if found.wrong:
        return f"These numbers cannot belong to one run with {drafts}" if found.all else "No run has this number"
    assert found.all is not None
    return f"{number(found.all.tau, '.2f')} tokens per pass with {drafts}, under all its names"


def _summary(given: str, found: _Read) -> str:
    all = found.all
    if all is None or all.rate is None or all.alpha is None:
        return f"{found.wrong[0][0].upper()}{found.wrong[0][1:]}."
    text = (
        f"Read as {found.shown}: {number(all.accepted, '.2f')} drafts kept and one token of the target’s own make"
        f" {number(all.tau, '.2f')} tokens per pass. An engine that divides by all {number(all.gamma)} drafts prints"
        f" {percent(all.rate, 1)}; the accept rate of a single draft would be {number(all.alpha, '.2f')}."
    )
    return f"{text} The rate is put aside here, since the two disagree." if given == "pair" and found.wrong else text


def _verdict(given: str, found: _Read, gamma: int, mean: float, rate: float) -> Verdict:
    all = found.all
    if found.wrong and all is not None:
        drafts = count(gamma, "draft", "drafts")
        text = f"Not one run with {drafts}: {'; '.join(found.wrong)}."
        if rate > 0 and mean > 1:
            drafted = drafted_from_tau(mean, rate)
            if drafted < gamma:
                text += f" Both fit if a round drafted only {number(drafted, '.2f')} tokens on average."
        return Verdict("loss", text)
    if found.wrong:
        kind = "info" if given == "positions" and not found.survival else "loss"
        return Verdict(kind, f"{found.wrong[0][0].upper()}{found.wrong[0][1:]}.")
    assert all is not None
    assert all.alpha is not None
    if given == "pair":
        return Verdict("gain", "The two agree: they can belong to one run of this draft length.")
    if given == "positions":
        share = engine_acceptance_rate(all.alpha, all.gamma)
        return Verdict(
            "info", f"One constant accept rate, {number(all.alpha, '.2f')}, has the same mean: {percent(share, 1)}."
        )
    gone = share_discarded(all.alpha, all.gamma)
    return Verdict(
        "info",
        f"Before you compare: is the extra token counted? It is all the difference between {number(all.tau, '.2f')}"
        f" and {number(all.accepted, '.2f')}. And of all drafts, {percent(gone, 1)} are thrown away.",
    )
