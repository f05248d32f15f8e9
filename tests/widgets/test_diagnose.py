"""`diagnose`: the shapes engines print, what is said of them, and text that means harm."""

import json

import pytest

import widgets
from sim import diagnose, parse_log, predicted_speedup, tokens_from_survival
from sim.data import parse
from tests.widgets.states import ROOT, draw
from widgets._kit import answer
from widgets._kit.plain import plain
from widgets._kit.render import parts
from widgets._kit.upload import Upload
from widgets._kit.view import Progress, View

WIDGET = widgets.load("diagnose")
PUBLISHED = parse((ROOT / "docs" / "data" / "published.json").read_text(encoding="utf-8"))
V0 = (
    "INFO 08-10 10:00:00 metrics.py:373] Speculative metrics: Draft acceptance rate: 0.655, System efficiency: 0.649, "
    "Number of speculative tokens: 4, Number of accepted tokens: 1735, Number of draft tokens: 2648, Number of emitted "
    "tokens: 2149."
)
LINE = (
    "SpecDecoding metrics: Mean acceptance length: 2.36, Accepted throughput: 13.60 tokens/s, Drafted throughput: 30.00"
    " tokens/s, Accepted: 136 tokens, Drafted: 300 tokens, Per-position acceptance rate: 0.680, 0.420, 0.260, "
    "Avg Draft acceptance rate: 45.3%\n"
)


def view(**given):
    return draw(WIDGET, WIDGET.values(given))


def values(shown):
    return {row.key: row.value for row in shown.readout}


def upload(content: bytes, name="server.log"):
    return Upload(name, len(content), lambda start, stop: content[start:stop])


def test_numbers_are_those_of_sim():
    shown = values(view(log=LINE, c=0.1, verify=1.1))
    found = diagnose(parse_log(LINE).total)
    assert shown["rounds"] == 100
    assert shown["tau"] == found.tau == pytest.approx(2.36)
    assert shown["rate"] == pytest.approx(136 / 300)
    assert shown["alpha"] == found.alpha
    assert shown["predicted"] == predicted_speedup(found, 0.1, 1.1)
    assert shown["best"] == 3


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"sample": "lookup"}, "One accept rate misleads"),
        ({"sample": "sglang"}, "cannot be added up"),
        ({"sample": "counters"}, "since the server started"),
        ({"sample": "random"}, "random tokens"),
        ({"log": V0}, "vLLM’s first engine"),
        ({"log": "nothing of the kind"}, "No line of a known shape"),
        ({"reported": 1.3}, "Rounds are dearer than set here"),
        ({"reported": 1.7}, "agree within 5%"),
        ({"reported": 2.6}, "Check the baseline"),
        ({"c": 0.5, "verify": 4}, "none of these lengths pays"),
    ],
)
def test_the_verdict_names_the_weightiest_thing(given, words):
    assert words in view(**given).verdict.text


def test_further_warnings_stand_in_the_summary():
    shown = view(sample="random", reported=1.2)
    assert "random tokens" in shown.summary
    assert "ignore_eos" in shown.summary
    assert "bursts" in view(sample="lookup", reported=1.2).summary


def test_two_snapshots_give_their_difference():
    def snapshot(drafts, drafted, accepted):
        return "".join(
            f'vllm:spec_decode_num_{name}_total{{engine="0",model_name="m"}} {value}.0\n'
            for name, value in (("drafts", drafts), ("draft_tokens", drafted), ("accepted_tokens", accepted))
        )

    shown = view(log=snapshot(1000, 3000, 1500) + snapshot(1100, 3300, 1620))
    assert values(shown)["rounds"] == 100
    assert values(shown)["tau"] == pytest.approx(2.2)


def test_a_file_wins_over_pasted_text_and_that_over_the_sample():
    assert values(view(log=LINE))["rounds"] == 100
    assert values(view(log=LINE, file=upload(LINE.encode() * 3)))["rounds"] == 300
    assert values(view(log="   \n"))["rounds"] == 300  # the sample's three lines


