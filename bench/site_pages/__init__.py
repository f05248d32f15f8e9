"""A site of many pages for the benchmark: `write(folder, pages)` makes Markdown and two configurations.

Each page holds text and three widget blocks with values of its own, so that no two figures are the same. `mkdocs.yml`
builds them as this site is built; `plain.yml` builds the same text with MkDocs and Material alone, where the blocks are
code listings. It must not know how builds are timed.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["PER_PAGE", "write"]

ROOT = Path(__file__).resolve().parents[2]
PER_PAGE = 3
WORDS = (
    "A large model reads all its weights for every token, and most of its arithmetic waits meanwhile. A small model "
    "drafts a few tokens ahead. One pass of the large model checks them all, keeps those that hold, and adds one. "
)
HEAD = """site_name: Many pages
docs_dir: docs
theme:
  name: material
  font: false
plugins: [search]
"""


def write(folder: Path, pages: int) -> None:
    """`folder`/docs with this many pages, `folder`/mkdocs.yml and `folder`/plain.yml."""
    docs = folder / "docs"
    docs.mkdir(parents=True, exist_ok=True)
    (docs / "data").symlink_to(ROOT / "docs" / "data")
    for number in range(pages):
        (docs / f"page-{number:03}.md").write_text(page(number), encoding="utf-8")
    (docs / "index.md").write_text("# Many pages\n", encoding="utf-8")
    extensions = "markdown_extensions: [admonition, attr_list, tables, pymdownx.highlight, pymdownx.superfences"
    (folder / "plain.yml").write_text(f"{HEAD}{extensions}]\n", encoding="utf-8")
    hook = f"hooks: [{ROOT / 'widgets' / '_page' / 'hook.py'}]\n"
    (folder / "mkdocs.yml").write_text(f"{HEAD}{extensions}, widgets._page.extension]\n{hook}", encoding="utf-8")


def page(number: int) -> str:
    """Five sections of text and three figures, different on every page."""
    text = [f"# Page {number}", ""]
    blocks = (
        f"use: draft_verify\nid: a\nalpha: {0.5 + number % 40 / 100:.2f}\ngamma: {1 + number // 40}",
        f"use: draft_verify\nid: b\nalpha: {0.5 + number % 40 / 100:.2f}\ngamma: {4 + number // 40}",
        f"use: pass_cost\nid: c\npositions: {1 + number % 8}\nweights: {('bf16', 'int8', 'int4')[number // 8 % 3]}\n"
        f"model: {('70b', '8b')[number // 24 % 2]}\ndevices: {(1, 2, 4)[number // 48 % 3]}",
    )
    for place, block in enumerate(blocks):
        text += [f"## Section {place} of {number}", "", WORDS * 4, "", "```widget", block, "```", "", WORDS * 3, ""]
    return "\n".join(text)
