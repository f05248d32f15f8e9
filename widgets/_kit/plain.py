"""Text from outside, fit to be shown: a log may hold control characters, text that runs backwards, endless lines.

HTML is no danger here, since all text is escaped on its way into the page; what is left is text that would not be seen
as it is. It must not know where the text comes from.
"""

from __future__ import annotations

__all__ = ["plain"]

_BIDI = (*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xFEFF, 0xFFFE, 0xFFFF)
_SHOWN = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029, *_BIDI), "·")


def plain(text: str, most: int = 160) -> str:
    """`text` on one line: what cannot be seen becomes "·", a lone surrogate U+FFFD, what is too long "…"."""
    seen = text[: most + 1].translate(_SHOWN)
    seen = "".join("\ufffd" if 0xD800 <= ord(letter) <= 0xDFFF else letter for letter in seen)
    return seen if len(seen) <= most else seen[:most] + "…"
