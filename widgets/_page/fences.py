"""Find the `widget` and `math` blocks in the lines of a page, and the lines that only look like one.

Why its own scanner: the fence handling of Markdown extensions drops what it does not understand without a word. This
one accepts every opener whose first word is `widget` or `math`, sees outer fences (an example inside a longer fence
stays an example), and knows the line of everything. It must not know YAML, HTML or Markdown's other syntax.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Fence", "scan"]

_OPEN = re.compile(r"(?P<prefix>(?:[ ]*>)*[ ]*)(?P<marks>`{3,}|~{3,})(?P<info>.*)")
_LISTED = re.compile(
    r"(?P<prefix>[> ]*)(?:[-*+]|[0-9]+[.)])[ ]+(?P<marks>`{3,}|~{3,})[ ]*(?P<info>(?:widget|math)\b.*)"
)
_WORD = re.compile(r"[ ]*(?:\{[ ]*\.?)?(?P<word>[^\s{}]*)(?P<extra>.*)")
_LIKE = 0.75


@dataclass(frozen=True)
class Fence:
    """One block that is, or was meant to be, a widget or math. Lines count from 0; `end` is the line after it."""

    start: int
    end: int
    prefix: str
    body: tuple[str, ...]
    problem: str = ""
    kind: str = "widget"


def scan(lines: Sequence[str]) -> tuple[list[Fence], list[bool]]:
    """The blocks, and for each line whether it stands inside any fence (so that nothing else is read from it)."""
    found: list[Fence] = []
    inside = [False] * len(lines)
    at = 0
    while at < len(lines):
        listed = _LISTED.fullmatch(lines[at])
        opener = _OPEN.fullmatch(lines[at])
        if listed:
            end = _close(lines, at, listed["prefix"] + "  ", listed["marks"]) or at + 1
            kind = "math" if listed["info"].startswith("math") else "widget"
            problem = f"a {kind} block cannot start on the line of a list mark; put it on its own line, four spaces in"
            found.append(Fence(at, end, listed["prefix"], tuple(lines[at + 1 : end]), problem, kind))
        elif opener and not (opener["marks"][0] == "`" and "`" in opener["info"]):
            fence = _block(lines, at, opener)
            if isinstance(fence, Fence):
                found.append(fence)
                end = fence.end
            else:
                end = fence
        else:
            at += 1
            continue
        inside[at:end] = [True] * (end - at)
        at = end
    return found, inside


def _block(lines: Sequence[str], at: int, opener: re.Match[str]) -> Fence | int:
    """The fence that opens at line `at` if it means to be a widget or math, else the line after its end."""
    prefix, marks = opener["prefix"], opener["marks"]
    word = _WORD.fullmatch(opener["info"])
    name, extra = (word["word"], word["extra"].strip(" }")) if word else ("", "")
    kind = _meant(name)
    if not kind:
        return _close(lines, at, prefix, marks) or at + 1
    end = _close(lines, at, prefix, marks, strict=True)
    problem = ""
    if name != kind or opener["info"].lstrip()[:1] == "{":
        shown = opener["info"].strip()
        problem = f"this looks like a {kind} block, but its opening line says {shown!r}; write {kind!r}"
    elif extra:
        problem = f"nothing else may stand on the opening line of a {kind} block, but {extra!r} does"
    if end is None:
        end = _unclosed(lines, at)
        problem = f"the {kind} block is not closed; end it with a line of {marks}"
        body = lines[at + 1 : end]
    else:
        body = lines[at + 1 : end - 1]
    return Fence(at, end, prefix, tuple(_bare(line, prefix) for line in body), problem, kind)


def _meant(name: str) -> str:
    """`widget` or `math` where this word is one of them or a slip of it, else nothing."""
    lower = name.lower()
    if lower in ("math", "maths"):
        return "math"
    like = len(lower) >= 5 and difflib.SequenceMatcher(None, lower, "widget").ratio() >= _LIKE
    return "widget" if lower == "widget" or like else ""


def _close(lines: Sequence[str], at: int, prefix: str, marks: str, *, strict: bool = False) -> int | None:
    """The line after the closing one; None when the fence is never closed.

    A fence ends at the latest where its container does. With `strict` (a widget), a new opener with a word on it means
    that the closing line was forgotten; in any other fence such a line is content.
    """
    closing = re.compile(rf"[> ]*{re.escape(marks[0])}{{{len(marks)},}}[ ]*")
    opening = re.compile(rf"[> ]*{re.escape(marks)}[ ]*[A-Za-z{{].*")
    quoted, deep = prefix.count(">"), len(prefix) - len(prefix.rstrip(" "))
    for place in range(at + 1, len(lines)):
        line = lines[place]
        if quoted and line.count(">", 0, len(line) - len(line.lstrip("> "))) < quoted:
            return None
        inner = line.lstrip("> ") if quoted else line
        if line.strip(" >") and not quoted and deep >= 4 and len(inner) - len(inner.lstrip(" ")) < deep:
            return None
        if closing.fullmatch(line):
            return place + 1
        if strict and opening.fullmatch(line):
            return None
    return None


def _unclosed(lines: Sequence[str], at: int) -> int:
    """Where an unclosed block is taken to end: at the first empty line, so that the rest of the page stays a page."""
    place = at + 1
    while place < len(lines) and lines[place].strip(" >"):
        place += 1
    return place


def _bare(line: str, prefix: str) -> str:
    """A body line without the quote marks and spaces of its block."""
    for mark in prefix:
        if line[:1] == mark:
            line = line[1:]
        elif mark == ">":
            line = line.lstrip(" ").removeprefix(">")
    return line
