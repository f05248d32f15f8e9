"""The hook: the path and the lines that MkDocs cut off, as the author sees them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from widgets._page.hook import on_page_context, on_page_markdown
from widgets._page.problems import CURRENT, Page


@pytest.mark.parametrize(
    ("source", "markdown", "offset"),
    [
        ("# A\n", "# A\n", 0),
        ("---\ntitle: A\n---\n\n\n# A\n", "# A\n", 5),
        ("\ufeff---\ntitle: A\n---\n# A\n", "# A\n", 3),
        ("# A\n", "another hook changed it\n\n", 0),
    ],
)
def test_the_page_is_known_before_it_is_converted(tmp_path, source, markdown, offset):
    path = tmp_path / "docs" / "lessons" / "a.md"
    path.parent.mkdir(parents=True)
    path.write_text(source, encoding="utf-8")
    page = SimpleNamespace(file=SimpleNamespace(abs_src_path=str(path)))
    config = SimpleNamespace(config_file_path=str(tmp_path / "mkdocs.yml"))
    assert on_page_markdown(markdown, page=page, config=config, files=None) == markdown
    assert CURRENT.get() == Page("docs/lessons/a.md", offset)


def test_the_search_index_is_spared_the_figures_and_the_page_keeps_them():
    """Between the hook's two turns stands the search plugin, which reads every tag of a page."""
    figures = '<sd-widget id="a" class="sd"><svg>\\1 <b></svg></sd-widget>', '<sd-widget id="b">2</sd-widget>'
    html = f"<h1>A</h1>{figures[0]}<p>x</p>{figures[1]}"
    page = SimpleNamespace(content=html)
    first, last = sorted(on_page_context.methods, key=lambda method: -method.mkdocs_priority)
    first({}, page=page, config=None, nav=None)
    assert page.content == "<h1>A</h1><sd-widget></sd-widget><p>x</p><sd-widget></sd-widget>"
    last({}, page=page, config=None, nav=None)
    assert page.content == html
