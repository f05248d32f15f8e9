"""Plots in pure Python: curves, levels and marked points over two axes. SVG text comes out.

Curves live in a nested `<svg>` that stretches with the plot, with strokes that do not. Three kinds of number never look
alike: a model is a line, a measured point is solid with a ring, a published one open. It must not compute anything but
places in a drawing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from .drawing import EPS, Axis, along, frame, ink, linear, logarithmic, rule, write
from .text import coordinate

__all__ = [
    "Axis", "Curve", "Level", "Mark", "Note", "Now", "Points", "Wall", "linear", "logarithmic", "plot",
]  # fmt: skip


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


@dataclass(frozen=True)
class Note:
    """A value written beside a point that another mark draws."""

    x: float
    y: float
    text: str
    tone: str = "muted"
    side: str = ""


Mark: TypeAlias = Curve | Level | Wall | Points | Now | Note


def _anchor(place: float) -> str:
    """Text near an edge grows inwards."""
    return "start" if place < 0.14 else "end" if place > 0.86 else "middle"


def plot(label: str, x: Axis, y: Axis, marks: Sequence[Mark], *, height: int = 240, left: int = 44) -> str:
    """A chart of `marks` over two axes. `label` is what a screen reader says; the view's table has the numbers."""
    top, bottom = 30 if y.title else 14, 42 if x.title else 24
    right = 40 if any(isinstance(mark, Level) and not _ticked(mark, y) for mark in marks) else 16
    tall = float(height - top - bottom)
    inner: list[str] = []
    for value in y.ticks:
        level = tall * (1 - y.at(value))
        inner.append(rule("0", level, "100%", level))
        inner.append(write("0", level + 4, y.show(value), anchor="end", dx=-8))
    if y.title:
        inner.append(write("0", -16, y.title, dx=-left))
    inner.append(rule("0", tall, "100%", tall, "muted"))
    for value in x.ticks:
        place = x.at(value)
        inner.append(rule(along(place), tall, along(place), tall + 4, "muted"))
        inner.append(write(along(place), tall + 18, x.show(value), anchor="middle"))
    if x.title:
        inner.append(write("100%", tall + 36, x.title, anchor="end"))
    for mark in marks:
        inner.extend(_mark(mark, x, y, tall))
    return frame(label, height, (top, right, bottom, left), inner)


def _ticked(mark: Level, y: Axis) -> bool:
    """Whether the axis itself already writes the value."""
    return any(abs(mark.y - value) <= EPS for value in y.ticks)


def _mark(mark: Mark, x: Axis, y: Axis, tall: float) -> list[str]:
    if isinstance(mark, Curve):
        return _curve(mark, x, y, tall)
    if isinstance(mark, Points):
        return _points(mark, x, y, tall)
    if isinstance(mark, Level):
        level = tall * (1 - y.at(mark.y))
        line = rule("0", level, "100%", level, mark.tone, "5 4", 1.5)
        return [line] if _ticked(mark, y) else [line, write("100%", level + 4, mark.text, dx=6, tone="ink")]
    if isinstance(mark, Wall):
        place = x.at(mark.x)
        anchor, dx = ("end", -6) if place > 0.5 else ("start", 6)
        top = 0.0 if mark.top is None else tall * (1 - y.at(mark.top))
        base = 10 if mark.top is None else tall - 8
        return [
            rule(along(place), top, along(place), tall, mark.tone, "2 4"),
            write(along(place), base, mark.text, anchor=anchor, dx=dx, tone=mark.tone, halo=True),
        ]
    if isinstance(mark, Note):
        return _beside(mark.text, (mark.x, mark.y), mark.side, mark.tone, x, y, tall)
    return _now(mark, x, y, tall)


