"""The benchmarks of the tiny pair: how drafts are counted, what a row says, what is recorded; then the landed files."""

import itertools
import json
import math
from pathlib import Path

import pytest

from bench import acceptance, prompts, traces
from bench.check import check
from sim import expected_tokens
from sim.data import parse
from tests.sim import tiny

DATA = Path(__file__).parents[2] / "docs" / "data"
LANDED = DATA / "measured" / "acceptance.json"
RUNS = DATA / "traces" / "real-pair.json"
TEXTS = {"prose": ["the thing in the end", "another thing"], "code": ["the = aaaa\n", "in(the, thing)\n"]}


@pytest.fixture(scope="module")
def pair():
    return tiny.pair()


def tally(*rounds):
    made = acceptance.Tally(kept=[0] * 3)
    for drafted, accepted in rounds:
        made.add(drafted, accepted)
    return made


def test_a_draft_is_tested_when_all_before_it_were_kept():
    made = tally((3, 3), (3, 1), (3, 0), (0, 0), (2, 1))
    assert (made.rounds, made.drafted, made.accepted) == (5, 11, 5)
    assert made.tested == 3 + 2 + 1 + 0 + 2
    assert made.kept == [3, 1, 1]


def test_a_ratio_and_its_error_between_prompts():
    assert acceptance.ratio([(1, 2), (1, 2)]) == (0.5, 0.0)
    assert acceptance.ratio([(0, 0)]) == (0.0, 0.0)
    value, error = acceptance.ratio([(0, 4), (4, 4), (2, 4), (2, 4)])
    assert value == 0.5
    # equal sizes: the standard error of the mean of 0, 1, 1/2, 1/2
    assert error == pytest.approx(math.sqrt((0.25 + 0.25) / 3 / 4))


def test_a_row_says_the_same_in_every_notation():
    cell = ("prose", "one-layer", 0.7, 2)
    made = acceptance.row(cell, [tally((2, 2), (2, 0)), tally((2, 1), (2, 1))])
    assert made["id"] == "accept-prose-one-layer-t07-g2"
    assert (made["rounds"], made["drafted"], made["accepted"], made["emitted"], made["tested"]) == (4, 8, 4, 8, 7)
    assert (made["value"], made["rate"], made["per_position"]) == (2.0, 0.5, [0.75, 0.25])
    assert made["alpha"] == pytest.approx(4 / 7, abs=1e-6)
    assert made["predicted"] == pytest.approx(expected_tokens(0.75, 2), abs=1e-5)
    assert (made["min"], made["max"], made["standard_error"]) == (2.0, 2.0, 0.0)


def test_a_copying_draft_that_found_nothing_has_no_alpha_and_no_rate():
    made = acceptance.row(("code", "look-up", 1.0, 3), [tally((3, 0)), tally((0, 0))])
    assert "rate" not in made
    assert made["alpha"] == 0.0
    assert "alpha" not in acceptance.row(("code", "look-up", 1.0, 3), [acceptance.Tally(1, 0, 0, [0, 0, 0])])


def test_every_cell_is_measured_and_its_file_is_without_fault(pair):
    tallies = {}
    words = list(acceptance.measure(pair, TEXTS, 3, tallies, (1, 2)))
    assert words == ["prose 1/2", "prose 2/2", "code 1/2", "code 2/2"]
    assert len(tallies) == 2 * 6 * 3 * 2
    assert all(each.rounds == 3 for listed in tallies.values() for each in listed)
    rows = [acceptance.row(cell, listed) for cell, listed in tallies.items()]
    whole = {"version": 1, "kind": "measured", "suite": "acceptance", "rows": rows}
    whole["provenance"] = acceptance.provenance(pair, "python -m bench acceptance")
    assert [found for found in check(json.dumps(whole), "acceptance.json") if found.level != "remark"] == []
    again = {}
    list(acceptance.measure(pair, TEXTS, 3, again, (1, 2)))
    assert again == tallies


