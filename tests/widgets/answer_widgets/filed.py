"""A widget with a file that it reads once its switch is on."""

from typing import Any

from widgets._kit.params import Toggle
from widgets._kit.view import View

TITLE = "Filed"
PARAMS = {"run": Toggle("Run", False)}
MEASURES = "run"
NEEDS = ("numpy",)
FILES = ("odd/blob.bin",)


def view(*, data: Any, run: bool) -> View:
    return View(f"{len(data['odd/blob.bin'])} bytes" if run else "at rest")
