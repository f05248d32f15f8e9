"""``python -m widgets check docs``: everything that can be wrong in the Markdown, in seconds, without a site generator.

Why it exists: someone who edits only Markdown gets every mistake at once as `file:line: message`, the same ones that
would stop a build and some that no build sees (a picture without a description, a script in a page from a stranger).
It converts each page with the extensions that mkdocs.yml names and reads the HTML. It must not know MkDocs.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

import yaml
from markdown import Extension, Markdown

from sim import data
from widgets._page import fences, typed
from widgets._page.extension import SiteExtension
from widgets._page.problems import CURRENT, Page, Problem, hint

__all__ = ["check", "main", "problems_in", "warnings_in"]

ROOT = Path(__file__).resolve().parents[2]
_FRONT = re.compile(r"\A---[ \t]*\n(?P<yaml>.*?)^(?:---|\.\.\.)[ \t]*\n", re.DOTALL | re.MULTILINE)
_TAGS = ("script", "iframe", "frame", "object", "embed", "applet", "base", "link", "meta", "style", "template", "form")
_SCHEMES = ("javascript", "vbscript", "data")
_SOURCES = ("href", "src", "srcset", "action", "formaction", "poster", "data", "xlink:href", "background")
_CODE = re.compile(r"(`+)(?:(?!\n[ \t]*\n).)+?\1", re.DOTALL)
_ALIGNED = re.compile(r"text-align: (left|right|center);")  # what Markdown makes of a table, without our setting
_FETCHED = ("src", "srcset", "poster", "background")
_ACTIVE = (
    (re.compile(rf"<\s*/?\s*(?P<what>{'|'.join(_TAGS)})\b", re.IGNORECASE), "<{}> runs or loads something"),
    (re.compile(r"<\s*/?\s*(?P<what>sd-widget)\b", re.IGNORECASE), "<{}> is what a widget block becomes"),
    (re.compile(r"<[^<>]*?[\s\"'/](?P<what>on[a-z]+)\s*=", re.IGNORECASE), "{}= runs something"),
    (re.compile(r"\{[^{}\n]*?\b(?P<what>on[a-z]+)\s*=", re.IGNORECASE), "{}= runs something"),
    (re.compile(rf"\b(?P<what>{'|'.join(_SCHEMES[:2])})\s*:", re.IGNORECASE), "{}: runs something"),
)
_REFUSED = "and is refused in pages; a figure is a widget"


@dataclass
class _Read:
    """One page as it was read: its source lines, and what its HTML holds."""

    name: str
    text: str
    offset: int
    ids: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)

    def line(self, *needles: str) -> int:
        """The line of the first needle that stands in the source, else the first line."""
        for needle in needles:
            at = self.text.find(needle)
            if needle and at >= 0:
                return self.offset + self.text.count("\n", 0, at) + 1
        return 1


def main(arguments: list[str]) -> int:
    """The command: prints each problem, gives 0 when there is none."""
    if len(arguments) > 1 or (arguments and arguments[0].startswith("-")):
        print("usage: python -m widgets check [docs]", file=sys.stderr)
        return 2
    for stream in (sys.stdout, sys.stderr):  # a terminal that cannot show a character must not hide the problem
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    return check(Path(arguments[0]) if arguments else ROOT / "docs")


def check(docs: Path) -> int:
    """Print what is wrong or doubtful below `docs` and a last line that counts it; 1 if anything is wrong, else 0."""
    if not docs.is_dir():
        print(f"{docs}: no such folder", file=sys.stderr)
        return 2
    found = problems_in(docs)
    warned = warnings_in(docs)
    for problem in sorted([*found, *warned]):
        print(problem)
    pages = sum(1 for _ in _pages(docs))
    besides = f" and {len(warned)} warning{'s' if len(warned) != 1 else ''}" if warned else ""
    print(f"{len(found) or 'no'} problem{'s' if len(found) != 1 else ''}{besides} in {pages} pages", file=sys.stderr)
    return 1 if found else 0


def problems_in(docs: Path, folder: str = "") -> list[Problem]:
    """Every problem in the pages and data files below `docs`, sorted. `folder`: one more place for widgets."""
    found: list[Problem] = []
    read: dict[str, _Read] = {}
    settings = _settings(docs)
    for path in _pages(docs):
        name = f"{docs.name}/{path.relative_to(docs).as_posix()}"
        text = _text(path, name, found)
        if text is not None:
            site = SiteExtension(docs=str(docs), folder=folder, quiet=True)
            extensions: list[str | Extension] = [site, *(extension for extension, _ in settings)]
            read[name] = _page(name, text, Markdown(extensions=extensions, extension_configs=dict(settings)), found)
            found += site.problems
    for page in read.values():
        for link in page.links:
            message = _link(page, link, docs, read)
            if message:
                found.append(Problem(page.name, page.line(f"]({link}", f": {link}", link, link.split("#")[0]), message))
    found += _nav(docs, read)
    for path in sorted((docs / "data").rglob("*.json")):
        name = f"{docs.name}/{path.relative_to(docs).as_posix()}"
        try:
            text = path.read_text(encoding="utf-8")
            data.read_json(text, name) if path.name == "schema.json" else data.parse(text, name)
        except (ValueError, OSError) as error:
            found.append(Problem(name, 1, str(error).removeprefix(f"{name}: ")))
    return sorted(dict.fromkeys(found))


def warnings_in(docs: Path) -> list[Problem]:
    """Numbers typed by hand in the pages below `docs`; a build does not care."""
    found: list[Problem] = []
    for path in _pages(docs):
        name = f"{docs.name}/{path.relative_to(docs).as_posix()}"
        text = _text(path, name, [])
        if text is not None:
            found += typed.warnings(name, text, docs.resolve().parent / "tests" / "site" / "claims.toml")
    return found


def _pages(docs: Path) -> Iterator[Path]:
    for path in sorted(docs.rglob("*.md")):
        if not path.relative_to(docs).as_posix().startswith("assets/live/"):
            yield path


def _text(path: Path, name: str, found: list[Problem]) -> str | None:
    """The page's text with plain line ends; None when it is not text."""
    raw = path.read_bytes()
    if raw.startswith(b"\xef\xbb\xbf"):
        found.append(Problem(name, 1, "the file begins with a byte-order mark; save it as UTF-8 without one (no BOM)"))
        raw = raw[3:]
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        found.append(Problem(name, line, f"byte 0x{raw[error.start]:02x} is not UTF-8; save the file as UTF-8"))
        return None
    if "\r" in text:
        line = text.count("\n", 0, text.index("\r")) + 1
        found.append(Problem(name, line, "line ends are CRLF (or CR); save the file with LF line ends"))
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _page(name: str, text: str, md: Markdown, found: list[Problem]) -> _Read:
    """Convert one page, and read everything but the links to other pages."""
    front = _FRONT.match(text)
    offset = 0
    if front:
        try:
            yaml.safe_load(front["yaml"])
        except yaml.YAMLError as error:
            line = error.problem_mark.line + 2 if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark else 1
            found.append(Problem(name, line, "the lines between --- and --- are not YAML"))
        offset, text = text.count("\n", 0, front.end()), text[front.end() :]
    page = _Read(name, text, offset)
    CURRENT.set(Page(name, offset))
    try:
        html = md.convert(text)
    except Exception as error:  # Markdown itself gave up; the other pages are still checked
        found.append(Problem(name, 1, f"this page cannot be converted: {type(error).__name__}: {error}"))
    else:
        _Html(page, found).feed(html)
    found += _active(page)
    return page


