"""Words of the glossary are links where a lesson first uses them, and nowhere else."""

from __future__ import annotations

import re

import pytest

from widgets._page.glossary import Term, terms

ENTRIES = """# Glossary

Draft, drafter { #draft }
:   The guess.

Draft cost { #draft-cost }
:   Its time.

Mixture of experts (MoE) { #moe }
:   Some weights.

Head { #head .by-hand }
:   A layer.

Not a term { #other }
"""


@pytest.fixture
def lesson(bench):
    (bench.docs / "reference").mkdir()
    (bench.docs / "reference" / "glossary.md").write_text(ENTRIES, encoding="utf-8")

    def build(text: str, name: str = "lessons/one.md") -> str:
        built = bench.build(text, name=name)
        assert built.told == []
        return re.sub(r'<a class="sd-term" href="([^"]*)">(.*?)</a>', r"[\2](\1)", built.html)

    return build


def test_the_entries_of_a_glossary():
    assert terms(ENTRIES) == (
        Term("draft", ("Draft", "drafter")), Term("draft-cost", ("Draft cost",)),
        Term("moe", ("Mixture of experts", "MoE")),
    )


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("A draft, a draft.", "<p>A [draft](../reference/glossary.md#draft), a draft.</p>"),
        ("Two Drafts, one drafter.", "<p>Two [Drafts](../reference/glossary.md#draft), one drafter.</p>"),
        ("The draft cost.", "<p>The [draft cost](../reference/glossary.md#draft-cost).</p>"),
        ("A *draft* and MoE.",
         "<p>A <em>[draft](../reference/glossary.md#draft)</em> and [MoE](../reference/glossary.md#moe).</p>"),
        ("*So* draft *now*.", "<p><em>So</em> [draft](../reference/glossary.md#draft) <em>now</em>.</p>"),
        ("MoE or draft.", "<p>[MoE](../reference/glossary.md#moe) or [draft](../reference/glossary.md#draft).</p>"),
        ("Drafted, undraft, draft-like, a head.", "<p>Drafted, undraft, draft-like, a head.</p>"),
        ("`draft` and [a draft](x.md).", '<p><code>draft</code> and <a href="x.md">a draft</a>.</p>'),
        ("First a draft, then [draft](../reference/glossary.md#draft).",
         '<p>First a draft, then <a href="../reference/glossary.md#draft">draft</a>.</p>'),
        ("The draft.\n{ .note }", '<p class="note">The [draft](../reference/glossary.md#draft).</p>'),
        ("The draft.\n{ .sd-promise }", '<p class="sd-promise">The draft.</p>'),
    ],
)
def test_the_first_use_is_a_link(lesson, text, html):
    assert lesson(text) == html


def test_a_heading_is_left_alone(lesson):
    assert lesson("# A draft\n\nA draft.").endswith("<p>A [draft](../reference/glossary.md#draft).</p>")
    assert '<h1 id="a-draft">A draft</h1>' in lesson("# A draft\n\nA draft.")


def test_a_figure_is_left_alone(lesson):
    assert "glossary" not in lesson("```widget\nuse: meter\n```\n\n````md\ndraft\n````\n")


@pytest.mark.parametrize("name", ["index.md", "reference/glossary.md", "contributing/a.md"])
def test_only_lessons_and_labs_get_links(lesson, name):
    assert lesson("A draft.", name) == "<p>A draft.</p>"
    assert "[draft](../../reference/glossary.md#draft)" in lesson("A draft.", "labs/deep/a.md")
