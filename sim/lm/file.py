"""Weight files: the safetensors format, read strictly and without pickle.

Why it exists: weights come over a network into a reader's page. A file that was cut, altered or made for something
else must say so in words and never become a model that talks nonsense. Checked: the header's form, that the tensors
lie side by side and fill the file, a SHA-256, and (by `Tensors`) that exactly the expected tensors are there in the
expected types and shapes.

The SHA-256 in the metadata is over header and payload, with its own 64 digits as zeros; one over the payload alone is
taken too. It must not know what a tensor is for.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sim.data import DataError, read_json

__all__ = ["FORMAT", "Tensors", "read", "write"]

Array: TypeAlias = NDArray[Any]

FORMAT = "sd-tiny 1"
TYPES: Mapping[str, str] = {"I8": "<i1", "U8": "<u1", "U16": "<u2", "I32": "<i4", "F16": "<f2"}
_UNSIGNED = "0" * 64


class Tensors:
    """The tensors of one file, taken out by name with the type and shape they must have. `config` is as stored."""

    def __init__(self, name: str, config: Mapping[str, Any], card: Mapping[str, Any], arrays: dict[str, Array]) -> None:
        self.name, self.config, self.card = name, config, card
        self._left = arrays

    def has(self, tensor: str) -> bool:
        """Whether it is there and was not taken."""
        return tensor in self._left

    def take(self, tensor: str, kind: str, shape: tuple[int | None, ...]) -> Array:
        """The tensor (None in `shape`: any length), once. ValueError when missing, of another type or shape."""
        if tensor not in self._left:
            raise ValueError(f"{self.name}: tensor {tensor!r} is missing")
        found = self._left.pop(tensor)
        if found.dtype != np.dtype(TYPES[kind]):
            raise ValueError(f"{self.name}: tensor {tensor!r} has the type {found.dtype}, not {kind}")
        if len(found.shape) != len(shape) or any(w not in (None, g) for w, g in zip(shape, found.shape, strict=True)):
            raise ValueError(f"{self.name}: tensor {tensor!r} has the shape {found.shape}, not {shape}")
        return found

    def vector(self, tensor: str, size: int) -> NDArray[np.float32]:
        """F16 (size,) as float32; ValueError when an entry is not finite."""
        found = self.take(tensor, "F16", (size,)).astype(np.float32)
        if not np.isfinite(found).all():
            raise ValueError(f"{self.name}: tensor {tensor!r} holds a number that is not finite")
        return found

    def matrix(self, tensor: str, outer: int, inner: int) -> NDArray[np.float32]:
        """int8 rows times their float16 scales, `tensor` and `tensor`.scale, as float32 (outer, inner)."""
        whole = self.take(tensor, "I8", (outer, inner)).astype(np.float32)
        whole *= self.vector(f"{tensor}.scale", outer)[:, None]
        return whole

    def finish(self) -> None:
        """ValueError when the file holds tensors that nobody took."""
        if self._left:
            raise ValueError(f"{self.name}: unknown tensors: {', '.join(sorted(self._left))}")


def read(data: bytes | bytearray | memoryview, name: str) -> Tensors:
    """A whole file to its tensors; `name` is only used in messages. ValueError says what is wrong with it."""
    whole = bytes(data)
    if len(whole) < 10:
        raise ValueError(f"{name}: {len(whole)} bytes; the file is cut off, or not there")
    size = int.from_bytes(whole[:8], "little")
    if whole[8:9] != b"{":
        raise ValueError(f"{name}: not a safetensors file (no header after 8 bytes)")
    if size > len(whole) - 8:
        raise ValueError(f"{name}: the header should have {size} bytes and the file has {len(whole)}: it is cut off")
    try:
        text = whole[8 : 8 + size].decode("utf-8")
        header = read_json(text, f"{name}: header")
    except UnicodeDecodeError:
        raise ValueError(f"{name}: the header is not text") from None
    except DataError as error:
        raise ValueError(str(error)) from None
    if not isinstance(header, dict):
        raise ValueError(f"{name}: the header is not an object")
    notes = header.pop("__metadata__", None)
    if not isinstance(notes, dict) or not all(isinstance(item, str) for item in notes.values()):
        raise ValueError(f"{name}: the header has no __metadata__ of texts")
    if notes.get("format") != FORMAT:
        raise ValueError(f"{name}: the format is {notes.get('format')!r}, not {FORMAT!r}")
    spans = _spans(header, len(whole) - 8 - size, name)
    payload = whole[8 + size :]
    _verify(notes.get("sha256"), text, payload, name)
    arrays = {
        tensor: np.frombuffer(payload, TYPES[kind], (stop - start) // np.dtype(TYPES[kind]).itemsize, start).reshape(
            shape
        )
        for tensor, (kind, shape, start, stop) in spans.items()
    }
    return Tensors(name, _object(notes, "config", name), _object(notes, "card", name), arrays)


def _spans(header: Mapping[str, Any], size: int, name: str) -> dict[str, tuple[str, tuple[int, ...], int, int]]:
    """Type, shape, first and last byte of every tensor; ValueError unless they fill `size` bytes side by side."""
    spans: dict[str, tuple[str, tuple[int, ...], int, int]] = {}
    for tensor, entry in header.items():
        where = f"{name}: tensor {tensor!r}"
        if not isinstance(entry, dict) or sorted(entry) != ["data_offsets", "dtype", "shape"]:
            raise ValueError(f"{where}: dtype, shape and data_offsets are wanted")
        kind, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
        if not isinstance(kind, str) or kind not in TYPES:
            raise ValueError(f"{where}: the type {kind!r} is not one of {', '.join(TYPES)}")
        for label, values in (("shape", shape), ("data_offsets", offsets)):
            if not isinstance(values, list) or not all(type(v) is int and 0 <= v <= 1 << 40 for v in values):
                raise ValueError(f"{where}: {label} is {values!r}; whole numbers are wanted")
        if len(offsets) != 2 or len(shape) > 4:
            raise ValueError(f"{where}: data_offsets {offsets!r} or shape {shape!r} has the wrong length")
        count = np.dtype(TYPES[kind]).itemsize
        for length in shape:
            count *= length
        if offsets[1] - offsets[0] != count:
            raise ValueError(f"{where}: {offsets[1] - offsets[0]} bytes for a shape that needs {count}")
        spans[tensor] = (kind, tuple(shape), offsets[0], offsets[1])
    end = 0
    for tensor, (_, _, start, stop) in sorted(spans.items(), key=lambda item: item[1][2:]):
        if start != end:
            raise ValueError(f"{name}: tensor {tensor!r} starts at byte {start} of the payload, not at {end}")
        end = stop
    if end != size:
        raise ValueError(f"{name}: the tensors need {end} bytes and the file has {size}: it is cut off or too long")
    return spans


def _verify(stated: object, text: str, payload: bytes, name: str) -> None:
    if not isinstance(stated, str) or len(stated) != 64:
        raise ValueError(f"{name}: there is no sha256 in the metadata")
    if stated not in (_sum(text, stated, payload), hashlib.sha256(payload).hexdigest()):
        raise ValueError(f"{name}: the checksum is wrong: the file was altered on its way")


def _sum(text: str, own: str, payload: bytes) -> str:
    """SHA-256 of header and payload, the header's own sum as zeros."""
    return hashlib.sha256(text.replace(own, _UNSIGNED, 1).encode() + payload).hexdigest()


