"""A widget with a large file, which it wants once its switch is on."""

from typing import Any

from widgets._kit.params import Slider, Toggle
from widgets._kit.view import View

TITLE = "Filed"
PARAMS = {"run": Toggle("Run", False), "n": Slider("N", 0, 5, 1, 1)}
MEASURES = "run"
FILES = ("odd/blob.bin",)


def view(*, data: Any, run: bool, n: int) -> View:
    held = data.get("odd/blob.bin", b"")
    return View(f"n is {n}, {len(held)} bytes, {held.count(b'a')} of them a" if run else f"n is {n}, at rest")
