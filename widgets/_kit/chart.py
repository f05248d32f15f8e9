"""Charts in pure Python: plots with curves and marked points, and lanes of bars on one axis. SVG text comes out.

How a chart fits every width without scaling its text: the outer `<svg>` has no viewBox; its CSS padding makes the
content box the plot area, so x is given in percent and y in pixels. Curves live in a nested `<svg>` that stretches,
with strokes that do not. Colours are CSS variables, so a palette change redraws nothing. No ids: the same figure may
stand twice on a page. It must not compute anything but places in a drawing.

Three kinds of number never look alike: a model is a line, a measured point is solid with a ring, a published one open.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from .text import coordinate, esc, exact, number

__all__ = [
    "Axis", "Curve", "Lane", "Level", "Mark", "Now", "Points", "Segment", "Wall", "lanes", "linear",
    "logarithmic", "plot",
]

TONES = ("target", "draft", "accepted", "rejected", "memory", "ink", "muted", "ground")
_EPS = 1e-9


@dataclass(frozen=True)
class Axis:
    """Where values lie between 0 and 1 of the plot, and which are written. `title` says what and in what unit."""

    lo: float
    hi: float
    ticks: tuple[float, ...]
    title: str = ""
    log: bool = False
    show: Callable[[float], str] = number

    def at(self, value: float) -> float:
        """The place of `value`: 0 at `lo`, 1 at `hi`; values outside lie at the nearer end."""
        if self.log:
            place = math.log(max(value, self.lo) / self.lo) / math.log(self.hi / self.lo)
        else:
            place = (value - self.lo) / (self.hi - self.lo)
        return min(1.0, max(0.0, place))


def linear(
    hi: float,
    title: str = "",
    *,
    lo: float = 0.0,
    ticks: int = 5,
    show: Callable[[float], str] = number,
    snug: bool = False,
) -> Axis:
    """An even axis from `lo` with at most about `ticks` steps at round numbers.

    It ends at the round number at or above `hi`; with `snug` it ends at `hi` itself.
    """
    raw = max(hi - lo, _EPS) / ticks
    power = 10.0 ** math.floor(math.log10(raw) + _EPS)
    step = next(power * m for m in (1.0, 2.0, 5.0, 10.0) if power * m >= raw * (1 - _EPS))
    steps = math.ceil((hi - lo) / step - _EPS)
    end = hi if snug else lo + steps * step
    marks = tuple(exact(lo + i * step) for i in range(steps + 1) if lo + i * step <= end + _EPS)
    return Axis(lo, exact(end), marks, title, show=show)


def logarithmic(
    lo: float, hi: float, title: str = "", *, ticks: Sequence[float] = (), show: Callable[[float], str] = number
) -> Axis:
    """A logarithmic axis. Without `ticks` it runs over whole decades and marks each."""
    if ticks:
        return Axis(lo, hi, tuple(ticks), title, log=True, show=show)
    first = math.floor(math.log10(lo) + _EPS)
    last = max(first + 1, math.ceil(math.log10(hi) - _EPS))
    marks = tuple(exact(10.0**power) for power in range(first, last + 1))
    return Axis(marks[0], marks[-1], marks, title, log=True, show=show)


@dataclass(frozen=True)
class Curve:
    """A model's line through `points`; `text` is written at the point `at` (an index), on `side` of the line."""

    points: tuple[tuple[float, float], ...]
    tone: str = "ink"
    text: str = ""
    at: int = -1
    side: str = "above"
    dots: bool = False
    dashed: bool = False


@dataclass(frozen=True)
class Level:
    """A horizontal line at a value that matters; `text` ("1×") stands in the right margin."""

    y: float
    text: str
    tone: str = "muted"


@dataclass(frozen=True)
class Wall:
    """A vertical line at a value that matters (the ridge); with `top` it hangs from there, its text at the foot."""

    x: float
    text: str
    tone: str = "muted"
    top: float | None = None


@dataclass(frozen=True)
class Points:
    """Numbers that no model made: `kind` is "measured" (solid, ringed) or "published" (open shape)."""

    points: tuple[tuple[float, float], ...]
    kind: str
    tone: str = "ink"
    text: str = ""
    joined: bool = False
    at: int = -1
    side: str = "above"
    shape: str = "circle"


@dataclass(frozen=True)
class Now:
    """The state the reader has set: one point, its value written beside it."""

    x: float
    y: float
    text: str
    tone: str = "target"
    hollow: bool = False
    side: str = ""


Mark: TypeAlias = Curve | Level | Wall | Points | Now


