"""Weights as stored arrays: int8 rows with one fp16 scale each, vectors in fp16.

NumPy only, so that tests and tools use it without PyTorch. The bytes of a file are `sim.lm.file`'s; this module must
not know what a model is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Arrays", "dequantise", "pack", "quantise", "unpack"]

Arrays: TypeAlias = dict[str, NDArray[Any]]
SMALLEST = np.float16(6e-8)


def quantise(matrix: NDArray[Any]) -> tuple[NDArray[np.int8], NDArray[np.float16]]:
    """A float matrix as int8 rows and one fp16 scale a row; readers use what `dequantise` makes of them."""
    if matrix.ndim != 2:
        raise ValueError(f"matrix must have 2 dimensions, got {matrix.ndim}")
    scales = np.maximum((np.abs(matrix).max(axis=1) / 127).astype(np.float16), SMALLEST)
    rows = np.clip(np.rint(matrix / scales.astype(np.float32)[:, None]), -127, 127)
    return rows.astype(np.int8), scales


def dequantise(rows: NDArray[np.int8], scales: NDArray[np.float16]) -> NDArray[np.float32]:
    """The float32 matrix of int8 rows and their scales."""
    return rows.astype(np.float32) * scales.astype(np.float32)[:, None]


def pack(weights: Mapping[str, NDArray[Any]], prefix: str = "") -> Arrays:
    """Float weights as stored arrays: matrices by `quantise` (`name` and `name.scale`), vectors in fp16."""
    found: Arrays = {}
    for name, values in weights.items():
        if values.ndim == 1:
            found[prefix + name] = values.astype(np.float16)
        else:
            found[prefix + name], found[f"{prefix}{name}.scale"] = quantise(values)
    return found


def unpack(arrays: Mapping[str, NDArray[Any]], prefix: str = "") -> dict[str, NDArray[np.float32]]:
    """The float32 weights below a prefix, as every reader computes with them; tables are left out."""
    found = {}
    for name, values in arrays.items():
        if not name.startswith(prefix) or name.endswith(".scale"):
            continue
        if name + ".scale" in arrays:
            found[name[len(prefix) :]] = dequantise(values, arrays[name + ".scale"])
        elif values.dtype == np.float16:
            found[name[len(prefix) :]] = values.astype(np.float32)
    return found
