"""A widget that needs a data file and nothing else."""

from typing import Any

from widgets._kit.params import Slider
from widgets._kit.view import View

TITLE = "Rows"
PARAMS = {"n": Slider("N", 0, 5, 1, 1)}
DATA = ("published",)


def view(*, data: Any, n: int) -> View:
    return View(f"n is {n}, rows: {len(data['published'].rows)}")
