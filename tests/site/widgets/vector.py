"""A widget that needs NumPy and a data file."""

from typing import Any

from widgets._kit.params import Slider
from widgets._kit.view import Row, View

TITLE = "Vector"
PARAMS = {"n": Slider("N", 0, 5, 1, 1)}
NEEDS = ("numpy",)
DATA = ("published",)


def view(*, data: Any, n: int) -> View:
    import numpy

    total = int(numpy.arange(n + 1).sum())
    return View(f"the sum is {total}, rows: {len(data['published'].rows)}", (Row("sum", "sum", total, "", str(total)),))
