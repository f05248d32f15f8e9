"""The closed forms: limits, inverses, monotonicity."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sim import (
    alpha_from_tokens,
    break_even_alpha,
    break_even_cost,
    cost_from_speedup,
    engine_acceptance_rate,
    expected_tokens,
    operations_factor,
    optimal_gamma,
    oracle_tokens,
    passes_for,
    round_time,
    share_discarded,
    speedup,
    survival_from_rates,
    tokens_from_survival,
)
from tests.sim.strategies import below_one, unit

gammas = st.integers(0, 64)
some = st.integers(1, 16)
costs = st.floats(0.0, 2.0)
ratios = st.floats(0.25, 4.0)


def test_the_lesson_opens_on_these_numbers():
    assert expected_tokens(0.8, 4) == pytest.approx(3.3616)
    assert passes_for(100, 0.8, 4) == pytest.approx(29.7477, abs=1e-4)
    assert speedup(0.8, 4, 0.17) == pytest.approx(2.0, abs=1e-3)
    assert optimal_gamma(0.8, 0.17) == 4
    assert engine_acceptance_rate(0.8, 4) == pytest.approx(0.5904)
    assert share_discarded(0.8, 4) == pytest.approx(0.4096)
    assert [round(speedup(0.8, 4, c), 2) for c in (0.02, 0.05, 0.10)] == [3.11, 2.80, 2.40]


def test_limits_are_exact():
    assert expected_tokens(1, 4) == 5.0
    assert expected_tokens(1, 1_000_000) == 1_000_001.0
    assert expected_tokens(0, 4) == 1.0
    assert expected_tokens(0.3, 0) == 1.0
    assert speedup(0.3, 0, 5.0) == 1.0
    assert speedup(0.3, 0, 5.0, verify=2.0) == 0.5
    assert speedup(1, 4, 0) == 5.0
    assert operations_factor(0.9, 0, 3.0) == 1.0
    assert operations_factor(1, 4, 0) == 1.0
    assert engine_acceptance_rate(0, 3) == 0.0
    assert engine_acceptance_rate(1, 3) == 1.0
    assert engine_acceptance_rate(1e-300, 3) == pytest.approx(1e-300 / 3, rel=1e-12, abs=0.0)
    assert share_discarded(1, 3) == 0.0
    assert share_discarded(0, 3) == 1.0
    assert passes_for(0, 0.5, 2) == 0.0
    assert round_time(0, 0.3, verify=1.5) == 1.5
    assert round_time(4, 0.25) == 2.0
    assert oracle_tokens(0) == 1.0
    assert oracle_tokens(0.75) == 4.0
    assert oracle_tokens(0.6) == pytest.approx(2.5)
    assert tokens_from_survival(()) == 1.0
    assert survival_from_rates(()) == ()


@given(below_one, gammas)
def test_expected_tokens_is_the_sum_of_powers(alpha, gamma):
    # The printed closed form, where it does not cancel.
    assume(alpha < 0.999)
    assert expected_tokens(alpha, gamma) == pytest.approx((1 - alpha ** (gamma + 1)) / (1 - alpha), rel=1e-12)


def test_expected_tokens_does_not_cancel_near_one():
    # (1 - a^(g+1)) / (1 - a) in floats is off in the second digit here; the series to second order is not.
    a, g = 1.0 - 1e-15, 9
    assert expected_tokens(a, g) == pytest.approx(g + 1 - g * (g + 1) / 2 * (1.0 - a), rel=1e-15)


@given(unit, unit, gammas)
def test_more_acceptance_never_yields_fewer_tokens(a, b, gamma):
    low, high = sorted((a, b))
    assert 1.0 <= expected_tokens(low, gamma) <= expected_tokens(high, gamma) * (1 + 1e-15) <= (gamma + 1) * (1 + 1e-14)


@given(unit, gammas)
def test_longer_drafts_yield_more_tokens_with_diminishing_returns(alpha, gamma):
    first, second, third = (expected_tokens(alpha, gamma + k) for k in range(3))
    assert first <= second * (1 + 1e-15)
    assert third - second <= second - first + 1e-12


@given(unit, some)
def test_the_engine_rate_is_not_alpha_and_never_above_it(alpha, gamma):
    rate = engine_acceptance_rate(alpha, gamma)
    assert rate * gamma + 1 == pytest.approx(expected_tokens(alpha, gamma), rel=1e-12)
    assert 0.0 <= rate <= alpha * (1 + 1e-12)
    assert share_discarded(alpha, gamma) == 1.0 - rate


@given(unit, some)
def test_alpha_from_tokens_inverts_expected_tokens(alpha, gamma):
    assert alpha_from_tokens(expected_tokens(alpha, gamma), gamma) == pytest.approx(alpha, abs=1e-9)


def test_alpha_from_tokens_is_exact_at_the_ends():
    assert alpha_from_tokens(1, 4) == 0.0
    assert alpha_from_tokens(5, 4) == 1.0
    assert alpha_from_tokens(1.25, 1) == pytest.approx(0.25, abs=1e-11)


@given(unit, some, costs, ratios)
def test_cost_from_speedup_inverts_speedup(alpha, gamma, c, verify):
    assert cost_from_speedup(speedup(alpha, gamma, c, verify), alpha, gamma, verify) == pytest.approx(c, abs=1e-9)


def test_no_draft_cost_explains_more_than_the_tokens_of_a_pass():
    assert cost_from_speedup(expected_tokens(0.8, 4), 0.8, 4) == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(ValueError, match=r"speed is 3\.4; it must be at most 3\.361.*no draft cost c >= 0"):
        cost_from_speedup(3.4, 0.8, 4)
    with pytest.raises(ValueError, match=r"at most 1\.68"):
        cost_from_speedup(3.0, 0.8, 4, verify=2.0)


@given(some, costs, ratios)
def test_break_even_alpha_is_where_the_speedup_is_one(gamma, c, verify):
    alpha = break_even_alpha(gamma, c, verify)
    if alpha is None:
        assert speedup(1.0, gamma, c, verify) < 1.0
    elif alpha == 0.0:
        assert speedup(0.0, gamma, c, verify) >= 1.0 - 1e-9
    else:
        assert speedup(alpha, gamma, c, verify) == pytest.approx(1.0, abs=1e-9)


def test_break_even_of_one_draft_is_alpha_equal_to_c():
    # Leviathan Corollary 3.9: some gamma pays iff alpha > c, and with one draft that is exact.
    assert break_even_alpha(1, 0.3) == pytest.approx(0.3, abs=1e-11)
    assert break_even_cost(0.3, 1) == pytest.approx(0.3)
    assert break_even_alpha(4, 0.0) == 0.0
    assert break_even_alpha(4, 0.0, verify=0.5) == 0.0
    assert break_even_alpha(4, 1.0) == 1.0
    assert break_even_alpha(4, 1.01) is None
    assert break_even_cost(0.0, 4, verify=2.0) == -0.25


@given(unit, some, ratios)
def test_break_even_cost_is_where_the_speedup_is_one(alpha, gamma, verify):
    c = break_even_cost(alpha, gamma, verify)
    assume(c >= 0.0)
    assert speedup(alpha, gamma, c, verify) == pytest.approx(1.0, rel=1e-9)


@given(unit, costs)
def test_corollary_3_9_drafting_pays_iff_alpha_exceeds_c(alpha, c):
    assume(abs(alpha - c) > 1e-6)
    best = optimal_gamma(alpha, c)
    assert (best > 0) == (alpha > c)
    if best:
        assert speedup(alpha, best, c) >= (1 + alpha) / (1 + c) * (1 - 1e-12)


@given(unit, costs, st.integers(0, 20))
def test_optimal_gamma_is_no_worse_than_any_other_and_the_smallest_of_the_best(alpha, c, most):
    best = optimal_gamma(alpha, c, max_gamma=most)
    speeds = [speedup(alpha, gamma, c) for gamma in range(most + 1)]
    assert 0 <= best <= most
    assert speeds[best] >= max(speeds) * (1 - 2e-12)
    assert all(speed < max(speeds) for speed in speeds[:best])


def test_optimal_gamma_at_its_edges():
    assert optimal_gamma(1, 0) == 64
    assert optimal_gamma(1, 0, max_gamma=7) == 7
    assert optimal_gamma(1, 0, max_gamma=0) == 0
    assert optimal_gamma(0, 0) == 0  # one token a round at any length, never above 1x
    assert optimal_gamma(1, 1) == 0  # every length breaks even: stay plain
    assert optimal_gamma(0.9, 0.05, verify=lambda gamma: 1.0 if gamma < 4 else 2.0) == 3
    assert optimal_gamma(0.9, 0.05, verify=lambda gamma: 1.0 + gamma) == 0
    assert optimal_gamma(0.5, 0.2, verify=lambda gamma: 0.5) == 1  # a round cheaper than a pass
    assert optimal_gamma(0.0, 0.2, verify=lambda gamma: 0.5) == 0  # then plain is best too
    assert optimal_gamma(0.5, 0.1, verify=lambda gamma: 3.0) == 0  # one draft loses less than none, and still loses
    assert optimal_gamma(1.0, 0.0, verify=lambda gamma: gamma + 1.0 if gamma else 2.0) == 0  # one draft breaks even
    assert optimal_gamma(1.0, 0.0, verify=lambda gamma: (gamma + 1) / (1 + 1e-11) if gamma else 2.0) == 1  # just pays
    with pytest.raises(ValueError, match=r"verify\(0\) is 0; it must be a finite number above 0"):
        optimal_gamma(0.5, 0.1, verify=lambda gamma: 0)


@given(unit, st.integers(0, 12), st.floats(0.0, 1.0))
def test_operations_never_fall_below_plain_decoding(alpha, gamma, c_hat):
    assert operations_factor(alpha, gamma, c_hat) >= 1.0 - 1e-12
    assert operations_factor(alpha, gamma, c_hat) == pytest.approx(
        (gamma * c_hat + gamma + 1) / expected_tokens(alpha, gamma), rel=1e-15
    )


@given(st.lists(unit, max_size=12))
def test_survival_is_the_running_product_and_its_sum_the_tokens(rates):
    survival = survival_from_rates(rates)
    product = 1.0
    for rate, kept in zip(rates, survival, strict=True):
        product *= rate
        assert kept == product
    assert tokens_from_survival(survival) == pytest.approx(1 + sum(survival))


@given(unit, gammas)
def test_equal_rates_by_position_are_the_closed_form(alpha, gamma):
    assert tokens_from_survival(survival_from_rates([alpha] * gamma)) == pytest.approx(expected_tokens(alpha, gamma))


def test_rising_survival_is_refused():
    assert tokens_from_survival((0.5, 0.5)) == 2.0
    with pytest.raises(ValueError, match=r"survival\[1\] is 0\.6; it must be from 0 to 0\.5"):
        tokens_from_survival((0.5, 0.6))
    with pytest.raises(ValueError, match=r"survival\[2\] is 0\.5; it must be from 0 to 0\.4"):
        tokens_from_survival((0.5, 0.4, 0.5))
    with pytest.raises(ValueError, match=r"rates\[1\] is 1\.5"):
        survival_from_rates((0.5, 1.5))


NOT_A_PROBABILITY = (-1e-9, 1.0000001, float("nan"), float("inf"), True, "0.5", None)
NOT_A_LENGTH = (-1, 2.5, float("nan"), float("inf"), True, "3", None)
CALLS = {  # a good call each; every argument is then spoilt in turn
    expected_tokens: {"alpha": 0.5, "gamma": 3},
    passes_for: {"tokens": 100, "alpha": 0.5, "gamma": 3},
    round_time: {"gamma": 3, "c": 0.1, "verify": 1.0},
    speedup: {"alpha": 0.5, "gamma": 3, "c": 0.1, "verify": 1.0},
    optimal_gamma: {"alpha": 0.5, "c": 0.1, "max_gamma": 8},
    operations_factor: {"alpha": 0.5, "gamma": 3, "c_hat": 0.1},
    engine_acceptance_rate: {"alpha": 0.5, "gamma": 3},
    share_discarded: {"alpha": 0.5, "gamma": 3},
    alpha_from_tokens: {"tau": 2.0, "gamma": 3},
    break_even_alpha: {"gamma": 3, "c": 0.1, "verify": 1.0},
    break_even_cost: {"alpha": 0.5, "gamma": 3, "verify": 1.0},
    cost_from_speedup: {"speed": 1.5, "alpha": 0.5, "gamma": 3, "verify": 1.0},
    oracle_tokens: {"alpha": 0.5},
}
SPOILT = {
    "alpha": NOT_A_PROBABILITY,
    "gamma": NOT_A_LENGTH,
    "max_gamma": NOT_A_LENGTH,
    "c": (-0.1, float("nan"), float("inf"), True, "x", 10**400),
    "c_hat": (-0.1, float("nan"), float("inf"), True),
    "verify": (0.0, -1.0, float("nan"), float("inf"), True),
    "tokens": (-1, float("nan"), float("inf"), True),
    "speed": (0.0, -1.0, float("nan"), float("inf"), True),
    "tau": (0.999, 4.001, float("nan"), float("inf"), True),
}


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
def test_every_argument_can_be_named_and_a_bad_one_is_named_back(call):
    good = CALLS[call]
    assert isinstance(call(**good), float | int)
    for name in good:
        for bad in SPOILT[name]:
            with pytest.raises(ValueError, match=rf"^{name} is .*; it must be ") as caught:
                call(**{**good, name: bad})
            assert repr(bad) in str(caught.value)


@pytest.mark.parametrize(
    "call",
    [engine_acceptance_rate, share_discarded, alpha_from_tokens, break_even_alpha, break_even_cost, cost_from_speedup],
)
def test_without_drafts_there_is_no_rate(call):
    with pytest.raises(ValueError, match=r"gamma is 0; it must be a whole number, 1 or more"):
        call(**{**CALLS[call], "gamma": 0})


def test_oracle_needs_a_draft_that_can_fail():
    with pytest.raises(ValueError, match=r"alpha is 1; it must be a finite number from 0.* to below 1"):
        oracle_tokens(1)
