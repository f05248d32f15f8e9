"""Both backends do the same arithmetic, are checked before they are timed, and say what is missing."""

import importlib.util

import pytest

from bench.backend import NoBackend, backend
from bench.shapes import SHAPES, TINY, TINY_MOE
from bench.stack import Cache, Experts, Stack, WrongResult, check_stack
from bench.suites.base import layers_that_fit
from bench.suites.draft_cost import look_up
from sim import MODELS

torch_here = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="skipped: no PyTorch")


@pytest.fixture(scope="module", params=["cpu", pytest.param("torch-cpu", marks=torch_here)])
def library(request):
    return backend(request.param)


@pytest.mark.parametrize("context", [0, 8, 512])
@pytest.mark.parametrize("positions", [1, 3])
def test_a_layer_is_right_against_float64(library, context, positions):
    for format in library.formats:
        assert check_stack(Stack(library, TINY, 2, format), positions, 2, context) < 0.12


@torch_here
def test_attention_without_the_fused_call_is_right_as_well():
    library = backend("torch-cpu")
    library._fused = False
    assert check_stack(Stack(library, TINY, 1, "bf16"), 3, 2, 512) < 0.03


@torch_here
def test_eight_bit_weights_count_one_byte_and_need_no_rows_in_sixteens():
    library = backend("torch-cpu")
    if "fp8" not in library.formats:
        pytest.skip("this PyTorch has no 8-bit products on a CPU")
    weight = library.weight(32, 64, "fp8")
    assert library.weight_bytes(weight) == 32 * 64
    assert library.linear(library.random(3, 64), weight).shape == (3, 32)


def test_a_wrong_product_stops_the_run(library, monkeypatch):
    stack = Stack(library, TINY, 1, library.formats[0])
    real = library.gate
    monkeypatch.setattr(library, "gate", lambda both: real(both) * 1.2)
    with pytest.raises(WrongResult, match="nothing was timed"):
        check_stack(stack)


def test_forgetting_the_mask_is_noticed(monkeypatch):
    """The commonest fault of a fast attention: a position sees the ones after it."""
    library = backend("cpu")
    real = library.attend

    def blind(q, k, v, old_k, old_v):
        return real(q[:, ::-1], k[:, ::-1], v[:, ::-1], old_k, old_v)[:, ::-1]

    monkeypatch.setattr(library, "attend", blind)
    with pytest.raises(WrongResult):
        check_stack(Stack(library, TINY, 1, "float32"), positions=3)


def test_weights_are_never_zero_and_seeded(library):
    one, two = backend(library.device if library.name == "numpy" else "torch-cpu"), library
    again = one.exact(one.weight(8, 8, one.formats[0]))
    assert (again != 0).all()
    assert two.exact(two.weight(8, 8, two.formats[0])).std() == pytest.approx(8**-0.5, rel=0.5)


def test_experts_are_read_as_far_as_they_are_touched(library):
    experts = Experts(library, TINY_MOE, 2)
    rows = library.random(3, 2, TINY_MOE.width)
    assert tuple(experts.forward(rows).shape) == (3, 2, TINY_MOE.width)


def test_a_format_that_is_not_there_is_refused_in_words(library):
    with pytest.raises(ValueError, match="not in int3"):
        library.weight(8, 8, "int3")


def test_timing_keeps_every_repeat_and_leaves_the_warm_up_out(library):
    calls = []
    times = library.times(lambda: calls.append(1), repeats=5, budget=0.0, warmup=2)
    assert len(times) == 5
    assert len(calls) == 7


def test_what_is_missing_is_said(monkeypatch):
    with pytest.raises(NoBackend, match="not one of"):
        backend("tpu")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(NoBackend, match="needs PyTorch, which is not installed"):
        backend("cuda")


def test_shapes_have_as_many_weights_as_the_models_they_are_named_after():
    for key in ("8b", "70b", "1b", "0.5b"):
        shape = SHAPES[key]
        embedding = 0 if key in ("1b", "0.5b") else shape.head_numbers  # the small ones share it with the output
        whole = shape.layers * shape.layer_numbers + shape.head_numbers + embedding
        assert whole == pytest.approx(MODELS[key].params, rel=0.01)
        assert shape.kv_numbers * shape.layers == MODELS[key].kv_values


def test_layers_that_do_not_fit_are_left_out_whole():
    class Small:
        def memory(self):
            return 10e9

    assert layers_that_fit(Small(), TINY, "bf16") == TINY.layers
    assert layers_that_fit(Small(), SHAPES["8b"], "bf16") == int(10e9 / (2 * SHAPES["8b"].layer_numbers))
    assert layers_that_fit(Small(), SHAPES["70b"], "bf16", spare=9.9e9) == 0


def test_a_cache_counts_the_bytes_it_fills():
    cache = Cache(backend("cpu"), TINY, 2, batch=3, context=5)
    assert cache.bytes(TINY, 4) == sum(part.nbytes for pair in cache.pairs for part in pair)
    assert Cache(backend("cpu"), TINY, 2, 3, 0).bytes(TINY, 4) == 0


@pytest.mark.parametrize(
    ("tokens", "found"),
    [([1, 2, 3, 4, 5, 1, 2, 3], [4, 5]), ([1, 2, 3, 9, 1, 2, 3, 7, 1, 2, 3], [7, 1]), ([1, 2, 3, 4], [])],
)
def test_the_look_up_takes_what_followed_last(tokens, found):
    assert look_up(tokens, length=3, most=2) == found
