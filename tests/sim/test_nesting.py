"""Brackets that are open at once, outside strings."""

from __future__ import annotations

import pytest

from sim._nesting import deeper_than
from sim.logs import parse_log


@pytest.mark.parametrize(
    ("text", "deep"),
    [
        ("[[[]]]", False),
        ("[[[[]]]]", True),
        ('{"a": [{"b": []}]}', True),
        ("[] [] [] [] []", False),
        ('"[[[[[[" [[[]]]', False),
        (r'"a \" [[[[" []', False),
        ('"never closed [[[[', True),  # not JSON: counted as it stands, on the safe side
        ("]]]]]][[[[", False),
        ("", False),
    ],
)
def test_more_than_three_levels(text, deep):
    assert deeper_than(text, 3) is deep


def test_a_deeply_nested_log_line_is_read_past_not_parsed():
    hostile = '{"accept_length": ' + "[" * 200_000
    good = "SpecDecoding metrics: Draft acceptance rate: 100.0%, Accepted: 66 tokens, Drafted: 66 tokens"
    log = parse_log([hostile, "", good])
    assert (log.total.accepted, log.total.drafted) == (66, 66)
