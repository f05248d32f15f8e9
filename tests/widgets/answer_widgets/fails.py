"""A mistake in a view."""

from typing import Any

from widgets._kit.view import View

TITLE = "Fails"
PARAMS: dict[str, Any] = {}


def view(*, data: Any) -> View:
    return View(f"{1 / 0}")
