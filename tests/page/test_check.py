"""`python -m widgets check`: every mistake at once, as `file:line: message`, without a site generator."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from widgets._page.check import ROOT, check, problems_in

PIECES = [
    "<![", "<!", "<!--", "-->", "<?", '<div markdown="1">', "</div>", '<a href="', '"', "`", "```", "~~~", "widget",
    "\nuse: meter\n", "#!sim ", "#!data ", "expected_tokens(alpha=0.8, gamma=4)", ":.2f", "\n\n", "    ", "> ", "- ",
    "# ", "{#a}", "{", "}", "[x](", "y.md", ")", "![](", "]: ", "|", "\n", "&#", "\x00", "\x02wzxhzdk:0\x03", "\u2028",
    "---\n", "title: [\n", "<script", ">", "on", "=", "[^1]", "!!! note\n", "\t", "\r", "<pre>", "</sd-widget>", "http://[",
]
WIDGETS = str(Path(__file__).parent / "widgets")


def told(docs: Path, **pages: str | bytes) -> list[str]:
    """Write the pages (`a__b="…"` is a/b.md) and check them."""
    for name, text in pages.items():
        path = docs / f"{name.replace('__', '/')}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return [str(problem) for problem in problems_in(docs, WIDGETS)]


def test_pages_without_mistakes(bench):
    (bench.docs / "pic.png").write_bytes(b"")
    assert told(
        bench.docs,
        index="# Home\n\n[a](lessons/one.md#part), [b](#home), [c](https://example.org/x), [d](mailto:a@b.c)\n\n"
        "![A picture](pic.png)\n\n```widget\nuse: meter\n```\n\nOnce = 3 and `<script>` and data: fine.\n",
        lessons__one="---\ntitle: One\n---\n\n# One\n\n## Part\n\nTerm {#term}\n:   Words.\n\n"
        "[up](../index.md), [t](#term), [json](../data/published.json)\n\n```html\n<script>alert(1)</script>\n```\n",
    ) == []


@pytest.mark.parametrize(
    ("page", "line"),
    [
        ("---\ntitle: A\n---\n\n```widget\nuse: meter\nlevle: 1\n```\n",
         "docs/p.md:7: unknown parameter 'levle' (did you mean 'level'?)"),
        ("a\n\n```wigdet\nuse: meter\n```\n",
         "docs/p.md:3: this looks like a widget block, but its opening line says 'wigdet'; write 'widget'"),
        ("a\n\n`#!sim expected_token(alpha=1)`\n",
         "docs/p.md:3: sim has no function 'expected_token' (did you mean 'expected_tokens'?)"),
        ("---\ntitle: [\n---\na\n", "docs/p.md:3: the lines between --- and --- are not YAML"),
        ("a\n\n[x](q.md)\n",
         "docs/p.md:3: the link 'q.md' leads to docs/q.md, which does not exist (did you mean 'docs/p.md'?)"),
        ("# Part\n\n[x](#prat)\n",
         "docs/p.md:3: the link '#prat': docs/p.md has no heading or id 'prat' (did you mean 'part'?)"),
        ("[x](p)\n", "docs/p.md:1: the link 'p' names no file; link to the .md file"),
        ("[x](data)\n", "docs/p.md:1: the link 'data' names no file; link to the .md file"),
        ("[x](/p.md)\n", "docs/p.md:1: the link '/p.md' begins at the top of a host; write it from this page (../…)"),
        ("[x](../secret.md)\n", "docs/p.md:1: the link '../secret.md' leads out of docs/"),
        ("a\n\n[x][y]\n\n[y]: q.md\n",
         "docs/p.md:5: the link 'q.md' leads to docs/q.md, which does not exist (did you mean 'docs/p.md'?)"),
        ("a\n![](data/published.json)\n", "docs/p.md:2: a picture without a description (alt text)"),
        ("a\n\n<img src='data/published.json'>\n", "docs/p.md:3: a picture without a description (alt text)"),
        ("![x](https://example.org/x.png)\n",
         "docs/p.md:1: https://example.org/x.png would be fetched from another host; put the file below docs/assets"),
        ("## A {#x}\n\n## B {#x}\n", "docs/p.md:1: the id 'x' stands twice on this page"),
        ("```widget\nuse: meter\n```\n\n## B {#meter}\n", "docs/p.md:5: the id 'meter' stands twice on this page"),
    ],
)
def test_a_mistake_has_its_line(bench, page, line):
    assert told(bench.docs, p=page) == [line]


@pytest.mark.parametrize(
    ("page", "what"),
    [
        ("<script>alert(1)</script>", "<script>"),
        ("Text <ScRiPt src=x></ScRiPt>", "<script>"),
        ("<iframe src='data/published.json'></iframe>", "<iframe>"),
        ("<object data='x'></object>", "<object>"),
        ("<base href='x'>", "<base>"),
        ("<meta http-equiv=refresh content=0>", "<meta>"),
        ("<style>a{}</style>", "<style>"),
        ("<svg><script>1</script></svg>", "<script>"),
        ("<div onclick='x'>a</div>", "onclick="),
        ("<div\nonclick='x'>a</div>", "onclick="),
        ("<svg/onload=alert(1)>", "onload="),
        ("<img src=x\nonerror=alert(1) ", "onerror="),
        ("a <script src=x", "<script>"),
        ("<!DOCTYPE x><![x]><script>1</script>", "<script>"),
        ("# Title {onclick=x}", "onclick="),
        ("[x](javascript:alert(1))", "javascript:"),
        ("[x](JaVaScRiPt:alert(1))", "javascript:"),
        ("<a href='java&#115;cript:alert(1)'>x</a>", "javascript:"),
        ("<a href='java\tscript:alert(1)'>x</a>", "javascript:"),
        ("[x](vbscript:x)", "vbscript:"),
        ("[x](data:text/html,x)", "data:"),
        ("<form action='javascript:x'></form>", "javascript:"),
        ("<form action='https://example.org/'><input name=p></form>", "<form>"),
        ("[x][y]\n\n[y]: javascript:alert(1)", "javascript:"),
        ("[x](p.md){ href='javascript:x' }", "javascript:"),
        ("<javascript:alert(1)>", "javascript:"),
        ("<svg><a xlink:href='java&#x73;cript:x'>a</a></svg>", "javascript:"),
        ("<svg><set attributeName=href to=javascript:x></svg>", "javascript:"),
        ("<details ontoggle=x open>", "ontoggle="),
        ("<noscript><p title='</noscript><img src=x onerror=x>'>", "onerror="),
        ("<p srcdoc='x'>a</p>", "srcdoc="),
        ("<a href=p.md ping='https://example.org'>x</a>", "ping="),
        ("<sd-widget><a href='java&#115;cript:x'>y</a></sd-widget>", "<sd-widget>"),
    ],
)
def test_what_would_run_in_a_readers_page_is_refused(bench, page, what):
    found = told(bench.docs, p=f"a\n\n{page}\n")
    assert any(what in line and "is refused in pages" in line for line in found)
    assert all(re.match(r"docs/p\.md:[1345]:", line) for line in found)


@pytest.mark.parametrize(
    "page",
    [
        "<svg><image href='https://example.org/x.png'/></svg>",
        "<svg><use xlink:href='//example.org/x.svg#a'/></svg>",
        "<video src='https://example.org/x'></video>",
        "<img src=pic.png alt=a srcset='https://example.org/x 2x'>",
    ],
)
def test_what_a_browser_would_fetch_elsewhere_is_refused(bench, page):
    (bench.docs / "pic.png").write_bytes(b"")
    [line] = told(bench.docs, p=f"a\n\n{page}\n")
    assert line.startswith("docs/p.md:3: ")
    assert "would be fetched from another host" in line


def test_styles_are_left_to_the_style_sheet(bench):
    [line] = told(bench.docs, p="a\n\n<p style='position:fixed'>b</p>\n")
    assert line == "docs/p.md:3: style= is dropped where a host has a strict policy; use a class of the site"
    assert told(bench.docs, p="| a | b |\n| --- | ---: |\n| 1 | 2 |\n") == []


def test_scripts_have_their_line(bench):
    assert told(bench.docs, p="---\ntitle: A\n---\n\na\n\n<script>alert(1)</script>\n") == [
        "docs/p.md:7: <script> runs or loads something and is refused in pages; a figure is a widget"
    ]


@pytest.mark.parametrize(
    ("page", "line"),
    [
        (b"# A\n\nIt\x92s\n", "docs/p.md:3: byte 0x92 is not UTF-8; save the file as UTF-8"),
        (b"\xef\xbb\xbf# A\n",
         "docs/p.md:1: the file begins with a byte-order mark; save it as UTF-8 without one (no BOM)"),
        (b"# A\n\r\nB\r\n", "docs/p.md:2: line ends are CRLF (or CR); save the file with LF line ends"),
    ],
)
def test_a_file_that_is_not_plain_text_gets_a_clear_word(bench, page, line):
    assert told(bench.docs, p=page) == [line]


def test_data_files_are_read(bench):
    bench.rows('{"version": 1, "kind": "published", "rows": [{"id": "a", "speedup": NaN}]}')
    [line] = told(bench.docs)
    assert line.startswith("docs/data/published.json:1: ")
    assert "NaN" in line


def test_each_page_stands_in_the_navigation_once(bench):
    (bench.docs.parent / "mkdocs.yml").write_text(
        "site_dir: !ENV [SITE_DIR, site]\n"
        "nav:\n  - index.md\n  - Part:\n      - Other: a.md\n      - index.md\n  - gone.md\n"
    )
    assert told(bench.docs, index="# Home\n", a="# A\n", b="# B\n") == [
        "docs/b.md:1: this page does not stand in the navigation (nav: in mkdocs.yml)",
        "mkdocs.yml:3: index.md stands twice in the navigation",
        "mkdocs.yml:7: gone.md stands in the navigation, but there is no such page",
    ]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_no_page_stops_the_check(bench, text):
    assert all(line.startswith("docs/lessons/p.md:") for line in told(bench.docs, lessons__p=text))


def test_all_problems_are_told_at_once_in_order(bench):
    found = told(bench.docs, b="[x](q.md)\n", a="![](data/published.json)\n\n```wigdet\n```\n")
    assert [line.split(": ")[0] for line in found] == ["docs/a.md:1", "docs/a.md:3", "docs/b.md:1"]


def test_the_command_counts_and_fails(bench, capsys):
    (bench.docs / "p.md").write_text("[x](q.md)\n", encoding="utf-8")
    assert check(bench.docs) == 1
    printed = capsys.readouterr()
    assert printed.out.startswith("docs/p.md:1: ")
    assert printed.err == "1 problem in 1 pages\n"
    (bench.docs / "p.md").write_text("Text.\n", encoding="utf-8")
    assert check(bench.docs) == 0
    assert check(bench.docs / "none") == 2


def test_a_terminal_that_cannot_show_a_character_still_shows_the_problem(bench):
    (bench.docs / "p.md").write_text("[x](/a.md)\n", encoding="utf-8")  # the message has an ellipsis
    command = [sys.executable, "-m", "widgets", "check", str(bench.docs)]
    ran = subprocess.run(command, cwd=ROOT, env={"PYTHONIOENCODING": "ascii"}, capture_output=True, check=False)
    assert ran.returncode == 1
    assert rb"write it from this page (../\u2026)" in ran.stdout


def test_it_needs_no_site_generator():
    code = "import sys; from widgets._page import check; sys.exit(any('mkdocs' == name for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
