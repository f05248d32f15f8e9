"""`python -m bench check`: a data file in, findings in words out. F04 and so on are public reports."""

import copy
import json
from pathlib import Path

import jsonschema
import pytest

from bench import __main__ as command
from bench import schema
from bench.check import Finding, check, main
from bench.rows import row

GOOD = {
    "version": 1,
    "kind": "measured",
    "suite": "pass-cost",
    "provenance": {
        "hardware": "NVIDIA H200",
        "software": {"torch": "2.9"},
        "command": "python -m bench run pass-cost",
        "date": "2026-11-01",
        "warmup": 3,
    },
    "rows": [
        {
            "id": "p-1",
            "quantity": "pass time",
            "unit": "ms",
            "value": 5.0,
            "n": 5,
            "min": 4.9,
            "q1": 4.95,
            "q3": 5.1,
            "max": 5.2,
        }
    ],
}


def findings(name: str = "pass-cost-h200.json", /, top=None, provenance=None, **fields) -> list[Finding]:
    """What check says about GOOD with some fields changed (None removes one)."""
    whole = copy.deepcopy(GOOD) | (top or {})
    for target, change in ((whole["provenance"], provenance or {}), (whole["rows"][0], fields)):
        for key, value in change.items():
            target.pop(key, None) if value is None else target.update({key: value})
    return check(json.dumps(whole), name)


def one(level: str, words: str, found: list[Finding]) -> None:
    assert [finding.level for finding in found] == [level], found
    assert words in found[0].message


def test_a_sound_file_has_no_findings():
    assert findings() == []


def test_all_landed_data_is_sound():
    files = [str(path) for path in sorted(Path("docs/data").rglob("*.json"))]
    assert len(files) >= 2
    assert main(files) == 0


def test_the_schema_file_is_the_one_the_reader_implies():
    assert schema.PATH.read_text(encoding="utf-8") == schema.text()
    jsonschema.Draft202012Validator.check_schema(schema.build())


@pytest.mark.parametrize("path", sorted(Path("docs/data").rglob("*.json")), ids=lambda path: path.stem)
def test_landed_data_fits_the_schema(path):
    if path.name != "schema.json":
        jsonschema.Draft202012Validator(schema.build()).validate(json.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    "change",
    [
        {"alpha": 1.5},
        {"n": 0},
        {"value": "5"},
        {"id": "a.b"},
        {"gamma": -1},
        {"ignore_eos": "no"},
        {"per_position": [None]},
    ],
)
def test_schema_and_reader_refuse_the_same(change):
    whole = copy.deepcopy(GOOD)
    whole["rows"][0].update(change)
    assert not jsonschema.Draft202012Validator(schema.build()).is_valid(whole)
    assert check(json.dumps(whole), "pass-cost.json")[0].level == "error"


def test_F01_a_file_that_cannot_be_read_is_one_error_with_file_and_key():
    one("error", "x.json: rows[p-1].value is NaN", check(json.dumps(GOOD).replace("5.0", "NaN"), "x.json"))


def test_F04_a_run_without_warm_up_is_asked_about_and_the_median_is_kept():
    cold = row("p-1", "decode speed", "tokens/s", [5.83, 80.1, 79.8], warmup=0)
    assert (cold["value"], cold["min"], cold["n"]) == (79.8, 5.83, 3)
    one("question", "a run without warm-up?", findings(**cold))
    assert findings(**cold, note="the first run loads the model") == []
    assert any("warm-up runs is missing" in finding.message for finding in findings(provenance={"warmup": None}))


def test_F07_devices_may_state_their_state_and_old_rows_need_not():
    more = {"clock_mhz": 1965, "temperature_c": 27, "power_cap_w": 700, "shared": False, "driver": "570.1"}
    assert findings(provenance=more) == []


def test_F08_a_wide_spread_and_a_single_value_ask_for_a_note():
    wide = {
        "value": 63.5,
        "unit": "tokens/s",
        "quantity": "speed",
        "min": 50.9,
        "q1": None,
        "q3": None,
        "max": 70.0,
        "n": 3,
    }
    one("question", "the spread is 30% of the value", findings(**wide))
    assert findings(**wide, note="the machine was shared") == []
    alone = {"n": 1, "min": None, "q1": None, "q3": None, "max": None}
    one("question", "one single value", findings(**alone))
    one("error", "without min and max", findings(**(alone | {"n": 3})))
    one("error", "out of order", findings(min=5.1))