def test_a_recorded_run_is_the_one_nearest_to_the_mean(pair):
    class Three:
        def __init__(self, count):
            self.emitted = (1,) * count

    assert traces.typical([[Three(1)], [Three(5)], [Three(3)], [Three(3)]]) == 2
    row = traces.record(pair, "prose", TEXTS["prose"], "bigram", 0.7, tokens=12)
    assert row["id"] == "pair-prose-bigram-t07"
    assert row["prompt"] == TEXTS["prose"][row["seed"]]
    assert sum(row["accepted"]) + len(row["steps"]) == len(row["tokens"]) >= 12
    text = traces.text_of({"version": 1, "kind": "trace", "rows": [row]})
    assert check(text, "real-pair.json") == []


def test_prompts_are_cut_at_words_within_one_book():
    text = "\n\nOne two. " + "three four " * 400 + "\n\nTHE END\n\nFive six " + "seven " * 900
    for prompt in prompts.cut("\n\n".join([text] * 24) + "\n\nend " + "more " * 99):
        assert len(prompt) >= prompts.LENGTH
        assert "THE END" not in prompt
        assert not prompt.endswith(" ")


def test_the_prompts_are_two_dozen_of_each_kind():
    for listed in prompts.load().values():
        assert len(dict.fromkeys(listed)) == prompts.COUNT
        assert all(160 <= len(text) <= 260 for text in listed)


# The landed files


@pytest.fixture(scope="module")
def rows():
    if not LANDED.is_file():
        pytest.skip("acceptance was not measured yet")
    return parse(LANDED.read_text(encoding="utf-8"), LANDED.name).rows


def test_every_draft_kind_temperature_and_gamma_was_measured(rows):
    cells = [(row.dataset, row.draft, row.temperature, row.gamma) for row in rows.values()]
    drafts = ("one-layer", "two-layer", "trigram", "bigram", "look-up", "exit")
    wanted = itertools.product(prompts.KINDS, drafts, acceptance.TEMPERATURES, acceptance.GAMMAS)
    assert sorted(cells) == sorted(wanted)
    assert all(row.n == prompts.COUNT and row.standard_error is not None for row in rows.values())


def test_what_the_page_says_of_the_formula_is_so(rows):
    """Trained and counted drafts, above temperature 0: within a tenth. Loops and copies: more than it says."""
    for row in rows.values():
        if row.draft != "look-up" and row.temperature > 0:
            assert abs(row.predicted - row.value) < 0.1 * row.value, row.id
    for name in ("two-layer", "look-up"):
        loops = rows[f"accept-prose-{name}-t00-g6"]
        assert loops.predicted < loops.value - loops.standard_error
    copied = rows["accept-prose-look-up-t00-g6"].per_position
    assert copied[1] / copied[0] > 0.8
    assert copied[0] < 0.3


def test_a_better_draft_is_kept_more_often(rows):
    for kind, temperature in itertools.product(prompts.KINDS, (0.7, 1.0)):
        cells = [
            f"accept-{kind}-{name}-t{round(10 * temperature):02d}-g4" for name in ("two-layer", "one-layer", "exit")
        ]
        alphas = [rows[cell].alpha for cell in cells]
        assert alphas == sorted(alphas, reverse=True)


def test_the_runs_are_at_least_two_dozen_and_small():
    if not RUNS.is_file():
        pytest.skip("no runs were recorded yet")
    text = RUNS.read_text(encoding="utf-8")
    assert len(text.encode()) <= traces.MOST_BYTES
    assert check(text, RUNS.name) == []
    runs = parse(text, RUNS.name).rows
    assert len(runs) >= 24
    for run in runs.values():
        assert len(run.tokens) >= traces.TOKENS
        assert run.prompt in prompts.load()[run.dataset]
        # The text of the steps is that of the tokens: nothing is shown that was not emitted.
        assert len(run.tokens) == sum(step["accepted"] + 1 for step in run.steps)
