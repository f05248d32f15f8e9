"""The suites: what is measured. Each module has `SUITE`; `NAMES` is the order in which `all` runs them.

A suite lists its cells (one cell: one set of settings, one main row and perhaps more) and measures one at a time, so
that a run can be stopped, gone on with and split. It must not know files or clocks, nor which library is in use.
"""

from __future__ import annotations

import importlib

from .base import Cell, Suite

__all__ = ["NAMES", "Cell", "Suite", "suite"]

NAMES = ("ceilings", "pass-cost", "draft-cost", "moe", "speculate")


def suite(name: str) -> type[Suite]:
    """The suite of that name; KeyError for another."""
    if name not in NAMES:
        raise KeyError(name)
    found: type[Suite] = importlib.import_module(f"{__name__}.{name.replace('-', '_')}").SUITE
    return found
