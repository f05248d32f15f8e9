"""Views check themselves; `parts` turns them into fragments that are safe to put into a page."""

import xml.etree.ElementTree as ET

import pytest

import widgets
from widgets._kit.render import PARTS, parts
from widgets._kit.text import brief, coordinate, count, exact, number, percent, ratio, times
from widgets._kit.view import Link, Progress, Row, Table, Token, Verdict, View

TABLE = Table("Lengths", ("length", "speed-up"), (("4", "2.0×"),))


def test_a_picture_needs_its_text_twin():
    with pytest.raises(ValueError, match="text twin"):
        View("Now.", svg="<svg></svg>")
    assert View("Now.", svg="<svg></svg>", table=TABLE).table is TABLE


@pytest.mark.parametrize(
    "make",
    [
        lambda: Row("tau", "tokens", float("nan"), "", "3"),
        lambda: Row("tau", "tokens", float("inf"), "", "3"),
        lambda: Row("a b", "tokens", 3, "", "3"),
        lambda: Row("tau", "tokens", 3, "", ""),
        lambda: Token("the", "guessed", 1),
        lambda: Verdict("great", "Yes."),
        lambda: Table("T", ("a", "b"), (("1",),)),
        lambda: Table("T", ("a",), ((1,),)),
        lambda: View(""),
        lambda: View("Now.", readout=(Row("a", "x", 1, "", "1"), Row("a", "y", 2, "", "2"))),
        lambda: Progress(1.5, "too far"),
    ],
)
def test_a_wrong_view_fails_where_it_is_made(make):
    with pytest.raises(ValueError):
        make()


def test_parts_are_complete_and_escaped():
    view = View(
        "Less <b> & more.",
        readout=(Row("tau", "tokens <per> pass", 3.3616, "tok", "3.36"), Row("off", "nothing", None, "", "–")),
        table=Table('A "caption"', ("length", "x<y"), (("4", "2 & 3"),)),
        tokens=(Token("<s>", "rejected", 1), Token("the", "correction", 1), Token("cat", "drafted", 2)),
        verdict=Verdict("loss", "Do not use it here."),
        title="Now < then",
    )
    drawn = parts(widgets.load("draft_verify"), view)
    assert tuple(drawn) == PARTS
    assert drawn["title"] == "Now &lt; then"
    assert drawn["summary"] == "Less &lt;b&gt; &amp; more."
    assert drawn["picture"] == ""
    assert drawn["note"] == ""
    assert 'data-key="tau" data-value="3.3616"' in drawn["readout"]
    assert '<dd class="sd-value">3.36 <span class="sd-unit">tok</span></dd>' in drawn["readout"]
    assert 'data-key="off" data-value=""' in drawn["readout"]
    assert '<th scope="row">4</th><td>2 &amp; 3</td>' in drawn["table"]
    assert 'data-kind="loss"' in drawn["verdict"]
    assert "Do not use it here." in drawn["verdict"]


def test_a_view_without_a_title_shows_the_widgets():
    widget = widgets.load("pass_cost")
    assert parts(widget, View("Now."))["title"] == widget.title


def test_a_strip_says_every_verdict_in_a_glyph_and_in_words():
    kinds = ("accepted", "rejected", "correction", "bonus", "drafted")
    cells = [Token("abcde"[place], kind, 1 + place // 3) for place, kind in enumerate(kinds)]
    view = View("Now.", tokens=(*cells, Token("f", "rejected", 3, "dropped")))
    strip = parts(widgets.load("draft_verify"), view)["tokens"]
    for glyph, said in (("✓", "accepted"), ("✗", "rejected"), ("↻", "correction"), ("+", "extra token")):
        assert glyph in strip
        assert said in strip
    assert "<s>b</s>" in strip
    assert ", dropped</span>" in strip
    assert strip.count('<li class="sd-round">') == 3
    assert "sd-detail" not in strip


def test_a_long_strip_runs_on_and_a_token_may_say_what_decided_it():
    given = Token("…once", "given", 0, "", "It begins so.")
    cells = [Token("a", "bonus", 1 + place, "", f"p is \"{place}\"") for place in range(20)]
    strip = parts(widgets.load("draft_verify"), View("Now.", tokens=(given, *cells)))["tokens"]
    ET.fromstring(f"<part>{strip}</part>")
    assert '<ol class="sd-rounds sd-flow">' in strip
    assert strip.count('<span class="sd-pass">') == 20, "the beginning is no pass"
    assert 'data-kind="bonus" data-detail="p is &quot;3&quot;"' in strip
    assert strip.count('<p class="sd-detail">') == 1


def test_C08_numbers_of_numpy_cross_as_plain_ones():
    numpy = pytest.importorskip("numpy")
    for odd, plain in ((numpy.int64(1), 1), (numpy.float32(0.5), 0.5), (numpy.bool_(True), True)):
        row = Row("n", "N", odd, "", "1")
        assert type(row.value) is type(plain)
        shown = parts(widgets.load("pass_cost"), View("Words.", (row,)))["readout"]
        assert shown == parts(widgets.load("pass_cost"), View("Words.", (Row("n", "N", plain, "", "1"),)))["readout"]
    with pytest.raises(ValueError, match="not a number to show"):
        Row("n", "N", numpy.float32("nan"), "", "1")


def test_numbers_become_text_after_nine_digits():
    assert number(0.1 + 0.2) == "0.3"
    assert number(3.3616, ".2f") == "3.36"
    assert number(2.0) == number(2) == "2"
    assert number(-0.0) == "0"
    assert number(-0.001, ".2f") == "0.00"
    assert number(2.675, ".2f") == number(2.675 + 1e-15, ".2f")
    assert exact(1 / 3) == 0.333333333
    with pytest.raises(ValueError, match="nan"):
        number(float("nan"))


def test_the_helpers_write_as_readers_expect():
    assert times(2.0010) == "2.0×"
    shares = (0.9966, 1.0, 0.99999, 0.00001, 0.0)
    assert [percent(x, 1) for x in shares] == ["99.7%", "100.0%", ">99.9%", "<0.1%", "0.0%"]
    assert [ratio(x) for x in (1066.2, 140.0, 99.96, 41.79, 9.996, 5.22, 0.1415, 0.0034)] == [
        "1,066", "140", "100", "41.8", "10.0", "5.22", "0.14", "0.0034",
    ]  # fmt: skip
    assert [brief(x) for x in (80.0, 16.06, 1.0, 1.68, 100.0)] == ["80", "16.1", "1", "1.68", "100"]
    assert [coordinate(x) for x in (12.0, 12.34, -0.04)] == ["12", "12.3", "0"]
    assert (count(1, "token", "tokens"), count(4, "token", "tokens")) == ("1 token", "4 tokens")


def test_a_link_carries_the_state_to_another_figure():
    link = Link("Go on", "labs/tree/", "tree", (("nodes", "12"), ("alpha", "0.8")))
    html = parts(widgets.load("pass_cost"), View("It is so.", links=(link,)))["links"]
    assert html == '<a class="sd-onward" href="../../labs/tree/?tree.nodes=12&amp;tree.alpha=0.8#tree">Go on</a>'


@pytest.mark.parametrize("page", ["https://elsewhere.example/", "/labs/tree/", "../tree/", "labs/tree"])
def test_a_link_stays_on_this_site(page):
    with pytest.raises(ValueError, match="a page of this site"):
        Link("Go on", page, "tree")


def test_a_link_says_nothing_that_would_need_quoting():
    with pytest.raises(ValueError, match="cannot stand in an address"):
        Link("Go on", "labs/tree/", "tree", (("words", "a&b"),))
