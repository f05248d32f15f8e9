"""Numbers beside a curve are the published ones, and the errors they give are those that the literature names."""

import pytest

from sim import pass_time
from sim.beside import _LEVIATHAN, PUBLISHED_PASSES, PublishedSpeedup, published_speedups
from sim.data import parse


@pytest.fixture(scope="module")
def record():
    with open("docs/data/published.json", encoding="utf-8") as file:
        return parse(file.read()).rows


@pytest.mark.parametrize("row", _LEVIATHAN, ids=lambda row: row[0])
def test_a_row_is_the_one_of_the_record(row, record):
    said = record[row[0]]
    assert row[1:] == (said.alpha, said.gamma, said.c, said.speedup)


def test_the_published_pass_is_the_sum_of_its_terms():
    fit = PUBLISHED_PASSES["8b", "h100-sxm", "bf16"]
    assert fit.ms(1) == pytest.approx(5.90701)
    assert fit.ms(100, 100_000) == pytest.approx(5.886 + 2.101 + 3.926)


def test_the_roofline_is_a_fifth_too_short_at_one_position():
    """Literature D.4: the weights' term is 81 % of the fitted one."""
    fit = PUBLISHED_PASSES["8b", "h100-sxm", "bf16"]
    assert pass_time("8b", "h100-sxm").total_ms / fit.ms(1) == pytest.approx(0.81, abs=0.005)


def test_rows_near_a_setting_are_found_and_their_error_told():
    found = published_speedups(0.75, 0.02)
    assert [row.id for row in found] == ["leviathan-t4-cnndm-t5-base-t0", "leviathan-t4-ende-t5-small-t0"]
    assert found[1].error == pytest.approx(3.157 / 3.4 - 1, abs=1e-3)
    assert published_speedups(0.3, 0.3) == ()
    assert [row.gamma for row in published_speedups(0.65, 0.05, near=1.0)] == sorted(row[2] for row in _LEVIATHAN)


def test_an_impossible_row_says_the_formula_is_too_low():
    row = PublishedSpeedup(*_LEVIATHAN[6])
    assert row.error < -0.2


@pytest.mark.parametrize(("given", "why"), [({"alpha": 1.2, "c": 0.1}, "alpha"), ({"alpha": 0.5, "c": -1}, "c")])
def test_bad_values_are_named(given, why):
    with pytest.raises(ValueError, match=why):
        published_speedups(**given)
