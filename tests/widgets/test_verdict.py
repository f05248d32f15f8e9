"""`verdict`: its answers at the settings others published, where its numbers come from, and what it says of each."""

import re

import pytest

import widgets
from sim import Setting, break_even_batch, cost_per_million, decide, memory_ledger, request_time, speedup_at
from sim.data import parse
from tests.widgets.states import ROOT, draw

WIDGET = widgets.load("verdict")
PUBLISHED = parse((ROOT / "docs" / "data" / "published.json").read_text(encoding="utf-8"))

EARLY = {"engine": "sglang-2025", "doubt": 0.02, "prompt": 256}
CHAT_2024 = {
    "model": "70b", "devices": "4", "drafter": "model", "gamma": 4, "alpha": 0.6, "engine": "vllm-2024",
}  # fmt: skip


def view(**given):
    return draw(WIDGET, WIDGET.values(given))


def values(shown):
    return {row.key: row.value for row in shown.readout}


def answer(**given):
    return view(**given).verdict.text.split(".")[0]


@pytest.mark.parametrize("batch", [24, 32, 48, 64])
def test_no_where_eagle_slowed_a_server(batch):
    assert answer(batch=batch, **EARLY) == "Do not use it here"


def test_no_where_vllm_slowed_under_load_and_yes_with_few_requests():
    assert answer(batch=48, **CHAT_2024) == "Do not use it here"
    assert answer(batch=2, **CHAT_2024) == "Use it"
    summaries = CHAT_2024 | {"drafter": "ngram", "alpha": 0.3, "prompt": 1024}
    assert answer(batch=96, **summaries) == "Do not use it here"


def test_no_to_a_tree_at_batch_64():
    assert answer(drafter="tree", batch=1) == "Use it"
    assert answer(drafter="tree", batch=64) == "Do not use it here"


def test_a_mixture_at_batch_1_is_to_be_measured():
    shown = view(model="gpt-oss-20b", hardware="b200", weights="int4", batch=1)
    assert shown.verdict.kind == "care"
    assert "spans 1×" in shown.verdict.text
    assert "P-EAGLE" in shown.note or "EAGLE-3" in shown.note


def test_what_does_not_fit_is_a_no_with_the_reason():
    shown = view(model="70b")
    assert shown.verdict.text.startswith("Do not use it here. Target, drafter and caches need")
    assert shown.title.endswith("do not fit")


def test_doubt_alone_turns_a_yes_into_measure_first():
    assert answer(batch=128) == "Use it"
    assert answer(batch=128, doubt=0.2) == "Measure first"  # as docs/labs/verdict.md says


def test_one_published_circle_lies_outside_the_interval_as_the_lab_says():
    """The model's error is a typical one: docs/labs/verdict.md says at which batch the truth was outside."""
    low, high = (float(end) for end in re.findall(r"([\d.]+)–([\d.]+)×", view(batch=64).title)[0])
    row = PUBLISHED.rows["sdbench-fig1-sharegpt-bs64-eagle"]
    assert row.batch == 64
    assert low < high < row.speedup


def test_numbers_are_those_of_sim():
    shown = values(view(batch=32, alpha=0.7, gamma=4, prompt=1024, output=512, price=3.0))
    setting = Setting("8b", "h100-sxm", "eagle", 4, 0.7, 0.05, 32, 1280)
    found = decide(setting)
    assert shown["speedup"] == found.mid == pytest.approx(speedup_at(setting))
    assert shown["edge"] == break_even_batch(setting)
    assert shown["best"] == found.best_gamma
    plain, fast = found.round.plain_ms, found.round.round_ms / found.tokens
    whole = request_time("8b", "h100-sxm", 1024, 512, plain, fast)
    assert shown["request"] == pytest.approx(whole.gain)
    assert shown["user"] == pytest.approx(1000 / fast)
    assert shown["device"] == pytest.approx(32 * 1000 / fast)
    assert shown["cost"] == pytest.approx(cost_per_million(3.0, 1, 32, whole.speculative_ms, 512))
    assert shown["most"] == memory_ledger("8b", "h100-sxm", "eagle", 4, 32, 1280).most


def test_a_short_answer_to_a_long_prompt_gains_little_and_says_so():
    shown = view(prompt=32768, output=32, batch=1)
    assert values(shown)["request"] < 1.2
    assert "of a request is writing" in shown.verdict.text


def test_the_nearest_published_result_is_named_as_published():
    assert "batch 16: 1.67×" in view().note
    assert "10 requests a second: 0.71×" in view(batch=48, **CHAT_2024).note
    assert "n-gram" in view(drafter="ngram").note


def test_published_results_are_drawn_for_the_same_model_drafter_and_engine_only():
    assert "published results as open circles: 4" in view().svg
    assert "published results as open circles: 9" in view(**EARLY).svg
    assert "published results as open circles: 0" in view(drafter="model").svg


def test_the_state_can_be_taken_to_the_lab_that_reads_logs():
    [link] = view().links
    assert (link.page, link.figure) == ("labs/diagnose/", "diagnose")
    other = widgets.load("diagnose")
    for name, text in link.values:
        other.params[name].read(text)
