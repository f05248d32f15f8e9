"""Says how often it was drawn. A real view may not: the same settings must give the same picture."""

from typing import Any

from widgets._kit.params import Slider
from widgets._kit.view import View

TITLE = "Calls"
PARAMS = {"n": Slider("N", 0, 5, 1, 1)}

drawn = 0


def view(*, data: Any, n: int) -> View:
    global drawn
    drawn += 1
    print("drawn")
    return View(f"n is {n}", title=f"drawn {drawn} times")
