"""`pass_cost`: the opening numbers, the bend, and what it says when the weights do not fit."""

import widgets
from sim import pass_time
from tests.widgets.states import draw

WIDGET = widgets.load("pass_cost")


def view(**given):
    return draw(WIDGET, WIDGET.values(given))


def texts(shown):
    return {row.key: f"{row.text} {row.unit}".strip() for row in shown.readout}


def test_it_opens_on_the_numbers_of_the_lesson():
    shown = view()
    assert texts(shown) == {
        "weights": "140 GB", "pass": "41.8 ms", "positions": "1", "per_position": "41.8 ms", "idle": "99.7%",
    }  # fmt: skip


def test_eight_positions_cost_what_one_costs():
    shown = view(positions=8)
    assert shown.title == "Eight positions cost what one costs"
    assert texts(shown)["pass"] == texts(view())["pass"]
    assert texts(shown)["per_position"] == "5.22 ms"
    assert texts(shown)["idle"] == "97.3%"


def test_past_the_ridge_the_title_no_longer_promises():
    shown = view(positions=512)
    assert shown.title == "512 positions cost 1.7× what one costs"
    assert "295" in shown.summary
    assert texts(shown)["idle"] == "0.0%"


def test_values_are_those_of_sim():
    values = {row.key: row.value for row in view(positions=3, weights="int8", hardware="h200", model="8b").readout}
    cost = pass_time("8b", "h200", 3, weights="int8")
    assert values == {
        "weights": cost.weight_bytes / 1e9, "pass": cost.total_ms, "positions": 3,
        "per_position": cost.per_position_ms, "idle": cost.idle,
    }  # fmt: skip


def test_what_does_not_fit_is_said_with_what_does():
    verdict = view().verdict
    assert verdict is not None
    assert verdict.kind == "care"
    for words in (
        "do not fit in the 80 GB",
        "8 bits (20.9 ms)",
        "2 cards (20.9 ms)",
        "H200 with 141 GB (29.2 ms, the weights only)",
        "MI300X with 192 GB (26.4 ms)",
    ):
        assert words in verdict.text


def test_what_fits_says_how_much_is_left():
    assert view(weights="int8").verdict.text.startswith("It fits: 70 GB of weights in the 80 GB")
    tight = view(hardware="h200").verdict
    assert tight.kind == "care"
    assert "leaves 1 GB, too little" in tight.text


def test_only_models_that_score_alone_are_offered():
    assert set(WIDGET.params["model"].options) == {"70b", "8b", "1b", "0.5b"}


def test_weights_are_counted_without_the_cache_of_the_scored_positions():
    assert "It fits: 35 GB" in view(weights="int4", positions=512).verdict.text


def test_what_is_to_be_doubted_is_said():
    assert "second-hand" in view(hardware="rtx-4090").note
    assert "No kernel reaches" in view(positions=512).note
    assert view().note is None


def test_a_published_fit_stands_beside_the_curve_and_the_error_is_told():
    shown = view(model="8b")
    assert "The model is off by 19% here, too short." in shown.note
    assert shown.svg.count("M-4-4H4V4H-4Z") == 8  # open squares: nobody took a stopwatch here
    assert "off by 50% here" in view(model="8b", positions=512).note


def test_no_error_is_told_where_nobody_published_passes():
    for given in ({}, {"model": "8b", "devices": "2"}, {"model": "8b", "weights": "int4"}):
        assert "off by" not in (view(**given).note or "")
