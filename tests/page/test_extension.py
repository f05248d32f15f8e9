"""Widget blocks: Markdown in, HTML and problems out. Every mistake an author can make has a line here."""

from __future__ import annotations

import logging
import re
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown import Markdown
from markdown.preprocessors import Preprocessor

from widgets._page.problems import CURRENT, Page


def test_a_block_becomes_a_figure_in_its_default_state(bench):
    built = bench.build("# Title\n\nBefore.\n\n```widget\nuse: meter\n```\n\nAfter.\n")
    assert built.told == []
    assert re.search(r"<p>Before\.</p>\s*<sd-widget id=\"meter\"", built.html)
    assert re.search(r"</sd-widget>\s*<p>After\.</p>", built.html)
    assert '<p class="sd-summary" data-part="summary" aria-live="polite">2 of tea at 0.5.</p>' in built.html


def test_values_of_the_block_are_drawn(bench):
    built = bench.build("```widget\nuse: meter\nid: second_one-2\nlevel: 0.3\ncount: 8\nkind: cup-2\nlid: off\n```")
    assert built.told == []
    assert '<sd-widget id="second_one-2"' in built.html
    assert "8 of cup-2 at 0.3." in built.html


@pytest.mark.parametrize(
    ("block", "told"),
    [
        ("", "1: the block is empty; it needs at least a line 'use: <name>'"),
        ("level: 0.5", "1: the block does not say which widget to use (use: <name>)"),
        ("sue: meter", "1: the block does not say which widget to use (use: <name>): did you mean 'use' by 'sue'?"),
        ("just words", "2: the block is not made of lines 'key: value'"),
        ("- use: meter", "2: the block is not made of lines 'key: value'"),
        ("use: [meter]", "2: use: ['meter'] is not the name of a widget"),
        ("use: metre", "2: unknown widget 'metre'"),
        ("use: ../meter", "2: unknown widget '../meter'"),
        ("use: pass_csot", "2: unknown widget 'pass_csot' (did you mean 'pass_cost'?)"),
        ("use: broken", "2: the widget 'broken' is broken"),
        ("use: meter\nlevle: 0.5", "3: unknown parameter 'levle' (did you mean 'level'?)"),
        ("use: meter\nzzz: 1", "3: unknown parameter 'zzz'"),
        ("use: meter\nlevel: 0.5\nlevel: 0.6", "4: 'level' stands twice in this block (first on line 2 of it)"),
        ("use: meter\nlevel: high", "3: level: 'high' is not a number from 0 to 1"),
        ("use: meter\nlevel: true", "3: level: True is not a number from 0 to 1"),
        ("use: meter\nlevel: 1.7", "3: level: 1.7 is outside 0 to 1"),
        ("use: meter\nlevel: 1e-9", "3: level: 1e-09 is not one of the stops; the nearest are 0 and 0.1"),
        ("use: meter\nlevel: .nan", "3: level: nan is not a number from 0 to 1"),
        ("use: meter\nlevel: .inf", "3: level: inf is outside 0 to 1"),
        ("use: meter\nlevel: 2023-01-01", "3: level: '2023-01-01' is not a number from 0 to 1"),
        ("use: meter\nlevel:", "3: level: None is not a number from 0 to 1"),
        ("use: meter\ncount: 2.5", "3: count: 2.5 is not one of the stops; the nearest are 2 and 3 cups"),
        ("use: meter\nkind: te", "3: kind: 'te' is not one of tea, cup-2 (did you mean tea?)"),
        ("use: meter\nlid: maybe", "3: lid: 'maybe' is neither true nor false"),
        ("use: meter\nid: a b", "3: id: 'a b' may have letters, digits, '-' and '_' only"),
        ("use: meter\nid: '\"><script>'", "3: id: '\"><script>' may have letters, digits, '-' and '_' only"),
        ("use: meter\nid:", "3: id: None may have letters, digits, '-' and '_' only"),
        ("use: meter\nlevel: [", "3: not YAML"),
        ("use: meter\n\tlevel: 1", "not YAML"),
        ("use: meter\na: &x 1\nlevel: *x", "4: not YAML: aliases (*name) are not used here"),
        ("use: meter\nlevel: !!python/object:os.system 1", "3: level: not YAML"),
        ("use: meter\nlevel: " + "[" * 3000, "not YAML"),
        ("use: meter\nlevel: " + "1" * 5000, "level:"),
        ("use: meter\n? [a]\n: 1", "3: a key must be one word"),
        ("use: meter\nwords: '" + "x" * 30_000 + "'", "1: the block has 30020 characters; at most 20000 are read"),
        ("use: meter\nwords: " + "x" * 41, "3: words: the text has 41 characters; at most 40 are read"),
        ("use: breaks", "1: the widget 'breaks' failed: ZeroDivisionError: one over <nothing> (breaks.py:8)"),
    ],
)
def test_a_mistake_is_a_red_box_and_a_line_in_the_terminal(bench, block, told):
    built = bench.build(f"```widget\n{block}\n```\n\nAfter.\n")
    assert len(built.told) == 1
    assert told in built.told[0]
    assert built.told[0].startswith("docs/page.md:")
    assert built.html.count('class="sd-problem-box"') == 1
    assert "<sd-widget" not in built.html
    assert "<script" not in built.html
    assert "<nothing>" not in built.html
    assert "<p>After.</p>" in built.html


