"""A view that does what a view must not."""

import sys
from typing import Any

from widgets._kit.params import Choice
from widgets._kit.view import View

TITLE = "Odd"
WAYS = {"exit": "ends Python", "memory": "is too large", "none": "returns nothing", "endless": "calls itself"}
PARAMS = {"how": Choice("How", WAYS, "exit")}


def view(*, data: Any, how: str) -> View:
    if how == "exit":
        sys.exit(3)
    if how == "memory":
        raise MemoryError
    if how == "endless":
        return view(data=data, how=how)
    return None  # type: ignore[return-value]
