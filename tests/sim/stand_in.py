"""A stand-in for the page's kernel: called with addresses, adding in its order. For tests outside a browser."""

import contextlib
import ctypes

import numpy as np

from sim import kernel

__all__ = ["by_address", "fixed_order"]


def floats(address, count):
    return np.frombuffer((ctypes.c_float * count).from_address(address), np.float32) if count else np.empty(0, "f4")


def by_address(x, w, out, rows, inner, outer):
    """What the kernel does, in the kernel's order of additions."""
    a, b = floats(x, rows * inner).reshape(rows, inner), floats(w, outer * inner).reshape(outer, inner)
    whole = inner - inner % 4
    fours = (a[:, None, :whole] * b[None, :, :whole]).reshape(rows, outer, whole // 4, 4)
    # accumulate, because it adds one after the other; reduce may not
    sums = (
        np.add.accumulate(fours, axis=2)[:, :, -1] + np.float32(0) if whole else np.zeros((rows, outer, 4), np.float32)
    )
    total = (sums[..., 0] + sums[..., 1]) + (sums[..., 2] + sums[..., 3])
    for i in range(whole, inner):
        total += a[:, None, i] * b[None, :, i]
    floats(out, rows * outer)[:] = total.reshape(-1)


@contextlib.contextmanager
def fixed_order():
    """Products that add in a fixed order, so that a row's bits do not depend on its company: by the page's kernel where
    it is plugged in (as in Pyodide), else by this one.
    """
    before = kernel._kernel
    if before is None:
        kernel.plug(by_address)
    try:
        yield
    finally:
        kernel.plug(before)
