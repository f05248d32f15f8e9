"""A notebook page as this site serves it: the words, the code and what the code printed, and nothing else.

Why it exists: the page that nbconvert makes carries scripts, style sheets, addresses of other hosts and icons, 630 kB
of them, for four screens of text. Here its cells are taken out and set like the rest of the site: code as code blocks,
formulas as formulas, outputs that scroll inside themselves. Code and outputs stay out of the search.

It must not know MkDocs, and not how a notebook is run: that is `executes`' answer to whoever does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from bs4 import BeautifulSoup, Tag

from widgets._kit.text import esc
from widgets._page.formula import formula

__all__ = ["executes", "rebuilt"]

_DROPPED = ("script", "style", "link", "meta", "base", "iframe", "frame", "object", "embed", "clipboard-copy", "form")
_FETCHING = ("src", "srcset", "poster", "background", "data", "action", "formaction", "ping")
_ADDRESS = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
_RUNS = re.compile(r"\s*(?:javascript|vbscript|data)\s*:", re.IGNORECASE)
_PICTURE = re.compile(r"data:image/(?:png|jpeg);base64,[A-Za-z0-9+/=\s]+")


def executes(environment: Mapping[str, str], serving: bool) -> bool:
    """Are notebooks run? `EXECUTE_NOTEBOOKS` says 1 or 0; without it they are, except while somebody writes."""
    said = environment.get("EXECUTE_NOTEBOOKS", "").strip().lower()
    if said in ("0", "false", "no", "off"):
        return False
    return bool(said) or not serving


def rebuilt(html: str, source: str, executed: bool, link: Callable[[str], str], tell: Callable[[str, str], str]) -> str:
    """The cells in `html` as blocks of this site.

    `source` is the name of the notebook's file beside the page. `link` turns an address as written into one that works
    in the page; `tell` takes words of the source and a complaint about them, and gives what stands in the page instead.
    """
    page = BeautifulSoup(html, "html.parser")
    _clean(page)
    cells = [cell for cell in page.select(".jp-Notebook-cell") if str(cell.get("id", "")).startswith("cell-id=")]
    blocks: list[str] = []
    for cell in cells:
        words = cell.select_one(".jp-RenderedMarkdown")
        if words is not None:
            blocks.append(_words(words, link, tell))
        else:
            blocks += _code(cell, len(blocks))
    note = "" if executed else " This copy was built without running it, so what it prints is missing."
    about = f'The code on this page is one program, <a href="{esc(source)}" download>{esc(source)}</a>.{note}'
    return "\n".join([*blocks, f'<p class="sd-notebook-source">{about}</p>'])


def _clean(page: BeautifulSoup) -> None:
    """Nothing that runs, and nothing that is fetched from elsewhere. Links that a reader follows may stay."""
    for element in page(list(_DROPPED)):
        element.decompose()
    for element in page.find_all(True):
        for name, value in list(element.attrs.items()):
            text = " ".join(value) if isinstance(value, list) else str(value)
            fetched = name in _FETCHING or (name.endswith("href") and element.name != "a")
            foreign = fetched and _ADDRESS.match(text)
            runs = _RUNS.match(text) and not (element.name == "img" and _PICTURE.fullmatch(text))
            if name.startswith("on") or name == "style" or foreign or runs:
                del element[name]


def _words(words: Tag, link: Callable[[str], str], tell: Callable[[str, str], str]) -> str:
    for heading in words.find_all(re.compile("h[1-6]")):
        for anchor in heading.select("a.anchor-link"):
            anchor["class"] = "headerlink"
            anchor["title"] = "Link to this section"
    for anchor in words.find_all("a", href=True):
        if "headerlink" not in anchor.get_attribute_list("class"):
            anchor["href"] = link(str(anchor["href"]))
    for code in words.select("code.language-math"):
        latex = code.get_text().removeprefix("math\n")  # nbconvert puts a language it cannot colour before the text
        try:
            html = formula(latex)
        except ValueError as refused:
            html = tell(latex.strip(), str(refused))
        block = code.find_parent("pre") or code
        block.replace_with(BeautifulSoup(html, "html.parser"))
    for highlighted in words.select("div.highlight pre"):
        highlighted.attrs = {}
    return words.decode_contents().strip()


def _code(cell: Tag, number: int) -> Iterator[str]:
    """The code of a cell, and under it whatever it gave."""
    code = cell.select_one(".jp-InputArea pre")
    if code is not None and code.get_text().strip():
        inner = code.decode_contents().strip("\n")
        yield (
            '<div class="language-python highlight sd-notebook-code" data-search-exclude>'
            f'<pre id="__code_nb{number}"><code>{inner}</code></pre></div>'
        )
    shown = "".join(output.decode_contents().strip() for output in cell.select(".jp-OutputArea-output"))
    shown = shown.replace("\n</pre><pre>", "\n")  # one text, cut wherever the kernel happened to send it
    if shown:
        yield (
            '<div class="sd-notebook-output" tabindex="0" role="group" aria-label="What the code gives" '
            f"data-search-exclude>{shown}</div>"
        )
