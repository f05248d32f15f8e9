"""The verdict: yes where published servers gained, no where they got slower, and the error stated in between."""

import math
from dataclasses import replace

import pytest

from sim import (
    DRAFTERS,
    ENGINES,
    HARDWARE,
    MODELS,
    Setting,
    break_even_batch,
    cost_per_million,
    decide,
    draft_model,
    expected_tokens,
    memory_ledger,
    pass_time,
    request_time,
    round_at,
    serving_round,
    serving_tokens,
    speedup_at,
    time_quantile,
)
from sim.cost import additive_pass_ms
from sim.presets import BYTES

EAGLE = Setting("8b", "h100-sxm", "eagle", 3, 0.62, 0.02)
CHAT_2024 = Setting("70b", "h100-sxm", "model", 4, 0.6, 0.05, 48, 600, "vllm-2024", devices=4)
SUMMARY_2024 = Setting("70b", "h100-sxm", "ngram", 4, 0.3, 0.05, 86, 1500, "vllm-2024", devices=4)


@pytest.mark.parametrize(("batch", "printed"), [(1, 1.74), (16, 1.68), (64, 1.47), (128, 1.21)])
def test_the_tuned_engine_gives_the_published_speedups(batch, printed):
    """SpecDecode-Bench, EAGLE k = 3 on GSM8K with 2.391 tokens a round: four points within 9 %."""
    found = serving_round("8b", "h100-sxm", "eagle", 3, batch)
    assert 2.391 * found.plain_ms / found.round_ms == pytest.approx(printed, rel=0.09)


def test_the_fitted_constants_give_back_what_they_were_fitted_to():
    found = serving_round("8b", "h100-sxm", "eagle", 3)
    assert found.draft_ms == pytest.approx(2.135, rel=0.02)
    assert found.plain_ms == pytest.approx(5.886 + 0.021 + 1.207, rel=0.005)
    model = serving_round("8b", "h100-sxm", "model", 3)
    assert model.draft_ms / 3 / (model.plain_ms - 1.207) == pytest.approx(0.375, rel=0.05)


SGLANG = {2: 1.40, 4: 1.38, 8: 1.23, 16: 1.02, 24: 0.93, 32: 0.94, 48: 0.88, 56: 0.99, 64: 0.99}


@pytest.mark.parametrize(("engine", "base", "points"), [("sglang-2025", EAGLE, SGLANG)])
def test_the_error_of_an_engine_is_that_of_its_fit(engine, base, points):
    off = [speedup_at(replace(base, batch=b, engine=engine)) / printed - 1 for b, printed in points.items()]
    assert math.sqrt(math.fsum(x * x for x in off) / len(off)) == pytest.approx(ENGINES[engine].error, abs=0.005)


@pytest.mark.parametrize("batch", [24, 32, 48, 56, 64])
def test_it_says_no_where_eagle_made_a_server_slower(batch):
    found = decide(replace(EAGLE, batch=batch, engine="sglang-2025"))
    assert (found.kind, found.cause) == ("no", "engine")


@pytest.mark.parametrize("setting", [CHAT_2024, SUMMARY_2024], ids=["chat, 10 a second", "summaries, 8 a second"])
def test_it_says_no_where_vllm_in_2024_got_slower_under_load(setting):
    assert decide(setting).kind == "no"
    assert decide(replace(setting, batch=2, alpha=0.6)).kind == "use"


def test_it_says_no_to_a_tree_at_batch_64_and_yes_at_1():
    tree = replace(EAGLE, drafter="tree")
    assert decide(tree).kind == "use"
    found = decide(replace(tree, batch=64))
    assert (found.kind, found.cause) == ("no", "verify")


def test_a_mixture_of_experts_is_to_be_measured():
    """gpt-oss 20B on one B200 printed 1.11× at 2.24 tokens a round: too near to 1 to promise."""
    found = decide(Setting("gpt-oss-20b", "b200", "eagle", 3, 0.62, 0.02, weights="int4"))
    assert found.kind == "measure"
    assert found.low < 1.11 < found.high


def test_the_interval_widens_with_doubt_and_decides():
    found = decide(EAGLE)
    assert found.low < found.mid < found.high
    assert found.mid == pytest.approx(speedup_at(EAGLE))
    unsure = decide(replace(EAGLE, alpha_error=0.3))
    assert unsure.low < found.low
    assert unsure.high > found.high
    assert decide(replace(EAGLE, alpha_error=0.0)).low == pytest.approx(found.mid * (1 - found.model_error))


def test_away_from_where_the_model_was_fitted_the_error_grows():
    assert decide(EAGLE).model_error == ENGINES["vllm-2025"].error
    assert decide(replace(EAGLE, hardware="h200")).model_error > 0.1
    assert decide(replace(EAGLE, model="mixtral-8x7b")).model_error > 0.2


def test_what_does_not_fit_is_refused_whatever_it_would_gain():
    found = decide(replace(EAGLE, model="70b", batch=1))
    assert (found.kind, found.cause) == ("no", "memory")
    assert found.mid > 1


