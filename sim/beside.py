"""Published numbers to stand beside a model's curve: what a figure can say about how far its model is off.

Why it exists: a curve without a stopwatch beside it looks like a measurement. The few rows that match a slider's
setting are kept here as plain numbers, so that the first figures of a lesson need not load the whole record; a test
holds them equal to docs/data/published.json and to the literature. It must not know charts or files.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sim._numbers import number, whole
from sim.theory import speedup

__all__ = ["PUBLISHED_PASSES", "PublishedPass", "PublishedSpeedup", "published_speedups"]


@dataclass(frozen=True)
class PublishedPass:
    """A published fit to real passes: base + a price a position (over the batch) + a price a cached token, in ms."""

    base_ms: float
    position_ms: float
    cached_ms: float
    title: str
    source: str

    def ms(self, positions: int, cached: int = 0) -> float:
        """Time of a pass over so many positions and cached tokens, both over the whole batch."""
        scored, read = whole("positions", positions, 1), whole("cached", cached, 0)
        return self.base_ms + scored * self.position_ms + read * self.cached_ms


PUBLISHED_PASSES: Mapping[tuple[str, str, str], PublishedPass] = MappingProxyType(
    {
        ("8b", "h100-sxm", "bf16"): PublishedPass(
            *(5.886, 0.02101, 39.26e-6),
            title="Llama 3.1 8B in vLLM 0.10.1, one H100",
            source="SpecDecode-Bench, predictor.py: https://arxiv.org/abs/2601.11580",
        )
    }
)
"""By model, hardware (keys of `MODELS` and `HARDWARE`) and weight format, on one card."""


@dataclass(frozen=True)
class PublishedSpeedup:
    """A measured speed-up with the accept rate, draft length and draft cost that its authors print. `id` is its row."""

    id: str
    alpha: float
    gamma: int
    c: float
    speedup: float

    @property
    def error(self) -> float:
        """How far `speedup(alpha, gamma, c)` is off, as a share of the measured one."""
        return speedup(self.alpha, self.gamma, self.c) / self.speedup - 1.0


_LEVIATHAN = (
    ("leviathan-t4-ende-t5-small-t0", 0.75, 7, 0.02, 3.4),
    ("leviathan-t4-ende-t5-base-t0", 0.8, 7, 0.04, 2.8),
    ("leviathan-t4-ende-t5-large-t0", 0.82, 7, 0.11, 1.7),
    ("leviathan-t4-ende-t5-small-t1", 0.62, 7, 0.02, 2.6),
    ("leviathan-t4-ende-t5-base-t1", 0.68, 5, 0.04, 2.4),
    ("leviathan-t4-ende-t5-large-t1", 0.71, 3, 0.11, 1.4),
    ("leviathan-t4-cnndm-t5-small-t0", 0.65, 5, 0.02, 3.1),
    ("leviathan-t4-cnndm-t5-base-t0", 0.73, 5, 0.04, 3.0),
    ("leviathan-t4-cnndm-t5-large-t0", 0.74, 3, 0.11, 2.2),
    ("leviathan-t4-cnndm-t5-small-t1", 0.53, 5, 0.02, 2.3),
    ("leviathan-t4-cnndm-t5-base-t1", 0.55, 3, 0.04, 2.2),
    ("leviathan-t4-cnndm-t5-large-t1", 0.56, 3, 0.11, 1.7),
)
"""Leviathan et al. 2023, table 4 (arXiv 2211.17192): T5-XXL 11B on one TPU v4, batch 1."""


def published_speedups(alpha: float, c: float, near: float = 0.03) -> tuple[PublishedSpeedup, ...]:
    """The published rows whose accept rate and draft cost both lie within `near` of these, by draft length."""
    rate, cost = number("alpha", alpha, 0.0, 1.0), number("c", c, 0.0)
    room = number("near", near, 0.0) + 1e-9
    rows = (PublishedSpeedup(*row) for row in _LEVIATHAN)
    found = [row for row in rows if abs(row.alpha - rate) <= room and abs(row.c - cost) <= room]
    return tuple(sorted(found, key=lambda row: (row.gamma, row.id)))