def _active(page: _Read) -> Iterator[Problem]:
    """What would run in a reader's browser, as written. Code is shown, not run, so it is left out.

    The HTML is read too, but a tag that is never closed on this page only becomes one in the finished page.
    """
    lines = page.text.split("\n")
    _, inside = fences.scan(lines)
    prose = "\n".join("" if shown else line for line, shown in zip(lines, inside, strict=True))
    plain = _CODE.sub(lambda code: "\n" * code[0].count("\n"), prose)
    for pattern, words in _ACTIVE:
        for match in pattern.finditer(plain):
            line = page.offset + plain.count("\n", 0, match.start("what")) + 1
            yield Problem(page.name, line, f"{words.format(match['what'].lower())} {_REFUSED}")


class _Html(HTMLParser):
    """Ids, links, pictures and active content of a page's HTML. What the figures hold is ours and is left out."""

    def __init__(self, page: _Read, found: list[Problem]) -> None:
        super().__init__(convert_charrefs=True)
        self.page, self.found, self.figures = page, found, 0

    def parse_html_declaration(self, i: int) -> int:
        """Browsers read a broken `<![` as a comment; Python's parser gives up on it."""
        try:
            return super().parse_html_declaration(i)
        except AssertionError:
            return self.parse_bogus_comment(i)

    def handle_endtag(self, tag: str) -> None:
        self.figures -= tag == "sd-widget"

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.figures += tag == "sd-widget"
        values = {key: value or "" for key, value in attrs}
        for key in ("id", "name") if tag == "a" else ("id",):
            if key in values:
                if values[key] in self.page.ids:
                    self._tell(f"the id {values[key]!r} stands twice on this page", f"#{values[key]}", values[key])
                self.page.ids.append(values[key])
        if self.figures:
            return
        if tag in _TAGS:
            self._tell(f"<{tag}> runs or loads something {_REFUSED}", f"<{tag}")
        for key, value in values.items():
            scheme = re.sub(r"[\s\x00-\x20]+", "", value).partition(":")[0].lower() if ":" in value else ""
            if key.startswith("on"):
                self._tell(f"{key}= runs something {_REFUSED}", key)
            elif key in _SOURCES and scheme in _SCHEMES:
                self._tell(f"{scheme}: runs something {_REFUSED}", value, scheme)
            elif key in ("srcdoc", "ping"):
                self._tell(f"{key}= runs or tells something {_REFUSED}", key)
            elif key == "style" and not _ALIGNED.fullmatch(value):
                self._tell("style= is dropped where a host has a strict policy; use a class of the site", value, key)
            elif _fetches(tag, key) and (scheme in ("http", "https") or value.strip().startswith("//")):
                self._tell(f"{value} would be fetched from another host; put the file below docs/assets", value)
        if tag == "a" and values.get("href"):
            self.page.links.append(values["href"])
        if tag == "img":
            self.page.links.append(values.get("src", ""))
            if not values.get("alt", "").strip():
                self._tell("a picture without a description (alt text)", values.get("src", ""), "<img")

    def _tell(self, message: str, *needles: str) -> None:
        self.found.append(Problem(self.page.name, self.page.line(*needles), message))


