"""Argument checks and the one series that everything here rests on.

Why it exists: every public function refuses a bad value in the same words (argument, value, range), and every sum of
powers is made in the same stable way. It must not know what any number means: no acceptance, no hardware, no tokens.
"""

import math
import operator
from collections.abc import Sequence
from numbers import Real

__all__ = ["geometric_sum", "number", "one_of", "probability", "row", "tokens_of", "whole"]

ROW_TOLERANCE = 1e-6
LARGEST = 10**15
"""The largest whole number taken anywhere: beyond it a float no longer counts one by one."""


def number(
    name: str,
    value: object,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    open_low: bool = False,
    open_high: bool = False,
) -> float:
    """`value` as a finite float inside [low, high] (`open_low`, `open_high`: without that end).

    Raises ValueError naming the argument, the value and the range; bool, NaN, infinity and non-numbers are refused.
    """
    plain = type(value) is float or type(value) is int  # asking an abstract class takes ten times as long
    ok = plain or (isinstance(value, Real) and not isinstance(value, bool))
    if ok:
        try:
            found = float(value)  # type: ignore[arg-type]
        except OverflowError:
            found = math.inf
        inside_low = found > low if open_low else found >= low
        inside_high = found < high if open_high else found <= high
        if math.isfinite(found) and inside_low and inside_high:
            return found
    raise ValueError(
        f"{name} is {value!r}; it must be {_range_words('a finite number', low, high, open_low, open_high)}"
    )


def probability(name: str, value: object) -> float:
    """`value` as a float in [0, 1]; ValueError otherwise."""
    return number(name, value, 0.0, 1.0)


def whole(name: str, value: object, low: int | None = None, high: int | None = None) -> int:
    """`value` as an int inside [low, high] and not above 1e15; 4.0 counts as 4.

    ValueError for bool, 2.5, NaN, infinity and non-numbers.
    """
    found: int | None = None
    if isinstance(value, float) and value.is_integer():
        found = int(value)
    elif not isinstance(value, bool | float):
        try:
            found = operator.index(value)  # type: ignore[arg-type]
        except TypeError:
            found = None
    least = -math.inf if low is None else low
    most: float = LARGEST if high is None else high
    if found is None or not least <= found <= most:
        if high is None and (found is None or found <= LARGEST):
            most = math.inf  # said as "1 or more"
        raise ValueError(f"{name} is {value!r}; it must be {_range_words('a whole number', least, most)}")
    return found


def one_of(name: str, value: object, allowed: Sequence[str]) -> str:
    """`value` if it is one of the allowed words; ValueError with the list otherwise."""
    if isinstance(value, str) and value in allowed:
        return value
    raise ValueError(f"{name} is {value!r}; it must be one of: {', '.join(allowed)}")


def row(name: str, values: object, size: int | None = None) -> tuple[float, ...]:
    """A distribution over tokens: non-negative finite floats that sum to 1 within 1e-6, `size` of them if given.

    The row is returned as given, not renormalised: a caller that hands in a distribution gets the law of that one.
    """
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise ValueError(f"{name} is {values!r}; it must be a row of probabilities that sum to 1")
    entries = tuple(number(f"{name}[{i}]", value, 0.0) for i, value in enumerate(values))
    if not entries:
        raise ValueError(f"{name} is empty; it must be a row of probabilities that sum to 1")
    if size is not None and len(entries) != size:
        raise ValueError(
            f"{name} has {len(entries)} entries; it must have {size}, one for each token of the vocabulary"
        )
    total = math.fsum(entries)
    if abs(total - 1.0) > ROW_TOLERANCE:
        raise ValueError(f"{name} sums to {total!r}; it must sum to 1 within {ROW_TOLERANCE}")
    return entries


def tokens_of(name: str, values: object, vocabulary: int | None = None) -> tuple[int, ...]:
    """A sequence of token ids: whole numbers from 0 to vocabulary - 1."""
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise ValueError(f"{name} is {values!r}; it must be a sequence of token ids")
    last = None if vocabulary is None else vocabulary - 1
    return tuple(whole(f"{name}[{i}]", value, 0, last) for i, value in enumerate(values))


def geometric_sum(ratio: float, terms: int) -> float:
    """1 + ratio + … + ratio^(terms - 1) for a ratio in [0, 1], by doubling.

    (1 - ratio^terms) / (1 - ratio) cancels near 1 and is 0/0 at 1. Doubling, S(2n) = S(n)·(1 + ratio^n) and S(n + 1) =
    1 + ratio·S(n), has only positive terms, is exact at 0 and 1, takes log2(terms) steps, and uses nothing but + and ×,
    so the bits are the same on every machine (a C library's pow is not).
    """
    total, power = 0.0, 1.0
    for bit in f"{terms:b}":
        total, power = total * (1.0 + power), power * power
        if bit == "1":
            total, power = 1.0 + ratio * total, power * ratio
    return total


def _range_words(kind: str, low: float, high: float, open_low: bool = False, open_high: bool = False) -> str:
    """The allowed range in words, such as "a whole number from 1 to 64"."""
    if math.isinf(low) and math.isinf(high):
        return kind
    if math.isinf(high):
        return f"{kind} above {low}" if open_low else f"{kind}, {low} or more"
    if math.isinf(low):
        return f"{kind} below {high}" if open_high else f"{kind}, {high} or less"
    left, right = ("above" if open_low else "from"), ("to below" if open_high else "to")
    return f"{kind} {left} {low} {right} {high}"
