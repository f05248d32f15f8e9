"""Pass cost: the time of a pass against positions, batch and context, at the true width of an 8B and a 70B model.

Also the share of the device's own copy bandwidth that a one-position pass reaches, with and without what lies between
the matrices: below 90 % on a GPU the pass measures overhead, and the second share tells where it is.
"""

from __future__ import annotations

from statistics import median
from typing import Any

from ..shapes import SHAPES, TINY, Shape
from ..stack import Cache
from .base import WIDTH, Cell, Skipped, Suite, layers_that_fit
from .ceilings import copy_rate

__all__ = ["SUITE"]

_POSITIONS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
_FASTER = "a pass only reads, while a copy also writes, which this machine does more slowly"
_MOST = 4096
"""Positions of all sequences together; more are a prefill and not a verification."""


class PassCost(Suite):
    name = "pass-cost"
    title = "The time of one pass, by positions, batch and context"

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._copy: list[float] = []
        self._kept: tuple[tuple[str, int, int, int], Cache] | None = None
        self._layers: dict[str, int] = {}

    def cells(self) -> list[Cell]:
        found = [Cell("copy", "copy", {})]
        plan: list[tuple[Shape, tuple[str, ...], tuple[tuple[int, int], ...], tuple[int, ...]]]
        pairs: tuple[tuple[int, int], ...]
        if self.small:
            plan = [(TINY, self.library.formats, ((1, 0), (1, 16), (4, 0)), (1, 2, 8))]
        elif self.on_gpu:
            every = tuple((batch, context) for batch in (1, 4, 16, 64) for context in (0, 2048, 8192, 32768))
            few = ((1, 0), (1, 8192), (16, 0), (16, 8192), (64, 0), (64, 2048))
            plan = [(SHAPES["8b"], self.library.formats, every, _POSITIONS)]
            plan += [(SHAPES["70b"], self.library.formats, few, _POSITIONS)]
        else:
            pairs = ((1, 2048), (1, 8192), (4, 0), (4, 2048), (16, 0), (16, 2048))
            first = self.library.formats[:1]
            plan = [(SHAPES["8b"], first, ((1, 0),), _POSITIONS), (SHAPES["8b"], first, pairs, _POSITIONS[:8])]
            plan += [(SHAPES["70b"], first, ((1, 0),), _POSITIONS[:7])]
        most = _MOST if self.on_gpu or self.small else 512  # a CPU needs seconds for more
        for shape, formats, pairs, counts in plan:
            for format in formats:
                for batch, context in pairs:
                    for positions in (count for count in counts if count * batch <= most):
                        key = f"{shape.key}-{format}-b{batch}-ctx{context}-n{positions}"
                        settings = {"shape": shape, "format": format, "batch": batch, "context": context}
                        found.append(Cell(key, f"{shape.key} {format}", {**settings, "positions": positions}))
        return found

    def layers(self, shape: Shape, format: str) -> int:
        """Layers that run: on a GPU what fits beside a small cache, on a CPU one or two (enough to outgrow caches)."""
        if self.small:
            return 2
        if not self.on_gpu:
            return 2 if shape.key == "8b" else 1
        fit = layers_that_fit(self.library, shape, format, spare=12e9)
        return fit if fit == shape.layers else min(fit, shape.layers // 2)

    def measure(self, cell: Cell) -> list[dict[str, Any]]:
        if not self._copy:
            self._copy = copy_rate(self.library, self.small, 9, self.budget)
        if cell.key == "copy":
            return [self.row("copy", "copy bandwidth", "GB/s", self._copy)]
        shape, format = cell.settings["shape"], cell.settings["format"]
        batch, context, positions = (cell.settings[name] for name in ("batch", "context", "positions"))
        layers = self._layers.setdefault(f"{shape.key} {format}", self.layers(shape, format))
        if layers < 1:
            raise Skipped("not one layer fits")
        cache_format = self.library.formats[0]
        cache = self._cache(shape, layers, batch, context, WIDTH[cache_format])
        stack = self.stack(shape, layers, format)
        times = self.passed(stack, batch, positions, cache)
        kv_bytes = cache.bytes(shape, WIDTH[cache_format])
        fields = {
            "model": shape.title,
            "weights": format,
            "arithmetic": format,
            "layers": shape.layers,
            "layers_run": layers,
            "batch": batch,
            "context": context,
            "positions": positions,
        }
        more = {
            "weight_bytes": stack.bytes(),
            "kv_bytes": kv_bytes,
            "operations": stack.operations(batch * positions),
        }
        without = "output matrix left out" if stack.head is None else None
        rows = [self.row(cell.key, "pass time", "ms", times, **fields, **more, note=without)]
        if (batch, context, positions) == (1, 0, 1):
            rows += self._shares(cell.key, stack, times, fields)
        return rows

    def _shares(self, key: str, stack: Any, times: list[float], fields: dict[str, Any]) -> list[dict[str, Any]]:
        rate = median(self._copy)
        x = self.library.random(1, stack.shape.width)
        bare = self.timed(lambda: stack.matrices_alone(x))
        goal = 0.9 if self.on_gpu and stack.shape.key == "8b" else None  # below it, a pass measures overhead
        found = []
        for end, what, values in (
            ("share", "share of copy bandwidth", times),
            ("matrices-share", "share of copy bandwidth, matrices alone", bare),
        ):
            shares = [stack.bytes() / (1e6 * ms) / rate for ms in values]
            found.append(
                self.row(
                    f"{key}-{end}",
                    what,
                    "fraction",
                    shares,
                    **fields,
                    goal=goal if end == "share" else None,
                    note=_FASTER if median(shares) > 1 else None,
                )
            )
        return found

    def _cache(self, shape: Shape, layers: int, batch: int, context: int, width: int) -> Cache:
        """The cache of these settings. Only one is kept: the largest fills most of a device."""
        place = (shape.key, layers, batch, context)
        if self._kept is None or self._kept[0] != place:
            self._kept = None
            self.library.release()
            need = float(layers * batch * context * shape.kv_numbers * width)
            if need > 0.85 * self.library.memory():
                raise Skipped(f"{need / 1e9:.0f} GB of cache do not fit")
            self._kept = (place, Cache(self.library, shape, layers, batch, context))
        return self._kept[1]

    def forget(self) -> None:
        self._kept = None
        super().forget()


SUITE = PassCost
