"""One measured value as a row of docs/data: median, number of repeats, spread.

Why it exists: every suite must state the same things in the same way, and a mean would let one cold run move the value.
It must not know: what was measured.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Any

__all__ = ["WIDE", "row"]

WIDE = 0.15
"""Quartiles farther apart than this share of the median are said in a note. From five repeats on: fewer have none."""


def row(ident: str, quantity: str, unit: str, values: Sequence[float], *, warmup: int, **more: Any) -> dict[str, Any]:
    """The row of these repeats: `value` is their median; min, q1, q3, max from two repeats on; 6 digits.

    `warmup` counts the repeats that were made before and thrown away. `more` are more fields of sim.data.Measurement.
    """
    if not values or not all(math.isfinite(value) for value in values):
        raise ValueError(f"values are {list(values)!r}; finite numbers are needed")
    made: dict[str, Any] = {
        "id": ident,
        "quantity": quantity,
        "unit": unit,
        "value": _short(statistics.median(values)),
        "n": len(values),
    }
    if len(values) > 1:
        low, _, high = statistics.quantiles(values, n=4, method="inclusive")
        made |= {"min": _short(min(values)), "q1": _short(low), "q3": _short(high), "max": _short(max(values))}
        if len(values) >= 5 and high - low > WIDE * abs(made["value"]) and more.get("note") is None:
            more["note"] = f"quartiles lie {100 * (high - low) / abs(made['value'] or 1):.0f} % of the median apart"
    return made | {"warmup": warmup} | more


def _short(value: float) -> float:
    return float(f"{value:.6g}")
