"""From n = 3 on it takes all the memory there is, without writing to it: that would hold a busy machine up for long."""

import io
from typing import Any

from widgets._kit.params import Slider
from widgets._kit.view import View

TITLE = "Hog"
PARAMS = {"n": Slider("N", 0, 5, 1, 1)}


def view(*, data: Any, n: int) -> View:
    held: list[io.BufferedIOBase] = []
    while n >= 3:
        held.append(io.BufferedWriter(io.BytesIO(), 500_000_000))
    return View(f"n is {n}")
