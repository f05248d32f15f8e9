"""Baked answers: which states, in how many bytes, and that they are what live Python answers."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import widgets
from widgets._kit import answer
from widgets._kit.render import parts
from widgets._page import baked, drawn, inline
from widgets._page.figure import view_of

DOCS = Path(__file__).resolve().parents[2] / "docs"
FORMULA = [name for name in widgets.names() if widgets.load(name).view is not None and widgets.load(name).params]


def file_of(name: str, limit: int = baked.LIMIT) -> tuple[widgets.Widget, bytes | None]:
    widget = widgets.load(name)
    values = widget.values({})
    data = {file: inline.load_data(DOCS, file) for file in widget.data}

    def draw(given):
        return parts(widget, view_of(widget, data, given))

    return widget, baked.bake(widget, values, draw(values), draw, limit)


@pytest.mark.parametrize("name", FORMULA)
def test_baked_is_live_byte_for_byte_and_small(name):
    """Every state in the file, against the answer that the worker's Python gives to the same question."""
    widget, content = file_of(name)
    if all(param.private or param.kind == "bars" for param in widget.params.values()):
        assert content is None
        return
    assert content is not None
    assert len(gzip.compress(content, 6, mtime=0)) <= 12_000
    file = json.loads(content)
    assert len(file["states"]) >= min(8, len(list(baked.states(widget, widget.values({})))))
    for data in widget.data:
        assert answer.set_data(data, (DOCS / "data" / f"{data}.json").read_text(encoding="utf-8")) == "{}"
    for key, changes in file["states"].items():
        given = dict(pair.split("=") for pair in key.split("&"))
        params = {param: widget.params[param].read(text) for param, text in given.items()}
        live = json.loads(answer.begin(json.dumps({"id": 1, "widget": name, "params": params})))
        shown = {part: baked.patched(text, changes.get(part, [])) for part, text in file["own"].items()}
        assert shown == live["view"], key


def test_the_nearest_stops_of_every_control_come_first():
    widget = widgets.load("draft_verify")
    order = [baked.key(widget, state) for state in baked.states(widget, widget.values({}))]
    first = [key.split("=")[0] for key in order[:6]]
    assert sorted(first) == sorted(widget.params)
    assert order.index("gamma=5") < order.index("gamma=3") < order.index("gamma=6")
    assert len(dict.fromkeys(order)) == len(order)


def test_declared_parameters_are_crossed_after_the_single_ones():
    widget = widgets.load("draft_sources")
    assert widget.baked == ("source", "gamma")
    order = [baked.key(widget, state) for state in baked.states(widget, widget.values({}))]
    assert "source=medusa&gamma=5" in order
    assert all("&" not in key for key in order[: order.index("source=medusa&gamma=5")])


def test_what_does_not_fit_is_left_out_from_the_end():
    _, whole = file_of("pass_cost")
    _, half = file_of("pass_cost", 6_000)
    assert whole is not None
    assert half is not None
    some, every = (list(json.loads(content)["states"]) for content in (half, whole))
    assert 0 < len(some) < len(every)
    assert every[: len(some)] == some
    assert len(gzip.compress(half, 6, mtime=0)) <= 6_000


def test_long_work_and_a_figure_without_controls_to_count_are_not_baked():
    assert file_of("sampler")[1] is None
    assert file_of("explain_back")[1] is None


def test_a_state_that_fails_is_left_to_python():
    widget = widgets.load("pass_cost")
    values = widget.values({})
    own = {"title": "own"}

    def draw(given):
        if given["positions"] == 2:
            raise ValueError("not this one")
        return {"title": f"{given['positions']}"}

    content = baked.bake(widget, values, own, draw)
    assert content is not None
    states = json.loads(content)["states"]
    assert "positions=2" not in states
    assert baked.patched("own", states["positions=3"]["title"]) == "3"


@given(old=st.text("ab<> \U0001f600ü"), new=st.text("ab<> \U0001f600ü"))
def test_a_patch_makes_the_new_text_from_the_old(old, new):
    assert baked.patched(old, baked.cut(old, new)) == new


def test_a_patch_is_small_where_little_changed():
    old = "<p>1</p>" * 100 + "<b>x</b>" + "<p>2</p>" * 100
    assert baked.cut(old, old.replace("x", "yz")) == [803, 1, "yz"]
    assert baked.cut(old, old) == []


def test_drawings_are_kept_by_content(tmp_path):
    """The second build draws nothing; other values, other data or another widget are drawn anew."""
    widget = widgets.load("pass_cost")
    values = widget.values({})
    first = drawn.collect(tmp_path / "kept")
    one = drawn.drawn(widget, DOCS, values)
    assert first.made == 1
    second = drawn.collect(tmp_path / "kept")
    assert drawn.drawn(widget, DOCS, values) == one
    assert second.made == 0
    assert second.files == first.files != {}
    assert drawn.drawn(widget, DOCS, {**values, "positions": 2}).parts["summary"] != one.parts["summary"]
    assert second.made == 1
    drawn.forget()


def test_a_kept_drawing_that_is_broken_is_drawn_anew(tmp_path):
    widget = widgets.load("pass_cost")
    drawn.collect(tmp_path / "kept")
    one = drawn.drawn(widget, DOCS, widget.values({}))
    for path in (tmp_path / "kept").iterdir():
        path.write_text("{", encoding="utf-8")
    again = drawn.collect(tmp_path / "kept")
    assert drawn.drawn(widget, DOCS, widget.values({})) == one
    assert again.made == 1
    drawn.forget()


def test_the_site_gets_the_answers_of_its_figures_and_no_others(tmp_path):
    collected = drawn.collect(None)
    state = drawn.drawn(widgets.load("pass_cost"), DOCS, widgets.load("pass_cost").values({}))
    stale = tmp_path / drawn.FOLDER / "000000000000.json"
    stale.parent.mkdir(parents=True)
    stale.write_text("{}", encoding="utf-8")
    collected.write(tmp_path)
    assert [path.stem for path in (tmp_path / drawn.FOLDER).iterdir()] == [state.baked]
    drawn.forget()


def test_without_somebody_who_gathers_them_there_are_no_answers_and_no_name():
    drawn.forget()
    assert drawn.drawn(widgets.load("pass_cost"), DOCS, widgets.load("pass_cost").values({})).baked == ""