def test_all_mistakes_of_a_block_are_told_at_once(bench):
    built = bench.build("```widget\nuse: meter\nid: a b\nlevel: 3\nlevle: 1\n```")
    assert [told.split(":")[1] for told in built.told] == ["3", "4", "5"]


@pytest.mark.parametrize("opener", ["wigdet", "Widget", "widget wide", "{ .widget }"])
def test_a_near_miss_is_told_and_shown(bench, opener):
    built = bench.build(f"Text.\n\n```{opener}\nuse: meter\n```\n")
    assert len(built.told) == 1
    assert built.told[0].startswith("docs/page.md:3: ")
    assert "sd-problem-box" in built.html


def test_a_widget_used_twice_needs_an_id(bench):
    twice = "```widget\nuse: meter\n```\n\n```widget\nuse: meter\n{}```\n"
    assert bench.build(twice.format("id: other\n")).told == []
    built = bench.build(twice.format(""))
    assert built.told == [
        "docs/page.md:5: the widget 'meter' is on this page already (line 1); give this one an 'id:' of its own"
    ]
    assert built.html.count("<sd-widget") == 1
    assert bench.build(twice.format("id: meter\n")).told == [
        "docs/page.md:7: the id 'meter' is on this page already (line 1); give this one an 'id:' of its own"
    ]


def test_front_matter_is_counted(bench):
    assert bench.build("```widget\nuse: metre\n```", offset=5).told[0].startswith("docs/page.md:7: ")


@pytest.mark.parametrize(
    "text",
    [
        '!!! note "A title"\n\n    Text.\n\n    ```widget\n    use: meter\n    ```\n',
        '??? note "A title"\n\n    ```widget\n    use: meter\n    ```\n',
        '??? note "Outer"\n\n    !!! tip "Inner"\n\n        ```widget\n        use: meter\n        ```\n',
        "1. First\n\n    ```widget\n    use: meter\n    ```\n\n2. Second\n",
        "> Quoted.\n>\n> ```widget\n> use: meter\n> ```\n",
        '<div markdown="1">\n\n```widget\nuse: meter\n```\n\n</div>\n',
        "A paragraph right before\n```widget\nuse: meter\n```\nand one right after\n",
    ],
)
def test_a_block_is_drawn_wherever_markdown_allows_one(bench, text):
    built = bench.build(text)
    assert built.told == []
    assert built.html.count("<sd-widget") == 1
    assert not re.search(r"<p>\s*<sd-widget|wzxhzdk|<pre", built.html)


