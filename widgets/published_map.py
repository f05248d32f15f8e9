"""What was published: tokens per pass against speed-up, and the line that no lossless method can cross.

Every row that prints a speed-up and its tokens per pass is one open point; its shape tells how the number was read. A
round writes tau tokens and takes at least the time of one pass, so a speed-up above tau means that something else
changed as well: those rows are named with the reason that the record gives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from sim import expected_tokens
from sim.data import PublishedRow
from widgets._kit.chart import Curve, Level, Mark, Note, Points, logarithmic, plot
from widgets._kit.landed import legend
from widgets._kit.params import Choice
from widgets._kit.text import count, number, percent, times
from widgets._kit.view import Row, Table, Verdict, View

TITLE = "Published results: tokens per pass and speed-up"

_METHODS = {
    "all": "all methods",
    "heads": "heads and layers on the target",
    "model": "a separate draft model",
    "lookup": "look-up, no trained drafter",
    "parallel": "block diffusion",
}
_HARDWARE = {
    "all": "all that keep the weights on the card",
    "a100": "A100",
    "h100": "H100 and H800",
    "blackwell": "B200, B300, GB200 and RTX PRO 6000",
    "rtx3090": "RTX 3090",
    "tpu": "TPU",
    "offload": "weights outside the card (offloading)",
    "unknown": "the source does not say",
}
_TASKS = {
    "all": "all tasks",
    "mixed": "mixtures of tasks",
    "chat": "chat",
    "code": "code",
    "reasoning": "mathematics and science",
    "text": "translation, summaries, documents",
    "unknown": "the source does not say",
}
_BATCHES = {
    "all": "all batch sizes",
    "one": "1",
    "more": "2 and more",
    "unknown": "the source does not say",
}
PARAMS = {
    "method": Choice("Method", _METHODS, "all"),
    "hardware": Choice("Hardware", _HARDWARE, "all"),
    "task": Choice("Task", _TASKS, "all"),
    "batch": Choice("Batch", _BATCHES, "all"),
}
NEEDS: tuple[str, ...] = ()
DATA: tuple[str, ...] = ("published",)
SOURCE = (
    "Published by others, each row with its source in https://github.com/hemingkx/Spec-Bench and the papers listed"
    " under Sources. Nothing here is computed, except squares: their tokens per pass come from the printed accept rate."
)

_WORDS: Mapping[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "method": (
        ("parallel", ("diffusion", "dflash")),
        ("lookup", ("n-gram", "pld", "rest", "lookahead", "recycling", "look-up")),
        ("heads", ("eagle", "medusa", "hydra", "redrafter", "mtp", "samd")),
        ("model", ("sps", "chain", "sequoia", "speculative", "lenient")),
    ),
    "hardware": (
        ("a100", ("a100",)),
        ("rtx3090", ("3090",)),
        ("h100", ("h100", "h800")),
        ("blackwell", ("b200", "blackwell", "b300")),
        ("tpu", ("tpu",)),
    ),
    "task": (
        ("mixed", ("overall", "mean", "style", "various")),
        ("code", ("humaneval", "code", "mbpp")),
        ("reasoning", ("gsm8k", "math", "gpqa")),
        ("chat", ("mt-bench", "mtbench", "alpaca", "sharegpt", "chat")),
        ("text", ("ende", "cnn", "xsum", "finance", "8k in", "summ")),
    ),
}
_READ = {"primary": "circle", "secondary": "diamond", "figure": "triangle"}
_READ_WORDS = {
    "circle": "read in the source",
    "diamond": "quoted by others",
    "triangle": "read off a figure",
    "square": "tokens computed from the accept rate",
}
_SIGNS = {"circle": "○", "diamond": "◇", "triangle": "△", "square": "□"}
_TONES = {"heads": "target", "model": "draft", "lookup": "accepted", "parallel": "memory"}
_LISTED = 40
_LABELS = {"heads": "heads, layers", "model": "draft model", "lookup": "look-up", "parallel": "block diffusion"}


@dataclass(frozen=True)
class _Point:
    """One row as it is drawn."""

    row: PublishedRow
    tokens: float
    speedup: float
    shape: str
    method: str

    @property
    def above(self) -> bool:
        """Whether the speed-up is more than its tokens per pass allow."""
        return self.speedup > self.tokens * (1.0 + 1e-9)


@cache
def _kind(name: str, text: str | None) -> str:
    """Which option of a filter a row's own words belong to."""
    if text is None:
        return "unknown"
    lower = text.lower()
    return next((key for key, words in _WORDS[name] if any(word in lower for word in words)), "other")


