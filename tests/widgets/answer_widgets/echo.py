"""Says what the reader wrote."""

from typing import Any

from widgets._kit.params import Text
from widgets._kit.view import View

TITLE = "Echo"
PARAMS = {"words": Text("Words", "hello", 200, 3)}


def view(*, data: Any, words: str) -> View:
    return View(words or "nothing")