@pytest.mark.parametrize("name", ["NVIDIA H200 (gather)", "H200 141GB HBM3e", "nvidia h200 "])
def test_F09_another_spelling_is_named_with_the_right_one(name):
    one("error", "is written 'NVIDIA H200'", findings(provenance={"hardware": name}))


@pytest.mark.parametrize("name", ["AMD Radeon Graphics", "CUDA device 0"])
def test_F10_a_generic_name_is_refused(name):
    one("error", "names no device that is known", findings("pass-cost.json", provenance={"hardware": name}))


def test_hardware_is_never_filled_in():
    one("error", "hardware is missing", findings("pass-cost.json", provenance={"hardware": None}))


def test_F13_unknown_keys_are_remarked():
    one("remark", "unknown key 'gpu' at the top", findings(top={"gpu": "H100"}))


@pytest.mark.parametrize(
    ("level", "words", "fields"),
    [
        ("question", "is it a fraction, 31%?", {"quantity": "acceptance", "unit": "%", "value": 0.312}),
        ("question", "is it a percentage?", {"quantity": "acceptance", "unit": "fraction", "value": 31.2}),
        ("question", "are these seconds?", {"quantity": "TTFT", "unit": "ms", "value": 0.12}),
        ("question", "are these milliseconds?", {"quantity": "TTFT", "unit": "s", "value": 120.0}),
        ("error", "1e9 bytes", {"quantity": "memory", "unit": "MiB", "value": 80.0}),
        ("error", "is not one of", {"quantity": "speed", "unit": "tok/s", "value": 80.0}),
        ("error", "is below 0", {"value": -5.0}),
    ],
)
def test_F14_unit_slips(level, words, fields):
    value = fields.get("value", 5.0)
    one(level, words, findings(**fields, min=value, q1=None, q3=None, max=value))


def test_F16_the_content_decides_and_a_file_name_that_differs_is_refused():
    one("error", "its suite is 'pass-cost'", findings("moe-h200.json"))
    one("error", "the file name says NVIDIA H100", findings("pass-cost-h100.json"))


def test_impossible_formats_of_a_device():
    one(
        "error",
        "no fp8 arithmetic",
        findings("pass-cost.json", provenance={"hardware": "NVIDIA A100 80GB", "arithmetic": "fp8"}),
    )
    one("error", "no fp4 arithmetic", findings(arithmetic="nvfp4"))
    assert findings("pass-cost.json", provenance={"hardware": "NVIDIA B200", "arithmetic": "nvfp4"}) == []
    assert findings("pass-cost.json", provenance={"hardware": "NVIDIA A100 80GB", "weights": "fp8"}) == []


def test_a_part_of_a_model_says_of_how_much():
    one("error", "81 layers were run of a model with 80", findings(layers_run=81, layers=80))
    one("error", "layers_run without layers", findings(layers_run=4))
    assert findings(layers_run=4, layers=80) == []


TEXT = {"dataset": "sharegpt", "ignore_eos": False, "draft_sampling": "greedy"}


def test_B24_a_rate_that_does_not_fit_its_length():
    one("error", "gives 4.25 tokens per pass", findings(**TEXT, rate=0.65, tokens_per_pass=3.25, gamma=5))


def test_a_speed_up_above_the_tokens_per_pass():
    one("error", "speed-up 4.118 is above 2.216", findings(**TEXT, tokens_per_pass=2.216, speedup=4.118))


def test_counts_that_do_not_fit_their_rate():
    one("error", "388 tokens accepted of 387", findings(**TEXT, accepted=388, drafted=387))
    one("error", "150 of 387 were accepted", findings(**TEXT, accepted=150, drafted=387, rate=0.5))


def test_B19_random_tokens_and_ignored_ends_are_not_representative():
    one("remark", "not representative", findings(**(TEXT | {"dataset": "random", "ignore_eos": True}), rate=0.5))
    one("remark", "not representative", findings(**(TEXT | {"ignore_eos": True}), rate=0.5))
    asked = findings(draft_sampling="greedy", rate=0.5)
    assert [finding.message.split(" ")[0] for finding in asked] == ["dataset", "ignore_eos"]


def test_B22_draft_sampling_is_asked_for():
    one("question", "draft_sampling is unknown", findings(dataset="sharegpt", ignore_eos=False, rate=0.5))
    assert findings(synthetic="accepted by a seeded alpha", rate=0.5) == []


