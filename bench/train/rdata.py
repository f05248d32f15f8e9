"""Reads the strings out of an R package's lazy-load database (`Rdata.rdb` with its index `Rdata.rdx`), without R.

It knows R's binary serialisation as far as character vectors, lists and integers need it, and must not know what the
strings are. Anything else in the stream is a ValueError that names the type found.
"""

from __future__ import annotations

import struct
import zlib
from typing import Any

SYMBOL, PAIRLIST, CHARACTERS, LOGICALS, INTEGERS, REALS, STRINGS, LIST = 1, 2, 9, 10, 13, 14, 16, 19
NIL, REFERENCE = 254, 255
HAS_ATTRIBUTES, HAS_TAG = 0x200, 0x400


class _Reader:
    """One pass over a serialised value; version 2 and 3 of the binary format (`X\\n`)."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at, self.references = data, 0, [""]
        if self.take(2) != b"X\n":
            raise ValueError("data must be R's binary serialisation, which starts with 'X' and a newline")
        version, _, _ = self.integers(3)
        if version not in (2, 3):
            raise ValueError(f"data must be R serialisation of version 2 or 3, got {version}")
        if version == 3:
            self.take(self.integers(1)[0])

    def take(self, count: int) -> bytes:
        """The next bytes."""
        piece = self.data[self.at : self.at + count]
        if count < 0 or len(piece) != count:
            raise ValueError(f"data ends at byte {len(self.data)}, {count} bytes wanted at {self.at}")
        self.at += count
        return piece

    def integers(self, count: int) -> tuple[int, ...]:
        """The next 32-bit integers."""
        return struct.unpack(f">{count}i", self.take(4 * count))

    def value(self) -> Any:
        """The next value: str, list, or a dict for a list with names."""
        flags = self.integers(1)[0]
        kind = flags & 0xFF
        if kind == NIL:
            return None
        if kind == REFERENCE:
            return self.references[(flags >> 8) or self.integers(1)[0]]
        if kind == SYMBOL:
            self.references.append(self.value())
            return self.references[-1]
        if kind == CHARACTERS:
            length = self.integers(1)[0]
            return None if length < 0 else self.take(length).decode("utf-8" if flags & 0x8000 else "latin-1")
        if kind == PAIRLIST:
            return self.pairs(flags)
        length = self.integers(1)[0]
        found: list[Any]
        if kind in (STRINGS, LIST):
            found = [self.value() for _ in range(length)]
        elif kind in (INTEGERS, LOGICALS):
            found = list(self.integers(length))
        elif kind == REALS:
            found = list(struct.unpack(f">{length}d", self.take(8 * length)))
        else:
            raise ValueError(f"data must hold strings, numbers and lists, got a value of R type {kind}")
        names = (self.value() or {}).get("names") if flags & HAS_ATTRIBUTES else None
        return found if names is None else dict(zip(names, found, strict=True))

    def pairs(self, flags: int) -> dict[str, Any]:
        """A pairlist as a dict; values without a tag are numbered."""
        found: dict[str, Any] = {}
        while flags & 0xFF == PAIRLIST:
            if flags & HAS_ATTRIBUTES:
                self.value()
            tag = self.value() if flags & HAS_TAG else str(len(found))
            found[tag] = self.value()
            flags = self.integers(1)[0]
        if flags & 0xFF != NIL:
            raise ValueError(f"data must end a pairlist with nil, got R type {flags & 0xFF}")
        return found


def unserialise(data: bytes) -> Any:
    """The value that R's `serialize(x, NULL)` wrote."""
    return _Reader(data).value()


def read_database(index: bytes, database: bytes) -> dict[str, Any]:
    """All variables of a lazy-load database by name: `index` is the .rdx file, `database` the .rdb file."""
    variables = unserialise(zlib.decompress(index, wbits=47))["variables"]
    found = {}
    for name, (offset, length) in sorted(variables.items()):
        chunk = database[offset : offset + length]
        size = int.from_bytes(chunk[:4], "big")
        found[name] = unserialise(zlib.decompress(chunk[4:]))
        if size != len(zlib.decompress(chunk[4:])):
            raise ValueError(f"database must hold {size} bytes for {name!r}")
    return found
