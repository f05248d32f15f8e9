"""A page in a folder of its own: Markdown in, HTML and problems out, with the extensions that the site uses."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from markdown import Markdown

from widgets._page.extension import SiteExtension
from widgets._page.problems import CURRENT, Page

WIDGETS = Path(__file__).parent / "widgets"
OTHERS = [
    "admonition", "attr_list", "def_list", "md_in_html", "tables", "toc",
    "pymdownx.details", "pymdownx.highlight", "pymdownx.inlinehilite", "pymdownx.superfences",
]
ROWS = {
    "version": 1,
    "kind": "published",
    "marks": {"primary": "read in the paper's own text"},
    "rows": [
        {"id": "a-1", "source": "A paper", "year": 2023, "method": "draft model", "verification": "primary",
         "speedup": 2.444, "batch": None, "lossless": True},
    ],
}


@dataclass
class Built:
    """What became of a page. `told` is the problems as an author reads them."""

    html: str
    told: list[str]


class Bench:
    """`bench.build(text)` converts a page of the folder `bench.docs`."""

    def __init__(self, docs: Path) -> None:
        self.docs = docs
        (docs / "data").mkdir(parents=True)
        self.rows(json.dumps(ROWS))

    def rows(self, text: str) -> None:
        (self.docs / "data" / "published.json").write_text(text, encoding="utf-8")

    def build(self, text: str, *, offset: int = 0, name: str = "page.md") -> Built:
        site = SiteExtension(docs=str(self.docs), folder=str(WIDGETS), quiet=True)
        CURRENT.set(Page(f"docs/{name}", offset))
        html = Markdown(extensions=[site, *OTHERS]).convert(text)
        return Built(html, [str(problem) for problem in site.problems])


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "docs")
