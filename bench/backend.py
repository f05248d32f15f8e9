"""The small interface between what is measured and the library that does it.

Why it exists: every suite is written once and runs with NumPy on any machine and with PyTorch where that is installed.
Arrays are the library's own; `@`, slicing, `reshape` and `+` mean the same in both. It must not know a suite.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any, Protocol

__all__ = ["Backend", "NoBackend", "backend"]

Array = Any
"""An array of the library in use."""


class NoBackend(RuntimeError):
    """The library or the device is not here; the message says which."""


class Backend(Protocol):
    """How arrays are made, combined and timed. Matrices are stored as (out, in), so a product is `x @ w.T`."""

    name: str
    device: str
    formats: tuple[str, ...]
    """Number formats of weights that this device multiplies in; the first is what activations have."""

    def memory(self) -> float:
        """Bytes that may be filled."""
        ...

    def random(self, *shape: int, scale: float = 1.0) -> Array:
        """Normal numbers in the activations' format, seeded; never zeros."""
        ...

    def weight(self, rows: int, columns: int, format: str) -> Any:
        """A random (rows, columns) matrix, ready for `linear`, scaled so that a product keeps the size of its input."""
        ...

    def weight_bytes(self, weight: Any) -> float:
        """Bytes that a product reads of it."""
        ...

    def linear(self, x: Array, weight: Any) -> Array:
        """x @ weight.T for x of (positions, columns)."""
        ...

    def added(self, h: Array, x: Array, weight: Any) -> Array:
        """h + x @ weight.T; may overwrite h."""
        ...

    def batched(self, x: Array, weights: Array) -> Array:
        """x @ weights.T for every expert: (experts, rows, columns) and (experts, out, columns)."""
        ...

    def fresh(self, x: Array) -> Array:
        """A copy of x that may be overwritten."""
        ...

    def norm(self, x: Array) -> Array:
        """Root-mean-square normalisation of each row."""
        ...

    def silu(self, x: Array) -> Array:
        """x × sigmoid(x)."""
        ...

    def gate(self, both: Array) -> Array:
        """silu(left half) × right half of each row."""
        ...

    def beside(self, left: Array, right: Array) -> Array:
        """Features of both in one row."""
        ...

    def attend(self, q: Array, k: Array, v: Array, cached_k: Array | None, cached_v: Array | None) -> Array:
        """Causal attention. q (batch, positions, heads, size), k and v with kv heads, the cache (batch, kv heads,
        context, size) or None; returns (batch, positions, heads × size)."""
        ...

    def exact(self, x: Any) -> Any:
        """A float64 NumPy copy of an array or of a weight as it is multiplied."""
        ...

    def times(self, work: Callable[[], object], repeats: int, budget: float, warmup: int) -> list[float]:
        """Milliseconds of each of at least `repeats` calls, warm-up left out; more while `budget` seconds last."""
        ...

    def release(self) -> None:
        """Give back what earlier work held."""
        ...

    def prepared(self, work: Callable[[], object]) -> Callable[[], object]:
        """The same work in the form in which it is timed: a CUDA graph where there is one."""
        ...

    def copy(self, size: float) -> tuple[Callable[[], object], float]:
        """A copy inside the device's memory of about `size` bytes, and the bytes it moves (read and written)."""
        ...

    def versions(self) -> dict[str, str]:
        """Software and versions."""
        ...

    def notes(self) -> list[str]:
        """What a reader of the numbers must know about how this backend works here."""
        ...

    def provenance(self) -> dict[str, Any]:
        """Device facts for a data file; what cannot be read is "unknown" or left out."""
        ...


def backend(device: str, threads: int | None = None) -> Backend:
    """The backend for `--device`: "cpu" is NumPy, "cuda" is PyTorch, "torch-cpu" is PyTorch without a GPU.

    NoBackend says what is missing.
    """
    if device == "cpu":
        from .numpy_backend import NumpyBackend

        return NumpyBackend(threads)
    if device not in ("cuda", "torch-cpu"):
        raise NoBackend(f"device {device!r} is not one of cpu, cuda, torch-cpu")
    if importlib.util.find_spec("torch") is None:
        raise NoBackend(f"--device {device} needs PyTorch, which is not installed; --device cpu needs only NumPy")
    from .torch_backend import TorchBackend

    return TorchBackend("cuda" if device == "cuda" else "cpu", threads)
