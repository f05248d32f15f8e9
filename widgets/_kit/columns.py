"""Columns in pure Python: one upright stack a word, with marks across it, for distributions laid side by side.

Why not `plot`: a distribution over words has no number axis below it, and two of them are compared by what they share.
It must not compute anything but places in a drawing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .drawing import Axis, along, frame, ink, rule, write
from .text import coordinate

__all__ = ["Column", "Part", "Tick", "columns"]

_ROOM = 20  # pixels of height that a number inside a part needs
_WIDE = 0.72  # of its slot that a column fills


@dataclass(frozen=True)
class Part:
    """A stretch of a column, on top of the one before it. `text` stands at its foot, where there is room.

    `style`: "solid"; "ghost" (dashed outline: not there, but wanted); "struck" (dotted outline, hatched: there, but
    not wanted).
    """

    value: float
    tone: str
    style: str = "solid"
    text: str = ""


@dataclass(frozen=True)
class Tick:
    """A value marked across a column; `dashed` for a second kind of value."""

    value: float
    tone: str
    dashed: bool = False


@dataclass(frozen=True)
class Column:
    """A word with its stack. `notes` are lines under the name, as (text, tone)."""

    name: str
    parts: tuple[Part, ...]
    ticks: tuple[Tick, ...] = ()
    notes: tuple[tuple[str, str], ...] = ()


def columns(
    label: str, y: Axis, items: Sequence[Column], *, key: Sequence[tuple[str, str, str]] = (), height: int = 230
) -> str:
    """Columns over one axis. `key` explains what is drawn, as (style or "tick", tone, word), above the plot."""
    lines = max(len(item.notes) for item in items)
    top, bottom = 44 if y.title else 26, 26 + 17 * lines
    tall = float(height - top - bottom)
    inner: list[str] = []
    for value in y.ticks:
        level = tall * (1 - y.at(value))
        inner.append(rule("0", level, "100%", level))
        inner.append(write("0", level + 4, y.show(value), anchor="end", dx=-8))
    inner.extend(_key(key, float(-top + 12)))
    if y.title:
        inner.append(write("0", -14, y.title, dx=-34))
    for place, item in enumerate(items):
        inner.extend(_column(item, place, len(items), y, tall))
    inner.append(rule("0", tall, "100%", tall, "muted"))
    return frame(label, height, (top, 2, bottom, 34), inner)


def _column(item: Column, place: int, count: int, y: Axis, tall: float) -> list[str]:
    wide = _WIDE / count
    left, middle = (place + 0.5) / count - wide / 2, (place + 0.5) / count
    found: list[str] = []
    below = 0.0
    for part in item.parts:
        low, high = tall * (1 - y.at(below)), tall * (1 - y.at(below + part.value))
        below += part.value
        if low - high > 0.05:
            found.append(_part(part, left, wide, high, low - high))
        if part.text and low - high >= _ROOM:
            tone = "ground" if part.style == "solid" else part.tone
            found.append(write(along(middle), low - 7, part.text, anchor="middle", tone=tone))
    reach = wide * 0.1
    for tick in item.ticks:
        level = tall * (1 - y.at(tick.value))
        dash = "4 3" if tick.dashed else ""
        found.append(rule(along(left - reach), level, along(left + wide + reach), level, tick.tone, dash, 2.5))
    found.append(write(along(middle), tall + 18, item.name, anchor="middle", tone="ink"))
    for line, (words, tone) in enumerate(item.notes):
        found.append(write(along(middle), tall + 35 + 17 * line, words, anchor="middle", tone=tone))
    return found


def _part(part: Part, left: float, wide: float, top: float, height: float) -> str:
    """One stretch as a rectangle; a ghost or a struck part is tinted, so that its outline carries the meaning."""
    box = (
        f'x="{along(left)}" y="{coordinate(top)}" width="{along(wide)}" height="{coordinate(height)}" '
        f"{_looks(part.style, part.tone)}"
    )
    return f"<rect {box}{_outline(part.style)}/>"


def _looks(style: str, tone: str) -> str:
    colour = ink(tone)
    filled = f'fill="{colour}"'
    return filled if style == "solid" else f'{filled} fill-opacity=".16" stroke="{colour}"'


def _outline(style: str) -> str:
    if style not in ("solid", "ghost", "struck"):
        raise ValueError(f"style {style!r} is not solid, ghost or struck")
    dash = {"solid": "", "ghost": "5 3", "struck": "1.5 2.5"}[style]
    return f' stroke-width="1.5" stroke-dasharray="{dash}"' if dash else ""


def _key(key: Sequence[tuple[str, str, str]], y: float) -> list[str]:
    found: list[str] = []
    left = -34.0
    for style, tone, word in key:
        x = coordinate(left)
        if style in ("tick", "dashed"):
            dash = "4 3" if style == "dashed" else ""
            found.append(rule(x, y - 4.5, coordinate(left + 14), y - 4.5, tone, dash, 2.5))
        else:
            found.append(
                f'<rect x="{x}" y="{coordinate(y - 10)}" width="11" height="11" '
                f"{_looks(style, tone)}{_outline(style)}/>"
            )
        found.append(write(coordinate(left + 18), y, word))
        left += 32 + 7.6 * len(word)
    return found