def _points(rows: Mapping[str, PublishedRow]) -> list[_Point]:
    """Every published measurement with a speed-up over plain decoding and tokens per pass, printed or computable."""
    found: list[_Point] = []
    for row in rows.values():
        if row.speedup is None or row.baseline is not None or row.method.startswith(("theory", "none")):
            continue
        method = _kind("method", row.method)
        if row.tokens_per_pass is not None:
            shape = "square" if row.verification == "derived" else _READ[row.verification]
            found.append(_Point(row, row.tokens_per_pass, row.speedup, shape, method))
        elif row.alpha is not None and row.gamma is not None:
            found.append(_Point(row, expected_tokens(row.alpha, row.gamma), row.speedup, "square", method))
    return found


def _place(row: PublishedRow) -> str:
    """Which hardware a row belongs to. Offloading is a place of its own: its passes wait for the bus, whatever the
    number of positions, so its speed-ups say nothing about other machines."""
    if row.note is not None and "offload" in row.note.lower():
        return "offload"
    return _kind("hardware", row.hardware)


def _chosen(points: list[_Point], method: str, hardware: str, task: str, batch: str) -> list[_Point]:
    def right(point: _Point) -> bool:
        row, place = point.row, _place(point.row)
        size = "unknown" if row.batch is None else "one" if row.batch == 1 else "more"
        return (
            method in ("all", point.method)
            and (hardware == place or (hardware == "all" and place != "offload"))
            and task in ("all", _kind("task", row.task))
            and batch in ("all", size)
        )

    return [point for point in points if right(point)]


