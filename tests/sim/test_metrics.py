"""Conversions between published numbers: each against a printed pair, and back."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sim
from sim import expected_tokens, metrics, tokens_from_survival


def test_one_run_in_every_notation():
    tau = expected_tokens(0.8, 4)
    run = metrics.convert(4, tau=tau)
    assert (round(run.tau, 4), round(run.accepted, 4), round(run.rate, 3)) == (3.3616, 2.3616, 0.590)
    assert run.alpha == pytest.approx(0.8, abs=1e-9)


def test_B01_accepted_over_drafted_is_not_alpha():
    tau = expected_tokens(0.8, 5)
    assert metrics.rate_from_tau(tau, 5) == pytest.approx(0.538, abs=5e-4)


def test_B02_with_and_without_the_bonus_token():
    assert metrics.tau_from_accepted(2.44) == pytest.approx(3.44)
    assert metrics.accepted_from_tau(3.44) == pytest.approx(2.44)


@pytest.mark.parametrize(("kept", "k", "shown"), [(0, 8, 0.111), (4, 8, 0.556), (8, 8, 1.0)])
def test_B04_what_SGLang_printed_until_2026(kept, k, shown):
    assert metrics.sglang_rate(1 + kept, k) == pytest.approx(shown, abs=5e-4)


def test_B24_65_percent_and_3_25_tokens_are_no_pair_for_a_chain_of_five():
    (told,) = metrics.contradictions(gamma=5, rate=0.65, tau=3.25)
    assert told == "rate 0.65 with 5 drafts gives 4.25 tokens per pass, not 3.25"
    assert metrics.contradictions(gamma=5, rate=0.65, tau=4.25) == ()
    assert metrics.contradictions(gamma=5, rate=0.45, tau=3.25) == ()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"rate": 1.2}, "outside 0 to 1"),
        ({"tau": 0.9}, "at least 1"),
        ({"gamma": 3, "tau": 4.2}, "at most 4"),
        ({"tau": 2.216, "speedup": 4.118}, "speed-up 4.118 is above 2.216"),
        ({"survival": (0.5, 0.6)}, "position 1"),
        ({"survival": (0.5, 0.4), "tau": 2.4}, "the positions give 1.9"),
    ],
)
def test_impossible_numbers_are_told(values, words):
    assert words in metrics.contradictions(**values)[0]


def test_possible_numbers_are_not():
    assert metrics.contradictions(gamma=3, rate=0.388, tau=2.16, survival=(0.543, 0.357, 0.264), speedup=1.6) == ()
    assert metrics.contradictions(tau=2.0, speedup=2.3, lossless=False) == ()


def test_B30_histograms_of_kept_drafts():
    survival = metrics.survival_from_histogram((11, 14, 11, 4, 0, 3))
    assert survival == (32 / 43, 18 / 43, 7 / 43, 3 / 43, 3 / 43)
    assert tokens_from_survival(survival) == pytest.approx(2.4651, abs=5e-5)
    with pytest.raises(ValueError, match="at least one round"):
        metrics.survival_from_histogram((0, 0))


def test_B26_positions_by_label():
    assert metrics.positions_from_labels({0: 0.8, 1: 0.5}, first=0) == (0.8, 0.5)
    assert metrics.positions_from_labels({2: 0.5, 1: 0.8}, first=1) == (0.8, 0.5)
    with pytest.raises(ValueError, match=r"labels are \[1, 2\]; they must be \[0, 1\]"):
        metrics.positions_from_labels({1: 0.8, 2: 0.5}, first=0)


def test_conditional_acceptance_of_each_position():
    assert metrics.conditional_from_survival((0.8, 0.4, 0.0, 0.0)) == (0.8, 0.5, 0.0, None)


def test_counts_behind_shares():
    assert metrics.counts_per_position((0.543, 0.357, 0.264), 129) == (70, 46, 34)


def test_chen_times_give_another_speed_up_than_printed():
    assert metrics.speedup_from_times(14.1, 7.52) == 1.875
    assert metrics.tau_from_times(7.52, 14.1, 1.8, 4) == pytest.approx(2.83, abs=0.005)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: metrics.convert(4), "exactly one of tau"),
        (lambda: metrics.convert(4, tau=2.0, rate=0.5), "exactly one of tau"),
        (lambda: metrics.convert(4, tau=5.5), "tau is 5.5"),
        (lambda: metrics.convert(4, rate=1.5), "rate is 1.5"),
        (lambda: metrics.convert(4, tau=math.nan), "tau is nan"),
        (lambda: metrics.convert(4, survival=(0.5,)), "gamma is 4"),
        (lambda: metrics.rate_from_tau(2.0, 0), "gamma is 0"),
        (lambda: metrics.tau_from_accepted(-1), "accepted is -1"),
        (lambda: metrics.tau_from_accepted(1, 0), "rounds is 0"),
        (lambda: metrics.speedup_from_times(14.1, 0), "speculative_ms is 0"),
        (lambda: metrics.positions_from_labels({0: 1.0}, first=2), "first is 2"),
    ],
)
def test_bad_values_are_named(call, words):
    with pytest.raises(ValueError) as caught:
        call()
    assert words in str(caught.value)


def test_no_drafts_have_no_rate():
    run = metrics.convert(0, tau=1.0)
    assert (run.rate, run.alpha, run.accepted) == (None, None, 0.0)


@given(st.integers(1, 32), st.floats(0, 1))
@settings(max_examples=200, deadline=None)
def test_conversions_invert(gamma, rate):
    tau = metrics.tau_from_rate(rate, gamma)
    assert metrics.rate_from_tau(tau, gamma) == pytest.approx(rate, abs=1e-12)
    assert metrics.tau_from_accepted(metrics.accepted_from_tau(tau)) == pytest.approx(tau)
    assert metrics.convert(gamma, tau=tau).accepted == pytest.approx(metrics.convert(gamma, rate=rate).accepted)
    assert metrics.contradictions(gamma=gamma, rate=rate, tau=tau) == ()


@given(st.lists(st.integers(0, 50), min_size=1, max_size=9).filter(any))
@settings(max_examples=200, deadline=None)
def test_a_histogram_and_its_positions_hold_the_same_tokens(histogram):
    survival = metrics.survival_from_histogram(histogram)
    accepted = sum(kept * count for kept, count in enumerate(histogram))
    assert tokens_from_survival(survival) == pytest.approx(metrics.tau_from_accepted(accepted, sum(histogram)))


def test_a_rate_and_a_mean_say_how_much_was_drafted():
    assert sim.drafted_from_tau(3.25, 0.45) == pytest.approx(5)
    assert sim.drafted_from_tau(3.25, 0.65) == pytest.approx(3.4615, abs=1e-4)
    with pytest.raises(ValueError, match="rate"):
        sim.drafted_from_tau(3.0, 0.0)


def test_the_old_sglang_rate_goes_both_ways():
    for kept in range(5):
        assert sim.tau_from_sglang_rate(sim.sglang_rate(1.0 + kept, 8), 8) == pytest.approx(1.0 + kept)
    with pytest.raises(ValueError, match="rate"):
        sim.tau_from_sglang_rate(0.05, 8)