@dataclass(frozen=True)
class Segment:
    """A stretch of a lane, in the axis' unit. `style`: "solid", "low" (half as high) or "ghost" (dashed outline)."""

    start: float
    width: float
    tone: str
    style: str = "solid"
    text: str = ""


@dataclass(frozen=True)
class Lane:
    """One row of segments under its name. `value` stands behind the last one, or inside it when there is no room;
    `aside` stands at the right end of the name's line.
    """

    name: str
    segments: tuple[Segment, ...]
    value: str = ""
    aside: str = ""


def _x(place: float) -> str:
    return coordinate(100.0 * place) + "%"


def _ink(tone: str) -> str:
    if tone not in TONES:
        raise ValueError(f"tone {tone!r} is not one of {', '.join(TONES)}")
    return f"var(--sd-{tone})"


def _text(
    x: str, y: float, words: str, *, anchor: str = "start", tone: str = "muted", dx: float = 0, halo: bool = False,
    strong: bool = False,
) -> str:
    looks = f"fill:{_ink(tone)}"
    if halo:
        looks += ";paint-order:stroke;stroke:var(--sd-ground);stroke-width:5px;stroke-linejoin:round"
    if strong:
        looks += ";font-weight:600"
    shift = f' dx="{coordinate(dx)}"' if dx else ""
    end = f' text-anchor="{anchor}"' if anchor != "start" else ""
    return f'<text x="{x}" y="{coordinate(y)}"{shift}{end} style="{looks}">{esc(words)}</text>'


def _rule(x1: str, y1: float, x2: str, y2: float, tone: str = "grid", dash: str = "", width: float = 1) -> str:
    colour = "var(--sd-grid)" if tone == "grid" else _ink(tone)
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    thick = f' stroke-width="{coordinate(width)}"' if width != 1 else ""
    return (
        f'<line x1="{x1}" y1="{coordinate(y1)}" x2="{x2}" y2="{coordinate(y2)}" '
        f'style="stroke:{colour}"{dashed}{thick}/>'
    )


def _frame(label: str, height: int, pads: tuple[int, int, int, int], inner: Sequence[str]) -> str:
    padding = " ".join(f"{number(pad)}px" if pad else "0" for pad in pads)
    return (
        f'<svg class="sd-chart" width="100%" height="{number(height)}" role="img" aria-label="{esc(label)}" '
        f'style="height:{number(height)}px;padding:{padding};overflow:visible;box-sizing:border-box">' + "".join(inner) + "</svg>"
    )


def _anchor(place: float) -> str:
    """Text near an edge grows inwards."""
    return "start" if place < 0.14 else "end" if place > 0.86 else "middle"


# ------------------------------------------------------------------------------------------------------------- plots


def plot(label: str, x: Axis, y: Axis, marks: Sequence[Mark], *, height: int = 240, left: int = 44) -> str:
    """A chart of `marks` over two axes. `label` is what a screen reader says; the view's table has the numbers."""
    top, bottom = 30 if y.title else 14, 42 if x.title else 24
    right = 30 if any(isinstance(mark, Level) and not _ticked(mark, y) for mark in marks) else 16
    tall = float(height - top - bottom)
    inner: list[str] = []
    for value in y.ticks:
        level = tall * (1 - y.at(value))
        inner.append(_rule("0", level, "100%", level))
        inner.append(_text("0", level + 4, y.show(value), anchor="end", dx=-8))
    if y.title:
        inner.append(_text("0", -16, y.title, dx=-left))
    inner.append(_rule("0", tall, "100%", tall, "muted"))
    for value in x.ticks:
        place = x.at(value)
        inner.append(_rule(_x(place), tall, _x(place), tall + 4, "muted"))
        inner.append(_text(_x(place), tall + 18, x.show(value), anchor="middle"))
    if x.title:
        inner.append(_text("100%", tall + 36, x.title, anchor="end"))
    for mark in marks:
        inner.extend(_mark(mark, x, y, tall))
    return _frame(label, height, (top, right, bottom, left), inner)


def _ticked(mark: Level, y: Axis) -> bool:
    """Whether the axis itself already writes the value."""
    return any(abs(mark.y - value) <= _EPS for value in y.ticks)