def view(*, data: Mapping[str, Any], method: str, hardware: str, task: str, batch: str) -> View:
    """One state of the figure."""
    every = _points(data["published"].rows)
    shown = _chosen(every, method, hardware, task, batch)
    note = legend()
    if not shown:
        return View(
            summary="The record has no row with both numbers for this choice of method, hardware, task and batch.",
            verdict=Verdict("info", "Nothing was published here, as far as this record goes. Widen one filter."),
            title="No published row here",
            note=note,
        )
    above = [point for point in shown if point.above]
    best = _first(shown, [point.speedup for point in shown])
    most = _first(shown, [point.tokens for point in shown])
    shares = sorted(point.speedup / point.tokens for point in shown)
    share = shares[len(shares) // 2]
    slower = [point for point in shown if point.speedup < 1.0]
    return View(
        summary=(
            f"{count(len(shown), 'published row', 'published rows')} of {number(len(every))} with both numbers. The"
            f" highest speed-up is {times(best.speedup, 2)} at {number(best.tokens, '.2f')} tokens per pass. In the"
            f" middle row the speed-up is {percent(share)} of the tokens per pass; drafting, checking and the rest of"
            f" the engine take what is missing. {_above_words(above)}"
        ),
        readout=(
            Row("rows", "rows shown", len(shown), "", number(len(shown))),
            Row("best", "highest speed-up", best.speedup, "", times(best.speedup, 2)),
            Row("tokens", "most tokens per pass", most.tokens, "", number(most.tokens, ".2f")),
            Row("share", "of its tokens per pass the middle row keeps as speed-up", share, "", percent(share)),
            Row("above", "above the line", len(above), "", number(len(above))),
            Row("slower", "slower than plain decoding", len(slower), "", number(len(slower))),
        ),
        svg=_picture(shown, above),
        table=_table(shown),
        verdict=_verdict(above),
        title=_title(shown, share),
        note=note,
    )


def _first(points: list[_Point], values: list[float]) -> _Point:
    """The point with the largest value; of nearly equal ones the first."""
    best = 0
    for place, value in enumerate(values):
        if value > values[best] + 1e-9:
            best = place
    return points[best]


def _title(shown: list[_Point], share: float) -> str:
    if len(shown) == 1:
        return f"One row: {times(shown[0].speedup, 2)} from {number(shown[0].tokens, '.2f')} tokens per pass"
    return f"The middle row turns {percent(share)} of its tokens per pass into speed"


def _picture(shown: list[_Point], above: list[_Point]) -> str:
    high = max([4.0, *(point.tokens for point in shown), *(point.speedup for point in shown)])
    end = next(stop for stop in (4.0, 6.0, 8.0, 16.0, 32.0) if stop >= high * 1.04)
    ticks = [tick for tick in (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0) if tick <= end]
    x = logarithmic(1.0, end, "tokens per pass (tau), log axis", ticks=ticks[1:])
    y = logarithmic(0.5, end, "speed-up, log axis", ticks=ticks, show=lambda value: number(value) + "×")
    told = 0.75 * end
    marks: list[Mark] = [
        Level(1.0, "1×"),
        Curve(((1.0, 1.0), (told, told), (end, end)), "ink", "speed-up = tokens per pass", 1, "left"),
    ]
    for place, (name, tone) in enumerate(_TONES.items()):
        mine = [point for point in shown if point.method == name and not point.above]
        if mine:  # which colour is which stands below the 1× line, where no point is
            marks.append(
                Note(end**0.5 if place % 2 else 1.02, 0.62 if place > 1 else 0.8, _LABELS[name], tone, "right")
            )
        for shape in _SIGNS:
            places = tuple((point.tokens, point.speedup) for point in mine if point.shape == shape)
            if places:
                marks.append(Points(places, "published", tone, shape=shape))
    for shape in _SIGNS:
        places = tuple((point.tokens, point.speedup) for point in above if point.shape == shape)
        if places:
            marks.append(Points(places, "published", "rejected", shape=shape))
    label = (
        f"Speed-up against tokens per pass for {count(len(shown), 'published row', 'published rows')};"
        f" {number(len(above))} above the line where both are equal"
    )
    return plot(label, x, y, marks, height=340)


def _name(point: _Point) -> str:
    row = point.row
    known = [part for part in (row.method, row.target_model, row.task) if part]
    if point.method == "model" and row.draft:
        known.insert(2, row.draft)
    return ", ".join(known) + (", lossy" if row.lossless is False else "")


def _table(shown: list[_Point]) -> Table:
    """The fastest rows, and every row above the line. The whole record is served as data/published.json."""
    ordered = sorted(shown, key=lambda point: (-point.speedup, point.row.id))
    listed = [point for place, point in enumerate(ordered) if place < _LISTED or point.above]
    rows = tuple(
        (
            _name(point),
            number(point.tokens, ".2f"),
            times(point.speedup, 2),
            percent(point.speedup / point.tokens),
            "unknown" if point.row.hardware is None else point.row.hardware,
            "unknown" if point.row.batch is None else number(point.row.batch),
            _READ_WORDS[point.shape] + (" (above the line)" if point.above else ""),
        )
        for point in listed
    )
    head = ("method, target, task", "tokens per pass", "speed-up", "share", "hardware", "batch", "how read")
    total = ("all rows shown in the picture", "", "", "", "", "", number(len(shown)))
    which = "" if len(listed) == len(shown) else f" (the first {number(_LISTED)}; all are in published.json)"
    return Table(f"Published rows with both numbers, fastest first{which}", head, (*rows, total))


def _above_words(above: list[_Point]) -> str:
    if not above:
        return "No row lies above the line."
    one = "1 row lies above the line" if len(above) == 1 else f"{number(len(above))} rows lie above the line"
    return f"{one}: more speed than tokens, which checking drafts alone cannot give."


def _verdict(above: list[_Point]) -> Verdict:
    if not above:
        text = "Every row here lies on or below the line: a round costs at least one pass, and writes tau tokens."
        return Verdict("info", text)
    names = "; ".join(
        f"{_name(point)}: {times(point.speedup, 2)} from {number(point.tokens, '.2f')}" for point in above[:5]
    )
    return Verdict("care", f"Above the line: {names}. {_reason(above)}")


def _reason(above: list[_Point]) -> str:
    lossy = [point for point in above if point.row.lossless is False]
    computed = [point for point in above if point.shape == "square"]
    words = "Checking drafts cannot give more speed than tokens, so something else differs"
    if len(computed) == len(above):
        return f"{words}: for squares, tau is what equal accept rates would give, and real ones are not equal."
    if lossy:
        return f"{words}: a lossy rule, or a baseline that was not measured like for like."
    return f"{words}: most often the baseline was not measured like for like."
