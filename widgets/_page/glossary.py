"""Words of the glossary become links where a lesson first uses them.

Why not by hand alone: a word that moves up in an edit loses its link, and nobody sees it. A link written by hand wins:
its word is left alone on that page. A word that is often meant otherwise ("heads" of attention) is marked `.by-hand` in
the glossary, `Head { #head .by-hand }`, and is linked only where the author does it. It must not know MkDocs.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from xml.etree.ElementTree import Element

from markdown import Markdown
from markdown.treeprocessors import Treeprocessor

__all__ = ["GLOSSARY", "LinkTerms", "Term", "terms"]

GLOSSARY = "reference/glossary.md"
LINKED = ("lessons/", "labs/")
_ENTRY = re.compile(r"(?P<words>[^#\s:!|>].*?)[ ]*\{[ ]*(?P<marks>[^{}]*#[^{}]*)\}[ ]*")
_SKIPPED_TAGS = ("a", "code", "pre", "h1", "h2", "h3", "h4", "h5", "h6", "th", "summary", "script", "style", "button")
_SKIPPED_CLASSES = ("sd-page-eyebrow", "sd-promise", "sd-next", "sd-number", "admonition-title", "headerlink")


@dataclass(frozen=True)
class Term:
    """One entry: the words that mean it, and the id to link to."""

    id: str
    words: tuple[str, ...]


def terms(text: str) -> tuple[Term, ...]:
    """The entries of a glossary page that are linked by themselves, in page order."""
    found: list[Term] = []
    for line, after in pairwise(text.split("\n")):
        entry = _ENTRY.fullmatch(line)
        if not entry or not after.startswith(":"):
            continue
        marks = entry["marks"].split()
        if ".by-hand" in marks:
            continue
        words = tuple(word.strip() for word in re.split(r"[,()]", entry["words"]) if word.strip())
        found.append(Term(next(mark[1:] for mark in marks if mark.startswith("#")), words))
    return tuple(found)


class LinkTerms(Treeprocessor):
    """Runs after inline text and attributes are settled, before a site generator turns .md links into addresses.

    `path` gives the path of the page that is being converted, `docs/lessons/….md`.
    """

    def __init__(self, md: Markdown, docs: Path, path: Callable[[], str]) -> None:
        super().__init__(md)
        self.docs, self.path = docs, path

    def run(self, root: Element) -> None:
        name = self.path().partition("/")[2]
        file = self.docs / GLOSSARY
        if not name.startswith(LINKED) or not file.is_file():
            return
        address = posixpath.relpath(GLOSSARY, posixpath.dirname(name))
        links = [link.get("href", "") for link in root.iter("a")]
        by_hand = [link.rpartition("#")[2] for link in links if link.startswith(f"{address}#")]
        wanted: dict[str, Term] = {}
        for term in terms(file.read_text(encoding="utf-8")):
            if term.id not in by_hand:
                wanted.update({word.lower(): term for word in term.words})
        self._walk(root, wanted, address)

    def _walk(self, element: Element, wanted: dict[str, Term], address: str) -> None:
        """Texts in reading order: the element's own, then each child and what follows it."""
        if element.tag in _SKIPPED_TAGS or any(name in _SKIPPED_CLASSES for name in element.get("class", "").split()):
            return
        children = list(element)
        element.text, links = self._linked(element.text, wanted, address)
        for at, link in enumerate(links):
            element.insert(at, link)
        for child in children:
            self._walk(child, wanted, address)
            child.tail, links = self._linked(child.tail, wanted, address)
            place = list(element).index(child) + 1
            for at, link in enumerate(links):
                element.insert(place + at, link)

    def _linked(self, text: str | None, wanted: dict[str, Term], address: str) -> tuple[str | None, list[Element]]:
        """The text before the first link, and the links, each with the text after it."""
        if not text or not wanted:
            return text, []
        links: list[Element] = []
        before, at = text, 0
        while match := _first(text, at, wanted):
            between = text[at : match.start()]
            if links:
                links[-1].tail = between
            else:
                before = between
            term = wanted[_known(match[0], wanted)]
            link = Element("a", {"class": "sd-term", "href": f"{address}#{term.id}"})
            link.text = match[0]
            links.append(link)
            for word in [word for word, other in wanted.items() if other is term]:
                del wanted[word]
            at = match.end()
        if links:
            links[-1].tail = text[at:]
        return before, links


def _first(text: str, at: int, wanted: Mapping[str, Term]) -> re.Match[str] | None:
    """The first word of the glossary from `at` on, the longest where two begin together."""
    return next(_matches(text, at, wanted), None)


def _matches(text: str, at: int, wanted: Mapping[str, Term]) -> Iterator[re.Match[str]]:
    if wanted:
        words = "|".join(re.escape(word) for word in sorted(wanted, key=len, reverse=True))
        yield from re.compile(rf"(?<![\w-])(?:{words})s?(?![\w-])", re.IGNORECASE).finditer(text, at)


def _known(word: str, wanted: Mapping[str, Term]) -> str:
    """The glossary's spelling of a word found in a text."""
    lower = word.lower()
    return lower if lower in wanted else lower.removesuffix("s")
