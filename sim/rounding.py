"""Adding numbers up as a machine does: each result rounded to a format, in an order somebody chose.

Why it exists: "the same logits" are sums of many products, and a pass over five positions adds them in another order
than a pass over one. In short formats that is enough to turn a near tie. Here the rounding is done for real, so that a
lesson can compute a flip where it would otherwise have to claim one. It must not know about models or tokens.

Formats differ in the bits of their significand only; their range is not emulated (no overflow, no subnormals), since
logits are nowhere near it.
"""

import math
from collections.abc import Sequence

from sim._numbers import number, one_of

__all__ = ["ORDERS", "SIGNIFICANDS", "rounded", "spacing", "summed"]

SIGNIFICANDS = {"bf16": 8, "fp16": 11, "float32": 24, "float64": 53}
"""Bits of the significand, the leading one included."""

ORDERS = ("forward", "backward", "pairwise", "blocks")
"""Ways to add a list: from the first, from the last, halves of halves, or four blocks and then their sums."""

BLOCKS = 4


def rounded(x: float, format: str) -> float:
    """The number of `format` nearest to x; exactly between two, the one whose last bit is 0 (IEEE 754's default)."""
    bits = SIGNIFICANDS[one_of("format", format, tuple(SIGNIFICANDS))]
    return _rounded(number("x", x), bits)


def spacing(x: float, format: str) -> float:
    """The distance from |x| to the next larger number of `format`: one step; 0 for x = 0."""
    bits = SIGNIFICANDS[one_of("format", format, tuple(SIGNIFICANDS))]
    value = number("x", x)
    return math.ldexp(1.0, math.frexp(value)[1] - bits) if value else 0.0


def summed(terms: Sequence[float], format: str = "float32", order: str = "forward") -> float:
    """The sum of `terms` in `format`: every term and every partial sum is rounded to it. `order` is one of `ORDERS`.

    An empty list gives 0. Rounding the double sum of two numbers of a short format once more is the same as a
    machine's one rounding, since 53 ≥ 2·24 + 2 (Figueroa 1995).
    """
    bits = SIGNIFICANDS[one_of("format", format, tuple(SIGNIFICANDS))]
    if not all(type(term) is float and math.isfinite(term) for term in terms):  # naming each argument is slow
        terms = [number(f"terms[{i}]", term) for i, term in enumerate(terms)]
    values = [_rounded(term, bits) for term in terms]
    way = one_of("order", order, ORDERS)
    if way == "backward":
        values.reverse()
    if way == "pairwise":
        return _halves(values, bits)
    if way == "blocks":
        size = max(1, -(-len(values) // BLOCKS))
        values = [_in_turn(values[start : start + size], bits) for start in range(0, len(values), size)]
    return _in_turn(values, bits)


def _rounded(x: float, bits: int) -> float:
    fraction, exponent = math.frexp(x)
    return math.ldexp(round(math.ldexp(fraction, bits)), exponent - bits)  # round() takes the even one of a tie


def _in_turn(values: Sequence[float], bits: int) -> float:
    total = 0.0
    for value in values:
        total = _rounded(total + value, bits)
    return total


def _halves(values: Sequence[float], bits: int) -> float:
    if len(values) < 2:
        return values[0] if values else 0.0
    middle = len(values) // 2
    return _rounded(_halves(values[:middle], bits) + _halves(values[middle:], bits), bits)
