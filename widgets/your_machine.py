"""Your machine: the lesson's claim measured where the page is read. Passes over one large matrix, by positions.

A measurement, not a computation: what it shows after a run differs from run to run (`MEASURES`). At rest it is like
every other figure. The measuring itself is `widgets._kit.passes`, the fast multiplication `sim.kernel`.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Iterator, Mapping
from typing import Any

from sim import pass_time
from widgets._kit.chart import Axis, Curve, Mark, Note, Points, linear, plot
from widgets._kit.params import Choice, Toggle
from widgets._kit.passes import COUNTS, Passes, as_file, landed, measure
from widgets._kit.text import brief, number, percent, ratio, times
from widgets._kit.view import Download, Progress, Row, Table, Verdict, View

TITLE = "Your machine: a pass, measured here"

MEASURES = "run"
"""The switch that starts the clock: with it on, no two runs give the same bytes."""

PARAMS = {
    "run": Toggle("Measure now", False, help="About five seconds of work on this device. Off and on again: once more."),
    "size": Choice(
        "Weights",
        {"64": "64 MB", "32": "32 MB", "16": "16 MB"},
        "64",
        help="64 MB are more than most caches hold. Take less where memory is short; it may then stay in one.",
    ),
    "kernel": Toggle("With the kernel", True, help="Off: plain NumPy, which reads the weights for each position anew."),
}
NEEDS: tuple[str, ...] = ("numpy",)
DATA = ("measured/your-machine",)
SOURCE = (
    "Measured with this figure: on the machine that is named, or on yours once you switch it on; nothing is sent"
    " anywhere. The line is a model: the roofline of one H100"
    " with 70 billion weights in 16 bits."
)

LANDED = DATA[0]
"""The file of a run on a named machine, shown at rest."""

_CARD = ("70b", "h100-sxm")
_MODEL = "H100, model"
_X = Axis(1, 16, (1, 4, 8, 12, 16), "positions scored")


def steps(*, data: Mapping[str, Any], run: bool, size: str, kernel: bool) -> Iterator[Progress | View]:
    """One state of the figure: at rest at once, else the run, with a picture after each round."""
    if not run:
        file = data.get(LANDED)
        yield resting(landed(file, "kernel" if kernel else "numpy") if file is not None else None)
        return
    from sim.kernel import plugged

    by = "kernel" if kernel and plugged() else "numpy"
    last: Passes | None = None
    for done, known, full in measure(int(size), by, clock=time.perf_counter):
        last = known or last
        yield Progress(done, "Preparing the weights…" if known is None else "Measuring…")
        if full and last is not None:
            yield measured(last, wanted=kernel)
    if last is None:
        raise RuntimeError("this device did not finish two passes in the time there is; try fewer weights")
    yield measured(last, wanted=kernel, finished=True)


def resting(run: Passes | None) -> View:
    """Before anything is measured here: the model's line, and a landed run of a named machine where there is one."""
    if run is not None:
        return _view(
            run,
            title=f"{run.machine}: {_five(run)}. And here?",
            summary=f"Nothing has been measured here yet. The points are a run on another machine, {run.machine}."
            f" {_sentence(run)} Switch on “Measure now” for yours.",
        )
    return View(
        summary="Nothing has been measured here yet. The line is the model of a data-centre card: up to 16 positions it"
        " stays flat. Switch on “Measure now” and see where this machine leaves it.",
        svg=_pictures(None, "Model of a data-centre card"),
        table=_table(None),
        title="On a data-centre card, sixteen positions cost what one costs. And here?",
    )


def measured(run: Passes, *, wanted: bool, finished: bool = False) -> View:
    """After a run, or in the middle of it. `wanted` says whether the kernel was asked for."""
    doubts = "A browser does not tell what machine this is, whether it was throttled, or what other tabs did meanwhile."
    if wanted and run.by == "numpy":
        doubts = f"This browser does not run the kernel, so NumPy did the work. {doubts}"
    import numpy as np

    name = f"your-machine-{run.by}.json"
    file = as_file(run, {"numpy": np.__version__, "system": platform.platform()})
    return _view(
        run,
        title=f"Here, {_five(run)}",
        summary=_sentence(run),
        verdict=_verdict(run) if finished else None,
        note=doubts,
        links=(Download("Keep this run as a file", name, file),) if finished else (),
    )


def _view(
    run: Passes,
    *,
    title: str,
    summary: str,
    verdict: Verdict | None = None,
    note: str | None = None,
    links: tuple[Download, ...] = (),
) -> View:
    return View(
        summary=summary,
        readout=_readout(run),
        svg=_pictures(run, "Measured passes beside the model of a data-centre card"),
        table=_table(run),
        verdict=verdict,
        title=title,
        note=note,
        links=links,
    )


def _card(positions: int) -> float:
    """A pass of the card over so many positions, in passes that score one."""
    return pass_time(*_CARD, positions).total_ms / pass_time(*_CARD, 1).total_ms


def _four(run: Passes) -> int:
    """Four positions, or the nearest that a slow machine got to."""
    return 4 if 4 in run.times else run.counts[-1]


def _words(positions: int) -> str:
    return {2: "two", 4: "four"}.get(positions, number(positions))


def _five(run: Passes) -> str:
    """The title's half: what several positions cost."""
    some = _four(run)
    share = run.over_one(some)
    if share <= 1.1:
        return f"{_words(some)} positions cost what one costs"
    return f"{_words(some)} positions cost {times(share, 2)} what one costs"


