"""Measured passes: points are the file's, the line is the model's, and the error is told where it was not fitted."""

import json

import pytest

import widgets
from sim import HARDWARE, MODELS, pass_time
from sim.data import parse
from sim.fitting import samples
from tests.widgets.states import draw
from widgets.measured_passes import FITTED

WIDGET = widgets.load("measured_passes")


def file_of(times):
    """A data file with passes of an 8B at batch 1: `times` maps positions to milliseconds."""
    rows = []
    for count, ms in times.items():
        cost = pass_time(MODELS["8b"], "h200", count)
        rows.append({
            "id": f"p-{count}", "quantity": "pass time", "unit": "ms", "value": ms, "n": 5, "q1": ms, "q3": ms,
            "model": "Llama 3.1 8B", "weights": "float32", "batch": 1, "context": 0, "positions": count,
            "weight_bytes": cost.weight_bytes, "kv_bytes": 0, "operations": cost.operations, "layers": 32,
            "layers_run": 32,
        })  # fmt: skip
    return parse(json.dumps({"version": 1, "kind": "measured", "suite": "pass-cost", "rows": rows}))


def shown(times, **given):
    return WIDGET.view(data={"measured/pass-cost-cpu": file_of(times)}, **WIDGET.values(given))


def value(view, key):
    return next(row.value for row in view.readout if row.key == key)


POSITIONS = (1, 2, 4, 8, 16, 64, 256, 512)
MADE = {count: pass_time("8b", HARDWARE["h200"].derated(0.8, 0.7, 0.2), count).total_ms for count in POSITIONS}


def test_a_device_that_keeps_to_the_model_is_predicted_where_it_was_not_fitted():
    view = shown(MADE)
    assert value(view, "off") == pytest.approx(0, abs=1e-6)
    assert "off by 0%" in view.note or "off by <1%" in view.note
    assert value(view, "one") == MADE[1]
    assert view.verdict.kind == "gain"


def test_the_error_is_told_on_passes_the_fit_has_not_seen():
    slow = {count: ms if count in FITTED else ms * 1.25 for count, ms in MADE.items()}
    view = shown(slow)
    assert value(view, "off") == pytest.approx(0.2, abs=1e-6)
    assert "The model is off by 20% here." in view.note


def test_the_table_says_which_passes_were_fitted():
    rows = shown(MADE).table.rows
    assert [row[0] for row in rows if row[-1] == "yes"] == [str(count) for count in FITTED]


def test_every_measured_point_is_drawn_solid_with_a_ring():
    assert shown(MADE).svg.count('r="7"') == len(MADE)


@pytest.mark.parametrize("given", [{"batch": "64", "context": "32768"}, {"weights": "fp8"}, {"model": "70b"}])
def test_what_was_not_measured_is_said_and_not_drawn(given):
    view = shown(MADE, **given)
    assert view.svg is None
    assert "Nothing was measured" in view.summary


def test_the_landed_run_is_shown_with_its_layers():
    view = draw(WIDGET, WIDGET.values({}))
    assert "2 of 32 layers" in view.summary
    assert "CPU" in view.summary


def test_the_landed_run_has_enough_passes_to_fit_and_to_judge():
    from tests.widgets.states import _file

    every = samples(_file("measured/pass-cost-cpu"), model="Llama 3.1 8B", weights="float32")
    assert len([item for item in every if item.positions in FITTED]) >= 3
    assert len([item for item in every if item.positions not in FITTED]) >= 10
