"""docs/data as text in, dataclasses out: strict reading, versions, and the published record row by row."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim import data
from sim.devices import device

PUBLISHED = Path("docs/data/published.json")
ROW = {"id": "a-1", "source": "a paper", "year": 2024, "method": "chain", "verification": "primary"}
MEASURED = {
    "version": 1,
    "kind": "measured",
    "suite": "pass-cost",
    "provenance": {
        "hardware": "NVIDIA H200",
        "software": {"torch": "2.9"},
        "command": "c",
        "date": "2026-11-01",
        "warmup": 3,
    },
    "rows": [{"id": "p-1", "quantity": "pass time", "unit": "ms", "value": 5.0, "n": 5, "min": 4.9, "max": 5.2}],
}


@pytest.fixture(scope="module")
def published():
    return data.parse(PUBLISHED.read_text(encoding="utf-8"), "published.json")


def file(*rows, **top):
    return json.dumps({"version": 1, "kind": "published", "rows": list(rows)} | top)


def refusal(text, name="x.json"):
    with pytest.raises(data.DataError) as caught:
        data.parse(text, name)
    return str(caught.value)


def test_the_whole_record_is_there_with_its_marks(published):
    assert len(published.rows) == 666
    assert published.notes == ()
    count = dict.fromkeys(published.marks, 0)
    for row in published.rows.values():
        count[row.verification] += 1
    assert count == {"primary": 503, "secondary": 92, "figure": 39, "derived": 32}


def test_a_row_is_cited_by_id_and_field(published):
    assert data.lookup(published, "chen-t1-1.speedup") == 2.01
    assert data.lookup({"published": published}, "leviathan-t1-a8-g5.tokens_per_pass") == 3.69
    assert data.lookup(published, "leviathan-lenience-0_5.alpha") == 0.71
    assert data.lookup(published, "chen-t1-0.temperature") is None  # unknown, not 0


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("chen-t1-1.speedups", "did you mean 'speedup'"),
        ("chen-t1-9.speedup", "unknown row 'chen-t1-9' (did you mean 'chen-t1-"),
        ("speedup", "<row id>.<field>"),
        ("", "<row id>.<field>"),
        ("chen-t1-1.", "<row id>.<field>"),
    ],
)
def test_a_wrong_citation_names_the_nearest_right_one(published, address, words):
    with pytest.raises(data.DataError) as caught:
        data.lookup(published, address)
    assert words in str(caught.value)


def test_an_id_in_two_files_is_refused(published):
    with pytest.raises(data.DataError, match="stands in 2 files"):
        data.lookup({"a": published, "b": published}, "chen-t1-1.speedup")


def test_slips_of_the_sources_are_recorded_and_both_values_kept(published):
    first = published.rows["chen-t1-0"]
    assert (first.speedup, first.speedup_from_times) == (1.92, 1.875)
    assert "1.875" in first.slip
    assert published.rows["chen-t1-1"].slip is None
    slips = [row.id for row in published.rows.values() if row.slip]
    assert len(slips) == 4  # Chen's first row and the three predictions of Leviathan's Table 4


def test_rows_that_no_formula_can_produce_carry_the_reason(published):
    marked = {row.id for row in published.rows.values() if row.no_formula}
    assert marked == {
        "leviathan-t4-ende-t5-small-t1",
        "leviathan-t4-cnndm-t5-small-t0",
        "leviathan-t4-cnndm-t5-small-t1",
        "leviathan-t4-cnndm-t5-base-t1",
        "leviathan-lenience-1",
        "leviathan-lenience-0_5",
        "leviathan-lenience-0_3",
        "specbundle-llama-4-scout-17b-16e-instruct-financeqa",
    }
    scout = [row for row in published.rows.values() if "llama-4-scout" in row.id]
    assert len(scout) == 7
    assert all(row.no_formula or row.caution for row in scout)


def test_every_speed_up_above_its_tokens_per_pass_is_marked(published):
    above = [
        row.id
        for row in published.rows.values()
        if row.speedup is not None and row.tokens_per_pass is not None and row.speedup > row.tokens_per_pass
    ]
    assert above
    assert all(published.rows[key].no_formula for key in above)


def test_speed_ups_relative_to_another_drafter_say_so(published):
    relative = [row for row in published.rows.values() if row.method == "P-EAGLE relative to EAGLE-3"]
    assert len(relative) == 21
    assert all(row.baseline == "EAGLE-3, not plain decoding" for row in relative)


@pytest.mark.parametrize("bad", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "9" * 30])
def test_F01_numbers_that_JSON_does_not_have_are_refused_with_file_and_key(bad):
    text = file(ROW).replace('"primary"', f'"primary", "speedup": {bad}')
    assert refusal(text).startswith("x.json: rows[a-1].speedup is ")


def test_F03_nested_ones_too_and_writing_is_as_strict():
    text = json.dumps(MEASURED).replace('"n": 5', '"n": 5, "per_position": [0.9, NaN]')
    assert refusal(text) == "x.json: rows[p-1].per_position[1] is NaN, which is refused; unknown is null"


def test_duplicate_keys_and_ids_are_refused():
    assert refusal('{"version": 1, "version": 1}') == "x.json: key 'version' stands twice"
    text = file(ROW).replace('"year": 2024', '"year": 2024, "year": 2025')
    assert refusal(text) == "x.json: key 'year' stands twice in 'a-1'"
    assert refusal(file(ROW, ROW)) == "x.json: a-1: this id stands twice"


def test_F15_old_versions_keep_loading_beside_new_ones():
    old = data.parse(json.dumps([ROW]))
    new = data.parse(file({**ROW, "hardware": "1x H100"}))
    assert (old.version, new.version) == (0, 1)
    assert old.rows["a-1"].hardware is None  # unknown, never a default
    assert new.rows["a-1"].hardware == "1x H100"


def test_a_newer_version_is_refused_not_misread():
    assert "version 2 is newer than this reader" in refusal(file(ROW, version=2))


def test_F18_unknown_keys_are_kept_and_said_and_missing_ones_named():
    more = {"n_gpus": 8, "start_times": [1], "graph_splits": 2, "x": None, "speedupp": 2}
    got = data.parse(file({**ROW, **more}), "x.json")
    assert dict(got.rows["a-1"].extra) == more
    assert len(got.notes) == 5
    assert got.notes[-1] == "x.json: unknown field 'speedupp' in 1 row is kept (did you mean 'speedup'?)"
    assert data.lookup(got, "a-1.n_gpus") == 8
    without = {key: value for key, value in ROW.items() if key != "method"}
    assert refusal(file(without)) == "x.json: a-1: required field 'method' is missing"


def test_F13_an_unknown_key_at_the_top_is_said():
    got = data.parse(file(ROW, titel="t"), "x.json")
    assert got.notes == ("x.json: unknown key 'titel' at the top is kept but not used (did you mean 'title'?)",)
    assert got.extra["titel"] == "t"


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("alpha", 31.2, "is this a percentage?"),
        ("alpha", -0.1, "at least 0"),
        ("tokens_per_pass", 0.5, "at least 1"),
        ("gamma", 2.5, "a whole number is wanted"),
        ("year", True, "a whole number is wanted"),
        ("speedup", "2", "a number is wanted"),
        ("verification", "rumour", "not one of primary"),
        ("task", "  ", "is empty"),
        ("id", "a.b", "letters, digits"),
    ],
)
def test_F14_values_outside_their_unit_are_refused(field, value, words):
    assert words in refusal(file({**ROW, field: value}))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the file is empty"),
        ("<!DOCTYPE html><html>404", "this is HTML, not JSON"),
        (file(ROW)[:60], "line 1, column"),
        ("\x1f\x8b\x08\x00garbage", "not JSON"),
        ("[" * 100_000, "nested more than 32 levels deep"),  # a browser's Python would not survive to say "not JSON"
        ("[" * 900 + "]" * 900, "nested more than 32 levels deep"),
        ("3", "an object with version, kind and rows"),
        ('{"version": 1, "kind": "measured"}', "required key 'rows' is missing"),
        ('{"version": 1, "kind": "other", "rows": []}', "not one of published, measured, trace"),
        ('{"version": 1, "kind": "trace", "rows": {}}', "rows is an object, list is wanted"),
    ],
)
def test_F19_half_a_file_or_an_error_page_gives_a_sentence(text, words):
    assert words in refusal(text)


def test_a_measured_row_takes_the_provenance_of_its_file_unless_it_says_otherwise():
    whole = json.loads(json.dumps(MEASURED))
    whole["rows"].append({**whole["rows"][0], "id": "p-2", "warmup": 9, "per_position": [0.9, 0.5]})
    got = data.parse(json.dumps(whole))
    assert (got.suite, got.rows["p-1"].warmup, got.rows["p-2"].warmup) == ("pass-cost", 3, 9)
    assert data.lookup(got, "p-2.hardware") == "NVIDIA H200"
    assert got.rows["p-1"].software == {"torch": "2.9"}
    assert got.rows["p-1"].clock_mhz is None
    assert got.rows["p-2"].per_position == (0.9, 0.5)


def test_traces_hold_one_pair_of_counts_a_round():
    text = json.dumps(
        {"version": 1, "kind": "trace", "rows": [{"id": "t", "drafted": [3, 3], "accepted": [2, 0], "seed": 1}]}
    )
    assert data.parse(text).rows["t"].accepted == (2, 0)
    assert "a list of whole numbers" in refusal(text.replace("[2, 0]", "[2, -1]"))


STEP = {
    "draft": [" the", "\ufffd"],
    "accepted": 1,
    "token": ".",
    "p": [0.5, 0.01, 0.2],
    "q": [0.4, 0.3, 0.0],
    "coins": [0.9, 0.5, 0.1],
    "top": [[[" the", 0.5, 0.4]], [[".", 0.2, None], ["!", 0, 1]]],
}


def run_with(**changed):
    step = {key: value for key, value in {**STEP, **changed}.items() if value != "left out"}
    row = {"id": "t", "drafted": [2], "accepted": [1], "prompt": "Of all", "steps": [step]}
    return json.dumps({"version": 1, "kind": "trace", "rows": [row]})


def test_a_run_of_the_tiny_pair_has_its_rounds_with_tokens_and_chances():
    run = data.parse(run_with()).rows["t"]
    assert (run.prompt, dict(run.steps[0])) == ("Of all", STEP)
    assert data.parse(run_with(top=[])).rows["t"].steps[0]["top"] == []


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"coins": "left out"}, "steps[0] is an object, an object with draft, accepted, token"),
        ({"kind": "bonus"}, "an object with draft, accepted, token"),
        ({"draft": " the"}, "draft and token are texts"),
        ({"draft": [1, 2]}, "draft and token are texts"),
        ({"token": None}, "draft and token are texts"),
        ({"accepted": 3}, "accepted is 3 of 2 drafts"),
        ({"accepted": True}, "accepted is True of 2 drafts"),
        ({"p": [0.5, 0.1]}, "p is [0.5, 0.1]; 3 numbers from 0 to 1"),
        ({"q": [0.5, 0.1, 1.5]}, "3 numbers from 0 to 1"),
        ({"coins": [0.5, True, 0]}, "3 numbers from 0 to 1"),
        ({"top": [[], [], []]}, "no list for each of 2 positions"),
        ({"top": [[], [[" the", 0.5]]]}, "a candidate of top"),
        ({"top": [[], [[7, 0.5, 0.5]]]}, "a candidate of top"),
        ({"top": [[], [["x", None, 0.5]]]}, "a candidate of top"),
    ],
)
def test_a_round_that_is_not_one_is_refused(changed, words):
    assert words in refusal(run_with(**changed))


def test_rows_cannot_be_changed(published):
    with pytest.raises(AttributeError):
        published.rows["chen-t1-1"].speedup = 9
    with pytest.raises(TypeError):
        published.rows["x"] = None


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner) | st.dictionaries(st.sampled_from(["version", "kind", "rows", "id", "value"]), inner)
        ),
        max_leaves=12,
    )
)
@settings(max_examples=80, deadline=None)
def test_any_JSON_is_read_or_refused_in_words(value):
    try:
        said = str(type(data.parse(json.dumps(value), "x.json")))
    except data.DataError as error:
        said = str(error)
    assert said.startswith(("x.json", "<class 'sim."))


@pytest.mark.parametrize(
    "text", ["NVIDIA H200", "NVIDIA H200 (gather)", "H200 141GB HBM3e", "nvidia h200 ", "NVIDIA® H200™", "1x H200"]
)
def test_F09_one_device_has_one_name(text):
    assert device(text).name == "NVIDIA H200"


@pytest.mark.parametrize("text", ["AMD Radeon Graphics", "CUDA device 0", "", "  ", "GPU", "TP4", "H100 or H200"])
def test_F10_a_name_that_is_not_specific_is_refused(text):
    with pytest.raises(ValueError, match="hardware"):
        device(text)


@pytest.mark.parametrize(
    ("text", "name", "count", "note"),
    [
        ("8xH100 SXM (vLLM 0.10)", "NVIDIA H100 SXM", 8, "vLLM 0.10"),
        ("NVIDIA H100 80GB HBM3", "NVIDIA H100 SXM", None, None),
        ("NVIDIA A100-SXM4-80GB", "NVIDIA A100 80GB", None, None),
        ("16x TPU-v4", "Google TPU v4", 16, None),
        ("NVIDIA GeForce RTX 4090", "NVIDIA RTX 4090", None, None),
        ("Apple M3 Max", "Apple M3 Max", None, None),
        ("Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz", "CPU Intel Xeon Platinum 8481C", None, None),
    ],
)
def test_devices_as_they_are_typed_and_as_drivers_name_them(text, name, count, note):
    found = device(text)
    assert (found.name, found.count, found.note) == (name, count, note)


def test_nearly_every_published_device_has_a_name(published):
    unnamed = set()
    for row in published.rows.values():
        if row.hardware:
            try:
                device(row.hardware)
            except ValueError:
                unnamed.add(row.hardware)
    assert unnamed == {"TP4"}
