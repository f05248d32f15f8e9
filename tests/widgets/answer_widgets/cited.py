"""A widget with data."""

from typing import Any

from widgets._kit.view import View

TITLE = "Cited"
PARAMS: dict[str, Any] = {}
DATA = ("published",)


def view(*, data: Any) -> View:
    return View(f"{type(data['published']).__name__}")
