"""Imports something of Python's library that no widget of the site uses: it is not in the memory Python starts from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from widgets._kit.params import Slider
from widgets._kit.view import View

TITLE = "A rare module"
PARAMS = {"n": Slider("n", 0, 10, 1, 1)}


def view(*, data: Mapping[str, Any], n: int) -> View:
    import colorsys

    return View(summary=f"n is {n}, hue {colorsys.rgb_to_hsv(0, n, 0)[0]:.4f}")
