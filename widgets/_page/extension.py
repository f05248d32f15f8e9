"""The Markdown extension of this site: `widget` blocks become figures, `math` formulas, values numbers, terms links.

Why one Python-Markdown extension and nothing else: every generator that uses Python-Markdown can load the same line. It
never raises; whatever is wrong becomes a red box in the page and one line `file:line: message` in the terminal. It must
not know MkDocs.

How it works: before any other fence handling, blocks are taken out and a mark is left in their place. When the page is
a tree, marks that ended up in example code or in a comment get their text back; the others are drawn, in page order.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from markdown import Extension, Markdown
from markdown.inlinepatterns import InlineProcessor
from markdown.preprocessors import Preprocessor
from markdown.treeprocessors import Treeprocessor
from markdown.util import AtomicString, code_escape

from widgets._page import block, fences, inline, problems
from widgets._page.assets import live_folder
from widgets._page.drawn import UnusableData, drawn
from widgets._page.figure import framed
from widgets._page.formula import Refused, formula
from widgets._page.glossary import LinkTerms
from widgets._page.problems import Page, Problem

__all__ = ["SiteExtension", "makeExtension"]

_SPAN = re.compile(r"(?<![\\`])(`+)(?!`)((?:(?!\n[ \t]*\n).)+?)(?<!`)\1(?!`)", re.DOTALL)
_OURS = re.compile(r"\s*#!(?P<kind>sim|data)(?:\s+(?P<text>.*?))?\s*", re.DOTALL)
_NAMED = re.compile(r"\{[^{}\n]*#[A-Za-z][^{}\n]*\}\s*$")


@dataclass
class _Pending:
    """A block that was taken out: its mark, its place in the stash, and what stood there."""

    mark: str
    stash: int
    fence: fences.Fence
    lines: tuple[str, ...]
    before: list[str]
    after: list[str]


@dataclass
class _State:
    """What is known of the page that is being converted."""

    page: Page = field(default_factory=Page)
    pending: list[_Pending] = field(default_factory=list)
    spans: list[tuple[str, int]] = field(default_factory=list)
    ids: dict[str, int] = field(default_factory=dict)


class SiteExtension(Extension):
    """Options: `docs` (where data and the browser's files lie), `folder` (one more place for widgets), `quiet` (collect
    problems in `problems` without a word in the terminal)."""

    def __init__(self, **options: Any) -> None:
        self.config = {
            "docs": ["docs", "the folder of the pages, with data/ and assets/live/ in it"],
            "folder": ["", "another folder with widgets, looked at first"],
            "quiet": [False, "collect problems only"],
        }
        self.problems: list[Problem] = []
        self.state = _State()
        super().__init__(**options)

    def extendMarkdown(self, md: Markdown) -> None:
        """Register with Python-Markdown. 28, 195: before other fences (25), inline code (190); 6: after attributes."""
        md.registerExtension(self)
        md.block_level_elements.append("sd-widget")
        md.preprocessors.register(_TakeOut(md, self), "sd_blocks", 28)
        md.treeprocessors.register(_Draw(md, self), "sd_draw", 40)
        md.treeprocessors.register(LinkTerms(md, self.docs, lambda: self.state.page.path), "sd_terms", 6)
        md.inlinePatterns.register(_Value(md, self), "sd_value", 195)

    def reset(self) -> None:
        """Forget the last page."""
        self.state = _State()
        self.problems = []

    @property
    def docs(self) -> Path:
        return Path(str(self.getConfig("docs")))

    @property
    def folders(self) -> tuple[Path, ...]:
        folder = str(self.getConfig("folder"))
        return (Path(folder),) if folder else ()

    def tell(self, line: int, message: str) -> Problem:
        """Report; `line` counts from 0 in the text that was converted."""
        page = self.state.page
        problem = Problem(page.path, page.offset + line + 1, message)
        self.problems.append(problem)
        if not self.getConfig("quiet"):
            problems.tell(problem)
        return problem


class _TakeOut(Preprocessor):
    """Blocks out of the text, and a list of the inline values with their lines."""

    def __init__(self, md: Markdown, site: SiteExtension) -> None:
        super().__init__(md)
        self.site = site

    def run(self, lines: list[str]) -> list[str]:
        state = self.site.state = _State(problems.CURRENT.get() or _page_of(self.md, self.site.docs, lines))
        found, inside = fences.scan(lines)
        prose = "\n".join("" if hidden else line for line, hidden in zip(lines, inside, strict=True))
        for span in _SPAN.finditer(prose):
            if _OURS.fullmatch(span[2]):
                state.spans.append((_squeeze(span[2]), prose.count("\n", 0, span.start())))
        result: list[str] = []
        at = 0
        for fence in found:
            result += lines[at : fence.start]
            mark = self.md.htmlStash.store("")
            blank, at = fence.prefix.rstrip(), fence.end
            # An empty line around the mark, so that a figure never lands inside a paragraph.
            before = [blank] if fence.start > 0 and lines[fence.start - 1].strip(" >") else []
            after = [blank] if at < len(lines) and lines[at].strip(" >") else []
            own = tuple(lines[fence.start : at])
            state.pending.append(_Pending(mark, self.md.htmlStash.html_counter - 1, fence, own, before, after))
            result += [*before, fence.prefix + mark, *after]
        return result + lines[at:]


class _Draw(Treeprocessor):
    """Marks become figures or boxes; values in headings without an id of their own are refused."""

    def __init__(self, md: Markdown, site: SiteExtension) -> None:
        super().__init__(md)
        self.site = site

    def run(self, root: Element) -> None:
        for pending in self.site.state.pending:
            if not (self._is_code(root, pending) or self._is_raw(pending)):
                self.md.htmlStash.rawHtmlBlocks[pending.stash] = self._html(pending)
        for heading in _headings(root):
            if heading.text and not _NAMED.search("".join(heading.itertext())):
                heading.text = _SPAN.sub(self._refuse, heading.text)
        self._unreached()

    def _is_code(self, root: Element, pending: _Pending) -> bool:
        """In an indented code block the block is an example: give the text back."""
        for code in root.iter("code"):
            if code.text and pending.mark in code.text:
                before, after = r"^[ ]*\n" if pending.before else "", r"\n[ ]*$" if pending.after else ""
                code.text = AtomicString(
                    re.sub(
                        rf"{before}^([ ]*){re.escape(pending.mark)}(?:{after})?",
                        lambda match: code_escape("\n".join(match[1] + line for line in _outdented(pending))),
                        code.text,
                        flags=re.MULTILINE,
                    )
                )
                return True
        return False

    def _is_raw(self, pending: _Pending) -> bool:
        """In a comment it is out of use: give the text back, so that it stays a comment."""
        for at, html in enumerate(self.md.htmlStash.rawHtmlBlocks):
            if isinstance(html, str) and html.lstrip().startswith("<!--") and pending.mark in html:
                self.md.htmlStash.rawHtmlBlocks[at] = html.replace(pending.mark, "\n".join(pending.lines))
                return True
        return False

    def _html(self, pending: _Pending) -> str:
        """A figure, or a box that says what is wrong. Never raises."""
        fence = pending.fence
        what = "figure" if fence.kind == "widget" else "formula"
        if fence.problem:
            return problems.box([self.site.tell(fence.start, fence.problem)], what)
        try:
            return self._figure(fence) if fence.kind == "widget" else formula("\n".join(fence.body))
        except Refused as refused:
            told = [self.site.tell(fence.start + 1, str(refused))]
        except block.Mistakes as mistakes:
            told = [self.site.tell(fence.start + 1 + line, message) for line, message in mistakes.found]
        except Exception as error:  # a fault of ours must not cost the page either
            told = [self.site.tell(fence.start, f"the {what} cannot be drawn: {type(error).__name__}: {error}")]
        return problems.box(told, what)

    def _figure(self, fence: fences.Fence) -> str:
        site = self.site
        found = block.read(fence.body, site.folders)
        page = site.state.page
        if found.id in site.state.ids:
            first = page.offset + site.state.ids[found.id] + 1
            what = f"the id {found.id!r}" if found.given_id else f"the widget {found.id!r}"
            message = f"{what} is on this page already (line {first}); give this one an 'id:' of its own"
            raise block.Mistakes([(found.id_line, message)])
        site.state.ids[found.id] = fence.start
        try:
            state = drawn(found.widget, site.docs, found.values)
        except UnusableData as error:
            raise block.Mistakes([(-1, f"the data of {found.widget.name!r} cannot be used: {error}")]) from None
        except Exception as error:
            raise block.Mistakes([(-1, f"the widget {found.widget.name!r} failed: {_told(error)}")]) from None
        live = live_folder(site.docs) or ""
        return framed(found.widget, state.parts, found.values, found.id, live, state.baked)

    def _refuse(self, span: re.Match[str]) -> str:
        ours = _OURS.fullmatch(span[2])
        if not ours:
            return span[0]
        line = _take(self.site.state, span[2])
        message = "a number in a heading would become part of its address; give the heading an id, like {#my-heading}"
        return str(self.md.htmlStash.store(problems.inline_box(self.site.tell(line, message))))

    def _unreached(self) -> None:
        """Values in raw HTML stay as they are written: say so."""
        for html in self.md.htmlStash.rawHtmlBlocks:
            if not isinstance(html, str) or re.search(r"\A\s*<!--|<(?:code|pre|sd-widget)\b", html):
                continue
            for span in _SPAN.finditer(html):
                if _OURS.fullmatch(span[2]):
                    what = f"`{_squeeze(span[2])}` stands in raw HTML, where no number is put in"
                    self.site.tell(_take(self.site.state, span[2]), f"{what}; add the word markdown to its tag")


class _Value(InlineProcessor):
    """Inline code that begins with `#!sim` or `#!data`. All other code spans are stepped over, not looked into."""

    def __init__(self, md: Markdown, site: SiteExtension) -> None:
        super().__init__(_SPAN.pattern, md)
        self.site = site

    def handleMatch(  # type: ignore[override]
        self, m: re.Match[str], data: str
    ) -> tuple[Element | str | None, int | None, int | None]:
        ours = _OURS.fullmatch(m[2])
        if not ours:
            return None, None, None
        line = _take(self.site.state, m[2])
        try:
            shown, title = inline.value(ours["kind"], ours["text"] or "", self.site.docs)
        except inline.Refused as refused:
            return self._box(line, str(refused)), m.start(0), m.end(0)
        except Exception as error:  # a fault of ours must not cost the page either
            return self._box(line, f"{type(error).__name__}: {error}"), m.start(0), m.end(0)
        element = Element("span", {"class": "sd-number", "title": title})
        element.text = AtomicString(shown)
        return element, m.start(0), m.end(0)

    def _box(self, line: int, message: str) -> str:
        return str(self.md.htmlStash.store(problems.inline_box(self.site.tell(line, message))))


def _page_of(md: Markdown, docs: Path, lines: list[str]) -> Page:
    """The page being converted where nobody has told: Zensical leaves its path in the Markdown object."""
    paths = [getattr(getattr(processor, "page", None), "path", None) for processor in md.preprocessors]
    path = next((path for path in paths if isinstance(path, str)), None)
    if path is None:
        return Page()
    name = (docs / path).as_posix()
    try:
        source = (docs / path).read_text(encoding="utf-8-sig").split("\n")
        head = source.index("---", 1) + 1 if source[0] == "---" else 0
        first = next(at for at, line in enumerate(lines) if line.strip())
        return Page(name, source.index(lines[first], head) - first)
    except (OSError, ValueError, StopIteration):
        return Page(name)


def _squeeze(text: str) -> str:
    return " ".join(text.split())


def _take(state: _State, text: str) -> int:
    """The line of this value: the first one with these words that was not asked for yet, else the first with them."""
    words = _squeeze(text)
    for at, (known, line) in enumerate(state.spans):
        if known == words:
            del state.spans[at]
            return line
    return 0


def _headings(root: Element) -> Iterator[Element]:
    for element in root.iter():
        if isinstance(element.tag, str) and re.fullmatch(r"h[1-6]", element.tag):
            yield element


def _outdented(pending: _Pending) -> list[str]:
    """The block's own lines without what stood before its opening line."""
    width = len(pending.fence.prefix)
    return [line[width:] if line[:width].strip(" >") == "" else line for line in pending.lines]


def _told(error: Exception) -> str:
    """The exception, and where in the widget's file it was raised."""
    places = traceback.extract_tb(error.__traceback__)
    last = places[-1] if places else None
    where = f" ({Path(last.filename).name}:{last.lineno})" if last else ""
    return f"{type(error).__name__}: {error}{where}"


def makeExtension(**options: Any) -> SiteExtension:
    """The name Python-Markdown asks for."""
    return SiteExtension(**options)
