"""Mixtures of experts: how many distinct experts some positions touch, and what the pass over them costs.

Routing is drawn: "random" picks every expert alike (the formula's assumption), "skewed" gives the r-th most popular
expert a weight of 1/r and lets a position repeat each choice of the one before it with chance 0.3, as neighbouring
tokens do.
"""

from __future__ import annotations

import random
from typing import Any

from sim import experts_touched

from ..shapes import MOE, TINY_MOE, Mixture
from ..stack import Experts
from .base import WIDTH, Cell, Skipped, Suite

__all__ = ["SUITE", "route"]


def route(experts: int, active: int, positions: int, routing: str, chance: random.Random) -> list[list[int]]:
    """The `active` distinct experts of every position."""
    weights = [1.0 / (rank + 1) for rank in range(experts)] if routing == "skewed" else None
    found: list[list[int]] = []
    for place in range(positions):
        chosen: list[int] = []
        if weights and place:
            chosen = [expert for expert in found[-1] if chance.random() < 0.3]
        while len(chosen) < active:
            pick = chance.choices(range(experts), weights)[0] if weights else chance.randrange(experts)
            if pick not in chosen:
                chosen.append(pick)
        found.append(chosen)
    return found


class Moe(Suite):
    name = "moe"
    title = "Experts touched by a pass, and the time of the routed part"

    def cells(self) -> list[Cell]:
        shapes = [TINY_MOE] if self.small else list(MOE.values())
        counts = (1, 4) if self.small else (1, 2, 4, 8, 16, 32, 64)
        return [
            Cell(
                f"{shape.key}-{routing}-n{positions}",
                shape.key,
                {"shape": shape, "routing": routing, "positions": positions},
            )
            for shape in shapes
            for routing in ("random", "skewed")
            for positions in counts
        ]

    def measure(self, cell: Cell) -> list[dict[str, Any]]:
        shape, routing, positions = (cell.settings[name] for name in ("shape", "routing", "positions"))
        format = self.library.formats[0]
        counts, busiest = self._counts(shape, routing, positions)
        touched = round(sorted(counts)[len(counts) // 2])
        fields: dict[str, Any] = {
            "model": shape.title,
            "weights": format,
            "arithmetic": format,
            "layers": shape.layers,
            "batch": 1,
            "context": 0,
            "positions": positions,
            "experts": shape.experts,
            "active": shape.active,
            "routing": routing,
        }
        expected = experts_touched(shape.experts, shape.active, positions)
        experts = self.row(
            cell.key, "distinct experts in a layer", "experts", counts, **fields, predicted=float(f"{expected:.6g}")
        )
        layers = self._layers(shape, format)
        made = self._experts(shape, layers)
        rows = self.library.random(touched, max(1, busiest), shape.width)
        times = self.timed(lambda: made.forward(rows))
        read = float(layers * touched * 3 * shape.width * shape.inner * WIDTH[format])
        note = f"{touched} experts touched, rows padded to the busiest ({busiest}); attention left out"
        timed = self.row(
            f"{cell.key}-ms", "routed part of a pass", "ms", times, **fields,
            layers_run=layers, weight_bytes=read, note=note,
        )  # fmt: skip
        return [experts, timed]

    def _counts(self, shape: Mixture, routing: str, positions: int) -> tuple[list[float], int]:
        """Twenty means of distinct experts over fifty routings each, and the median load of the busiest expert."""
        chance = random.Random(f"{shape.key} {routing} {positions}")
        each = 5 if self.small else 50
        means, loads = [], []
        for _ in range(20):
            seen = 0
            for _ in range(each):
                load: dict[int, int] = {}
                for chosen in route(shape.experts, shape.active, positions, routing, chance):
                    for expert in chosen:
                        load[expert] = load.get(expert, 0) + 1
                seen += len(load)
                loads.append(max(load.values()))
            means.append(seen / each)
        return means, sorted(loads)[len(loads) // 2]

    def _layers(self, shape: Mixture, format: str) -> int:
        """Enough for the touched experts to outgrow the device's cache, as far as they fit."""
        if self.small:
            return 1
        layer = shape.experts * 3 * shape.width * shape.inner * WIDTH[format]
        wanted = 1 if not self.on_gpu else 2 if shape.experts <= 8 else 8
        if layer > self.library.memory() and not self._made:
            raise Skipped("not one layer of experts fits")
        return wanted

    _made: tuple[str, Experts] | None = None

    def _experts(self, shape: Mixture, layers: int) -> Experts:
        if self._made is None or self._made[0] != shape.key:
            self._made = None
            self.library.release()
            self._made = (shape.key, Experts(self.library, shape, layers))
        return self._made[1]

    def forget(self) -> None:
        self._made = None
        super().forget()


SUITE = Moe
