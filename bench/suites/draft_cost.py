"""Draft cost: one step of each drafter as a share of one pass of its target (the c of the formulas), measured.

Where not all layers of the target run, its pass is told from the layers that ran plus the output matrix, and the row
says `extrapolated`.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from typing import Any

from ..shapes import EAGLE_8B, MEDUSA_8B, SHAPES, TINY, TINY_DRAFT, TINY_HEADS, Shape
from ..stack import MedusaHeads, Stack
from .base import WIDTH, Cell, Skipped, Suite, layers_that_fit

__all__ = ["SUITE", "look_up"]


def look_up(tokens: Sequence[int], length: int = 3, most: int = 8) -> list[int]:
    """What followed the last earlier place where the last `length` tokens stand; [] when they are new.

    >>> look_up([1, 2, 3, 4, 5, 1, 2, 3], length=3, most=2)
    [4, 5]
    """
    tail = list(tokens[-length:])
    for start in range(len(tokens) - length - 1, -1, -1):
        if tokens[start] == tail[0] and list(tokens[start : start + length]) == tail:
            return list(tokens[start + length : start + length + most])
    return []


class DraftCost(Suite):
    name = "draft-cost"
    title = "One draft step as a share of a target pass"

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._targets: dict[str, tuple[list[float], int, bool]] = {}

    def cells(self) -> list[Cell]:
        format = self.library.formats[0]
        if self.small:
            target, drafts, heads = TINY, [TINY_DRAFT], TINY_HEADS
        else:
            target, drafts, heads = SHAPES["8b"], [SHAPES["0.5b"], SHAPES["1b"]], MEDUSA_8B
        eagle = TINY if self.small else EAGLE_8B
        common = {"target": target, "format": format}
        found = [Cell(f"{target.key}-{format}-target", "target", {**common, "kind": "target"})]
        pairs = [(target, draft) for draft in drafts]
        if self.on_gpu and not self.small:
            pairs += [(SHAPES["70b"], draft) for draft in (SHAPES["1b"], SHAPES["8b"])]
        for big, draft in pairs:
            settings = {"target": big, "format": format, "kind": "model", "draft": draft}
            found.append(Cell(f"{big.key}-{format}-{draft.key}", f"{big.key} {draft.key}", settings))
        found.append(Cell(f"{target.key}-{format}-eagle", "eagle", {**common, "kind": "eagle", "draft": eagle}))
        found.append(Cell(f"{target.key}-{format}-medusa", "medusa", {**common, "kind": "medusa", "draft": heads}))
        for context in (64,) if self.small else (2048, 8192, 32768):
            settings = {**common, "kind": "look-up", "context": context}
            found.append(Cell(f"{target.key}-{format}-lookup-ctx{context}", "look-up", settings))
        return found

    def measure(self, cell: Cell) -> list[dict[str, Any]]:
        target, format, kind = (cell.settings[name] for name in ("target", "format", "kind"))
        pass_ms, layers, extrapolated = self._target(target, format)
        fields: dict[str, Any] = {
            "model": target.title,
            "weights": format,
            "arithmetic": format,
            "layers": target.layers,
            "layers_run": layers,
            "batch": 1,
            "context": 0,
            "positions": 1,
            "extrapolated": extrapolated,
        }
        if kind == "target":
            return [self.row(cell.key, "target pass time", "ms", pass_ms, **fields)]
        name, times, more = self._draft(cell)
        base = sorted(pass_ms)[len(pass_ms) // 2]
        fields |= {"draft": name, **more}
        return [
            self.row(cell.key, "draft step over target pass", "×", [ms / base for ms in times], **fields),
            self.row(f"{cell.key}-ms", "draft step time", "ms", times, **fields),
        ]

    def _target(self, shape: Shape, format: str) -> tuple[list[float], int, bool]:
        """Times of the whole target pass, layers run, and whether it was told from fewer layers."""
        if shape.key not in self._targets:
            layers = self._layers(shape, format)
            stack = Stack(self.library, shape, layers, format, head=False)
            body = self.passed(stack, 1, 1)
            del stack
            self.library.release()
            x = self.library.random(1, shape.width)
            matrix = self.library.weight(shape.vocabulary, shape.width, format)
            head = self.timed(lambda: self.library.linear(x, matrix))
            end = sorted(head)[len(head) // 2]
            whole = [ms * shape.layers / layers + end for ms in body]
            self._targets[shape.key] = (whole, layers, layers < shape.layers)
            del matrix
            self.forget()
        return self._targets[shape.key]

    def _layers(self, shape: Shape, format: str) -> int:
        if self.on_gpu or self.small:
            fit = layers_that_fit(self.library, shape, format, spare=8e9)
            return fit if fit == shape.layers else min(fit, shape.layers // 2)
        return 2

    def _draft(self, cell: Cell) -> tuple[str, list[float], dict[str, Any]]:
        kind, format = cell.settings["kind"], cell.settings["format"]
        if kind == "look-up":
            return self._looked_up(cell.settings["context"])
        draft = cell.settings["draft"]
        if kind == "medusa":
            if draft.count * (draft.vocabulary + draft.width) * draft.width * WIDTH[format] > self.library.memory():
                raise Skipped("the heads do not fit")
            heads = MedusaHeads(self.library, draft, format)
            x = self.library.random(1, draft.width)
            return draft.title, self.timed(lambda: heads.forward(x)), {"weight_bytes": heads.bytes()}
        if (draft.layers * draft.layer_numbers + draft.head_numbers) * WIDTH[format] > self.library.memory():
            raise Skipped("the draft model does not fit")
        stack = self.stack(draft, draft.layers, format, head=True, joins=kind == "eagle")
        return draft.title, self.passed(stack, 1, 1), {"weight_bytes": stack.bytes()}

    def _looked_up(self, context: int) -> tuple[str, list[float], dict[str, Any]]:
        chance = random.Random(context)
        tokens = [chance.randrange(50_000) for _ in range(context)]
        # the longest search: the passage is found at the very beginning
        tokens[-3:] = tokens[:3]
        repeats = max(9, self.repeats)
        times: list[float] = []
        for _ in range(repeats):
            start = time.perf_counter()
            found = look_up(tokens)
            times.append(1e3 * (time.perf_counter() - start))
            if len(found) != 8:
                raise RuntimeError("the look-up missed the passage it was given")
        note = "plain Python on the host, longest search; an engine's compiled look-up is faster"
        return "n-gram look-up", times, {"context": context, "note": note}


SUITE = DraftCost
