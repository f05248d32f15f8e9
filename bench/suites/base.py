"""What every suite shares: cells, skipping what does not fit, and the shape of a row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..backend import Backend
from ..rows import WIDE, row
from ..shapes import TINY, Shape
from ..stack import Cache, Stack, check_stack

__all__ = ["WIDTH", "Cell", "Skipped", "Suite", "layers_that_fit"]

WIDTH = {"float32": 4, "bf16": 2, "fp8": 1}
"""Bytes a number."""


class Skipped(Exception):
    """This cell cannot be measured here; the message says why. Nothing is written for it."""


@dataclass(frozen=True)
class Cell:
    """One set of settings. `key` is the end of its rows' ids; cells that share `group` share weights."""

    key: str
    group: str
    settings: dict[str, Any] = field(hash=False)


class Suite(ABC):
    """Base of the suites. A subclass gives `name`, `title`, `cells` and `measure`."""

    name = ""
    title = ""

    def __init__(self, library: Backend, small: bool, repeats: int, budget: float) -> None:
        self.library, self.small, self.repeats, self.budget = library, small, repeats, budget
        self.warmup = 2 if library.device == "cuda" else 1
        self.problems: list[str] = []
        self._stacks: dict[str, Stack] = {}

    @abstractmethod
    def cells(self) -> list[Cell]:
        """Every cell, those of one group together."""

    @abstractmethod
    def measure(self, cell: Cell) -> list[dict[str, Any]]:
        """Rows of this cell without the device's part of their ids; the first row's id is the cell's key."""

    def forget(self) -> None:
        """Drop weights: the next cell has others."""
        self._stacks.clear()
        self.library.release()

    # --- for subclasses

    @property
    def on_gpu(self) -> bool:
        """Whether the full grid of a GPU is affordable."""
        return self.library.device == "cuda"

    def stack(self, shape: Shape, layers: int, format: str, **more: bool) -> Stack:
        """The stack with these settings, checked against float64 when it is made."""
        key = f"{shape.key} {layers} {format} {sorted(more.items())}"
        if key not in self._stacks:
            made = Stack(self.library, shape, layers, format, **more)
            check_stack(made, 3, 2, 256)
            tiny = Stack(self.library, TINY, 1, format)
            for positions in (1, 3):
                check_stack(tiny, positions, 2, 0)
            self._stacks[key] = made
        return self._stacks[key]

    def timed(self, work: Callable[[], object]) -> list[float]:
        """Milliseconds of repeated calls."""
        return self.library.times(self.library.prepared(work), self.repeats, self.budget, self.warmup)

    def passed(self, stack: Stack, batch: int, positions: int, cache: Cache | None = None) -> list[float]:
        """Milliseconds of passes over `positions` positions in each of `batch` sequences."""
        x = self.library.random(batch * positions, stack.shape.width)
        seen = cache or Cache(self.library, stack.shape, stack.layers, batch, 0)
        return self.timed(lambda: stack.forward(x, batch, positions, seen))

    def row(self, key: str, quantity: str, unit: str, values: Sequence[float], **fields: Any) -> dict[str, Any]:
        """One row: median and spread of `values`, with the settings in `fields` (None is left out)."""
        said = {name: value for name, value in fields.items() if value is not None}
        made = row(key, quantity, unit, values, warmup=self.warmup, **said)
        wide = (made["q3"] - made["q1"]) / made["value"]
        if wide > WIDE and "note" in said:
            made["note"] = f"{said['note']}; quartiles lie {100 * wide:.0f} % of the median apart"
        return made


def layers_that_fit(library: Backend, shape: Shape, format: str, spare: float = 0.0) -> int:
    """All layers (and the output matrix), or as many whole layers as fit beside `spare` bytes without it."""
    room = library.memory() - spare
    layer = shape.layer_numbers * WIDTH[format]
    if shape.layers * layer + shape.head_numbers * WIDTH[format] <= room:
        return shape.layers
    return max(0, min(shape.layers - 1, int(room / layer)))
