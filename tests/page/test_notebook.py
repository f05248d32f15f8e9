"""Notebook pages: what nbconvert makes in, cells of this site out. And the notebooks themselves, run as programs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from widgets._page.notebook import executes, rebuilt

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.py"))
PAGE = """<script src="https://cdn.example/require.js"></script><style>.jp{}</style>
<div class="jp-Cell jp-MarkdownCell jp-Notebook-cell" id="cell-id=1">
<div class="jp-RenderedHTMLCommon jp-RenderedMarkdown">
%s</div></div>
<div class="jp-Cell jp-CodeCell jp-Notebook-cell"><div class="jp-Cell jp-CodeCell jp-Notebook-cell" id="cell-id=2">
<div class="jp-InputArea"><clipboard-copy>x</clipboard-copy>
<div class="highlight-ipynb"><pre><span></span>code\n</pre></div></div>
%s</div></div>"""
OUTPUT = '<div class="jp-RenderedText jp-OutputArea-output"><pre>%s</pre></div>'


def page(words: str = "<p>Words.</p>", outputs: str = "", executed: bool = True) -> str:
    def tell(said: str, message: str) -> str:
        return f"[{said}: {message}]"

    return rebuilt(PAGE % (words, outputs), "some.py", executed, lambda address: f"to:{address}", tell)


def test_words_code_and_outputs_come_out_and_nothing_else():
    html = page(outputs=OUTPUT % "42")
    assert html.split("\n")[0] == "<p>Words.</p>"
    assert '<pre id="__code_nb1"><code><span></span>code</code></pre>' in html
    assert "<pre>42</pre>" in html
    for gone in ("<script", "<style", "jp-", "cell-id", "clipboard", "cdn.example"):
        assert gone not in html
    assert html.count("data-search-exclude") == 2  # code and output; the words are found


def test_an_output_that_came_in_pieces_is_one():
    assert "<pre>a\nb\n</pre></div>" in page(outputs=OUTPUT % "a\n" + OUTPUT % "b\n")


@pytest.mark.parametrize(
    "output",
    [
        "<img src='https://other.example/x.png'>",
        "<img src='//other.example/x.png'>",
        "<img src='x.png' onerror='alert(1)'>",
        "<a href='javascript:alert(1)'>x</a>",
        "<a href='data:text/html,x'>x</a>",
        "<iframe src='https://other.example'></iframe>",
        "<svg><image href='https://other.example/x.svg'></image><script>alert(1)</script></svg>",
        "<link rel='stylesheet' href='https://other.example/x.css'>",
        "<div style='background: url(https://other.example/x.png)'>x</div>",
    ],
)
def test_nothing_runs_and_nothing_is_fetched(output):
    html = page(outputs=f'<div class="jp-OutputArea-output">{output}</div>')
    for gone in ("other.example", "alert", "data:", "onerror"):
        assert gone not in html


def test_a_picture_made_by_the_code_stays():
    picture = '<img src="data:image/png;base64,iVBORw0KGgo="/>'
    assert picture in page(outputs=f'<div class="jp-OutputArea-output">{picture}</div>')


def test_links_formulas_and_headings_are_those_of_the_site():
    html = page(
        '<h2 id="a">A<a class="anchor-link" href="#a">¶</a></h2><p><a href="../x.md#y">x</a></p>'
        '<pre><code class="language-math">math\n\\frac{1}{2}\n</code></pre>'
    )
    assert '<a class="headerlink" href="#a" title="Link to this section">' in html
    assert '<a href="to:../x.md#y">x</a>' in html
    assert 'alttext="\\frac{1}{2}"' in html
    assert "[\\foo: unknown command" in page('<pre><code class="language-math">math\n\\foo\n</code></pre>')


def test_a_page_that_was_not_run_says_so():
    assert "without running it" in page(executed=False)
    assert "without running it" not in page()


@pytest.mark.parametrize(
    ("said", "serving", "wanted"),
    [(None, False, True), (None, True, False), ("0", False, False), ("1", True, True), ("false", False, False)],
)
def test_when_notebooks_are_run(said, serving, wanted):
    assert executes({} if said is None else {"EXECUTE_NOTEBOOKS": said}, serving) is wanted


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_a_program_that_runs(path):
    done = subprocess.run(
        [sys.executable, "-W", "error", path], cwd=path.parent, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) > 10


def test_there_are_notebooks():
    assert [path.stem for path in NOTEBOOKS] == ["derive-the-speed-up", "leviathan-tables"]
