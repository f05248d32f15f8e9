"""Long work that yields: n rounds of 20 ms."""

import time
from collections.abc import Iterator
from typing import Any

from widgets._kit.params import Slider
from widgets._kit.view import Progress, View

TITLE = "Long"
PARAMS = {"n": Slider("Rounds", 0, 1000, 1, 1)}


def steps(*, data: Any, n: int) -> Iterator[Progress | View]:
    for i in range(n + 1):
        end = time.monotonic() + 0.02
        while time.monotonic() < end:
            pass
        yield Progress(i / (n + 1), f"round {i}")
    yield View(f"n is {n}")
