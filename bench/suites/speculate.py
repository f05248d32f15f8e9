"""Speculate: the clock of real draft and verify passes under a given acceptance sequence.

No text is made: how many drafts each round keeps is drawn from alpha with a seed (`sim.draw_rounds`), and the passes
that such a round needs are run and timed. So measured speed-up can be held against the formula, and only the formula's
claims about time are tested, not the ones about acceptance.
"""

from __future__ import annotations

import math
from typing import Any

from sim import draw_rounds, speedup

from ..shapes import SHAPES, TINY, TINY_DRAFT, Shape
from ..stack import Cache
from .base import WIDTH, Cell, Skipped, Suite

__all__ = ["SUITE"]


class Speculate(Suite):
    name = "speculate"
    title = "Measured speed-up under a given acceptance sequence"

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._ready: dict[str, Any] = {}

    def cells(self) -> list[Cell]:
        alphas: tuple[float, ...]
        gammas: tuple[int, ...]
        batches: tuple[int, ...]
        if self.small:
            alphas, gammas, batches, context = (0.5, 0.9), (1, 3), (1, 2), 16
        elif self.on_gpu:
            alphas, gammas, batches, context = (0.5, 0.7, 0.8, 0.9), (1, 2, 4, 8), (1, 4, 16, 64), 2048
        else:
            alphas, gammas, batches, context = (0.5, 0.8), (2, 4, 8), (1, 4), 512
        return [
            Cell(
                f"a{round(100 * alpha):02d}-g{gamma}-b{batch}",
                f"batch {batch}",
                {"alpha": alpha, "gamma": gamma, "batch": batch, "context": context},
            )
            for batch in batches
            for gamma in gammas
            for alpha in alphas
        ]

    @property
    def models(self) -> tuple[Shape, int, Shape, int]:
        """Target, its layers, draft, its layers: all of them on a GPU, the same share of both on a CPU."""
        if self.small:
            return TINY, 2, TINY_DRAFT, 1
        target, draft = SHAPES["8b"], SHAPES["1b"]
        if self.on_gpu:
            return target, target.layers, draft, draft.layers
        return target, 2, draft, 1

    def measure(self, cell: Cell) -> list[dict[str, Any]]:
        alpha, gamma, batch, context = (cell.settings[name] for name in ("alpha", "gamma", "batch", "context"))
        plain, draft, verify = self._passes(gamma, batch, context)
        rounds, repeats = (20 if self.on_gpu else 4), max(5, self.repeats)
        plain_ms = _median(self._once(plain, 5))
        draft_ms = _median(self._once(draft, 5))
        verify_ms = _median(self._once(verify, 5))
        drawn = [draw_rounds(alpha, gamma, rounds, seed=1000 * gamma + b) for b in range(batch)]
        tokens = math.fsum(kept + 1 for sequence in drawn for kept in sequence) / (batch * rounds)

        def run() -> None:
            for _ in range(rounds):
                for _ in range(gamma):
                    draft()
                verify()

        times = self.library.times(run, repeats, 0.0, 1)
        ratios = [tokens * plain_ms / (ms / rounds) for ms in times]
        c, ratio = draft_ms / plain_ms, verify_ms / plain_ms
        target, layers, small, draft_layers = self.models
        format = self.library.formats[0]
        fields: dict[str, Any] = {
            "model": target.title,
            "draft": f"{small.title}, {draft_layers} of {small.layers} layers",
            "weights": format,
            "arithmetic": format,
            "layers": target.layers,
            "layers_run": layers,
            "batch": batch,
            "context": context,
            "positions": gamma + 1,
            "alpha": alpha,
            "gamma": gamma,
            "c": _digits(c),
            "verify_ratio": _digits(ratio),
            "tokens_per_pass": _digits(tokens),
            "counts_bonus": True,
            "acceptance_rule": "drawn: every draft kept with chance alpha until one is not (sim.draw_rounds)",
            "draft_sampling": "none: no text is made",
            "synthetic": "synthetic acceptance",
        }
        said = speedup(alpha, gamma, c, ratio) * tokens / _expected(alpha, gamma)
        note = f"{rounds} rounds a repeat; predicted: the formula with the tokens drawn, and c and verify as measured"
        return [
            self.row(cell.key, "speed-up", "×", ratios, **fields, predicted=_digits(said), note=note),
            self.row(f"{cell.key}-round", "time of a round", "ms", [ms / rounds for ms in times], **fields),
        ]

    def _once(self, work: Any, repeats: int) -> list[float]:
        return self.library.times(work, repeats, 0.0, 1)

    def _passes(self, gamma: int, batch: int, context: int) -> tuple[Any, Any, Any]:
        """Ready-made passes: one position of the target, one of the draft, gamma + 1 of the target."""
        target, layers, small, draft_layers = self.models
        format = self.library.formats[0]
        need = batch * context * WIDTH[format] * (layers * target.kv_numbers + draft_layers * small.kv_numbers)
        if "batch" not in self._ready or self._ready["batch"] != batch:
            self._ready.clear()
            self.library.release()
            if need > 0.6 * self.library.memory():
                raise Skipped(f"{need / 1e9:.0f} GB of cache do not fit")
            big, little = self.stack(target, layers, format), self.stack(small, draft_layers, format)
            caches = [Cache(self.library, item.shape, item.layers, batch, context) for item in (big, little)]
            self._ready |= {"batch": batch, "big": big, "caches": caches}
            self._ready["plain"] = self._pass(big, batch, 1, caches[0])
            self._ready["draft"] = self._pass(little, batch, 1, caches[1])
        if f"verify {gamma}" not in self._ready:
            big, cache = self._ready["big"], self._ready["caches"][0]
            self._ready[f"verify {gamma}"] = self._pass(big, batch, gamma + 1, cache)
        return self._ready["plain"], self._ready["draft"], self._ready[f"verify {gamma}"]

    def _pass(self, stack: Any, batch: int, positions: int, cache: Cache) -> Any:
        x = self.library.random(batch * positions, stack.shape.width)
        return self.library.prepared(lambda: stack.forward(x, batch, positions, cache))

    def forget(self) -> None:
        self._ready.clear()
        super().forget()


def _expected(alpha: float, gamma: int) -> float:
    return speedup(alpha, gamma, 0.0)


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def _digits(value: float) -> float:
    return float(f"{value:.7g}")


SUITE = Speculate