def _fetches(tag: str, key: str) -> bool:
    """Whether a browser loads what stands there without a click. Parts of SVG pictures load their `href`."""
    return key in _FETCHED or (key in ("href", "xlink:href") and tag not in ("a", "area"))


def _link(page: _Read, link: str, docs: Path, read: Mapping[str, _Read]) -> str:
    """What is wrong with this link, or nothing."""
    try:
        parts = urlsplit(link)
    except ValueError:
        return f"the link {link!r} is not an address"
    if parts.scheme or parts.netloc:
        return ""
    if parts.path.startswith("/"):
        return f"the link {link!r} begins at the top of a host; write it from this page (../…)"
    target = page.name
    if parts.path:
        steps: list[str] = []
        for step in (PurePosixPath(page.name).parent / unquote(parts.path)).parts:
            if step == "..":
                if len(steps) <= 1:
                    return f"the link {link!r} leads out of {docs.name}/"
                steps.pop()
            else:
                steps.append(step)
        target = "/".join(steps)
        file = docs / "/".join(steps[1:])
        if not file.is_file():
            if file.is_dir() or file.with_suffix(".md").is_file():
                return f"the link {link!r} names no file; link to the .md file"
            near = hint(target, [*read])
            return f"the link {link!r} leads to {target}, which does not exist{near}"
    anchor = unquote(parts.fragment)
    if anchor and target in read and anchor not in read[target].ids:
        return f"the link {link!r}: {target} has no heading or id {anchor!r}{hint(anchor, read[target].ids)}"
    return ""


def _nav(docs: Path, read: Mapping[str, _Read]) -> Iterator[Problem]:
    """Each page stands in the navigation once. Where mkdocs.yml names none, the generator makes its own."""
    file = docs.resolve().parent / "mkdocs.yml"
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    entries = (yaml.load(text, _Settings) or {}).get("nav") if text else None
    if not entries:
        return
    seen: list[str] = []
    for page in _leaves(entries):
        line = text.count("\n", 0, text.index(page)) + 1
        if page in seen:
            yield Problem(file.name, line, f"{page} stands twice in the navigation")
        elif f"{docs.name}/{page}" not in read and "://" not in page and not (docs / page).is_file():
            yield Problem(file.name, line, f"{page} stands in the navigation, but there is no such page")
        seen.append(page)
    for name in read:
        if name.removeprefix(f"{docs.name}/") not in seen:
            yield Problem(name, 1, "this page does not stand in the navigation (nav: in mkdocs.yml)")


def _leaves(entry: Any) -> Iterator[str]:
    """The pages named in a part of the navigation."""
    if isinstance(entry, str):
        yield entry
    else:
        for item in entry.values() if isinstance(entry, dict) else entry or ():
            yield from _leaves(item)


class _Settings(yaml.SafeLoader):
    """mkdocs.yml without what only MkDocs can read (!ENV, Python names)."""


_Settings.add_multi_constructor("", lambda loader, suffix, node: None)


def _settings(docs: Path) -> list[tuple[str, dict[str, Any]]]:
    """The Markdown extensions of mkdocs.yml, without ours."""
    beside = docs.resolve().parent / "mkdocs.yml"
    file = beside if beside.is_file() else ROOT / "mkdocs.yml"
    entries = yaml.load(file.read_text(encoding="utf-8"), _Settings).get("markdown_extensions", [])
    pairs = [next(iter(entry.items())) if isinstance(entry, dict) else (entry, {}) for entry in entries]
    return [(name, config or {}) for name, config in pairs if name != "widgets._page.extension"]
