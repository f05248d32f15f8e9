"""Lanes in pure Python: rows of bars on one axis, for times that follow one another and sizes that add up.

Every width is a value on the axis, so two lanes can be compared by eye. It must not compute anything but places in a
drawing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .drawing import Axis, along, frame, ink, rule, write
from .text import coordinate

__all__ = ["Lane", "Segment", "lanes"]


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
    `aside` stands at the right end of the name's line. `chosen` marks the row that the reader has picked; `needle` a
    value on the axis, such as a number that was drawn.
    """

    name: str
    segments: tuple[Segment, ...]
    value: str = ""
    aside: str = ""
    chosen: bool = False
    needle: float | None = None


_NAME = 18  # height of a row's name


def lanes(
    label: str,
    x: Axis,
    rows: Sequence[Lane],
    *,
    wall: tuple[float, str] | None = None,
    key: Sequence[tuple[str, str]] = (),
    slim: bool = False,
    stepped: bool = False,
) -> str:
    """Rows of bars on one axis, each under its own name. `wall` marks a value across all rows (the end of a pass).

    `key` names tones, as (tone, word), where bars cannot be labelled; `slim` rows are lower, for many of them.
    """
    bar, gap = (16, 8) if slim else (22, 14)
    top = 22 if wall else 2
    tall = float(len(rows) * (_NAME + bar + gap))
    inner = [rule(along(x.at(value)), 0, along(x.at(value)), tall) for value in x.ticks]
    for index, row in enumerate(rows):
        inner.extend(_lane(row, x, index * (_NAME + bar + gap), bar))
    inner.append(rule("0", tall, "100%", tall, "muted"))
    for value in x.ticks:
        place = x.at(value)
        inner.append(rule(along(place), tall, along(place), tall + 4, "muted"))
        anchor = "start" if place < 0.02 else "end" if place > 0.98 else "middle"
        inner.append(write(along(place), tall + 18, x.show(value), anchor=anchor))
    inner.append(write("100%", tall + 38, x.title, anchor="end"))
    left = 0.0
    for tone, word in key:
        inner.append(
            f'<rect x="{coordinate(left)}" y="{coordinate(tall + 29)}" width="9" height="9" fill="{ink(tone)}"/>'
        )
        inner.append(write(coordinate(left + 14), tall + 38, word))
        left += 26 + 7.8 * len(word)
    if wall is not None:
        place = x.at(wall[0])
        inner.append(rule(along(place), -6, along(place), tall, "ink", "2 3"))
        inner.append(write(along(place), -12, wall[1], anchor="end" if place > 0.4 else "start", tone="ink"))
    return frame(label, int(top + tall + 44), (top, 2, 44, 2), inner, stepped=stepped)


def _lane(row: Lane, x: Axis, top: float, height: float) -> list[str]:
    name = f"▸ {row.name}" if row.chosen else row.name
    parts = [write("0", top + 12, name, tone="ink", halo=True, strong=row.chosen)]
    if row.aside:
        tone = "ink" if row.chosen else "muted"
        parts.append(write("100%", top + 12, row.aside, anchor="end", tone=tone, halo=True, strong=row.chosen))
    bar = top + _NAME
    parts.extend(_segment(segment, x, bar, height) for segment in row.segments)
    if row.value:
        ends = [x.at(segment.start + segment.width) for segment in row.segments if segment.style != "ghost"]
        end = max(ends, default=0.0)
        if end > 0.72:
            parts.append(write(along(end), bar + 15, row.value, anchor="end", dx=-8, tone="ground", strong=True))
        else:
            parts.append(write(along(end), bar + 15, row.value, dx=8, tone="ink", halo=True, strong=True))
    if row.needle is not None:
        place = along(x.at(row.needle))
        parts.append(rule(place, bar - 3, place, bar + height + 3, "ground", width=6))
        parts.append(rule(place, bar - 3, place, bar + height + 3, "ink", width=2.5))
    return parts


def _segment(segment: Segment, x: Axis, top: float, tall: float) -> str:
    left, right = x.at(segment.start), x.at(segment.start + segment.width)
    colour = ink(segment.tone)
    high = tall / 2 if segment.style == "low" else float(tall)
    place = f'x="{along(left)}" y="{coordinate(top + tall - high)}" width="{along(right - left)}"'
    place += f' height="{coordinate(high)}"'
    if segment.style == "ghost":
        bar = f'<rect {place} stroke-width="1.5" stroke-dasharray="3 3" fill="none" stroke="{colour}"/>'
    elif right - left < 0.01:  # a gap beside it would be all that is seen
        bar = f'<rect {place} fill="{colour}"/>'
    else:
        bar = f'<rect {place} stroke-width="1" fill="{colour}" stroke="var(--sd-ground)"/>'
    if segment.text:
        tone = segment.tone if segment.style == "ghost" else "ground"
        bar += write(along((left + right) / 2), top + tall / 2 + 4.3, segment.text, anchor="middle", tone=tone)
    return bar
