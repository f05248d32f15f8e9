"""A device fitted to measured passes finds the device that made them, and says how far it is off elsewhere."""

from dataclasses import replace

import pytest

from sim import HARDWARE, MODELS, pass_time
from sim.data import parse
from sim.fitting import Sample, fit_pass_time, samples, typical_error

MODEL = MODELS["8b"]


def passes(hardware, form="max", positions=(1, 8, 64, 256, 512), pairs=((1, 0), (4, 2048))):
    """Samples of `pass_time` itself."""
    found = []
    for batch, context in pairs:
        for count in positions:
            cost = pass_time(MODEL, hardware, count, batch, context, form=form)
            sizes = (cost.weight_bytes, cost.kv_bytes, cost.operations)
            found.append(Sample(count, batch, context, cost.total_ms, *sizes, id=f"{batch} {context} {count}"))
    return found


@pytest.mark.parametrize("form", ["max", "sum"])
@pytest.mark.parametrize("fixed", [0.0, 0.7])
def test_the_fit_finds_the_device_that_made_the_passes(form, fixed):
    real = HARDWARE["h200"].derated(0.85, 0.7, fixed)
    fit = fit_pass_time(passes(real, form))
    assert fit.form == form
    assert fit.hardware.bandwidth == pytest.approx(real.bandwidth, rel=1e-6)
    assert fit.hardware.peak["bf16"] == pytest.approx(real.peak["bf16"], rel=1e-6)
    assert fit.hardware.overhead_ms == pytest.approx(fixed, abs=1e-6)
    unseen = passes(real, form, positions=(2, 32, 128), pairs=((1, 8192), (16, 0)))
    assert max(abs(fit.error(item)) for item in unseen) < 1e-6


def test_the_error_is_told_on_passes_that_were_not_fitted():
    real = HARDWARE["h100-sxm"]
    fit = fit_pass_time(passes(real), form="max")
    slow = [replace(item, ms=item.ms * 1.25) for item in passes(real, positions=(4, 16))]
    assert all(fit.error(item) == pytest.approx(-0.2) for item in slow)
    assert typical_error(fit, slow) == pytest.approx(0.2)


def test_a_published_fit_is_a_sum():
    """Literature D.4: 5.886 ms + 21.01 us a position + 39.26 ns a cached token, Llama 3.1 8B on an H100 in vLLM."""
    made = [
        replace(item, ms=5.886 + 0.02101 * item.scored + 39.26e-6 * item.batch * item.context)
        for item in passes("h100-sxm", pairs=((1, 0), (1, 32768), (64, 0)))
    ]
    fit = fit_pass_time(made)
    assert fit.form == "sum"
    assert max(abs(fit.error(item)) for item in made) < 0.02


def test_the_ridge_is_where_arithmetic_takes_over():
    real = HARDWARE["h100-sxm"]
    some = passes(real)
    ridge = fit_pass_time(some, "max").ridge(some[0])
    assert ridge == pytest.approx(989e12 / 3.35e12, rel=1e-3)


@pytest.mark.parametrize(("count", "copies", "why"), [(0, 1, "needed"), (1, 1, "needed"), (1, 3, "leave")])
def test_too_little_is_refused_in_words(count, copies, why):
    every = passes("h200")
    with pytest.raises(ValueError, match=why):
        fit_pass_time(every[:count] * copies)


def test_an_error_needs_passes_and_a_form_a_name():
    every = passes("h200")
    with pytest.raises(ValueError, match="held_out"):
        typical_error(fit_pass_time(every), [])
    with pytest.raises(ValueError, match="form"):
        fit_pass_time(every, "mean")


def test_samples_come_from_a_data_file_and_leave_out_what_does_not_say_enough():
    whole = parse(
        """{"version": 1, "kind": "measured", "suite": "pass-cost", "provenance": {"model": "M", "weights": "bf16"},
        "rows": [
         {"id": "a", "quantity": "pass time", "unit": "ms", "value": 2, "n": 5, "q1": 1.9, "q3": 2.2, "batch": 1,
          "context": 0, "positions": 4, "weight_bytes": 10, "kv_bytes": 0, "operations": 80},
         {"id": "b", "quantity": "pass time", "unit": "ms", "value": 2, "n": 5, "batch": 1, "context": 0},
         {"id": "c", "quantity": "copy bandwidth", "unit": "GB/s", "value": 2, "n": 5}]}"""
    )
    assert samples(whole, model="M") == (Sample(4, 1, 0, 2, 10, 0, 80, "a", 1.9, 2.2),)
    assert samples(whole, model="M", weights="fp8") == ()
    assert samples(whole, model="other") == ()
