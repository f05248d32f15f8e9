"""What a measured run says: checked on the lines of real engines."""

import pytest

from sim import (
    Measured,
    Signs,
    best_cut,
    diagnose,
    expected_tokens,
    explained_cost,
    optimal_gamma,
    parse_log,
    predicted_speedup,
    verify_line,
)
from sim.theory import survival_from_rates

V1 = (
    "SpecDecoding metrics: Mean acceptance length: 2.91, Accepted throughput: 0.72 tokens/s, Drafted throughput: 2.64 "
    "tokens/s, Accepted: 44 tokens, Drafted: 161 tokens, Per-position acceptance rate: 0.739, 0.478, 0.261, 0.174, "
    "0.130, 0.087, 0.043, Avg Draft acceptance rate: 27.3%"
)
LLAMA = (
    "slot print_timing: id  1 | task 0 | draft acceptance = 0.64479 (  167 accepted /   259 generated), "
    "mean acceptance length =  2.92, acceptance rate per position = (0.805, 0.632, 0.483)"
)


def of(text):
    total = parse_log(text).total
    assert total is not None
    return diagnose(total)


def test_a_vllm_line_in_the_terms_of_the_formula():
    found = of(V1)
    assert found.tau == pytest.approx(2.913, abs=1e-3)
    assert (found.gamma, found.drafted) == (7, 7.0)
    assert expected_tokens(found.alpha, 7) == pytest.approx(found.tau)
    assert found.then[1] == pytest.approx(0.478 / 0.739)
    assert found.by_first == pytest.approx(expected_tokens(0.739, 7))
    assert found.off == pytest.approx(2.912 / found.by_first - 1, abs=1e-3)
    assert found.misleads


def test_rounds_that_drafted_less_than_they_might():
    """llama.cpp stops early when it is unsure: 259 drafted in 87 rounds of at most 3."""
    found = of(LLAMA)
    assert found.gamma == 3
    assert found.drafted == pytest.approx(259 / 87)
    assert not found.misleads


def test_a_run_that_is_one_rate_is_not_called_misleading():
    run = Measured(rounds=1000, length=expected_tokens(0.8, 4), per_position=survival_from_rates((0.8,) * 4))
    found = diagnose(run)
    assert found.off == pytest.approx(0.0)
    assert found.alpha == pytest.approx(0.8)
    assert not found.misleads


def test_what_cannot_be_diagnosed():
    assert diagnose(Measured(rate=0.5)) is None
    v0 = parse_log(
        "Speculative metrics: Draft acceptance rate: 0.655, System efficiency: 0.649, Number of speculative tokens: 4, "
        "Number of accepted tokens: 1735, Number of draft tokens: 2648, Number of emitted tokens: 2149."
    ).total
    assert diagnose(v0) is None
    lonely = diagnose(Measured(length=2.5))
    assert (lonely.gamma, lonely.alpha, lonely.fit) == (None, None, ())


def test_the_best_length_is_that_of_these_positions():
    places = survival_from_rates((0.8,) * 12)
    best, speed, speeds = best_cut(places, 0.17)
    assert best == optimal_gamma(0.8, 0.17) == 4
    assert speed == max(speeds) == speeds[4]
    assert speeds[0] == 1.0
    sharp = (0.9, 0.85, 0.1, 0.05)
    assert best_cut(sharp, 0.1)[0] == 2
    assert best_cut((0.1, 0.0), 0.3)[0] == 0


def test_a_dearer_check_asks_for_shorter_drafts():
    places = survival_from_rates((0.8,) * 8)
    line = verify_line(2.0, 8)
    assert (line(0), line(8)) == (1.0, 2.0)
    assert best_cut(places, 0.05, line)[0] < best_cut(places, 0.05)[0]


@pytest.mark.parametrize(
    ("line", "random_prompts", "ignore_eos"),
    [
        ("Namespace(dataset_name='random', ignore_eos=True, seed=0)", True, True),
        ('{"dataset_name": "random", "duration": 3}', True, False),
        ("vllm bench serve --dataset-name random --ignore-eos", True, True),
        ("vllm bench serve --dataset-name sharegpt", False, False),
        ("Namespace(dataset_name='sharegpt', ignore_eos=False)", False, False),
        ("a random line that says nothing of a dataset", False, False),
        ('{"ignore_eos": true}', False, True),
    ],
)
def test_signs_of_a_measurement_that_is_worth_little(line, random_prompts, ignore_eos):
    signs = Signs()
    signs.feed(["something else", line])
    assert (signs.random_prompts, signs.ignore_eos) == (random_prompts, ignore_eos)


def test_predicted_and_explained_are_two_ways_of_one_formula():
    found = of(V1)
    speed = predicted_speedup(found, 0.05, 1.1)
    assert speed == pytest.approx(found.tau / (7 * 0.05 + 1.1))
    assert explained_cost(found, speed, 1.1) == pytest.approx(0.05)
    assert explained_cost(found, 3.5) is None
    assert explained_cost(diagnose(Measured(length=2.5)), 2.0) is None