def _sentence(run: Passes) -> str:
    some, most = _four(run), run.counts[-1]
    text = (
        f"One position takes {ratio(run.ms(1))} ms, {_words(some)} take {ratio(run.ms(some))} ms and {number(most)}"
        f" take {ratio(run.ms(most))} ms, over the same {number(run.size / 1e6, '.0f')} MB of weights."
    )
    if run.ridge is None:
        return f"{text} Where arithmetic takes over cannot be told from this run."
    if run.ridge < 1.5:
        return f"{text} Arithmetic sets the length from the first position on."
    return f"{text} Up to about {number(run.ridge, '.0f')} positions reading sets the length, then arithmetic does."


def _verdict(run: Passes) -> Verdict:
    if run.disturbed:
        text = "Something else was at work during this run: its times contradict each other. Switch off and on again."
        return Verdict("care", text)
    some = _four(run)
    share = run.over_one(some)
    more = f"{percent(share - 1)} of" if share < 2 else times(share - 1)
    guesses = f"Checking {number(some - 1)} guesses adds {more} a pass here"
    if share <= 1.02:
        guesses = f"Checking {number(some - 1)} guesses adds next to nothing here"
    if share <= 1.5:
        return Verdict("gain", f"{guesses}: this machine waits for memory, as a data-centre card does.")
    if share <= 0.7 * some:
        return Verdict("care", f"{guesses}: less than passes of their own, more than on a data-centre card.")
    text = f"{guesses}, about what passes of their own cost: this way of multiplying is bound by arithmetic."
    return Verdict("loss", f"{text} Where a pass is like that, checking guesses saves nothing.")


def _readout(run: Passes) -> tuple[Row, ...]:
    some, ridge = _four(run), run.ridge
    bend = "–" if ridge is None else "1" if ridge < 1.5 else number(ridge, ".0f")
    return (
        Row("one", "for a pass that scores one position", run.ms(1), "ms", ratio(run.ms(1))),
        Row("bandwidth", "of weights read in it", run.bandwidth / 1e9, "GB/s", ratio(run.bandwidth / 1e9)),
        Row(
            "copy",
            "of the speed of a plain copy in memory",
            run.bandwidth / run.copy_bandwidth,
            "",
            percent(run.bandwidth / run.copy_bandwidth),
        ),
        Row("four", f"for a pass that scores {_words(some)}", run.over_one(some), "", times(run.over_one(some), 2)),
        Row("ridge", "positions, and arithmetic takes over", ridge, "", bend),
    )


def _pictures(run: Passes | None, label: str) -> str:
    """Both pictures in passes that score one position, so that a card and a laptop stand on one axis."""
    counts = run.counts if run else ()
    top = max((4.0, *(run.over_one(n) * 1.04 for n in counts))) if run else 4.0
    whole = linear(top, "whole pass, in passes of one", show=_factor)
    most = max((1.0, *(run.over_one(n) / n for n in counts))) if run else 1.0
    each = linear(most, "each position, in passes of one", show=_factor)
    end = min(16.0, whole.hi)
    each_its_own = ((1.0, 1.0), (end / 2, end / 2), (end, end))
    card = tuple((n, _card(n) / n) for n in range(1, 17))
    room = run is None or run.over_one(counts[-1]) / counts[-1] > 0.35
    passes: list[Mark] = [
        Curve(each_its_own, "muted", "a pass for each", 1 if end > 8 else 2, "right", dashed=True),
        Curve(tuple((n, _card(n)) for n in COUNTS), "memory", _MODEL, 8, "above" if top > 8 else "below"),
    ]
    shares: list[Mark] = [Curve(card, "memory", _MODEL if room else "", 15, "above")]
    if run:
        last = counts[-1]
        passes.append(Points(tuple((n, run.over_one(n)) for n in counts), "measured", "target", joined=True))
        shares.append(Points(tuple((n, run.over_one(n) / n) for n in counts), "measured", "target", joined=True))
        passes.append(Note(last, run.over_one(last), f"{ratio(run.ms(last))} ms", "target", "below"))
        shares.append(Note(last, run.over_one(last) / last, f"{ratio(run.ms(last) / last)} ms", "target", "above"))
    said = ""
    if run:
        some = _four(run)
        said = f"; {_words(some)} positions at {times(run.over_one(some), 2)}"
    return plot(f"{label}: time of a pass by positions{said}", _X, whole, passes, height=230) + plot(
        f"{label}: time for each position{said}", _X, each, shares, height=210
    )


def _factor(value: float) -> str:
    return f"{number(value)}×"


def _table(run: Passes | None) -> Table:
    model = tuple((n, times(_card(n), 2)) for n in COUNTS)
    if run is None:
        rows = tuple((number(n), card, times(_card(n) / n, 2)) for n, card in model)
        return Table("The model of an H100 alone: nothing is measured yet", ("positions", "pass", "each"), rows)
    measured = tuple(
        (
            number(n),
            ratio(run.ms(n)),
            times(run.over_one(n), 2),
            ratio(run.ms(n) / n),
            brief(1e-6 * run.size / run.ms(n)),
            card,
        )
        for n, card in model
        if n in run.times
    )
    where = f"on {run.machine}" if run.machine else "here"
    return Table(
        f"Passes over {number(run.size / 1e6, '.0f')} MB of weights, measured {where}"
        f" ({'the kernel' if run.by == 'kernel' else 'NumPy'}; medians)",
        ("positions", "pass, ms", "over one", "ms per position", "weights, GB/s", "an H100, by the model"),
        measured,
    )