def test_break_even_batch_is_the_first_that_loses():
    early = replace(EAGLE, engine="sglang-2025")
    edge = break_even_batch(early)
    assert edge is not None
    assert speedup_at(replace(early, batch=edge)) < 1 <= speedup_at(replace(early, batch=edge - 1))
    assert break_even_batch(EAGLE, most=128) is None
    assert break_even_batch(replace(EAGLE, alpha=0.0)) == 1


def test_the_best_length_is_the_best_of_all_lengths():
    found = decide(replace(EAGLE, alpha=0.8))
    speeds = [speedup_at(replace(EAGLE, alpha=0.8, gamma=gamma)) for gamma in range(1, 9)]
    assert found.best_gamma == 1 + speeds.index(max(speeds))
    assert decide(replace(EAGLE, alpha=0.05)).best_gamma == 0


def test_a_tree_yields_more_than_its_chain_and_what_was_printed():
    assert serving_tokens("eagle", 0.62, 3) == expected_tokens(0.62, 3)
    assert serving_tokens("tree", 0.62, 3) == pytest.approx(2.92, rel=0.07)
    assert serving_round("8b", "h100-sxm", "tree", 3).positions == 22


def test_a_round_is_the_sum_of_its_parts():
    for drafter in DRAFTERS:
        found = serving_round("70b", "h200", drafter, 4, 8, 1000, engine="sglang-2025", devices=2)
        assert found.round_ms == pytest.approx(found.draft_ms + found.verify_ms + found.extra_ms)
        assert found.verify_ms > found.plain_ms
    assert draft_model("70b", "ngram") is None
    assert draft_model("8b", "eagle") is MODELS["eagle-8b"]


def test_reading_the_prompt_gets_no_faster():
    same = request_time("8b", "h100-sxm", 2048, 64, 8.0, 8.0)
    assert same.gain == 1.0
    short = request_time("8b", "h100-sxm", 8192, 64, 8.0, 4.0)
    long = request_time("8b", "h100-sxm", 256, 2048, 8.0, 4.0)
    assert short.prefill_ms > 100
    assert 1 < short.gain < long.gain < 2
    assert long.decode_share > 0.99
    assert short.speculative_ms == pytest.approx(short.prefill_ms + 64 * 4.0)


def test_money():
    """Two cards at 3 an hour, 10 requests of 100 tokens in 36 seconds: 0.06 for 1,000 tokens."""
    assert cost_per_million(3.0, 2, 10, 36_000, 100) == pytest.approx(60.0)


def test_the_slow_tail():
    assert time_quantile(0.0, 4, 2.0) == 200.0
    assert time_quantile(1.0, 4, 2.0) == 40.0
    mean = 100 / expected_tokens(0.8, 4) * 2.0
    assert mean < time_quantile(0.8, 4, 2.0, share=0.95) < 1.5 * mean
    assert time_quantile(0.8, 4, 2.0, seed=3) == time_quantile(0.8, 4, 2.0, seed=3)
    with pytest.raises(ValueError, match="100 tokens need more"):
        time_quantile(0.5, 1, 1.0, rounds=10)


def test_the_ledger_adds_up():
    book = memory_ledger("8b", "h100-sxm", "eagle", 3, 16, 2000)
    assert book.capacity == pytest.approx(book.weights + book.cache + book.draft_weights + book.draft_cache + book.left)
    assert book.fits
    assert book.most < book.most_plain
    full = memory_ledger("8b", "h100-sxm", "eagle", 3, book.most, 2000)
    assert full.fits
    assert not memory_ledger("8b", "h100-sxm", "eagle", 3, book.most + 1, 2000).fits
    assert memory_ledger("70b", "h100-sxm", "ngram", 3, 1, 10).most == 0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: serving_round("8b", "h100-sxm", "magic", 3), "drafter"),
        (lambda: serving_round("8b", "h100-sxm", "eagle", 0), "gamma"),
        (lambda: serving_round("8b", "h100-sxm", "eagle", 3, engine="x"), "engine"),
        (lambda: round_at(replace(EAGLE, batch=0)), "batch"),
        (lambda: replace(EAGLE, alpha=1.2), "alpha"),
        (lambda: replace(EAGLE, alpha_error=-0.1), "alpha_error"),
    ],
)
def test_bad_values_are_refused_by_name(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize("model", ["8b", "70b", "mixtral-8x7b", "gpt-oss-20b", "eagle-8b"])
@pytest.mark.parametrize("load", [(1, 1, 0, "bf16", 1), (22, 48, 900, "int4", 4)])
def test_the_quick_pass_is_the_pass(model, load):
    positions, batch, context, weights, devices = load
    card = HARDWARE["h100-sxm"].derated(0.8, 0.7, 1.5)
    quick = additive_pass_ms(MODELS[model], card, positions, batch, context, BYTES[weights], devices)
    slow = pass_time(model, card, positions, batch, context, weights=weights, devices=devices, form="sum")
    assert quick == pytest.approx(slow.total_ms, rel=1e-12)


def test_known_speedups_change_no_answer():
    early = replace(EAGLE, engine="sglang-2025")
    known = {batch: speedup_at(replace(early, batch=batch)) for batch in (1, 2, 4, 8, 16, 32)}
    assert break_even_batch(early, known=known) == break_even_batch(early)