def test_a_long_file_is_read_in_small_steps_and_only_once():
    asked = []
    content = (LINE * 20_000).encode()

    def read(start, stop):
        asked.append((start, stop))
        return content[start:stop]

    file = Upload("long.log", len(content), read)
    found = list(WIDGET.steps(data={}, **WIDGET.values({"file": file})))
    progress = [item for item in found if isinstance(item, Progress)]
    assert len(progress) >= 40
    assert [item.done for item in progress] == sorted(item.done for item in progress)
    assert isinstance(found[-1], View)
    assert values(found[-1])["rounds"] == 2_000_000
    assert found[-1].verdict.kind == "gain", "that not all of 20,000 records are listed is no fault of the log"
    times = len(asked)
    again = list(WIDGET.steps(data={}, **WIDGET.values({"file": file, "c": 0.2})))
    assert [type(item) for item in again] == [View]
    assert len(asked) == times


HOSTILE = (
    "\x1b[31m<script>alert(1)</script> SpecDecoding metrics: \u202eDraft acceptance rate: \x00<img src=x onerror=1>%"
)


@pytest.mark.parametrize("how", ["pasted", "dropped"])
def test_hostile_text_is_shown_as_text(how):
    name = "<b>\x00x</b>.log"
    given = {"log": HOSTILE} if how == "pasted" else {"file": upload(HOSTILE.encode(), name)}
    html = "".join(parts(WIDGET, view(**given)).values())
    for bad in ("<script", "<img", "<b>", "\x00", "\x1b", "\u202e"):
        assert bad not in html


def test_huge_lines_and_garbage_end_quickly():
    garbage = bytes(range(256)) * 8_000 + b"SpecDecoding metrics: " + b"9" * 2_000_000
    shown = view(file=upload(garbage))
    assert values(shown)["tau"] is None


def test_plain_text_is_one_line_of_what_can_be_seen():
    assert plain("a\nb\x00c\u202ed") == "a·b·c·d"
    assert plain("lone \ud800 half") == "lone \ufffd half"
    assert plain("x" * 200, 10) == "x" * 10 + "…"


def test_the_worker_reads_the_file_through_a_lent_function():
    """The whole way of a file: a note in the JSON, a function for the bytes, progress, the view; then it is kept."""
    content = (LINE * 2_000).encode()
    asked = []

    def read(name, start, stop):
        asked.append(name)
        return content[start:stop]

    def ask(id, **params):
        note = {"name": "s.log", "size": len(content), "stamp": 7}
        text = json.dumps({"id": id, "widget": "diagnose", "params": {"file": note, **params}})
        replies = [json.loads(answer.begin(text, read))]
        while answer.unfinished(id):
            replies.append(json.loads(answer.proceed(id)))
        return replies

    first = ask(1)
    assert first[0]["progress"]["text"] == "Reading s.log:"
    assert 'data-key="rounds" data-value="200000"' in first[-1]["view"]["readout"]
    assert set(asked) == {"file"}
    count = len(asked)
    ask(2, c=0.2)
    assert len(asked) == count


def test_a_file_that_does_not_come_along_is_an_error_at_its_control():
    text = json.dumps({"id": 9, "widget": "diagnose", "params": {"file": {"name": "x", "size": 3}}})
    assert json.loads(answer.begin(text))["error"] == {
        "kind": "param",
        "message": "file: dict is not a file",
        "param": "file",
    }


def test_the_state_can_be_taken_to_lab_2():
    [link] = view().links
    other = widgets.load("verdict")
    for name, text in link.values:
        other.params[name].read(text)
    assert dict(link.values) == {"alpha": "0.65", "gamma": "3"}
    assert view(log=V0).links == ()


def test_what_the_lab_says_a_cut_chain_promises_and_what_a_short_one_gave():
    """docs/labs/diagnose.md: hits in runs make a short length better than the cut says."""
    one, seven = (PUBLISHED.rows[f"sdbench-trace-instructcoder-n-gram-k{gamma}"] for gamma in (1, 7))
    assert tokens_from_survival((seven.alpha,)) < one.tokens_per_pass
    text = (ROOT / "docs" / "labs" / "diagnose.md").read_text(encoding="utf-8")
    assert f"tokens_from_survival(survival=({seven.alpha},))" in text
