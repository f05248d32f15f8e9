"""Long work of n rounds."""

from collections.abc import Iterator
from typing import Any

from widgets._kit.params import Slider
from widgets._kit.view import Progress, View

TITLE = "Long"
PARAMS = {"n": Slider("Rounds", 0, 1000, 1, 3)}


def steps(*, data: Any, n: int) -> Iterator[Progress | View]:
    yield Progress(0.0, "beginning")
    for i in range(1, n + 1):
        yield View(f"round {i}")
