"""A file the reader gave: read piece by piece, never whole, and never anywhere but in this page.

Why it exists: a server's log may have 100 MB. The worker lends a function that reads a stretch of bytes; here bytes
become lines, a few hundred at a time, so that long reading can be stopped between two of them. What a widget has made
of a file may be kept in `memory`: moving a slider need not read it again. It must not know what a file says.
"""

from __future__ import annotations

import codecs
import encodings.utf_8_sig  # noqa: F401  (named as text below; imported, it is in the memory that browsers start from)
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["CHUNK", "LINES", "LONGEST_LINE", "Upload"]

CHUNK = 1_000_000
"""Bytes read at a time."""
LINES = 500
"""Lines handed over at a time: in the browser, reading that many takes well under 50 ms."""
LONGEST_LINE = 1_000_000
"""A line longer than this is cut: no log has one, and a file without line ends must not fill the memory."""


class Upload:
    """A file of `size` bytes. `read(start, stop)` gives bytes, or something with `to_bytes()` (JavaScript's arrays)."""

    def __init__(self, name: str, size: int, read: Callable[[int, int], Any], stamp: object = None) -> None:
        self.name, self.size, self.stamp = name, size, stamp
        self.read = read
        self.memory: dict[str, Any] = {}

    def lines(self) -> Iterator[tuple[float, list[str]]]:
        """Lines without their ends, a batch at a time, each with the share of the file behind it (0 to 1).

        Bytes that are no UTF-8 become U+FFFD. ValueError when the file can no longer be read.
        """
        decoder = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
        rest, place = "", 0
        while place < self.size:
            stop = min(place + CHUNK, self.size)
            text = rest + decoder.decode(self._bytes(place, stop), stop == self.size)
            place = stop
            parts = text.replace("\r\n", "\n").split("\n")
            rest = parts.pop()
            if len(rest) > LONGEST_LINE:
                parts.append(rest[:LONGEST_LINE])
                rest = ""
            for start in range(0, len(parts), LINES):
                yield place / self.size, parts[start : start + LINES]
        if rest:
            yield 1.0, [rest]

    def _bytes(self, start: int, stop: int) -> bytes:
        try:
            found = self.read(start, stop)
        except Exception:
            raise ValueError(f"{self.name} can no longer be read; choose it again") from None
        return found if isinstance(found, bytes) else bytes(found.to_bytes())
