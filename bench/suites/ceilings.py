"""Ceilings: how fast this very device copies, and multiplies large matrices. Shares are told against them."""

from __future__ import annotations

from typing import Any

from ..backend import Backend
from .base import Cell, Suite

__all__ = ["SUITE", "copy_rate"]


def copy_rate(library: Backend, small: bool, repeats: int, budget: float) -> list[float]:
    """GB/s of copying inside the device's memory, read and write counted."""
    work, moved = library.copy(2e6 if small else 4e9 if library.device == "cuda" else 1e9)
    times = library.times(library.prepared(work), repeats, budget, 2)
    return [moved / (1e6 * ms) for ms in times]


class Ceilings(Suite):
    name = "ceilings"
    title = "What the device reaches: copying, and multiplying large matrices"

    def cells(self) -> list[Cell]:
        sizes = (128,) if self.small else (4096, 8192, 16384) if self.on_gpu else (1024, 2048, 4096)
        found = [Cell("copy", "copy", {})]
        for format in self.library.formats:
            found += [Cell(f"matrix-{format}-{size}", format, {"format": format, "size": size}) for size in sizes]
        return found

    def measure(self, cell: Cell) -> list[dict[str, Any]]:
        if cell.key == "copy":
            rates = copy_rate(self.library, self.small, max(9, self.repeats), self.budget)
            return [self.row("copy", "copy bandwidth", "GB/s", rates)]
        size, format = cell.settings["size"], cell.settings["format"]
        x, weight = self.library.random(size, size), self.library.weight(size, size, format)
        times = self.timed(lambda: self.library.linear(x, weight))
        rates = [2.0 * size**3 / (1e9 * ms) for ms in times]
        note = f"square product of size {size}"
        return [self.row(cell.key, "matrix rate", "TFLOP/s", rates, arithmetic=format, weights=format, note=note)]


SUITE = Ceilings
