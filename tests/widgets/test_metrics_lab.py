"""`metrics` (the lab): every notation leads to every other, and impossible numbers are named as such."""

import pytest

import widgets
from sim import engine_acceptance_rate, expected_tokens, sglang_rate
from tests.widgets.states import draw

WIDGET = widgets.load("metrics")


def view(**given):
    return draw(WIDGET, WIDGET.values(given))


def values(shown):
    return {row.key: row.value for row in shown.readout}


@pytest.mark.parametrize(
    "given",
    [
        {"given": "length", "mean": 3.36},
        {"given": "accepted", "mean": 2.36},
        {"given": "rate", "rate": 0.59},
        {"given": "alpha", "rate": 0.8},
        {"given": "old", "rate": 0.67},
        {"given": "positions", "positions": "0.8, 0.64, 0.512, 0.4096"},
        {"given": "positions", "positions": "(80% 64% 51.2% 40.96%)"},
    ],
)
def test_every_name_of_one_run_leads_to_the_others(given):
    shown = values(view(gamma=4, **given))
    assert shown["tau"] == pytest.approx(3.36, abs=0.015)
    assert shown["accepted"] == pytest.approx(2.36, abs=0.015)
    assert shown["rate"] == pytest.approx(engine_acceptance_rate(0.8, 4), abs=0.005)
    assert shown["old"] == pytest.approx(sglang_rate(expected_tokens(0.8, 4), 4), abs=0.005)
    assert shown["alpha"] == pytest.approx(0.8, abs=0.005)


def test_the_pair_that_somebody_asked_about_is_impossible():
    shown = view(given="pair", gamma=5, mean=3.25, rate=0.65)
    assert shown.verdict.kind == "loss"
    assert "gives 4.25 tokens per pass, not 3.25" in shown.verdict.text
    assert "only 3.46 tokens on average" in shown.verdict.text
    assert view(given="pair", gamma=5, mean=3.25, rate=0.45).verdict.kind == "gain"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"given": "length", "gamma": 2, "mean": 3.36}, "between 1 and 3"),
        ({"given": "length", "mean": 0.5}, "between 1 and 5"),
        ({"given": "accepted", "gamma": 2, "mean": 2.36}, "not more can be accepted"),
        ({"given": "old", "gamma": 8, "rate": 0.1}, "never falls below 0.111"),
        ({"given": "positions", "positions": "0.5, 0.7"}, "position 1 is kept in 0.7"),
        ({"given": "positions", "positions": "0.5, lots"}, "“lots” is not a share"),
        ({"given": "positions", "positions": "0.5 " * 17}, "at most 16 positions"),
        ({"given": "positions", "positions": ""}, "type the shares"),
        ({"given": "positions", "positions": "<b>9</b>"}, "“<b>9</b>” is not a share"),
    ],
)
def test_what_no_run_can_have_is_said_and_never_shown_as_a_number(given, words):
    shown = view(**given)
    assert words in shown.verdict.text[0].lower() + shown.verdict.text[1:]
    assert {row.text for row in shown.readout} == {"–"}


def test_who_prints_it_stands_in_the_table_with_its_value():
    rows = {(row[0], row[1]): row[2] for row in view(given="alpha", rate=0.8, gamma=4).table.rows}
    assert rows["vLLM, log", "Mean acceptance length"] == "3.36"
    assert rows["vLLM, log", "Draft acceptance rate"] == "59.0%"
    assert rows["SGLang, log, before", "accept rate"] == "0.67"
    assert rows["older code and some papers", "mean accepted tokens"] == "2.36"