def _path(points: Sequence[tuple[float, float]], x: Axis, y: Axis, tall: float, tone: str, dashed: bool) -> str:
    """A line through points, in a nested picture that stretches with the plot while its stroke does not."""
    places = [f"{coordinate(1000 * x.at(a))} {coordinate(tall * (1 - y.at(b)))}" for a, b in points]
    dash = ' stroke-dasharray="4 4"' if dashed else ""
    return (
        f'<svg viewBox="0 0 1000 {coordinate(tall)}" preserveAspectRatio="none" width="100%" '
        f'height="{coordinate(tall)}" overflow="visible"><path d="M{"L".join(places)}" fill="none" stroke-width="2"'
        f'{dash} stroke-linejoin="round" vector-effect="non-scaling-stroke" stroke="{ink(tone)}"/></svg>'
    )


def _curve(mark: Curve, x: Axis, y: Axis, tall: float) -> list[str]:
    parts = [_path(mark.points, x, y, tall, mark.tone, mark.dashed)]
    if mark.dots:
        for a, b in mark.points:
            place = f'cx="{along(x.at(a))}" cy="{coordinate(tall * (1 - y.at(b)))}"'
            parts.append(f'<circle {place} r="2.5" fill="{ink(mark.tone)}"/>')
    return parts + _beside(mark.text, mark.points[mark.at], mark.side, mark.tone, x, y, tall)


def _points(mark: Points, x: Axis, y: Axis, tall: float) -> list[str]:
    if mark.kind not in ("measured", "published"):
        raise ValueError(f"points are measured or published, not {mark.kind!r}")
    parts: list[str] = []
    if mark.joined:
        parts.append(_path(mark.points, x, y, tall, mark.tone, True))
    for a, b in mark.points:
        parts.append(_shape(mark, along(x.at(a)), tall * (1 - y.at(b))))
    return parts + _beside(mark.text, mark.points[mark.at], mark.side, mark.tone, x, y, tall)


_OUTLINES = {"diamond": "M0-5.5L5.5 0L0 5.5L-5.5 0Z", "square": "M-4-4H4V4H-4Z", "triangle": "M0-5L5 4H-5Z"}


def _shape(mark: Points, x: str, y: float) -> str:
    colour = ink(mark.tone)
    if mark.kind == "measured":
        return (
            f'<circle cx="{x}" cy="{coordinate(y)}" r="7" fill="none" stroke="{colour}"/>'
            f'<circle cx="{x}" cy="{coordinate(y)}" r="4" fill="{colour}"/>'
        )
    looks = f'stroke-width="1.8" fill="var(--sd-ground)" stroke="{colour}"'
    if mark.shape == "circle":
        return f'<circle cx="{x}" cy="{coordinate(y)}" r="4.5" {looks}/>'
    return f'<svg x="{x}" y="{coordinate(y)}" overflow="visible"><path d="{_OUTLINES[mark.shape]}" {looks}/></svg>'


def _now(mark: Now, x: Axis, y: Axis, tall: float) -> list[str]:
    place, level = x.at(mark.x), tall * (1 - y.at(mark.y))
    colour = ink(mark.tone)
    inside, edge = ("var(--sd-ground)", colour) if mark.hollow else (colour, "var(--sd-ground)")
    place_of = f'cx="{along(place)}" cy="{coordinate(level)}"'
    point = f'<circle {place_of} r="6" stroke-width="2" fill="{inside}" stroke="{edge}"/>'
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
        anchor, dx = ("end", -12.0) if side == "left" else ("start", 12.0)
        return [write(along(place), level + 4, words, anchor=anchor, dx=dx, tone=tone, halo=True, strong=strong)]
    if side in _CORNERS:
        anchor, dx, dy = _CORNERS[side]
        return [write(along(place), level + dy, words, anchor=anchor, dx=dx, tone=tone, halo=True, strong=strong)]
    below = side == "below" or (side != "above" and level < 24)
    anchor = _anchor(place)
    dx = {"start": -4.0, "middle": 0.0, "end": 4.0}[anchor]
    shift = 22 if below else -12
    return [write(along(place), level + shift, words, anchor=anchor, dx=dx, tone=tone, halo=True, strong=strong)]