@pytest.mark.parametrize(
    "text",
    [
        "````markdown\n```widget\nuse: metre\n```\n````\n",
        "Text:\n\n    ```widget\n    use: metre\n    ```\n\nText.\n",
        "Text:\n\n    ```widget\n    use: metre\n    ```\nText.\n",
        '!!! note\n\n    Text:\n\n        ```widget\n        use: metre\n        ```\n',
    ],
)
def test_an_example_is_shown_as_written(bench, text):
    built = bench.build(text)
    assert built.told == []
    assert "<sd-widget" not in built.html
    shown = re.sub(r"<[^>]+>", "", built.html[built.html.index("<pre") : built.html.index("</pre>")]).strip()
    assert shown == "```widget\nuse: metre\n```"


def test_a_commented_block_is_out_of_use(bench):
    built = bench.build("<!--\n```widget\nuse: metre\n```\n-->\n\nText.\n")
    assert built.told == []
    assert "sd-problem-box" not in built.html
    assert "use: metre" in built.html


def test_long_work_is_drawn_to_its_end(bench):
    assert "The last answer." in bench.build("```widget\nuse: patient\n```").html


def test_a_widget_gets_its_data(bench):
    built = bench.build("```widget\nuse: reader\n```")
    assert built.told == []
    assert "Row a-1 was measured in 2023." in built.html


@pytest.mark.parametrize("text", ["", "{", '{"version": 1, "kind": "published", "rows": [{"id": "a", "year": NaN}]}'])
def test_data_that_cannot_be_used_cost_that_figure_only(bench, text):
    bench.rows(text)
    built = bench.build("```widget\nuse: reader\n```\n\n```widget\nuse: meter\n```\n")
    assert len(built.told) == 1
    assert built.told[0].startswith("docs/page.md:1: the data of 'reader' cannot be used: ")
    assert built.html.count("<sd-widget") == 1


def test_problems_are_warnings_that_mkdocs_counts(bench, caplog):
    CURRENT.set(Page("docs/lessons/02.md", 0))
    with caplog.at_level(logging.WARNING, "mkdocs.plugins.widgets"):
        Markdown(extensions=["widgets._page.extension"]).convert("a\n\n```widget\nuse: draft_verfy\n```")
    assert [(record.name, record.levelname) for record in caplog.records] == [("mkdocs.plugins.widgets", "WARNING")]
    assert caplog.messages[0].startswith("docs/lessons/02.md:4: unknown widget 'draft_verfy'")


class Context(Preprocessor):
    """Where Zensical leaves the page."""

    page = SimpleNamespace(path="lessons/a.md")

    def run(self, lines):
        return lines


def test_another_generator_says_in_the_markdown_object_which_page_it_is(bench, caplog):
    (bench.docs / "lessons").mkdir()
    text = "# A\n\n```widget\nuse: draft_verfy\n```\n"
    (bench.docs / "lessons" / "a.md").write_text(f"---\ntitle: A\n---\n\n{text}", encoding="utf-8")
    md = Markdown(extensions=["widgets._page.extension"], extension_configs={
        "widgets._page.extension": {"docs": str(bench.docs)}
    })
    md.preprocessors.register(Context(md), "rendering_context", 0)
    token = CURRENT.set(None)
    md.convert(text)
    CURRENT.reset(token)
    assert f"{bench.docs.as_posix()}/lessons/a.md:8: unknown widget 'draft_verfy'" in caplog.text


def test_the_extension_is_loaded_by_name_alone(bench):
    html = Markdown(extensions=["widgets._page.extension"]).convert("```widget\nuse: pass_cost\n```")
    assert '<sd-widget id="pass_cost"' in html
    assert "wzxhzdk" not in html


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(st.text(alphabet="`~>\n use:metrlvi-01.{}[]&*!|'\"#", max_size=80))
def test_no_block_raises(bench, body):
    assert "sd-" in bench.build(f"```widget\n{body}\n```").html
