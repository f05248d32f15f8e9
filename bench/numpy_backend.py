"""NumPy: float32 products in whatever BLAS it was built with. Always there, and what the tests run.

No 16-bit or 8-bit products exist here, so `formats` is float32 alone and bytes are counted as four a number.
"""

from __future__ import annotations

import gc
import os
import platform
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from sim.devices import device

__all__ = ["NumpyBackend"]


class NumpyBackend:
    """See `bench.backend.Backend`."""

    name = "numpy"
    device = "cpu"
    formats: tuple[str, ...] = ("float32",)

    def __init__(self, threads: int | None = None) -> None:
        self.threads = threads or _allowed()
        self._chance = np.random.default_rng(20240501)

    def memory(self) -> float:
        """Half of what the machine says is available: the other half belongs to others."""
        text = _read("/proc/meminfo")
        found = re.search(r"MemAvailable:\s+(\d+) kB", text)
        return 0.5 * 1024 * int(found[1]) if found else 4e9

    def random(self, *shape: int, scale: float = 1.0) -> Any:
        """Normal numbers. Large arrays repeat one million of them: making them must not take longer than the run."""
        count = int(np.prod(shape))
        block = self._chance.standard_normal(min(count, 1_000_003), dtype=np.float32) * np.float32(scale)
        return np.resize(block, count).reshape(shape)

    def weight(self, rows: int, columns: int, format: str) -> Any:
        if format not in self.formats:
            raise ValueError(f"NumPy multiplies in float32, not in {format}")
        return self.random(rows, columns, scale=columns**-0.5)

    def weight_bytes(self, weight: Any) -> float:
        return float(weight.nbytes)

    def linear(self, x: Any, weight: Any) -> Any:
        return x @ weight.T

    def added(self, h: Any, x: Any, weight: Any) -> Any:
        return h + x @ weight.T

    def batched(self, x: Any, weights: Any) -> Any:
        return x @ weights.swapaxes(1, 2)

    def fresh(self, x: Any) -> Any:
        return x.copy()

    def norm(self, x: Any) -> Any:
        return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + np.float32(1e-5))

    def silu(self, x: Any) -> Any:
        return x / (1 + np.exp(-x))

    def gate(self, both: Any) -> Any:
        half = both.shape[-1] // 2
        return self.silu(both[..., :half]) * both[..., half:]

    def beside(self, left: Any, right: Any) -> Any:
        return np.concatenate([left, right], axis=-1)

    def attend(self, q: Any, k: Any, v: Any, cached_k: Any, cached_v: Any) -> Any:
        batch, positions, heads, size = q.shape
        kv_heads = k.shape[2]
        group = heads // kv_heads
        # (batch, kv heads, group × positions, size): the queries that share a key stand together
        folded = q.reshape(batch, positions, kv_heads, group, size).transpose(0, 2, 3, 1, 4)
        folded = folded.reshape(batch, kv_heads, group * positions, size) * np.float32(size**-0.5)
        new_k, new_v = k.transpose(0, 2, 1, 3), v.transpose(0, 2, 1, 3)
        later = np.triu(np.full((positions, positions), -np.inf, dtype=np.float32), 1)
        scores = folded @ new_k.swapaxes(2, 3) + np.tile(later, (group, 1))
        if cached_k is not None:
            scores = np.concatenate([folded @ cached_k.swapaxes(2, 3), scores], axis=-1)
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        out = scores[..., -positions:] @ new_v
        if cached_k is not None:
            out = out + scores[..., :-positions] @ cached_v
        out = out.reshape(batch, kv_heads, group, positions, size).transpose(0, 3, 1, 2, 4)
        return out.reshape(batch, positions, heads * size)

    def exact(self, x: Any) -> Any:
        return np.asarray(x, dtype=np.float64)

    def times(self, work: Callable[[], object], repeats: int, budget: float, warmup: int) -> list[float]:
        for _ in range(warmup):
            work()
        found: list[float] = []
        begun = time.perf_counter()
        while len(found) < repeats or (time.perf_counter() - begun < budget and len(found) < 50):
            start = time.perf_counter()
            work()
            found.append(1e3 * (time.perf_counter() - start))
        return found

    def release(self) -> None:
        gc.collect()

    def prepared(self, work: Callable[[], object]) -> Callable[[], object]:
        return work

    def copy(self, size: float) -> tuple[Callable[[], object], float]:
        source = self.random(int(size) // 8)
        target = np.empty_like(source)
        return (lambda: np.copyto(target, source)), 2.0 * source.nbytes

    def versions(self) -> dict[str, str]:
        blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
        return {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "blas": f"{blas.get('name', 'unknown')} {blas.get('version', 'unknown')}",
            "threads": str(self.threads),
        }

    def notes(self) -> list[str]:
        virtual = " of a virtual machine that others may share" if "hypervisor" in _read("/proc/cpuinfo") else ""
        cores = "1 core" if self.threads == 1 else f"{self.threads} cores"
        return [f"A CPU: {cores}{virtual}", "NumPy products in float32; no 16-bit or 8-bit arithmetic on this backend"]

    def provenance(self) -> dict[str, Any]:
        text = _read("/proc/cpuinfo")
        found = re.search(r"model name\s*: (.+)", text)
        virtual = "hypervisor" in text
        total = re.search(r"MemTotal:\s+(\d+) kB", _read("/proc/meminfo"))
        facts: dict[str, Any] = {
            "hardware": device(found[1] if found else f"CPU {platform.machine()} core").name,
            "devices": 1,
            "driver": "none",
            "shared": virtual,
        }
        if total:
            facts["memory_gb"] = round(1024 * int(total[1]) / 1e9, 1)
        return facts


def _allowed() -> int:
    given = os.environ.get("OPENBLAS_NUM_THREADS") or os.environ.get("OMP_NUM_THREADS")
    if given and given.isdecimal():
        return int(given)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