def _mark(mark: Mark, x: Axis, y: Axis, tall: float) -> list[str]:
    if isinstance(mark, Curve):
        return _curve(mark, x, y, tall)
    if isinstance(mark, Points):
        return _points(mark, x, y, tall)
    if isinstance(mark, Level):
        level = tall * (1 - y.at(mark.y))
        line = _rule("0", level, "100%", level, mark.tone, "5 4", 1.5)
        return [line] if _ticked(mark, y) else [line, _text("100%", level + 4, mark.text, dx=6, tone="ink")]
    if isinstance(mark, Wall):
        place = x.at(mark.x)
        anchor, dx = ("end", -6) if place > 0.5 else ("start", 6)
        top = 0.0 if mark.top is None else tall * (1 - y.at(mark.top))
        base = 10 if mark.top is None else tall - 8
        return [
            _rule(_x(place), top, _x(place), tall, mark.tone, "2 4"),
            _text(_x(place), base, mark.text, anchor=anchor, dx=dx, tone=mark.tone, halo=True),
        ]
    return _now(mark, x, y, tall)


def _path(points: Sequence[tuple[float, float]], x: Axis, y: Axis, tall: float, tone: str, dashed: bool) -> str:
    """A line through points, in a nested picture that stretches with the plot while its stroke does not."""
    places = [f"{coordinate(1000 * x.at(a))} {coordinate(tall * (1 - y.at(b)))}" for a, b in points]
    dash = ' stroke-dasharray="4 4"' if dashed else ""
    return (
        f'<svg viewBox="0 0 1000 {coordinate(tall)}" preserveAspectRatio="none" width="100%" '
        f'height="{coordinate(tall)}" overflow="visible"><path d="M{"L".join(places)}" fill="none" stroke-width="2"'
        f'{dash} stroke-linejoin="round" vector-effect="non-scaling-stroke" style="stroke:{_ink(tone)}"/></svg>'
    )


def _curve(mark: Curve, x: Axis, y: Axis, tall: float) -> list[str]:
    parts = [_path(mark.points, x, y, tall, mark.tone, mark.dashed)]
    if mark.dots:
        for a, b in mark.points:
            place = f'cx="{_x(x.at(a))}" cy="{coordinate(tall * (1 - y.at(b)))}"'
            parts.append(f'<circle {place} r="2.5" style="fill:{_ink(mark.tone)}"/>')
    return parts + _beside(mark.text, mark.points[mark.at], mark.side, mark.tone, x, y, tall)


def _points(mark: Points, x: Axis, y: Axis, tall: float) -> list[str]:
    if mark.kind not in ("measured", "published"):
        raise ValueError(f"points are measured or published, not {mark.kind!r}")
    parts: list[str] = []
    if mark.joined:
        parts.append(_path(mark.points, x, y, tall, mark.tone, True))
    for a, b in mark.points:
        parts.append(_shape(mark, _x(x.at(a)), tall * (1 - y.at(b))))
    return parts + _beside(mark.text, mark.points[mark.at], mark.side, mark.tone, x, y, tall)


_OUTLINES = {"diamond": "M0-5.5L5.5 0L0 5.5L-5.5 0Z", "square": "M-4-4H4V4H-4Z", "triangle": "M0-5L5 4H-5Z"}


def _shape(mark: Points, x: str, y: float) -> str:
    colour = _ink(mark.tone)
    if mark.kind == "measured":
        return (
            f'<circle cx="{x}" cy="{coordinate(y)}" r="7" fill="none" style="stroke:{colour}"/>'
            f'<circle cx="{x}" cy="{coordinate(y)}" r="4" style="fill:{colour}"/>'
        )
    looks = f'stroke-width="1.8" style="fill:var(--sd-ground);stroke:{colour}"'
    if mark.shape == "circle":
        return f'<circle cx="{x}" cy="{coordinate(y)}" r="4.5" {looks}/>'
    return f'<svg x="{x}" y="{coordinate(y)}" overflow="visible"><path d="{_OUTLINES[mark.shape]}" {looks}/></svg>'


def _now(mark: Now, x: Axis, y: Axis, tall: float) -> list[str]:
    place, level = x.at(mark.x), tall * (1 - y.at(mark.y))
    colour = _ink(mark.tone)
    looks = f"fill:var(--sd-ground);stroke:{colour}" if mark.hollow else f"fill:{colour};stroke:var(--sd-ground)"
    point = f'<circle cx="{_x(place)}" cy="{coordinate(level)}" r="6" stroke-width="2" style="{looks}"/>'
    return [point, *_beside(mark.text, (mark.x, mark.y), mark.side, mark.tone, x, y, tall, strong=True)]


# Places beside a sloping line, clear of it: above to the right, below to the left, well above, well below.
_CORNERS: dict[str, tuple[str, float, float]] = {
    "corner": ("start", 9, -7),
    "under": ("end", -9, 17),
    "high": ("end", 4, -34),
    "deep": ("end", -7, 54),
}


