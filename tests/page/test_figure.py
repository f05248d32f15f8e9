"""The HTML around a view: what the browser code, the style sheet and readers without JavaScript rely on."""

from __future__ import annotations

import html
import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import widgets
from widgets._page.figure import figure, linked, view_of
from widgets._page.inline import load_data

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def drawn(bench):
    def draw(lines: str = "") -> str:
        built = bench.build(f"```widget\nuse: meter\n{lines}```")
        assert built.told == []
        return str(built.html)

    return draw


class Tree(HTMLParser):
    """Every element as (tag, attributes); fails on a tag that is not closed in order."""

    void = ("input",)

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.void:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def having(self, name: str, value: str | None = None) -> list[dict[str, Any]]:
        return [attrs for _, attrs in self.elements if name in attrs and value in (None, attrs[name])]


def test_elements_are_closed_in_order_and_ids_are_unique(drawn):
    tree = Tree(drawn())
    ids = [attrs["id"] for attrs in tree.having("id")]
    assert len(ids) == len(dict.fromkeys(ids))
    for pointer in ("for", "aria-labelledby", "aria-describedby"):
        assert all(attrs[pointer] in ids for attrs in tree.having(pointer))


def test_the_element_carries_what_the_browser_needs(drawn):
    [widget] = Tree(drawn("level: 0.3\n")).having("data-widget")
    assert widget["data-state"] == "static"
    assert widget["data-live"] == ""
    assert "data-search-exclude" in widget
    assert json.loads(widget["data-values"]) == {
        "level": 0.3, "count": 2, "kind": "tea", "lid": True, "turn": 0, "words": "a <b>",
    }


def test_every_part_has_its_place(drawn):
    parts = [attrs["data-part"] for attrs in Tree(drawn()).having("data-part")]
    assert sorted(parts) == ["links", "note", "picture", "readout", "summary", "table", "title", "tokens", "verdict"]


def test_a_slider_has_stops_and_opens_on_request(drawn):
    tree = Tree(drawn())
    [control] = tree.having("data-param", "count")
    assert json.loads(control["data-stops"])[:2] == [[1, "1", "1 cups"], [2, "2", "2 cups"]]
    assert control["data-short"] == "4"
    assert control["data-default"] == "2"
    [track] = tree.having("id", "meter-count")
    assert (track["min"], track["max"], track["value"], track["aria-valuetext"]) == ("0", "3", "1", "2 cups")
    assert "up to 8 cups" in drawn()


def test_a_value_beyond_the_short_range_opens_the_slider(drawn):
    tree = Tree(drawn("count: 7\n"))
    [track] = tree.having("id", "meter-count")
    assert (track["max"], track["value"]) == ("7", "6")
    assert tree.having("data-do", "extend") == []


def test_every_kind_of_control_is_there_with_its_value(drawn):
    tree = Tree(drawn("kind: cup-2\nlid: false\nturn: 3\n"))
    assert [attrs["data-kind"] for attrs in tree.having("data-kind")] == [
        "slider", "slider", "choice", "toggle", "step", "text",
    ]
    assert [attrs["value"] for tag, attrs in tree.elements if tag == "option" and "selected" in attrs] == ["cup-2"]
    [switch] = tree.having("role", "switch")
    assert "checked" not in switch
    assert [attrs["data-do"] for attrs in tree.having("data-do")][-3:] == ["previous", "play", "next"]
    [step] = tree.having("data-param", "turn")
    assert step["data-ms"] == "600"


def test_what_a_reader_writes_has_no_default_to_put_into_an_address(drawn):
    [words] = Tree(drawn()).having("data-param", "words")
    assert "data-default" not in words


def test_texts_are_escaped(drawn):
    page = drawn("words: '</textarea><script>'\n")
    assert "A meter &amp; its &lt;marks&gt;" in page
    assert "Coffee &amp; cake" in page
    assert "<script" not in page
    assert html.escape("</textarea><script>") in page


def test_addresses_in_the_source_line_are_links():
    assert linked("See https://example.org/a?b=1&c=2.") == (
        'See <a href="https://example.org/a?b=1&amp;c=2">example.org/a?b=1&amp;c=2</a>.'
    )
    assert linked("<b> javascript:alert(1) http://x") == "&lt;b&gt; javascript:alert(1) http://x"


@pytest.mark.parametrize("name", widgets.names())
def test_every_widget_of_the_site_makes_a_sound_figure(name):
    widget = widgets.load(name)
    values = widget.values({})
    data = {file: load_data(DOCS, file) for file in widget.data}
    page = figure(widget, view_of(widget, data, values), values, name, "0123456789ab")
    [element] = TreeWithSvg(page).having("data-live", "0123456789ab")
    assert element["data-widget"] == name


class TreeWithSvg(Tree):
    """SVG elements may close themselves."""

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))


def shown(name: str) -> str:
    widget = widgets.load(name)
    values = widget.values({})
    return figure(widget, view_of(widget, {}, values), values, name, "")


def test_a_table_that_is_the_answer_stands_open():
    assert '<details class="sd-data sd-answer" open><summary>Your words, idea by idea<' in shown("explain_back")
    assert '<details class="sd-data"><summary>Show the data</summary>' in shown("pass_cost")


def test_a_figure_whose_every_value_is_private_has_nothing_to_share():
    private, open_ = Tree(shown("explain_back")), Tree(shown("pass_cost"))
    assert [attrs["data-do"] for attrs in private.having("data-do") if "copy" in attrs["data-do"]] == []
    assert private.having("data-do", "reset")
    assert open_.having("data-do", "copy-link")
    assert open_.having("data-do", "copy-embed")
