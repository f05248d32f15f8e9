"""The real pair's figure: recordings replayed, then races on a clock of the test's own, and what is said about them."""

import json
import math
import xml.etree.ElementTree as ET
from dataclasses import replace

import jsonschema
import pytest

import sim
import widgets
from sim.data import parse
from tests.widgets.states import ROOT
from widgets import real_pair
from widgets._kit.fates import GIVEN, HEAD, shown
from widgets._kit.race import BUDGET, TURN_S, Clock, Race, Round, Setting, encoded, loaded, race
from widgets._kit.render import parts
from widgets._kit.view import Download, Progress, View
from widgets.real_pair import STOPS, raced, steps

WIDGET = widgets.load("real_pair")
DOCS = ROOT / "docs" / "data"
DATA = {name: parse((DOCS / f"{name}.json").read_text(encoding="utf-8")) for name in WIDGET.data}
RUNS = [row for data in DATA.values() for row in data.rows.values()]


def view(**given):
    """The last view of a state at rest."""
    return [item for item in steps(data=DATA, **WIDGET.values(given)) if isinstance(item, View)][-1]


def value(shown_view, key):
    return next(row.value for row in shown_view.readout if row.key == key)


@pytest.fixture(scope="module")
def files():
    pytest.importorskip("numpy")
    return {name: (DOCS / name).read_bytes() for name in WIDGET.files}


@pytest.fixture(scope="module")
def pair(files):
    return loaded(*files.values())


class Ticks:
    """Seconds that pass by one millisecond at every look, so that a race takes the same course every time."""

    now = 0.0

    def __call__(self):
        self.now += 0.001
        return self.now


# ------------------------------------------------------------------------------------------------------------- at rest


def test_a_run_is_recorded_for_every_choice_of_text_draft_and_temperature():
    options = [list(WIDGET.params[name].options) for name in ("kind", "draft", "temperature")]
    assert len(RUNS) >= 24
    for kind in options[0]:
        for draft in options[1]:
            for temperature in options[2]:
                at_rest = view(kind=kind, draft=draft, temperature=temperature)
                assert value(at_rest, "speedup") is None
                assert at_rest.tokens


def test_a_recording_is_told_token_by_token():
    """Every token of the strip, its fate and its numbers, against the file."""
    found = view(kind="code", draft="bigram", temperature="0.7")
    (run,) = [row for row in RUNS if (row.dataset, row.draft, row.temperature) == ("code", "bigram", 0.7)]
    kinds, cells = [], []
    for one in run.steps:
        kept = one["accepted"]
        kinds += ["accepted"] * kept + ["rejected"] * (len(one["draft"]) - kept)
        kinds.append("correction" if kept < len(one["draft"]) else "bonus")
        cells += [*one["draft"], one["token"]]
    given, *tokens = found.tokens
    assert (given.kind, given.text) == ("given", f"…{shown(run.prompt[-GIVEN:])}")
    assert [token.kind for token in tokens] == kinds
    assert [token.text for token in tokens] == [shown(text) for text in cells]
    emitted = int(math.fsum(one["accepted"] + 1 for one in run.steps))
    assert value(found, "tokens_per_pass") == pytest.approx(emitted / len(run.steps))
    assert value(found, "passes") == len(run.steps)
    assert value(found, "card") == pytest.approx(emitted / len(run.steps))  # a table's drafts take no time there


def test_what_a_pointer_shows_stands_in_the_table_too():
    found = view(kind="prose", draft="bigram")
    body = [row for row in found.table.rows if row[0] != "all"]
    assert found.table.columns == HEAD
    assert len(body) == len(found.tokens) - 1
    for token, row in zip(found.tokens[1:], body, strict=True):
        assert row[0] == str(token.round)
        assert row[1] == token.text
        assert {"accepted": "✓", "rejected": "✗", "correction": "↻", "bonus": "+"}[token.kind] == row[2][0]
        assert f"“{token.text}”" in token.detail
        for number in row[3:6]:
            assert number in token.detail
        if "unseen" not in row[2]:
            assert row[6] in token.detail


def test_the_recorded_numbers_decide_as_they_are_told():
    for run in RUNS:
        for one in map(Round.of, run.steps):
            kept = [coin * q < p for coin, q, p in zip(one.coins, one.q, one.p, strict=True)]
            assert kept[: one.accepted] == [True] * one.accepted
            assert not one.failed or not kept[one.accepted]


