"""The published record as a map: what is drawn, how it was read, and what lies above the line."""

import pytest

import widgets
from tests.widgets.states import draw
from widgets._kit.landed import LANDED, legend


def shown(**given):
    widget = widgets.load("published_map")
    return draw(widget, widget.values(given))


def value(view, key):
    return next(row.value for row in view.readout if row.key == key)


def test_the_rows_above_the_line_are_named_and_counted():
    """Four of Leviathan's speed-ups, and one SpecBundle row whose baseline is not like for like."""
    view = shown()
    assert value(view, "above") == 5
    assert view.verdict.kind == "care"
    assert "Llama-4-Scout" in view.verdict.text
    assert view.verdict.text.count("T5-XXL") == 4


def test_without_rows_above_it_the_line_is_kept():
    view = shown(method="lookup")
    assert value(view, "above") == 0
    assert value(view, "best") < value(view, "tokens")
    assert view.verdict.kind == "info"


def test_computed_tokens_per_pass_are_squares_and_quoted_rows_diamonds():
    tpu = shown(hardware="tpu")  # Leviathan's table prints accept rates, not tokens per pass
    assert {row[-1].split(" (")[0] for row in tpu.table.rows[:-1]} == {"tokens computed from the accept rate"}
    assert tpu.svg.count("M-4-4H4V4H-4Z") == value(tpu, "rows")
    assert "M0-5.5L5.5 0" in shown().svg


def test_offloading_never_stands_beside_passes_on_a_card():
    """Its passes wait for the bus: 9.96× at 12.18 tokens a pass would be the top of every other chart."""
    assert value(shown(), "best") < 9
    assert value(shown(hardware="offload"), "best") == 9.96


@pytest.mark.parametrize("method", ["heads", "model", "lookup", "parallel"])
def test_methods_share_the_record_out(method):
    assert 0 < value(shown(method=method), "rows") < value(shown(), "rows")


def test_every_row_belongs_to_one_method_batch_and_task():
    total = value(shown(), "rows")
    for name in ("method", "batch", "task"):
        options = [key for key in widgets.load("published_map").params[name].options if key != "all"]
        counts = [value(view, "rows") for key in options if (view := shown(**{name: key})).readout]
        assert sum(counts) == total


def test_a_choice_without_rows_says_so():
    view = shown(method="lookup", batch="more", hardware="tpu")
    assert view.svg is None
    assert "no row" in view.summary


def test_the_axis_shows_the_line_of_plain_decoding_and_what_is_below_it():
    """A cut axis hides slow-downs: 0.5× is on it in every state (B21)."""
    for given in ({}, {"method": "lookup"}, {"hardware": "h100"}):
        assert ">0.5×<" in shown(**given).svg


def test_the_legend_says_whether_a_gpu_run_has_landed():
    landed = any(run.gpu for run in LANDED.values())
    assert ("no GPU run yet" in legend()) is not landed
    assert legend() in shown().note
