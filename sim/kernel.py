"""x · Wᵀ in float32, by the WebAssembly kernel where one is plugged in, else by NumPy.

Why it exists: NumPy in WebAssembly reads the weights once for every position and computes without SIMD, so a pass over
five positions costs five passes. A kernel that shares Python's memory (widgets/_browser/kernel) reads them once. It
gets addresses, so this module is where arrays are checked: nothing outside them is ever read or written.

The kernel adds in a fixed order that does not depend on the number of rows: a row's bits are the same in any company.
NumPy promises no such thing. Imported by its module name only, because it needs NumPy. It must not know a browser,
nor who plugs the kernel in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Kernel", "matmul_t", "plug", "plugged", "prepared", "set_aside", "with_numpy"]

Floats: TypeAlias = NDArray[np.float32]
Kernel: TypeAlias = Callable[[int, int, int, int, int, int], object]
"""(address of x, of w, of out, rows, inner, outer): writes out (rows, outer) = x (rows, inner) · w (outer, inner)ᵀ."""

_kernel: Kernel | None = None


def plug(kernel: Kernel | None) -> None:
    """Let `kernel` do the work from now on; None gives it back to NumPy."""
    global _kernel
    _kernel = kernel


def plugged() -> bool:
    """Whether a kernel does the work."""
    return _kernel is not None


@contextmanager
def set_aside() -> Iterator[None]:
    """NumPy does the work within this block, whoever asks: for whatever is to be compared with and without."""
    held = _kernel
    plug(None)
    try:
        yield
    finally:
        plug(held)


def matmul_t(x: Floats, w: Floats, out: Floats | None = None) -> Floats:
    """x (rows, inner) · w (outer, inner)ᵀ, as a new array (rows, outer) or into `out`, which is returned.

    Every array is a plain float32 ndarray of two dimensions, C-contiguous. ValueError names the one that is not, or
    that does not fit the others, or an `out` that cannot be written or overlaps x or w.
    """
    out = _checked(x, w, out)
    if _kernel is None or not out.size:
        return _by_numpy(x, w, out)
    rows, inner = x.shape
    _kernel(_address(x), _address(w), _address(out), rows, inner, w.shape[0])
    return out


def prepared(x: Floats, w: Floats, out: Floats) -> Callable[..., None]:
    """`matmul_t` of the same three arrays again and again: checked and addressed now, which in a browser is half the
    cost of a small product.

    The function returned takes the number of w's rows to go by, all of them unless it is given, and writes (rows, that
    number) to the beginning of `out`, rows side by side. ValueError for more rows than w has.
    """
    _checked(x, w, out)
    (rows, inner), most = x.shape, w.shape[0]
    addresses = _address(x), _address(w), _address(out)
    transposed, flat = w.T, out.reshape(-1)

    def run(outer: int = most) -> None:
        if not 0 <= outer <= most:
            raise ValueError(f"outer is {outer!r}; it must be a whole number from 0 to {most}, the rows of w")
        if _kernel is not None and rows and outer:
            _kernel(*addresses, rows, inner, outer)
        else:
            np.matmul(x, transposed[:, :outer], out=flat[: rows * outer].reshape(rows, outer))

    return run


def with_numpy(x: Floats, w: Floats, out: Floats | None = None) -> Floats:
    """The same by NumPy, even where a kernel is plugged in: for comparing the two."""
    return _by_numpy(x, w, _checked(x, w, out))


def _by_numpy(x: Floats, w: Floats, out: Floats) -> Floats:
    np.matmul(x, w.T, out=out)
    return out


def _checked(x: Floats, w: Floats, out: Floats | None) -> Floats:
    """`out`, made where there is none; ValueError for whatever must not be passed on as an address."""
    _check("x", x)
    _check("w", w)
    if x.shape[1] != w.shape[1]:
        raise ValueError(f"x has {x.shape[1]} columns and w has {w.shape[1]}; they must be the same")
    shape = (x.shape[0], w.shape[0])
    if out is None:
        return np.empty(shape, dtype=np.float32)
    _check("out", out)
    if out.shape != shape:
        raise ValueError(f"out has the shape {out.shape}, not {shape}")
    if not out.flags.writeable:
        raise ValueError("out is read-only")
    # Contiguous arrays are single stretches of memory: comparing their ends is exact.
    if np.may_share_memory(out, x) or np.may_share_memory(out, w):
        raise ValueError("out shares memory with x or w")
    return out


def _check(name: str, array: object) -> None:
    # Not a subclass: one could give another address than where its numbers lie.
    if type(array) is not np.ndarray:
        raise ValueError(f"{name} is a {type(array).__name__}, not a NumPy array")
    if array.dtype != np.dtype(np.float32):
        raise ValueError(f"{name} has the type {array.dtype}, not float32")
    if array.ndim != 2:
        raise ValueError(f"{name} has {array.ndim} dimensions, not 2")
    if not array.flags.c_contiguous:
        raise ValueError(f"{name} is not C-contiguous")


def _address(array: Floats) -> int:
    place: int = array.__array_interface__["data"][0]
    return place
