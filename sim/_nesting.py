"""How deep a JSON text is nested, told before it is parsed.

Why it exists: the parser calls itself once a level. CPython on a computer then raises RecursionError, but in a browser
the stack of WebAssembly ends first and takes the whole interpreter with it, so no text may reach it unseen. It must not
know what the text says, nor whether it is JSON at all.
"""

from __future__ import annotations

import re

__all__ = ["deeper_than"]

_MARK = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]', re.DOTALL)


def deeper_than(text: str, levels: int) -> bool:
    """Whether more than `levels` brackets are open at once, outside strings. One pass, no recursion."""
    if text.count("[") + text.count("{") <= levels:
        return False
    depth = 0
    for found in _MARK.finditer(text):
        mark = found.group()
        if mark in "[{":
            depth += 1
            if depth > levels:
                return True
        elif mark in "]}":
            depth -= 1
    return False
