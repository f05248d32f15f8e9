"""Emulated rounding against the machine's own bytes, and sums that differ by order alone."""

import math
import struct
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim import rounded, spacing, summed
from sim.rounding import ORDERS

NUMBERS = st.floats(-1e30, 1e30).map(lambda x: x if abs(x) > 1e-30 else 0.0)


def as_float32(x):
    """What the machine makes of x in 32 bits."""
    return struct.unpack("<f", struct.pack("<f", x))[0]


@given(NUMBERS)
def test_float32_is_the_machines(x):
    assert rounded(x, "float32") == as_float32(x)


@given(NUMBERS)
def test_bf16_is_the_upper_half_of_a_float32(x):
    value = rounded(x, "bf16")
    assert struct.pack("<f", value)[:2] == b"\0\0"
    assert abs(value - x) <= spacing(x, "bf16") / 2


def test_a_tie_goes_to_the_even_neighbour():
    assert (rounded(1 + 1 / 256, "bf16"), rounded(1 + 3 / 256, "bf16")) == (1.0, 1 + 2 / 128)
    assert rounded(-1 - 1 / 256, "bf16") == -1.0


@pytest.mark.parametrize(("x", "step"), [(1.0, 2**-7), (12.3, 2**-4), (-200.0, 1.0), (0.0, 0.0)])
def test_one_step_of_bf16(x, step):
    assert spacing(x, "bf16") == step


@given(st.lists(st.integers(-(10**12), 10**12).map(lambda n: n / 7e6), max_size=20))
def test_float32_sums_are_the_machines_in_every_step(terms):
    total = 0.0
    for term in terms:
        total = as_float32(total + as_float32(term))
    assert summed(terms, "float32", "forward") == total


def test_the_same_terms_in_another_order():
    terms = [256.0, 1.0, 1.0]  # in bf16 a step at 256 is 2: one alone is lost, two together are not
    assert summed(terms, "bf16", "forward") == 256.0
    assert summed(terms, "bf16", "backward") == 258.0
    assert summed(terms, "bf16", "pairwise") == 258.0
    assert [summed(terms, "float32", way) for way in ORDERS] == [258.0] * 4


def test_blocks_are_added_side_by_side():
    uniform = Random(3)
    terms = [uniform.random() - 0.5 for _ in range(16)]
    parts = [summed(terms[start : start + 4], "bf16") for start in range(0, 16, 4)]
    assert summed(terms, "bf16", "blocks") == summed(parts, "bf16")


@given(st.lists(st.floats(-8, 8), min_size=1, max_size=40), st.sampled_from(ORDERS))
def test_no_order_strays_further_than_the_bound(terms, order):
    """|error| ≤ n·u·sum|terms| to first order, u half a step at 1 (Higham, Accuracy and Stability, section 4.2)."""
    exact = math.fsum(terms)
    bound = 1.1 * (len(terms) + 4) * 2**-8 * math.fsum(map(abs, terms))
    assert abs(summed(terms, "bf16", order) - exact) <= bound + 1e-300


def test_an_empty_sum_is_nothing():
    assert [summed([], "bf16", way) for way in ORDERS] == [0.0] * 4


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="format is 'fp8'"):
        rounded(1.0, "fp8")
    with pytest.raises(ValueError, match="order is 'sideways'"):
        summed([1.0], "bf16", "sideways")
    with pytest.raises(ValueError, match=r"terms\[1\] is nan"):
        summed([1.0, math.nan])
