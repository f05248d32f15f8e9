"""From logits to rows and from rows to tokens, with NumPy: `sim.distribution` and `sim.pick_token` for 1,024 tokens.

Why it exists: those two are written to be read, and take milliseconds a row in a browser. These take the same steps in
the same order on float64 arrays; tests hold them to the originals. It must not know models or which side it works for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sim._numbers import number, whole
from sim.rows import TIE

__all__ = ["Row", "Rows", "Sampler", "draw", "replacement"]

Row: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = NDArray[np.float64]
NOTHING = 1e-15
"""A residual of this mass or less is rounding, as in `sim.sampling`."""


@dataclass(frozen=True)
class Sampler:
    """Temperature, then top-k, then top-p. top_k 0 and top_p 1: no cut. Temperature 0 (up to 1e-9) is greedy."""

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0

    def __post_init__(self) -> None:
        number("temperature", self.temperature, 0.0)
        whole("top_k", self.top_k, 0)
        number("top_p", self.top_p, 0.0, 1.0, open_low=True)

    @property
    def greedy(self) -> bool:
        """Whether every row is one-hot."""
        return self.temperature <= TIE

    def rows(self, logits: NDArray[np.floating]) -> Rows:
        """Logits (n, vocabulary) to rows of the same shape, float64; equal logits: the smaller token comes first."""
        scores = logits.astype(np.float64)
        largest = scores.max(axis=-1, keepdims=True)
        if self.greedy:
            likeliest = np.argmax(scores >= largest - TIE, axis=-1)
            scores[...] = 0.0
            scores[np.arange(len(scores)), likeliest] = 1.0
            return scores
        scores -= largest
        if self.temperature != 1.0:
            scores /= self.temperature
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-1, keepdims=True)
        if self.top_k or self.top_p < 1.0:
            for row in scores:
                self._cut(row)
        return scores

    def _cut(self, row: Rows) -> None:
        order = np.argsort(-row, kind="stable")
        kept = order[: self.top_k] if self.top_k else order
        if self.top_p < 1.0:
            sums = np.add.accumulate(row[kept])
            kept = kept[: int(np.searchsorted(sums, self.top_p * sums[-1] - TIE)) + 1]
        values = row[kept]
        row[...] = 0.0
        row[kept] = values / math.fsum(values.tolist())


def draw(weights: Rows, uniform: float) -> int:
    """The token that a uniform number in [0, 1) chooses, as `sim.pick_token`; weights (vocabulary,) need not sum to 1.

    The running sums are the same; their total is theirs and not `math.fsum`, 1e-13 apart at most.
    """
    sums = np.add.accumulate(weights)
    token = int(sums.searchsorted(uniform * float(sums[-1]), side="right"))
    return token if token < len(sums) else int(np.flatnonzero(weights)[-1])


def replacement(p: Rows, q: Rows) -> Rows:
    """max(0, p - q), not normalised; p itself where that is rounding and nothing else."""
    excess = np.maximum(p - q, 0.0)
    return excess if excess.sum() > NOTHING else p
