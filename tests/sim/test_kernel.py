"""x · Wᵀ: right, in its own arrays, a row the same in any company.

In Pyodide the kernel itself works. Here a stand-in does, which gets addresses as the kernel does and adds in the same
order, so that what is passed on is tested here too.
"""

import os
import sys

import pytest

np = pytest.importorskip("numpy")
kernel = pytest.importorskip("sim.kernel")
stand_in = pytest.importorskip("tests.sim.stand_in")

IN_BROWSER = sys.platform == "emscripten"
INNER = (1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 64, 67, 129)
OUTER = (1, 2, 3, 4, 5, 6, 7, 9, 13)
GUARD = 16
SENTINEL = np.float32(-12345.625)


@pytest.fixture(autouse=True)
def plugged():
    """The browser's kernel where it is there, else the stand-in; as it was afterwards."""
    with stand_in.fixed_order():
        yield


def arrays(rows, inner, outer, seed=0):
    chance = np.random.default_rng(seed)
    return (
        chance.standard_normal((rows, inner), dtype=np.float32),
        chance.standard_normal((outer, inner), dtype=np.float32),
    )


def guarded(shape, offset, fill):
    """An array that starts `offset` floats into its memory, with sentinels on both sides."""
    count = int(np.prod(shape))
    memory = np.full(2 * GUARD + offset + count, SENTINEL, np.float32)
    view = memory[GUARD + offset : GUARD + offset + count].reshape(shape)
    view[...] = fill
    return memory, view


def close(found, x, w):
    """Within 1e-5 of what the row and the weights could add up to at most."""
    exact = x.astype(np.float64) @ w.astype(np.float64).T
    size = np.abs(x).astype(np.float64) @ np.abs(w).astype(np.float64).T
    return bool((np.abs(found - exact) <= 1e-5 * size).all())


@pytest.mark.skipif(not IN_BROWSER, reason="the kernel itself is WebAssembly")
def test_in_the_interpreter_of_the_site_the_kernel_itself_is_tested():
    assert os.environ.get("SIM_KERNEL") == "plugged"
    assert kernel.plugged()


