"""Which devices have a measured run in docs/data/measured, and the words for what is missing.

A widget names its files in `DATA`, which must be a plain tuple; this list says what they are. A run that lands adds one
line here and one name to the `DATA` of the figures that show it (a test holds the three together). It must not know a
figure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["LANDED", "Run", "file_name", "legend"]


@dataclass(frozen=True)
class Run:
    """A landed run: how a control calls the device, and whether it is a GPU."""

    title: str
    gpu: bool
    wide: str
    """The format that is not cut down: what the arithmetic works in."""


LANDED: Mapping[str, Run] = {
    "cpu": Run("CPU: two cores of a shared virtual machine", False, "float32"),
}


def file_name(suite: str, device: str) -> str:
    """The name in `DATA` of a suite's file for a landed device."""
    return f"measured/{suite}-{device}"


def legend() -> str:
    """What a chart of measurements must say about them."""
    if any(run.gpu for run in LANDED.values()):
        return "Measured here: solid points with a ring."
    return "Measured here: solid points with a ring; no GPU run yet."