def test_throughput_against_latency():
    one("error", "at most 142.7", findings(tokens_per_second=410.61, ms_per_token=7.01, concurrency=1))
    assert findings(tokens_per_second=410.61, ms_per_token=7.01, concurrency=4) == []


def test_provenance_that_is_missing_is_named():
    one("error", "provenance lacks command, date", findings(provenance={"command": None, "date": None}))


PRINTED = {"id": "a", "source": "s", "year": 2024, "method": "chain", "verification": "primary"}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"tokens_per_pass": 2.216, "speedup": 4.118}, "mark the row with no_formula"),
        ({"alpha": 0.62, "gamma": 7, "speedup": 2.7}, "above 2.574"),
        ({"speedup": 1.92, "ms_per_token": 7.52, "baseline_ms_per_token": 14.1}, "record the slip"),
        ({"gamma": 3, "tokens_per_pass": 4.5}, "at most 4"),
        ({"verification": "memory"}, "not data"),
    ],
)
def test_printed_rows_that_cannot_be_are_marked_or_refused(more, words):
    text = json.dumps({"version": 1, "kind": "published", "rows": [PRINTED | more]})
    one("error", words, check(text, "p.json"))


@pytest.mark.parametrize(
    "more",
    [
        {"tokens_per_pass": 2.216, "speedup": 4.118, "no_formula": "the baseline differs"},
        {"speedup": 1.92, "ms_per_token": 7.52, "baseline_ms_per_token": 14.1, "slip": "prints 1.92"},
        {"tokens_per_pass": 2.0, "speedup": 1.8, "gamma": 3, "alpha": 0.5},
    ],
)
def test_marked_rows_pass(more):
    assert check(json.dumps({"version": 1, "kind": "published", "rows": [PRINTED | more]}), "p.json") == []


def test_a_trace_keeps_no_more_than_it_drafts():
    text = '{"version": 1, "kind": "trace", "rows": [{"id": "t", "drafted": [3, 3], "accepted": [2, 4]}]}'
    one("error", "round 1: 4 accepted of 3 drafted", check(text, "t.json"))


def recorded_run(**changed):
    step = {"draft": ["a", "b"], "accepted": 1, "token": "c", "p": [0.5, 0.1, 0.2], "q": [0.4, 0.5, 0.1], "top": []}
    row = {"id": "t", "drafted": [2], "accepted": [1], "steps": [step | {"coins": [0.9, 0.2, 0.7]} | changed]}
    return json.dumps({"version": 1, "kind": "trace", "rows": [row]})


def test_a_recorded_run_agrees_with_its_counts_and_its_coins():
    assert check(recorded_run(), "t.json") == []
    one(
        "error",
        "the counts of the steps are not those",
        check(recorded_run(accepted=2, coins=[0.9, 0.1, 0.7]), "t.json"),
    )
    one("error", "round 0: the coins keep other drafts", check(recorded_run(coins=[0.9, 0.1, 0.7]), "t.json"))


def test_exit_codes_and_the_line_of_counts(tmp_path, capsys):
    good, bad = tmp_path / "pass-cost.json", tmp_path / "other.json"
    good.write_text(json.dumps(GOOD), encoding="utf-8")
    bad.write_text(json.dumps(GOOD), encoding="utf-8")
    assert main([str(good)]) == 0
    assert capsys.readouterr().out == "1 files, 1 rows: 0 errors, 0 open questions, 0 remarks\n"
    assert main([str(good), str(bad)]) == 1
    assert main([str(tmp_path / "none.json")]) == 1
    assert main([]) == 2


def test_rows_are_medians_of_finite_numbers():
    assert row("a", "q", "ms", [1.0], warmup=1) == {
        "id": "a",
        "quantity": "q",
        "unit": "ms",
        "value": 1.0,
        "n": 1,
        "warmup": 1,
    }
    made = row("a", "q", "ms", [4.0, 1.0, 3.0, 2.0], warmup=1, batch=2)
    assert (made["value"], made["q1"], made["q3"], made["batch"]) == (2.5, 1.75, 3.25, 2)
    with pytest.raises(ValueError, match="finite"):
        row("a", "q", "ms", [float("nan")], warmup=1)


def test_the_commands_are_listed(capsys):
    assert command.main([]) == 2
    assert command.main(["--help"]) == 0
    assert "python -m bench check FILE" in capsys.readouterr().out
    assert command.main(["chek"]) == 2
