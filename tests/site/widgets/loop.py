"""From n = 3 on it never answers, as a mistake in a widget might."""

from typing import Any

from widgets._kit.params import Slider
from widgets._kit.view import View

TITLE = "Loop"
PARAMS = {"n": Slider("N", 0, 5, 1, 1)}


def view(*, data: Any, n: int) -> View:
    while n >= 3:
        pass
    return View(f"n is {n}")
