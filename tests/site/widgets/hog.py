"""From n = 3 on it takes all the memory there is."""

from typing import Any

from widgets._kit.params import Slider
from widgets._kit.view import View

TITLE = "Hog"
PARAMS = {"n": Slider("N", 0, 5, 1, 1)}


def view(*, data: Any, n: int) -> View:
    held: list[bytearray] = []
    while n >= 3:
        held.append(bytearray(2_000_000_000))
    return View(f"n is {n}")
