"""Hypothesis strategies that the tests of `sim` share: rows, pairs of rows, little models."""

import math
from collections.abc import Callable

from hypothesis import strategies as st

Row = tuple[float, ...]

unit = st.floats(0.0, 1.0)
below_one = st.floats(0.0, 1.0, exclude_max=True)
weights = st.one_of(st.just(0.0), st.floats(1e-9, 1.0))


def rows(size: int) -> st.SearchStrategy[Row]:
    """Distributions over `size` tokens, zeros and tiny entries included."""
    return st.lists(weights, min_size=size, max_size=size).filter(any).map(normalised)


def pairs(largest: int = 6) -> st.SearchStrategy[tuple[Row, Row]]:
    """A target row and a draft row over the same 1 … largest tokens."""
    return st.integers(1, largest).flatmap(lambda size: st.tuples(rows(size), rows(size)))


def normalised(values: list[float]) -> Row:
    total = math.fsum(values)
    return tuple(value / total for value in values)


def little_model(salt: int, size: int = 5) -> Callable[[tuple[int, ...]], Row]:
    """A model that depends on its whole prefix: another row after another text, the same row after the same text."""

    def next_row(prefix: tuple[int, ...]) -> Row:
        state = salt
        for token in prefix:
            state = (state * 31 + token + 7) % 9973
        return normalised([1.0 + (state * (token + 3)) % 11 for token in range(size)])

    return next_row


def distance(a: Row, b: Row) -> float:
    """Total variation."""
    return math.fsum(abs(x - y) for x, y in zip(a, b, strict=True)) / 2.0
