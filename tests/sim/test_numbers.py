"""The checks every public function shares: what is taken, what is refused, and in which words."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim._numbers import LARGEST, geometric_sum, number, one_of, probability, row, tokens_of, whole


@pytest.mark.parametrize(("value", "taken"), [(1, 1.0), (0.5, 0.5), (Fraction(1, 4), 0.25), (-0.0, 0.0)])
def test_numbers_come_back_as_floats(value, taken):
    assert number("x", value, 0.0) == taken
    assert type(number("x", value, 0.0)) is float


@pytest.mark.parametrize("bad", [True, None, "1", 1j, math.nan, math.inf, -math.inf, 10**400, [1.0]])
def test_what_is_not_a_number_is_refused(bad):
    with pytest.raises(ValueError, match=r"^x is .*; it must be a finite number$"):
        number("x", bad)


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ({"low": 0.0}, "a finite number, 0.0 or more"),
        ({"low": 0.0, "open_low": True}, "a finite number above 0.0"),
        ({"high": 1.0}, "a finite number, 1.0 or less"),
        ({"high": 1.0, "open_high": True}, "a finite number below 1.0"),
        ({"low": 0.0, "high": 1.0}, "a finite number from 0.0 to 1.0"),
        ({"low": 0.0, "high": 1.0, "open_low": True}, "a finite number above 0.0 to 1.0"),
        ({"low": 0.0, "high": 1.0, "open_high": True}, "a finite number from 0.0 to below 1.0"),
    ],
)
def test_the_range_is_said_in_words_and_open_ends_are_outside(bounds, words):
    for end, is_open in (("low", "open_low"), ("high", "open_high")):
        if end in bounds and bounds.get(is_open):
            with pytest.raises(ValueError) as caught:
                number("x", bounds[end], **bounds)
            assert str(caught.value) == f"x is {bounds[end]}; it must be {words}"
        elif end in bounds:
            assert number("x", bounds[end], **bounds) == bounds[end]
    with pytest.raises(ValueError) as caught:
        number("x", None, **bounds)
    assert str(caught.value) == f"x is None; it must be {words}"


@pytest.mark.parametrize("value", [4, 4.0])
def test_whole_numbers_come_back_as_ints(value):
    assert whole("n", value, 0) == 4
    assert type(whole("n", value, 0)) is int


@pytest.mark.parametrize("bad", [True, None, "4", 2.5, math.nan, math.inf, 3, 9])
def test_what_is_not_a_whole_number_in_range_is_refused(bad):
    with pytest.raises(ValueError) as caught:
        whole("n", bad, 4, 8)
    assert str(caught.value) == f"n is {bad!r}; it must be a whole number from 4 to 8"


def test_whole_numbers_beyond_what_floats_count_are_refused():
    assert whole("n", LARGEST, 0) == LARGEST
    with pytest.raises(ValueError, match=r"it must be a whole number from 0 to 1000000000000000$"):
        whole("n", LARGEST + 1, 0)
    with pytest.raises(ValueError, match=r"n is -1; it must be a whole number, 0 or more$"):
        whole("n", -1, 0)


def test_rows_tokens_words_and_probabilities():
    assert row("p", [0.25, 0.75]) == (0.25, 0.75)
    assert row("p", iter([1])) == (1.0,)
    assert tokens_of("t", [0, 2.0], 3) == (0, 2)
    assert one_of("form", "max", ("max", "sum")) == "max"
    assert probability("a", 1) == 1.0
    with pytest.raises(ValueError, match=r"t\[1\] is 3; it must be a whole number from 0 to 2"):
        tokens_of("t", [0, 3], 3)
    with pytest.raises(ValueError, match=r"form is \['max'\]; it must be one of: max, sum"):
        one_of("form", ["max"], ("max", "sum"))


@given(st.floats(0, 1), st.integers(0, 200))
def test_geometric_sum_is_the_sum_of_powers(ratio, terms):
    exact = sum(Fraction(ratio) ** k for k in range(terms)) if terms <= 12 else None
    if exact is not None:
        assert geometric_sum(ratio, terms) == pytest.approx(float(exact), rel=1e-15)
    assert geometric_sum(ratio, terms) == pytest.approx(math.fsum(ratio**k for k in range(terms)), rel=1e-13)


def test_geometric_sum_at_its_ends():
    assert geometric_sum(1.0, 10**15) == 1e15
    assert geometric_sum(0.0, 10**15) == 1.0
    assert geometric_sum(0.5, 0) == 0.0
