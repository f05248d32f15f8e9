"""What an author is told when something in a page is wrong: one line for the terminal, one red box for the page.

Why its own module: the site generator counts warnings of its own logger only, and ordinary mistakes in Markdown pass a
strict build silently. So every part of the page builder reports here, in the same words for all of them. It must not
know Markdown, MkDocs, or what the mistakes are about.
"""

from __future__ import annotations

import difflib
import logging
from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import dataclass

from widgets._kit.text import esc

__all__ = ["CURRENT", "LOG", "Page", "Problem", "box", "hint", "inline_box", "tell"]

LOG = logging.getLogger("mkdocs.plugins.widgets")
"""MkDocs counts warnings below `mkdocs`; other generators print them to the terminal."""


@dataclass(frozen=True)
class Page:
    """The page being built. `offset` is the number of lines (front matter) that were cut off before line 1."""

    path: str = "page"
    offset: int = 0


CURRENT: ContextVar[Page | None] = ContextVar("page", default=None)
"""Set by whoever knows the path (the hook, the checker). Without it problems name "page"."""


@dataclass(frozen=True, order=True)
class Problem:
    """One mistake. As text: `docs/lessons/02-….md:21: unknown parameter 'alhpa' (did you mean 'alpha'?)`."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


def tell(problem: Problem) -> None:
    """One warning in the terminal."""
    LOG.warning("%s", problem)


def hint(word: str, known: Iterable[str]) -> str:
    """` (did you mean 'alpha'?)`, or nothing when no known word is near."""
    lowered = {name.lower(): name for name in known}
    near = difflib.get_close_matches(word.lower(), list(lowered), n=1)
    return f" (did you mean {lowered[near[0]]!r}?)" if near else ""


def box(problems: Iterable[Problem], what: str = "figure") -> str:
    """The red box that stands in the page where a figure (or a formula) would be."""
    items = "".join(
        f"<li><code>{esc(f'{problem.path}:{problem.line}')}</code> {esc(problem.message)}</li>" for problem in problems
    )
    return (
        '<div class="sd-problem-box" role="alert" data-search-exclude>'
        f"<p><strong>This {what} could not be drawn.</strong></p><ul>{items}</ul></div>"
    )


def inline_box(problem: Problem) -> str:
    """The same inside a sentence."""
    where = f"{problem.path}:{problem.line}"
    return (
        '<span class="sd-problem-box sd-problem-inline" role="note">'
        f"<strong>No number here.</strong> <code>{esc(where)}</code> {esc(problem.message)}</span>"
    )
