"""The one place where a number becomes text, and where text becomes safe HTML.

Why one place: a picture drawn at build time and the same picture drawn in the reader's browser must be the same bytes.
Two Pythons may differ in the last bits of a float; after rounding to nine significant digits they do not. It must not
know about widgets or charts.
"""

from __future__ import annotations

import math

__all__ = ["brief", "coordinate", "count", "esc", "exact", "number", "percent", "ratio", "times"]

_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})


def esc(text: str) -> str:
    """`text` safe inside HTML and SVG, in element content and in quoted attributes."""
    return text.translate(_HTML)


def exact(x: float) -> float:
    """`x` rounded to nine significant digits, never negative zero; ValueError for NaN and infinity."""
    if not math.isfinite(x):
        raise ValueError(f"{x!r} is not a number that can be shown")
    return float(f"{x:.9g}") + 0.0


def number(x: float, spec: str = "") -> str:
    """`x` as text. `spec` is a format spec (".2f", ",.0f"); without one, the shortest text of the rounded value.

    >>> number(0.1 + 0.2), number(3.36160000001, ".2f"), number(2.0)
    ('0.3', '3.36', '2')
    """
    if isinstance(x, int):
        return format(x, spec)
    value = exact(x)
    if not spec:
        return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
    text = format(value, spec)
    return text[1:] if text.startswith("-") and not text.strip("-0.,%") else text


def coordinate(x: float) -> str:
    """A place in a drawing: one decimal, without a needless ".0"."""
    text = format(exact(x), ".1f").removesuffix(".0")
    return "0" if text == "-0" else text


def times(x: float, digits: int = 1) -> str:
    """A factor: `2.0×`."""
    return number(x, f".{digits}f") + "×"


def percent(x: float, digits: int = 0) -> str:
    """A fraction as a percentage: `.9966` gives `99.7%` with one digit.

    A share that is not quite all or not quite nothing is never rounded to 100% or 0%.
    """
    text = number(100.0 * x, f".{digits}f")
    full, none = number(100.0, f".{digits}f"), number(0.0, f".{digits}f")
    if text == full and exact(x) < 1.0:
        return ">" + number(100.0 - 10.0**-digits, f".{digits}f") + "%"
    if text == none and exact(x) > 0.0:
        return "<" + number(10.0**-digits, f".{digits}f") + "%"
    return text + "%"


def ratio(x: float) -> str:
    """A positive quantity with about three significant digits and no exponent: 41.8, 140, 1,066, 0.14."""
    value = exact(x)
    if value == 0:
        return "0"
    for limit, spec in ((99.95, ",.0f"), (9.995, ".1f"), (0.0995, ".2f")):
        if abs(value) >= limit:
            return number(value, spec)
    digits = 1 - math.floor(math.log10(abs(value)) + 1e-9)
    return number(value, f".{digits}f")


def brief(x: float) -> str:
    """Like `ratio`, without zeros behind the point: 80, 70, 16.1."""
    text = ratio(x)
    return text.rstrip("0").rstrip(".") if "." in text else text


def count(n: float, one: str, many: str) -> str:
    """`1 token`, `4 tokens`."""
    return f"{number(n)} {one if n == 1 else many}"