def _object(notes: Mapping[str, str], key: str, name: str) -> Mapping[str, Any]:
    try:
        found = read_json(notes.get(key, ""), f"{name}: {key}")
    except DataError as error:
        raise ValueError(str(error)) from None
    if not isinstance(found, dict):
        raise ValueError(f"{name}: {key} is not an object")
    return found


def write(tensors: Mapping[str, Array], config: Mapping[str, Any], card: Mapping[str, Any]) -> bytes:
    """The file of these tensors, in their order, with the checksum over all of it. The counterpart of `read`."""
    names = {np.dtype(code): kind for kind, code in TYPES.items()}
    metadata = {"format": FORMAT, "sha256": _UNSIGNED, "config": json.dumps(config), "card": json.dumps(card)}
    header: dict[str, Any] = {"__metadata__": metadata}
    parts: list[bytes] = []
    place = 0
    for tensor, array in tensors.items():
        if array.dtype not in names:
            raise ValueError(f"tensor {tensor!r} has the type {array.dtype}, not one of {', '.join(TYPES)}")
        parts.append(np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes())
        offsets = [place, place + len(parts[-1])]
        header[tensor] = {"dtype": names[array.dtype], "shape": list(array.shape), "data_offsets": offsets}
        place = offsets[1]
    payload = b"".join(parts)
    text = json.dumps(header, ensure_ascii=False)
    text += " " * (-len(text.encode()) % 8)
    text = text.replace(_UNSIGNED, _sum(text, _UNSIGNED, payload), 1)
    encoded = text.encode()
    return len(encoded).to_bytes(8, "little") + encoded + payload
