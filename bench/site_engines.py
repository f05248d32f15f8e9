"""Starts of Python in Firefox and WebKit, for `make bench-site`: plain Pyodide and ours, turn by turn in one visit.

Why it exists: a reader's browser is one of three engines, and what is quick in one is not in another. The engines are
driven as in `make engines`; where one is not installed, `missing` says how to get it and its rows are left out.

It must not know goals, nor what the workers do (site_browser.py).
"""

from __future__ import annotations

import importlib
import json
from typing import Any

from bench.site_browser import BOOT, PAGE
from tests.engines.install import missing

__all__ = ["ENGINES", "boots", "missing"]

ENGINES = ("firefox", "webkit")


def boots(engine: str, url: str, turns: int) -> dict[str, list[dict[str, float]]]:
    """Worker ("plain", "ours") → milliseconds to "ready" and to "numpy", each turn; one turn before fills the cache."""
    times: dict[str, list[dict[str, float]]] = {"plain": [], "ours": []}
    with importlib.import_module(f"tests.engines.{engine}_visitor").engine() as new:
        visitor = new()
        try:
            for _ in range(turns + 1):
                for name, found in times.items():
                    found.append(_boot(visitor, url, name))
        finally:
            visitor.close()
    return {name: found[1:] for name, found in times.items()}


def _boot(visitor: Any, url: str, name: str) -> dict[str, float]:
    visitor.open(url + PAGE)
    found: dict[str, float] = visitor.evaluate(f"({BOOT})({json.dumps([name, True])})")
    return found
