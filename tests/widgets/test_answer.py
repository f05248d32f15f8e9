"""The Python end of the messages, told as conversations in JSON text.

The widgets of `answer_widgets/` do on purpose what no widget of the site may: they go on for ever, fail, use up the
memory. `load` is pointed at that folder.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import widgets
from widgets._kit import answer

FOLDER = Path(__file__).parent / "answer_widgets"
NUMBERS = json.loads((Path(__file__).parents[1] / "js" / "numbers.json").read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def odd_widgets(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(answer, "load", lambda name: widgets.load(name, FOLDER))
    answer._data.clear()
    answer._files.clear()
    yield
    answer._work.clear()


def ask(widget: str, id: int = 1, **params: Any) -> dict[str, Any]:
    return said(answer.begin(json.dumps({"id": id, "widget": widget, "params": params})))


def said(text: str) -> dict[str, Any]:
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} in an answer")

    reply = json.loads(text, parse_constant=refuse)
    assert isinstance(reply, dict)
    return reply


def test_a_view_comes_back_as_the_parts_of_its_figure() -> None:
    reply = ask("plain", n=3)
    assert list(reply) == ["id", "view"]
    assert reply["view"]["summary"] == "n is 3"
    names = ("title", "verdict", "picture", "tokens", "readout", "summary", "note", "table", "links")
    assert tuple(reply["view"]) == names


def test_parameters_left_out_have_their_defaults() -> None:
    assert ask("plain")["view"]["summary"] == "n is 1"


@pytest.mark.parametrize(
    ("params", "param", "words"),
    [
        ({"n": 99}, "n", "99 is outside 0 to 5"),
        ({"n": 2.5}, "n", "2.5 is not one of the stops; the nearest are 2 and 3"),
        ({"n": True}, "n", "True is not a number"),
        ({"n": None}, "n", "None is not a number"),
        ({"n": "3"}, "n", "'3' is not a number"),
        ({"m": 1}, "m", "unknown parameter 'm'"),
    ],
)
def test_a_bad_parameter_is_named(params: dict[str, Any], param: str, words: str) -> None:
    error = ask("plain", **params)["error"]
    assert (error["kind"], error["param"]) == ("param", param)
    assert words in error["message"]


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "null", '{"id": 1}', '{"id": true, "widget": "plain", "params": {}}',
        '{"id": 1, "widget": "plain", "params": []}', '{"id": 1, "widget": ["plain"], "params": {}}', "[" * 100_000,
    ],
)  # fmt: skip
def test_what_is_no_request_is_an_error_and_not_an_exception(text: str) -> None:
    assert said(answer.begin(text))["error"]["kind"] == "request"


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_only_json_is_read(constant: str) -> None:
    error = said(answer.begin(f'{{"id": 1, "widget": "plain", "params": {{"n": {constant}}}}}'))["error"]
    assert error["kind"] == "request"
    assert constant in error["message"]


def test_a_number_too_large_for_a_float_is_refused_as_a_value() -> None:
    error = said(answer.begin('{"id": 1, "widget": "plain", "params": {"n": 1e999}}'))["error"]
    assert error["kind"] == "param"


def test_an_unknown_widget_gets_a_suggestion() -> None:
    error = ask("plian")["error"]
    assert error == {"kind": "widget", "message": "unknown widget 'plian' (did you mean 'plain'?)"}
    assert said(answer.needs("plian")) == {"packages": [], "data": []}


def test_an_exception_of_a_view_is_an_answer_and_its_traceback_is_for_the_author(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert ask("fails")["error"] == {"kind": "view", "message": "ZeroDivisionError: division by zero"}
    assert "fails.py" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("how", "kind"), [("exit", "view"), ("memory", "memory"), ("none", "view"), ("endless", "view")]
)
def test_whatever_a_view_does_the_next_question_is_answered(how: str, kind: str) -> None:
    assert ask("odd", how=how)["error"]["kind"] == kind
    assert ask("plain")["view"]["summary"] == "n is 1"


def test_long_work_yields_and_its_last_view_is_the_answer() -> None:
    first = ask("long", id=7, n=2)
    assert first == {"id": 7, "progress": {"done": 0.0, "text": "beginning"}, "view": None}
    said_so_far = []
    while answer.unfinished(7):
        said_so_far.append(said(answer.proceed(7)))
    *between, last = said_so_far
    assert [reply["view"]["summary"] for reply in between] == ["round 1", "round 2"]
    assert list(last) == ["id", "view"]
    assert last["view"]["summary"] == "round 2"


def test_two_long_works_go_side_by_side_and_one_is_stopped() -> None:
    ask("long", id=1, n=5)
    ask("long", id=2, n=1)
    assert said(answer.stop(1))["error"]["kind"] == "stopped"
    assert not answer.unfinished(1)
    assert said(answer.proceed(1))["error"]["kind"] == "request"
    assert said(answer.proceed(2))["view"]["summary"] == "round 1"


def test_stopping_what_has_ended_is_no_fault() -> None:
    assert said(answer.stop(99)) == {"id": 99, "error": {"kind": "stopped", "message": "Stopped."}}


def test_work_that_ends_without_a_view_or_fails_on_its_way_is_an_error() -> None:
    ask("long", id=3, n=0)
    assert said(answer.proceed(3))["error"]["message"] == "long ended without a view"
    assert not answer.unfinished(3)


def test_data_are_asked_for_once_and_reach_the_view() -> None:
    assert said(answer.needs("cited")) == {"packages": [], "data": ["published"]}
    assert ask("cited")["error"] == {"kind": "data", "message": "data/published.json has not been loaded"}
    assert said(answer.set_data("published", "[]")) == {}
    assert said(answer.needs("cited"))["data"] == []
    assert "view" in ask("cited")


def test_files_are_wanted_once_the_switch_is_on_and_only_the_ones_of_the_build_are_taken() -> None:
    later = {"switch": "run", "packages": ["numpy"], "files": ["odd/blob.bin"]}
    assert said(answer.needs("filed")) == {"packages": [], "data": [], "later": later}
    assert ask("filed")["view"]["summary"] == "at rest"
    assert ask("filed", run=True)["error"] == {"kind": "data", "message": "data/odd/blob.bin has not been loaded"}

    checksum = hashlib.sha256(b"four").hexdigest()
    short = said(answer.set_file("odd/blob.bin", b"fou", 4, checksum))["error"]
    assert short == {"kind": "data", "message": "data/odd/blob.bin has 3 bytes in place of 4"}
    other = said(answer.set_file("odd/blob.bin", b"FOUR", 4, checksum))["error"]["message"]
    assert other == "data/odd/blob.bin is damaged: it has the right size and not the right checksum"
    assert ask("filed", run=True)["error"]["kind"] == "data"
    assert said(answer.set_file("odd/blob.bin", b"four", 4, checksum)) == {}
    assert ask("filed", run=True)["view"]["summary"] == "4 bytes"


@pytest.mark.parametrize("text", ["", "<!doctype html><title>404</title>", '[{"id": "a', '[{"id": NaN}]'])
def test_a_malformed_file_is_named(text: str) -> None:
    error = said(answer.set_data("published", text))["error"]
    assert error["kind"] == "data"
    assert "data/published.json is malformed" in error["message"]
    assert ask("cited")["error"]["kind"] == "data"


def test_odd_characters_cross_as_they_are() -> None:
    told = "é 中 😀 e\u0301 שלום \ud800 <b>&"
    summary = ask("echo", words=told)["view"]["summary"]
    assert summary == told.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_whatever_comes_the_answer_is_json(params: Any) -> None:
    for widget in ("plain", "echo"):
        said(answer.begin(json.dumps({"id": 1, "widget": widget, "params": params})))
        said(answer.begin(json.dumps({"id": 1, "widget": widget, "params": {"n": params, "words": params}})))


def test_typed_numbers_mean_the_same_here_and_in_the_page() -> None:
    """The list that tests/js/numbers.test.js reads, too."""
    from widgets._kit.params import Slider

    wide = Slider("n", 0, 1, 1, 0, stops=tuple(sorted({value for _, value in NUMBERS["read"]})))
    for text, value in NUMBERS["read"]:
        assert wide.read(text) == value, text
    for text in NUMBERS["refused"]:
        with pytest.raises(ValueError):
            wide.read(text)
