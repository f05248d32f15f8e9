"""Shapes of real decoders, so that the random matrices of the benchmark are as large as theirs.

Every size is from the model's published config.json. It must not know how a pass is timed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

__all__ = ["EAGLE_8B", "MEDUSA_8B", "MOE", "SHAPES", "Heads", "Mixture", "Shape"]


@dataclass(frozen=True)
class Shape:
    """One decoder: sizes in numbers, not bytes. `title` is what a chart writes."""

    key: str
    title: str
    width: int
    inner: int
    heads: int
    kv_heads: int
    head_size: int
    layers: int
    vocabulary: int

    @property
    def queries(self) -> int:
        """Columns of the joint query, key and value matrix."""
        return (self.heads + 2 * self.kv_heads) * self.head_size

    @property
    def layer_numbers(self) -> int:
        """Weights of one layer; the two norm vectors are left out."""
        attention = self.width * self.queries + self.heads * self.head_size * self.width
        return attention + 3 * self.width * self.inner

    @property
    def head_numbers(self) -> int:
        """Weights of the output matrix."""
        return self.width * self.vocabulary

    @property
    def kv_numbers(self) -> int:
        """Keys and values of one token in one layer."""
        return 2 * self.kv_heads * self.head_size


@dataclass(frozen=True)
class Heads:
    """Medusa heads: `count` blocks of one residual square matrix and one output matrix (arXiv 2401.10774, 2.1.1)."""

    key: str
    title: str
    count: int
    width: int
    vocabulary: int


@dataclass(frozen=True)
class Mixture:
    """The routed part of one layer of a mixture of experts: `active` of `experts`, each with three matrices."""

    key: str
    title: str
    width: int
    inner: int
    experts: int
    active: int
    layers: int


SHAPES = {
    "8b": Shape("8b", "Llama 3.1 8B", 4096, 14336, 32, 8, 128, 32, 128256),
    "70b": Shape("70b", "Llama 3.1 70B", 8192, 28672, 64, 8, 128, 80, 128256),
    "1b": Shape("1b", "Llama 3.2 1B", 2048, 8192, 32, 8, 64, 16, 128256),
    "0.5b": Shape("0.5b", "Qwen2.5 0.5B", 896, 4864, 14, 2, 64, 24, 151936),
}
EAGLE_8B = replace(SHAPES["8b"], key="eagle-8b", title="EAGLE layer for Llama 3.1 8B", layers=1)
"""One layer of the target's own shape; the matrix that joins token and feature (8192 to 4096) is added by the suite."""
MEDUSA_8B = Heads("medusa-8b", "4 Medusa heads for Llama 3.1 8B", 4, 4096, 128256)
MOE = {
    "mixtral-8x7b": Mixture("mixtral-8x7b", "Mixtral 8x7B", 4096, 14336, 8, 2, 32),
    "qwen3-30b-a3b": Mixture("qwen3-30b-a3b", "Qwen3 30B-A3B", 2048, 768, 128, 8, 48),
}

TINY = Shape("tiny", "a shape for tests", 64, 160, 4, 2, 16, 4, 512)
"""What --size small runs instead of a real shape: seconds on any machine, worth nothing as a measurement."""
TINY_DRAFT = replace(TINY, key="tiny-draft", width=32, inner=80, heads=2, kv_heads=1, layers=2)
TINY_HEADS = Heads("tiny-medusa", "heads for tests", 2, 64, 512)
TINY_MOE = Mixture("tiny-moe", "experts for tests", 32, 48, 8, 2, 2)