@pytest.mark.parametrize("rows", range(1, 17))
def test_it_is_right_over_odd_shapes(rows):
    for inner in INNER:
        for outer in OUTER:
            x, w = arrays(rows, inner, outer, inner * 100 + outer)
            assert close(kernel.matmul_t(x, w), x, w), (rows, inner, outer)


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 8, 16])
def test_it_is_near_numpy_at_the_size_of_a_layer(rows):
    x, w = arrays(rows, 256, 1024, rows)
    assert close(kernel.matmul_t(x, w), x, w)
    assert np.allclose(kernel.matmul_t(x, w), kernel.with_numpy(x, w), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize(("inner", "outer"), [(67, 13), (64, 9), (5, 4), (257, 6)])
def test_a_row_has_the_same_bits_in_any_company(inner, outer):
    """Greedy text cannot part between plain and speculative decoding for the shape of a pass."""
    x, w = arrays(16, inner, outer, 3)
    alone = [kernel.matmul_t(x[r : r + 1], w)[0].tobytes() for r in range(16)]
    for rows in range(1, 17):
        for start in range(17 - rows):
            together = kernel.matmul_t(x[start : start + rows], w)
            assert [row.tobytes() for row in together] == alone[start : start + rows]


def test_the_order_of_additions_is_the_one_that_is_written_down():
    for inner in (3, 4, 18, 67):
        x, w = arrays(5, inner, 7, inner)
        stated = np.empty((5, 7), np.float32)
        stand_in.by_address(*(kernel._address(a) for a in (x, w, stated)), 5, inner, 7)
        assert kernel.matmul_t(x, w).tobytes() == stated.tobytes()


def test_fuzz_nothing_outside_the_arrays_is_written_or_read():
    """Guards of a huge number stay as they are, and being infinite they change no result."""
    chance = np.random.default_rng(11)
    for _ in range(300):
        rows, inner, outer = (int(n) for n in chance.integers(1, (17, 40, 20)))
        x, w = arrays(rows, inner, outer, int(chance.integers(1 << 30)))
        offsets = [int(n) for n in chance.integers(0, 4, 3)]
        memories, views = zip(
            guarded(x.shape, offsets[0], x), guarded(w.shape, offsets[1], w), guarded((rows, outer), offsets[2], 0),
            strict=True,
        )  # fmt: skip
        for memory, view in zip(memories[:2], views[:2], strict=True):
            outside = np.ones(memory.shape, bool)
            start = (kernel._address(view) - kernel._address(memory)) // 4
            outside[start : start + view.size] = False
            memory[outside] = np.inf
        given = [view.copy() for view in views[:2]]
        found = kernel.matmul_t(views[0], views[1], views[2])
        assert found is views[2]
        assert close(found, x, w)
        assert all((before == now).all() for before, now in zip(given, views[:2], strict=True))
        out = memories[2]
        start = (kernel._address(found) - kernel._address(out)) // 4
        assert (out[:start] == SENTINEL).all()
        assert (out[start + found.size :] == SENTINEL).all()


def test_it_goes_on_after_python_got_more_memory():
    x, w = arrays(3, 64, 8)
    before = kernel.matmul_t(x, w)
    more = [np.ones(16 << 20, np.uint8) for _ in range(6)]  # in the browser: the memory grows, its buffer is another
    far_x, far_w = x.copy(), w.copy()
    assert kernel.matmul_t(far_x, far_w).tobytes() == before.tobytes()
    assert len(more) == 6


@pytest.mark.parametrize("by", ["kernel", "numpy"])
def test_a_prepared_product_is_the_same_product_with_fresh_numbers_and_with_fewer_rows(by):
    if by == "numpy":
        kernel.plug(None)
    x, w = arrays(3, 67, 9)
    out = np.empty((3, 9), np.float32)
    run = kernel.prepared(x, w, out)
    for seed in range(3):
        x[...], w[...] = arrays(3, 67, 9, seed)
        run()
        assert out.tobytes() == kernel.matmul_t(x, w).tobytes()
    for outer in range(10):
        out[...] = SENTINEL
        run(outer)
        assert close(out.reshape(-1)[: 3 * outer].reshape(3, outer), x, w[:outer])
        assert (out.reshape(-1)[3 * outer :] == SENTINEL).all()


def test_a_prepared_product_refuses_what_matmul_t_refuses_and_rows_that_are_not_there():
    run = kernel.prepared(X, W, np.empty((2, 3), np.float32))
    for outer in (-1, 4):
        with pytest.raises(ValueError, match=rf"outer is {outer}; it must be a whole number from 0 to 3"):
            run(outer)
    with pytest.raises(ValueError, match="out is read-only"):
        kernel.prepared(X, W, READ_ONLY)
    with pytest.raises(ValueError, match="w is not C-contiguous"):
        kernel.prepared(X, W.T.copy().T, np.empty((2, 3), np.float32))


def test_empty_arrays_have_empty_answers():
    for rows, inner, outer in ((0, 3, 4), (2, 3, 0), (0, 0, 0)):
        assert kernel.matmul_t(*arrays(rows, inner, outer)).shape == (rows, outer)
    assert kernel.matmul_t(*arrays(2, 0, 3)).tolist() == [[0, 0, 0], [0, 0, 0]]


def test_without_a_kernel_numpy_does_the_work():
    kernel.plug(None)
    assert not kernel.plugged()
    x, w = arrays(5, 67, 9)
    out = np.empty((5, 9), np.float32)
    assert kernel.matmul_t(x, w, out) is out
    assert close(out, x, w)
    with pytest.raises(ValueError, match="x has 67 columns and w has 66"):
        kernel.matmul_t(x, w[:, :66].copy())


def test_a_kernel_set_aside_does_nothing_and_is_there_again_afterwards():
    held, asked = kernel._kernel, []

    def wrong(*addresses):
        asked.append(addresses)

    x, w = arrays(3, 8, 5)
    again = kernel.prepared(x, w, out := np.empty((3, 5), np.float32))
    kernel.plug(wrong)
    try:
        with kernel.set_aside():
            assert not kernel.plugged()
            assert close(kernel.matmul_t(x, w), x, w)
            again()
            assert close(out, x, w)
        with pytest.raises(ZeroDivisionError), kernel.set_aside():
            raise ZeroDivisionError
        assert kernel.plugged()
        assert asked == []
        again()
        assert len(asked) == 1
    finally:
        kernel.plug(held)


class Elsewhere(np.ndarray):
    """A subclass could lie about where its numbers are."""


X, W = arrays(2, 4, 3)
READ_ONLY = np.zeros((2, 3), np.float32)
READ_ONLY.flags.writeable = False
BOTH = np.zeros((4, 4), np.float32)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((X.tolist(), W), "x is a list, not a NumPy array"),
        ((X.view(Elsewhere), W), "x is a Elsewhere"),
        ((X.astype(np.float64), W), "x has the type float64, not float32"),
        ((X.astype(">f4"), W), "x has the type >f4"),
        ((X[0], W), "x has 1 dimensions, not 2"),
        ((X[:, ::2], W[:, :2].copy()), "x is not C-contiguous"),
        ((X, W[:, :3]), "w is not C-contiguous"),
        ((X, np.zeros((4, 3), np.float32).T), "w is not C-contiguous"),
        ((X, np.zeros((3, 5), np.float32)), "x has 4 columns and w has 5"),
        ((X, W, np.zeros((3, 2), np.float32)), r"out has the shape \(3, 2\), not \(2, 3\)"),
        ((X, W, np.zeros((2, 3))), "out has the type float64"),
        ((X, W, READ_ONLY), "out is read-only"),
        ((BOTH[:2], BOTH[2:], BOTH.reshape(2, 8)[:, :2]), "out is not C-contiguous"),
        ((BOTH[:2], np.zeros((4, 4), np.float32), BOTH[1:3]), "out shares memory"),
        ((X, BOTH[:3], BOTH.reshape(-1)[10:16].reshape(2, 3)), "out shares memory"),
    ],
)
def test_whatever_does_not_fit_is_refused_before_an_address_is_given(given, words):
    def never(*_):
        raise AssertionError("the kernel was called")

    kernel.plug(never)
    for function in (kernel.matmul_t, kernel.with_numpy):
        with pytest.raises(ValueError, match=words):
            function(*given)
