"""Prints without end in sight, and odd characters, before it answers."""

from typing import Any

from widgets._kit.params import Slider
from widgets._kit.view import View

TITLE = "Flood"
PARAMS = {"n": Slider("N", 0, 5, 1, 1)}


def view(*, data: Any, n: int) -> View:
    for _ in range(20_000 * n):
        print("é中😀" * 300)
    return View(f"n is {n}")