def test_steps_show_more_and_more_of_the_same_rounds():
    seen = [view(step=stop).tokens for stop in (0, 1, STOPS // 2, STOPS)]
    assert [len(tokens) for tokens in seen] == sorted(len(tokens) for tokens in seen)
    assert [token.kind for token in seen[0]] == ["given"]
    assert seen[3][: len(seen[2])] == seen[2]
    assert view(step=3).readout == view().readout


def test_it_says_that_other_values_wait_for_a_run():
    assert "for your values" not in view().summary
    assert view(gamma=7).summary.endswith("Switch on “Run here” for your values.")
    assert view(own="Once upon").summary.endswith("Your own beginning waits for “Run here”.")
    assert "Once" not in json.dumps(parts(WIDGET, view(own="Once upon a time")))


def test_the_card_pays_for_drafts_by_their_weights(pair):
    """A draft step takes the time of the weights that it reads; the counts are those of the files."""

    def weights(network, blocks, output=True):
        layers = math.fsum(part.size for layer in network.layers[:blocks] for part in vars(layer).values())
        return layers + (network.embedding.size if output else 0)

    target = weights(pair.network, None)
    for name in ("one-layer", "two-layer"):
        drawn = real_pair._share(name)
        assert drawn == pytest.approx(weights(pair.draft(name).reader.network, None) / target)
    early = pair.draft("exit").reader.network
    assert real_pair._share("exit") == pytest.approx((weights(early, None) + early.head.map.size) / target)
    assert [real_pair._share(name) for name in ("trigram", "bigram", "look-up")] == [0.0] * 3


def test_a_file_without_the_run_is_told():
    name = "traces/real-pair"
    with pytest.raises(ValueError, match="no run is recorded of exit on prose at temperature 0"):
        real_pair._trace({name: replace(DATA[name], rows={})}, "prose", "exit", 0)


# ---------------------------------------------------------------------------------------------------------------- races


def run(pair, *, kernel=True, clock=None, **given):
    usual = {"draft": "bigram", "gamma": 3, "temperature": 0.7, "seed": 2, "prompt": (84, 104, 101)}
    setting = Setting(**usual | given)
    return setting, list(race(pair, setting, kernel=kernel, clock=clock or Ticks()))


@pytest.mark.parametrize("draft", ["one-layer", "two-layer", "trigram", "bigram", "look-up", "exit"])
@pytest.mark.parametrize("temperature", [0.0, 0.7])
def test_what_a_race_writes_follows_from_the_seed_alone(pair, draft, temperature):
    from sim.lm import generate, recorded

    setting, stands = run(pair, draft=draft, temperature=temperature)
    wanted = generate(pair, draft, setting.prompt, setting.gamma, BUDGET, temperature=temperature, seed=setting.seed)
    # The last digits may differ: NumPy adds in another order when a prompt is read in one go with what follows.
    for ours, theirs in zip(stands[-1].rounds, (Round.of(recorded(pair, step)) for step in wanted), strict=True):
        assert (ours.draft, ours.accepted, ours.token) == (theirs.draft, theirs.accepted, theirs.token)
        assert ours.coins == theirs.coins
        assert ours.p == pytest.approx(theirs.p, rel=0.01, abs=1e-6)
    _, again = run(pair, draft=draft, temperature=temperature, clock=lambda: 0.0)
    assert again[-1].rounds == stands[-1].rounds


def test_both_lanes_have_had_the_same_time_at_every_moment(pair):
    _, stands = run(pair)
    racing = [stand for stand in stands if stand is not None]
    assert stands[0] is None, "prompts are read first"
    for stand in racing:
        if stand.finish is None:
            assert abs(stand.plain.ms - stand.speculative.ms) <= 1e3 * TURN_S + 20
    done = [stand.done for stand in racing]
    assert done == sorted(done)
    assert done[-1] == 1.0
    last = racing[-1]
    assert max(last.finish) == BUDGET
    assert last.plain.rounds == last.plain.tokens == BUDGET
    assert last.speculative.tokens == math.fsum(one.emitted for one in last.rounds) >= BUDGET
    # Three looks at the clock in a round, a millisecond each, whatever is in it.
    assert last.plain.ms == pytest.approx(3.0 * BUDGET)
    assert last.speculative.ms == pytest.approx(3.0 * len(last.rounds))
    assert last.speedup == pytest.approx(last.speculative.tokens / len(last.rounds))


def test_without_the_kernel_numpy_does_the_work_and_the_kernel_is_there_afterwards(pair):
    import numpy as np

    from sim import kernel

    calls = []

    def numbers(address, rows, columns):
        import ctypes

        whole = (ctypes.c_float * (rows * columns)).from_address(address)
        return np.ctypeslib.as_array(whole).reshape(rows, columns)

    def slow(x, w, out, rows, inner, outer):
        calls.append(rows)
        numbers(out, rows, outer)[...] = numbers(x, rows, inner) @ numbers(w, outer, inner).T

    kernel.plug(slow)
    try:
        _, stands = run(pair, gamma=1, draft="look-up")
        assert stands[-1].by_kernel
        assert calls
        reading = len(calls)
        _, stands = run(pair, gamma=1, draft="look-up", kernel=False, prompt=(84,))
        assert not stands[-1].by_kernel
        assert len(calls) == reading, "nothing but the prompt is read by it"
        assert kernel.plugged()
    finally:
        kernel.plug(None)


def test_the_figure_goes_from_progress_to_a_verdict_and_can_be_stepped_through(files, monkeypatch):
    monkeypatch.setattr(real_pair, "_VIEW_S", 0.0)
    given = WIDGET.values({"run": True, "draft": "bigram", "gamma": 2, "own": "The rain had"})
    said = list(steps(data=DATA | files, **given))
    assert isinstance(said[0], Progress)
    views = [item for item in said if isinstance(item, View)]
    assert len(views) > 3
    assert all(item.verdict.kind == "info" and item.links == () for item in views[:-1])
    last = views[-1]
    assert last.verdict.text.startswith("Measured")
    assert "does not run the kernel" in last.note  # CPython has none
    assert "The rain had" in last.summary
    (half,) = steps(data=DATA | files, **{**given, "step": STOPS // 2})
    assert half.readout == last.readout, "the same race, not a new one"
    assert last.tokens[: len(half.tokens)] == half.tokens
    list(steps(data=DATA, **WIDGET.values({})))
    assert isinstance(next(iter(steps(data=DATA | files, **given))), Progress), "off and on again: once more"


ODD = {
    "one letter": "x",
    "white": " \n\t ",
    "bytes": "".join(map(chr, range(256))),
    "half a pair": "a \ud800 b",
    "marks": "<b>&\"' \u2028 \u202e \U0001f600 e\u0301 中",
    "long": "word " * 2000,
    "one long word": "é" * 10_000,
}


@pytest.mark.parametrize("name", ODD)
def test_any_beginning_gets_a_clear_answer(files, name):
    last = [*steps(data=DATA | files, **WIDGET.values({"run": True, "draft": "look-up", "own": ODD[name]}))][-1]
    assert last.verdict is not None
    assert ("had no room" in last.summary) == ("long" in name)
    for fragment in parts(WIDGET, last).values():
        ET.fromstring(f"<part>{fragment}</part>")
    json.dumps(parts(WIDGET, last), allow_nan=False).encode("ascii")


def test_what_has_no_room_is_left_out_at_the_front(pair):
    tokens, left_out = encoded(pair, "word " * 2000, 8)
    assert len(tokens) + BUDGET + 8 == pair.context
    assert left_out > 0
    assert encoded(pair, "", 1) == ((10,), 0)


@pytest.mark.parametrize("cut", [0, 5, 5000, -1])
def test_a_truncated_file_is_told_in_words(files, cut):
    target, drafts = files.values()
    with pytest.raises(ValueError, match=r"target\.safetensors"):
        loaded(target[:cut], drafts)
    with pytest.raises(ValueError, match=r"drafts\.safetensors"):
        loaded(target, drafts[:cut])


# ------------------------------------------------------------------------------------------------------- what it says


SETTING = Setting("one-layer", 3, 0.7, 1, (1, 2, 3))
ROUND = Round((" a", " b", " c"), 1, " d", (0.5, 0.1, 0.2, 0.6), (0.4, 0.5, 0.2, 0.1), (0.3, 0.9, 0.5, 0.2), ())


def made(pass_ms, draft_ms, verify_ms, other_ms=0.5, kernel=True, same=False):
    """A race in which every round keeps one draft of three: two tokens a pass."""
    rounds = BUDGET // 2
    plain = Clock(BUDGET, BUDGET, 0, 0.0, BUDGET * pass_ms, BUDGET * other_ms)
    fast = Clock(rounds, BUDGET, 3 * rounds, 3 * rounds * draft_ms, rounds * verify_ms, rounds * other_ms)
    return Race(plain, fast, (ROUND,) * rounds, (BUDGET, 60), 1.0, kernel, same)


@pytest.mark.parametrize(
    ("times", "kind", "title"),
    [
        ((4.0, 0.2, 4.8), "gain", "On this machine, speculation is 1.5"),
        ((4.0, 1.3, 4.6), "info", "On this machine, speculation gains nothing and loses nothing"),
        ((6.0, 0.2, 24.0), "loss", "On this machine, speculation is slower: 0.5"),
        ((4.0, 0.2, 40.0), "care", "On this machine, speculation is slower"),
    ],
)
def test_words_follow_the_numbers(times, kind, title):
    found = raced(made(*times), SETTING, "Once", kernel=True)
    assert found.title.startswith(title)
    assert found.verdict.kind == kind
    assert "does not run the kernel" not in found.note


def test_the_formula_is_fed_with_the_costs_measured_here():
    found = raced(made(4.0, 0.2, 4.8), SETTING, "Once", kernel=True)
    assert value(found, "formula") == pytest.approx(sim.speedup(0.5, 3, 0.05, 1.2))
    assert value(found, "speedup") == pytest.approx((4.0 + 0.5) / ((0.6 + 4.8 + 0.5) / 2))
    assert value(found, "plain") == pytest.approx(1e3 / 4.5)
    assert value(found, "card") == pytest.approx(2 / (3 * real_pair._share("one-layer") + 1))
    assert "an accept rate of 0.50" in found.verdict.text
    cells = {cell for row in found.table.rows for cell in row}
    assert {row.text for row in found.readout} <= cells


def test_without_the_kernel_it_says_why_it_loses():
    found = raced(made(6.0, 0.4, 22.0, kernel=False), SETTING, "Once", kernel=False)
    assert "a verifying pass of 3.67 plain ones" in found.verdict.text
    assert "arithmetic sets the length of a pass" in found.verdict.text
    assert "does not run the kernel" not in found.note, "nobody asked for it"
    assert "does not run the kernel" in raced(made(6.0, 0.4, 22.0, kernel=False), SETTING, "Once", kernel=True).note


@pytest.mark.parametrize(
    ("same", "temperature", "words"),
    [(True, 0.0, "wrote the same text"), (False, 0.7, "the same distribution"), (False, 0.0, "parted at a near tie")],
)
def test_whether_both_lanes_wrote_the_same_is_said(same, temperature, words):
    setting = replace(SETTING, temperature=temperature)
    assert words in raced(made(4.0, 0.2, 4.8, same=same), setting, "Once", kernel=True).summary


def test_a_clock_that_did_not_tick_gets_no_verdict():
    found = raced(made(0.0, 0.0, 0.0, 0.0), SETTING, "Once", kernel=True)
    assert found.verdict.kind == "care"
    assert value(found, "speedup") is None


def test_the_file_is_in_our_schema_and_holds_no_word_of_the_reader():
    found = raced(made(4.0, 0.2, 4.8), SETTING, "a secret beginning", kernel=True)
    (link,) = found.links
    assert isinstance(link, Download)
    assert link.name == "real-pair-one-layer-g3-s1-kernel.json"
    jsonschema.validate(json.loads(link.content), json.loads((DOCS / "schema.json").read_text(encoding="utf-8")))
    kept = parse(link.content)
    assert kept.notes == ()
    assert kept.rows["speedup-kernel-one-layer-g3"].value == pytest.approx(value(found, "speedup"))
    assert kept.rows["speedup-kernel-one-layer-g3"].tokens_per_pass == 2.0
    assert "secret" not in link.content
    assert "[1, 2, 3]" not in link.content
