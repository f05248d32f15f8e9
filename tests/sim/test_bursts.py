"""Acceptance in runs: the two-number form, the two-state model, and the draws that check them."""

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sim import (
    Burst,
    burst_survival,
    burst_tokens,
    draw_burst_rounds,
    expected_tokens,
    runs_tokens,
    survival_from_rates,
    then_from_tokens,
    tokens_from_survival,
)
from tests.sim.strategies import unit

bursts = st.tuples(unit, unit, unit, unit).filter(lambda b: b[0] + b[1] > 1e-6).map(lambda b: Burst(*b))


@given(unit, unit, st.integers(0, 12))
def test_runs_are_one_rate_first_and_another_then(first, then, gamma):
    rates = [first, *[then] * 12][:gamma]
    assert runs_tokens(first, then, gamma) == pytest.approx(tokens_from_survival(survival_from_rates(rates)))
    assert runs_tokens(first, first, gamma) == pytest.approx(expected_tokens(first, gamma))


@given(st.floats(0.01, 1), unit, st.integers(2, 12))
def test_then_from_tokens_inverts_runs_tokens(first, then, gamma):
    assert then_from_tokens(runs_tokens(first, then, gamma), first, gamma) == pytest.approx(then, abs=1e-9)


def test_then_from_tokens_says_what_cannot_be():
    with pytest.raises(ValueError, match=r"tau is 1\.4; it must be a finite number from 1\.5 to 2\.5"):
        then_from_tokens(1.4, 0.5, 3)
    with pytest.raises(ValueError, match=r"gamma is 1; it must be a whole number, 2 or more"):
        then_from_tokens(1.5, 0.5, 1)
    with pytest.raises(ValueError, match=r"first is 0; it must be a finite number above 0"):
        then_from_tokens(1.5, 0, 3)


@given(unit, unit, unit, st.integers(0, 12))
def test_with_one_acceptance_the_states_do_not_matter(enter, leave, alpha, gamma):
    assume(enter + leave > 1e-6)
    assert burst_tokens(Burst(enter, leave, alpha, alpha), gamma) == pytest.approx(
        expected_tokens(alpha, gamma), abs=1e-9
    )


@given(bursts, st.integers(0, 12))
def test_survival_is_a_survival(burst, gamma):
    survival = burst_survival(burst, gamma)
    assert len(survival) == gamma
    assert all(0 <= b <= a for a, b in zip((1.0, *survival), survival, strict=False))
    low, high = sorted((burst.inside, burst.outside))
    assert expected_tokens(low, gamma) - 1e-9 <= burst_tokens(burst, gamma) <= expected_tokens(high, gamma) + 1e-9


def test_states_that_never_change_back_are_the_one_that_stays():
    assert burst_tokens(Burst(0.2, 0.0, 0.9, 0.1), 4) == pytest.approx(expected_tokens(0.9, 4))
    assert burst_tokens(Burst(0.0, 0.2, 0.9, 0.1), 4) == pytest.approx(expected_tokens(0.1, 4))


def test_states_that_alternate_in_step_with_the_rounds():
    # Always kept, one draft a round: every round is two tokens, and the state at its start never changes.
    assert burst_survival(Burst(1, 1, 1, 1), 1) == (1.0,)
    assert burst_tokens(Burst(1, 1, 0, 0), 0) == 1.0


@pytest.mark.parametrize("gamma", [1, 3, 7])
def test_draws_follow_the_model(gamma):
    burst, rounds = Burst(enter=0.15, leave=0.1, inside=0.9, outside=0.1), 60_000
    counts = draw_burst_rounds(burst, gamma, rounds, seed=gamma)
    assert len(counts) == rounds
    assert max(counts) <= gamma
    # Rounds of one text hang together: the error is estimated from blocks, not from single rounds.
    blocks = [math.fsum(counts[i : i + 600]) / 600 for i in range(0, rounds, 600)]
    mean = math.fsum(blocks) / len(blocks)
    error = math.sqrt(math.fsum((block - mean) ** 2 for block in blocks) / len(blocks) / (len(blocks) - 1))
    assert abs(1 + mean - burst_tokens(burst, gamma)) < 4 * error
    first = len([kept for kept in counts if kept]) / rounds
    assert first == pytest.approx(burst_survival(burst, gamma)[0], abs=0.02)


def test_longer_drafts_start_outside_a_run_more_often_as_the_traces_do():
    # Literature C.7, InstructCoder n-gram: first-draft share .372 at k = 3, .263 at k = 7; tokens 2.028 and 2.448.
    burst = Burst(enter=0.10, leave=0.05, inside=0.95, outside=0.10)
    first = [burst_survival(burst, k)[0] for k in (1, 3, 7)]
    assert first[0] > first[1] > first[2]
    # And one alpha, fitted to the first position, misses the tokens by far.
    assert burst_tokens(burst, 7) / expected_tokens(first[2], 7) > 1.3


def test_draws_repeat_and_bad_states_are_named():
    burst = Burst(0.2, 0.2, 0.9, 0.1)
    assert (
        draw_burst_rounds(burst, 4, 50, 3) == draw_burst_rounds(burst, 4, 50, 3) != draw_burst_rounds(burst, 4, 50, 4)
    )
    with pytest.raises(ValueError, match="enter and leave are both 0"):
        Burst(0, 0, 0.5, 0.5)
    for i, name in enumerate(("enter", "leave", "inside", "outside")):
        with pytest.raises(ValueError, match=rf"{name} is 1\.5"):
            Burst(*[1.5 if k == i else 0.5 for k in range(4)])
