"""The chi-square test against tables and identities, and the noise of honest draws against draws."""

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim import chi_square, noise_floor, total_variation, upper_gamma

# Critical values as printed in every table of the chi-square distribution: degrees, statistic, p-value.
TABLE = [
    (1, 3.841458821, 0.05), (1, 6.634896601, 0.01), (2, 5.991464547, 0.05), (4, 9.487729037, 0.05),
    (4, 18.46682695, 0.001), (9, 16.91897760, 0.05), (9, 3.325112843, 0.95), (30, 43.77297183, 0.05),
    (100, 124.3421134, 0.05),
]  # fmt: skip


@pytest.mark.parametrize(("degrees", "statistic", "p_value"), TABLE)
def test_p_values_of_the_printed_tables(degrees, statistic, p_value):
    assert upper_gamma(degrees / 2, statistic / 2) == pytest.approx(p_value, rel=1e-7)


@given(st.floats(1e-6, 500.0))
def test_closed_forms_of_the_gamma_function(x):
    assert upper_gamma(1, x) == pytest.approx(math.exp(-x), rel=1e-10)
    assert upper_gamma(0.5, x) == pytest.approx(math.erfc(math.sqrt(x)), rel=1e-9)
    assert upper_gamma(2, x) == pytest.approx((1 + x) * math.exp(-x), rel=1e-10)


@given(st.floats(0.1, 60.0))
def test_both_ways_to_compute_it_meet(a):
    assert upper_gamma(a, a + 1 - 1e-9) == pytest.approx(upper_gamma(a, a + 1 + 1e-9), rel=1e-8)


def test_a_fit_by_hand():
    fit = chi_square([55, 25, 20], [0.5, 0.3, 0.2])
    assert fit.statistic == pytest.approx(25 / 50 + 25 / 30)
    assert (fit.degrees, fit.impossible) == (2, 0)
    assert fit.p_value == pytest.approx(math.exp(-fit.statistic / 2))


def test_small_cells_are_taken_together():
    """Ten draws of five words expect 4, 2.5, 2, 1, 0.5: two groups, of 6 (0.5 + 1 + 2 + 2.5) and 4, which joins it."""
    fit = chi_square([4, 3, 2, 1, 0], [0.4, 0.25, 0.2, 0.1, 0.05])
    assert (fit.degrees, fit.p_value) == (0, None)
    wide = chi_square([40, 25, 20, 10, 5], [0.4, 0.25, 0.2, 0.1, 0.05])
    assert (wide.degrees, wide.statistic, wide.p_value) == (4, 0.0, 1.0)


def test_one_token_that_cannot_be_is_enough():
    fit = chi_square([999, 1], [1.0, 0.0])
    assert (fit.impossible, fit.p_value) == (1, 0.0)
    assert chi_square([1000, 0], [1.0, 0.0]).p_value is None


def test_honest_draws_give_every_p_value_alike():
    """A right test calls one honest sample in twenty unlikely at the 5 % level, not none and not half."""
    law = (0.4, 0.25, 0.2, 0.1, 0.05)
    uniform = Random(5)
    below = 0
    for _ in range(400):
        draws = uniform.choices(range(5), weights=law, k=500)
        fit = chi_square([draws.count(token) for token in range(5)], law)
        assert fit.p_value is not None
        below += fit.p_value < 0.05
    assert 8 <= below <= 34  # 20 expected, three standard deviations of 4.4


def test_the_noise_floor_is_the_mean_of_honest_draws():
    law = (0.4, 0.25, 0.2, 0.1, 0.05)
    uniform = Random(6)
    found = []
    for _ in range(600):
        draws = uniform.choices(range(5), weights=law, k=200)
        found.append(total_variation([draws.count(token) / 200 for token in range(5)], law))
    assert math.fsum(found) / 600 == pytest.approx(noise_floor(law, 200), rel=0.05)


def test_noise_falls_with_the_root_of_the_draws_and_is_nothing_for_a_sure_token():
    assert noise_floor((0.5, 0.5), 1) == pytest.approx(0.5)
    assert noise_floor((0.5, 0.5), 400) / noise_floor((0.5, 0.5), 40_000) == pytest.approx(10, rel=1e-2)
    assert noise_floor((1.0, 0.0), 10) == 0.0


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="counts has 2 entries; it must have 3"):
        chi_square([1, 2], [0.5, 0.3, 0.2])
    with pytest.raises(ValueError, match=r"counts\[0\] is -1"):
        chi_square([-1, 2], [0.5, 0.5])
    with pytest.raises(ValueError, match="a is 0"):
        upper_gamma(0, 1)
    with pytest.raises(ValueError, match="draws is 0"):
        noise_floor([1.0], 0)