def _beside(
    words: str, point: tuple[float, float], side: str, tone: str, x: Axis, y: Axis, tall: float, strong: bool = False
) -> list[str]:
    """`words` next to a point, kept inside the plot."""
    if not words:
        return []
    place, level = x.at(point[0]), tall * (1 - y.at(point[1]))
    if side in ("left", "right"):
        anchor, dx = ("end", -12) if side == "left" else ("start", 12)
        return [_text(_x(place), level + 4, words, anchor=anchor, dx=dx, tone=tone, halo=True, strong=strong)]
    if side in _CORNERS:
        anchor, dx, dy = _CORNERS[side]
        return [_text(_x(place), level + dy, words, anchor=anchor, dx=dx, tone=tone, halo=True, strong=strong)]
    below = side == "below" or (side != "above" and level < 24)
    anchor = _anchor(place)
    dx = -4 if anchor == "start" else 4 if anchor == "end" else 0
    shift = 22 if below else -12
    return [_text(_x(place), level + shift, words, anchor=anchor, dx=dx, tone=tone, halo=True, strong=strong)]


# ------------------------------------------------------------------------------------------------------------- lanes

_NAME, _BAR, _GAP = 18, 22, 14


def lanes(label: str, x: Axis, rows: Sequence[Lane], *, wall: tuple[float, str] | None = None) -> str:
    """Rows of bars on one axis, each under its own name. `wall` marks a value across all rows (the end of a pass)."""
    top = 22 if wall else 2
    tall = float(len(rows) * (_NAME + _BAR + _GAP))
    inner = [_rule(_x(x.at(value)), 0, _x(x.at(value)), tall) for value in x.ticks]
    for index, row in enumerate(rows):
        inner.extend(_lane(row, x, index * (_NAME + _BAR + _GAP)))
    inner.append(_rule("0", tall, "100%", tall, "muted"))
    for value in x.ticks:
        place = x.at(value)
        inner.append(_rule(_x(place), tall, _x(place), tall + 4, "muted"))
        anchor = "start" if place < 0.02 else "end" if place > 0.98 else "middle"
        inner.append(_text(_x(place), tall + 18, x.show(value), anchor=anchor))
    inner.append(_text("100%", tall + 36, x.title, anchor="end"))
    if wall is not None:
        place = x.at(wall[0])
        inner.append(_rule(_x(place), -6, _x(place), tall, "ink", "2 3"))
        inner.append(_text(_x(place), -12, wall[1], anchor="end" if place > 0.4 else "start", tone="ink"))
    return _frame(label, int(top + tall + 42), (top, 2, 42, 2), inner)


def _lane(row: Lane, x: Axis, top: float) -> list[str]:
    parts = [_text("0", top + 12, row.name, tone="ink", halo=True)]
    if row.aside:
        parts.append(_text("100%", top + 12, row.aside, anchor="end", halo=True))
    bar = top + _NAME
    for segment in row.segments:
        parts.append(_segment(segment, x, bar))
    if row.value:
        ends = [x.at(segment.start + segment.width) for segment in row.segments if segment.style != "ghost"]
        end = max(ends, default=0.0)
        if end > 0.72:
            parts.append(_text(_x(end), bar + 15, row.value, anchor="end", dx=-8, tone="ground", strong=True))
        else:
            parts.append(_text(_x(end), bar + 15, row.value, dx=8, tone="ink", halo=True, strong=True))
    return parts


def _segment(segment: Segment, x: Axis, top: float) -> str:
    left, right = x.at(segment.start), x.at(segment.start + segment.width)
    colour = _ink(segment.tone)
    high = _BAR / 2 if segment.style == "low" else _BAR
    place = f'x="{_x(left)}" y="{coordinate(top + _BAR - high)}" width="{_x(right - left)}" height="{coordinate(high)}"'
    if segment.style == "ghost":
        bar = f'<rect {place} stroke-width="1.5" stroke-dasharray="3 3" fill="none" style="stroke:{colour}"/>'
    elif right - left < 0.01:  # a gap beside it would be all that is seen
        bar = f'<rect {place} style="fill:{colour}"/>'
    else:
        bar = f'<rect {place} stroke-width="1" style="fill:{colour};stroke:var(--sd-ground)"/>'
    if segment.text:
        bar += _text(_x((left + right) / 2), top + 15, segment.text, anchor="middle", tone=segment.tone)
    return bar
