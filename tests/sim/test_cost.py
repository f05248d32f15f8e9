"""Pass times: bytes against arithmetic, mixtures, caches, formats, devices."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim import (
    HARDWARE,
    MODELS,
    Hardware,
    Model,
    draft_cost,
    experts_touched,
    pass_time,
    ridge_positions,
    verify_cost,
)

models = st.sampled_from(sorted(MODELS))
devices = st.sampled_from(sorted(HARDWARE))
positions = st.integers(1, 600)


def test_the_lesson_opens_on_these_numbers():
    one = pass_time("70b", "h100-sxm")
    assert one.weight_bytes == 140e9
    assert one.total_ms == one.weights_ms == one.memory_ms == one.per_position_ms == pytest.approx(41.79, abs=0.005)
    assert (one.kv_ms, one.overhead_ms, one.kv_bytes) == (0, 0, 0)
    assert one.idle == pytest.approx(0.9966, abs=5e-5)
    assert one.busy == one.compute_ms / one.total_ms
    assert one.idle == 1 - one.busy
    assert (one.bound, one.fits, one.positions) == ("memory", False, 1)
    assert one.operations == 140e9
    assert pass_time("70b", "h100-sxm", 8).per_position_ms == pytest.approx(41.79 / 8, abs=0.001)


def test_what_fits_and_what_does_not():
    assert not pass_time("70b", "h100-sxm").fits
    assert pass_time("70b", "h100-sxm", weights="int8").fits
    assert pass_time("70b", "h100-sxm", devices=2).fits
    assert pass_time("70b", "h200").fits  # with about 1 GB to spare
    assert not pass_time("70b", "h200", context=4096).fits
    assert not pass_time("70b", "h200", batch=4096).fits  # the cache of the new positions counts
    assert pass_time("70b", "b200", context=32_768).fits
    tight = Hardware("tight", memory=2 * 8.03e9 + 131_072, bandwidth=1e12, peak={"bf16": 1e14}, source="test")
    assert pass_time("8b", tight).fits
    assert not pass_time("8b", tight, 2).fits


def test_formats_of_weights_cache_and_arithmetic_are_apart():
    base = pass_time("8b", "h100-sxm", context=1000)
    assert base == pass_time("8b", "h100-sxm", context=1000, weights="fp16", arithmetic="fp16", cache="fp16")
    for name, size in (("fp8", 0.5), ("int8", 0.5), ("int4", 0.25)):
        small = pass_time("8b", "h100-sxm", context=1000, weights=name)
        assert small.weights_ms == pytest.approx(base.weights_ms * size)
        assert (small.kv_ms, small.compute_ms) == (base.kv_ms, base.compute_ms)
        assert pass_time("8b", "h100-sxm", context=1000, cache=name).kv_ms == pytest.approx(base.kv_ms * size)
    fast = pass_time("8b", "h100-sxm", context=1000, arithmetic="fp8")
    assert fast.compute_ms == pytest.approx(base.compute_ms * 989 / 1979)
    assert fast.memory_ms == base.memory_ms
    with pytest.raises(ValueError, match=r"arithmetic is 'fp8'; it must be one of: bf16, fp16, int8"):
        pass_time("8b", "a100-80gb", arithmetic="fp8")


@given(models, devices, positions, st.integers(1, 64), st.integers(0, 20_000), st.sampled_from(["max", "sum"]))
def test_parts_add_up(model, device, scored, batch, context, form):
    one = pass_time(model, device, scored, batch, context, form=form)
    assert one.positions == scored * batch
    assert one.memory_ms == one.weights_ms + one.kv_ms
    work = max(one.memory_ms, one.compute_ms) if form == "max" else one.memory_ms + one.compute_ms
    assert one.total_ms == work + one.overhead_ms
    assert one.per_position_ms == one.total_ms / one.positions
    assert one.bound == ("memory" if one.memory_ms >= one.compute_ms else "compute")
    assert 0 < one.busy <= 1
    assert one.kv_bytes == batch * context * MODELS[model].kv_values * 2
    assert one.stored_bytes == MODELS[model].params * 2 + batch * (context + scored) * MODELS[model].kv_values * 2
    assert one.fits == (one.stored_bytes <= one.capacity_bytes)
    assert all(math.isfinite(value) for value in vars(one).values() if isinstance(value, float))


@given(models, devices, positions, st.sampled_from(["max", "sum"]))
def test_more_positions_never_take_less_time_nor_more_a_position(model, device, scored, form):
    one, more = (pass_time(model, device, n, form=form) for n in (scored, scored + 1))
    assert more.total_ms >= one.total_ms
    assert more.per_position_ms <= one.per_position_ms * (1 + 1e-12)


@given(models, devices, st.integers(2, 16))
def test_devices_share_evenly(model, device, count):
    one, many = pass_time(model, device, 3, 2, 100), pass_time(model, device, 3, 2, 100, devices=count)
    assert many.total_ms == pytest.approx(one.total_ms / count)
    assert many.capacity_bytes == one.capacity_bytes * count
    assert (many.weight_bytes, many.bound) == (one.weight_bytes, one.bound)


@pytest.mark.parametrize("weights", ["bf16", "int8", "int4"])
@pytest.mark.parametrize("device", HARDWARE)
def test_the_ridge_is_where_a_dense_pass_turns_compute_bound(device, weights):
    ridge = ridge_positions(device, weights=weights)
    assert pass_time("70b", device, math.floor(ridge), weights=weights).bound == "memory"
    assert pass_time("70b", device, math.floor(ridge) + 1, weights=weights).bound == "compute"
    assert (
        pass_time("70b", device, math.floor(ridge), weights=weights).total_ms
        == pass_time("70b", device, weights=weights).total_ms
    )


def test_the_ridge_of_the_scaling_book():
    # jax-ml/scaling-book @ 0819a7d8, inference: 240 in bf16, 120 with int8 weights, 240 with int8 arithmetic.
    tpu = Hardware("TPU v5e", 16e9, 8.2e11, {"bf16": 1.97e14, "int8": 3.94e14}, source="scaling book")
    assert ridge_positions(tpu) == pytest.approx(240, rel=2e-3)
    assert ridge_positions(tpu, weights="int8") == pytest.approx(120, rel=2e-3)
    assert ridge_positions(tpu, weights="int8", arithmetic="int8") == pytest.approx(240, rel=2e-3)


def test_a_laptop_anchor():
    # A 7B in fp16 (12.55 GiB) at 12.75 tokens a second on an M1 Pro is 86 % of its 200 GB/s (public gist, andrewginns).
    laptop = Hardware("M1 Pro", 32e9, 200e9, {"fp16": 1e13}, source="gist")
    model = Model("7B", 12.55 * 2**30 / 2, 12.55 * 2**30 / 2, 32, 32, 128, source="gist")
    assert pass_time(model, laptop, arithmetic="fp16").total_ms * 12.75 / 1000 == pytest.approx(0.86, abs=0.005)


# Mixtures of experts


@given(st.integers(1, 256).flatmap(lambda m: st.tuples(st.just(m), st.integers(1, m))), st.integers(0, 300))
def test_experts_touched(shape, scored):
    experts, active = shape
    touched = experts_touched(experts, active, scored)
    assert touched == pytest.approx(experts * (1 - (1 - active / experts) ** scored), abs=1e-9)
    assert min(scored, 1) * active <= touched + 1e-9 <= min(experts, active * scored) + 2e-9


def test_experts_touched_is_exact_at_its_ends():
    assert experts_touched(8, 2, 0) == 0
    assert experts_touched(8, 2, 1) == 2
    assert experts_touched(8, 8, 5) == 8
    with pytest.raises(ValueError, match=r"active is 9; it must be a whole number from 1 to 8"):
        experts_touched(8, 9, 1)


@pytest.mark.parametrize("name", [name for name, model in MODELS.items() if model.experts])
def test_a_mixture_reads_more_for_every_position(name):
    model = MODELS[name]
    one, five = pass_time(model, "h200"), pass_time(model, "h200", 5)
    # The embedding makes the difference: active parameters count the rows that are looked up, or not at all.
    assert one.weight_bytes / 2 == pytest.approx(model.active_params, rel=0.18)
    assert 2.5 < five.weights_ms / one.weights_ms < 3.0
    assert pass_time(model, "h200", 5000).weight_bytes == pytest.approx(model.params * 2, rel=1e-6)
    assert one.operations == 2 * model.active_params
    assert pass_time(model, "h200", 1, 5).weight_bytes == five.weight_bytes  # a batch touches experts as positions do


def test_verifying_is_free_on_a_dense_model_and_not_on_a_mixture():
    assert verify_cost("70b", "h200", 4) == 1.0
    assert verify_cost("70b", "h200", 0) == 1.0
    assert verify_cost("mixtral-8x7b", "h200", 4) == pytest.approx(2.80, abs=0.01)
    assert verify_cost("70b", "h200", 7, batch=64) > 2.0
    assert verify_cost("8b", "h100-sxm", 1, form="sum") == pytest.approx(1 + 16.24e-3 / (4.794 + 16.24e-3), rel=1e-3)


def test_draft_cost_is_one_draft_pass_over_one_target_pass():
    assert draft_cost("8b", "70b", "h200") == pytest.approx(8.03 / 70)
    assert draft_cost("70b", "70b", "h200") == 1.0
    # The EAGLE head reads the target's output matrix as well: its cost is not that of its own parameters.
    assert draft_cost("eagle-70b", "70b", "h200") == pytest.approx((0.99e9 + 128256 * 8192) / 70e9)
    assert pass_time("eagle-70b", "h200").stored_bytes == pytest.approx(0.99e9 * 2, rel=1e-3)
    # A fixed overhead weighs more on the small model: c is not the ratio of parameters.
    real = HARDWARE["h200"].derated(bandwidth=0.8, overhead_ms=1.0)
    assert draft_cost("0.5b", "8b", real) > 3 * draft_cost("0.5b", "8b", "h200")


def test_derated_hardware():
    sheet = HARDWARE["h100-sxm"]
    real = sheet.derated(bandwidth=0.5, arithmetic=0.25, overhead_ms=2)
    plain, slow = pass_time("8b", sheet, 3), pass_time("8b", real, 3)
    assert slow.memory_ms == pytest.approx(plain.memory_ms * 2)
    assert slow.compute_ms == pytest.approx(plain.compute_ms * 4)
    assert slow.total_ms == slow.memory_ms + 2
    assert slow.overhead_ms == 2
    assert sheet.derated() == sheet
    for name, bad in (("bandwidth", 0), ("arithmetic", 1.1), ("overhead_ms", -1)):
        with pytest.raises(ValueError, match=rf"^{name} is {bad}; it must be"):
            sheet.derated(**{name: bad})


@pytest.mark.parametrize("presets", [MODELS, HARDWARE], ids=["models", "hardware"])
def test_every_preset_names_its_source(presets):
    for preset in presets.values():
        assert preset.title
        assert len(preset.source) > 10
    with pytest.raises(TypeError):
        presets["mine"] = None


@pytest.mark.parametrize(
    ("name", "kv_bytes"), [("8b", 131_072), ("70b", 327_680), ("mixtral-8x7b", 131_072), ("qwen3-30b-a3b", 98_304)]
)
def test_cache_bytes_of_a_token(name, kv_bytes):
    assert MODELS[name].kv_values * 2 == kv_bytes


@pytest.mark.parametrize(
    ("spoilt", "message"),
    [
        ({"model": "70B"}, r"model is '70B'; it must be one of: 70b, 8b, "),
        ({"model": 70}, r"model is 70; it must be one of"),
        ({"hardware": "h100"}, r"hardware is 'h100'; it must be one of: a100-80gb, h100-sxm, h200, b200, mi300x"),
        ({"positions": 0}, r"positions is 0; it must be a whole number, 1 or more"),
        ({"positions": 1.5}, r"positions is 1\.5"),
        ({"batch": 0}, r"batch is 0"),
        ({"batch": True}, r"batch is True"),
        ({"context": -1}, r"context is -1"),
        ({"devices": 0}, r"devices is 0"),
        ({"weights": "fp32"}, r"weights is 'fp32'; it must be one of: bf16, fp16, fp8, int8, int4"),
        ({"cache": "fp32"}, r"cache is 'fp32'"),
        ({"arithmetic": "int4"}, r"arithmetic is 'int4'"),
        ({"form": "mean"}, r"form is 'mean'; it must be one of: max, sum"),
    ],
)
def test_bad_input_is_named(spoilt, message):
    with pytest.raises(ValueError, match=message):
        pass_time(**{"model": "70b", "hardware": "h200", **spoilt})


def test_models_and_hardware_of_ones_own_are_checked():
    with pytest.raises(ValueError, match="active_params is 0"):
        Model("x", 1e9, 0, 1, 1, 64, source="")
    with pytest.raises(ValueError, match=r"experts_active is 9; it must be a whole number from 1 to 8"):
        Model("x", 1e9, 1e8, 1, 1, 64, source="", experts=8, experts_active=9, expert_params=5e8)
    with pytest.raises(ValueError, match=r"expert_params is 2000000000\.0"):
        Model("x", 1e9, 1e8, 1, 1, 64, source="", experts=8, experts_active=2, expert_params=2e9)
    with pytest.raises(ValueError, match=r"peak\['bf16'\] is 0"):
        Hardware("x", 1e9, 1e9, {"bf16": 0}, source="")
    with pytest.raises(ValueError, match=r"bandwidth is nan"):
        Hardware("x", 1e9, math.nan, {"bf16": 1}, source="")
