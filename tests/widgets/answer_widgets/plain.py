"""The smallest widget."""

from typing import Any

from widgets._kit.params import Slider
from widgets._kit.view import Row, View

TITLE = "Plain"
PARAMS = {"n": Slider("N", 0, 5, 1, 1)}


def view(*, data: Any, n: int) -> View:
    return View(f"n is {n}", (Row("n", "n", n, "", str(n)),))
