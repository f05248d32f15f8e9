"""The few marks every picture is made of: a frame that fits its column, text, rules. And the axis they are placed on.

How a picture fits every width without scaling its text: the outer `<svg>` has no viewBox; its CSS padding makes the
content box the plot area, so x is given in percent and y in pixels. Colours are CSS variables, so a palette change
redraws nothing. No ids: the same figure may stand twice on a page. No style attribute: a strict content security
policy drops those, so colours are attributes, and sizes are classes of `widget.css`. It must not know any chart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .text import coordinate, esc, exact, number

__all__ = ["EPS", "PADS", "TONES", "Axis", "along", "frame", "ink", "linear", "logarithmic", "rule", "write"]

TONES = ("target", "draft", "accepted", "rejected", "memory", "ink", "muted", "ground")
EPS = 1e-9
#: Paddings that `widget.css` has a class for, in pixels: top, right, bottom, left.
PADS = ((0, 2, 14, 22, 26, 30, 44, 46), (2, 6, 16, 40), (2, 4, 24, 26, 42, 43, 44, 60, 77), (2, 34, 44, 52))


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
    raw = max(hi - lo, EPS) / ticks
    power = 10.0 ** math.floor(math.log10(raw) + EPS)
    step = next(power * m for m in (1.0, 2.0, 5.0, 10.0) if power * m >= raw * (1 - EPS))
    steps = math.ceil((hi - lo) / step - EPS)
    end = hi if snug else lo + steps * step
    marks = tuple(exact(lo + i * step) for i in range(steps + 1) if lo + i * step <= end + EPS)
    return Axis(lo, exact(end), marks, title, show=show)


def logarithmic(
    lo: float, hi: float, title: str = "", *, ticks: Sequence[float] = (), show: Callable[[float], str] = number
) -> Axis:
    """A logarithmic axis. Without `ticks` it runs over whole decades and marks each."""
    if ticks:
        return Axis(lo, hi, tuple(ticks), title, log=True, show=show)
    first = math.floor(math.log10(lo) + EPS)
    last = max(first + 1, math.ceil(math.log10(hi) - EPS))
    marks = tuple(exact(10.0**power) for power in range(first, last + 1))
    return Axis(marks[0], marks[-1], marks, title, log=True, show=show)


def along(place: float) -> str:
    """A place across the plot, 0 to 1, as SVG writes it: percent."""
    return coordinate(100.0 * place) + "%"


def ink(tone: str) -> str:
    """The CSS colour of a tone; ValueError for one that has no meaning here."""
    if tone not in TONES:
        raise ValueError(f"tone {tone!r} is not one of {', '.join(TONES)}")
    return f"var(--sd-{tone})"


def write(
    x: str,
    y: float,
    words: str,
    *,
    anchor: str = "start",
    tone: str = "muted",
    dx: float = 0,
    halo: bool = False,
    strong: bool = False,
) -> str:
    """Text at `x` (as SVG writes it) and `y` pixels. A `halo` of the ground keeps it readable on top of lines."""
    looks = f'fill="{ink(tone)}"'
    if halo or strong:
        looks += f' class="{" ".join(["sd-halo"] * halo + ["sd-strong"] * strong)}"'
    shift = f' dx="{coordinate(dx)}"' if dx else ""
    end = f' text-anchor="{anchor}"' if anchor != "start" else ""
    return f'<text x="{x}" y="{coordinate(y)}"{shift}{end} {looks}>{esc(words)}</text>'


def rule(x1: str, y1: float, x2: str, y2: float, tone: str = "grid", dash: str = "", width: float = 1) -> str:
    """A straight line, by default one of the grid."""
    colour = "var(--sd-grid)" if tone == "grid" else ink(tone)
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    thick = f' stroke-width="{coordinate(width)}"' if width != 1 else ""
    return (
        f'<line x1="{x1}" y1="{coordinate(y1)}" x2="{x2}" y2="{coordinate(y2)}" '
        f'stroke="{colour}"{dashed}{thick}/>'
    )


def frame(
    label: str, height: int, pads: tuple[int, int, int, int], inner: Sequence[str], *, stepped: bool = False
) -> str:
    """The outer `<svg>`: `height` pixels in all, `pads` (top, right, bottom, left) around the plot area.

    The height stands in classes as well, one a digit: a page's rule for images ("height: auto") must not win.
    `stepped`: this picture shows the steps of a `Step` itself, without a token strip. ValueError for a size that
    has no class.
    """
    classes = ["sd-chart", *["sd-stepped"] * stepped, *_sizes(height, pads)]
    return (
        f'<svg class="{" ".join(classes)}" width="100%" height="{number(height)}" role="img" aria-label="{esc(label)}">'
        + "".join(inner)
        + "</svg>"
    )


def _sizes(height: int, pads: tuple[int, int, int, int]) -> list[str]:
    """The classes of a height below 1000 (`sd-h2xx sd-hx5x` is 250) and of the four paddings."""
    if not 0 < height < 1000:
        raise ValueError(f"a picture is 1 to 999 pixels high, not {height}")
    for pad, known in zip(pads, PADS, strict=True):
        if pad not in known:
            raise ValueError(f"widget.css has no class for a padding of {pad} there, only for {known}")
    digits = (f"{height // 100}xx", f"x{height // 10 % 10}x", f"xx{height % 10}")
    shown = [f"sd-h{digit}" for digit in digits if "0" not in digit]
    return shown + [f"sd-{side}{pad}" for side, pad in zip("trbl", pads, strict=True)]
