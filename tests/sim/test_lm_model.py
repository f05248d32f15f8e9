"""The network: its logits against the formulas, a row the same in any company, the cache rewound, rows and draws."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim import distribution, pick_token, replacement_row

np = pytest.importorskip("numpy")
kernel = pytest.importorskip("sim.kernel")
tiny = pytest.importorskip("tests.sim.tiny")
stand_in = pytest.importorskip("tests.sim.stand_in")

from sim.lm.model import BLOCK, Reader  # noqa: E402
from sim.lm.rows import Sampler, draw, replacement  # noqa: E402

FILES = tiny.files()
PAIR = FILES.loaded()
NETWORKS = {"target": PAIR.network, **PAIR._networks}
TEXT = tuple(int(token) for token in np.random.default_rng(5).integers(0, tiny.VOCAB, PAIR.context))


@pytest.fixture
def same_bits():
    """A kernel that adds in a fixed order: the page's where it is there, else the stand-in."""
    with stand_in.fixed_order():
        yield


def by_the_formulas(name, text):
    """Logits (positions, vocabulary) in float64, as the contract of the files writes the network down."""
    stored = FILES.target if name in ("target", "exit") else FILES.drafts
    prefix = "" if name in ("target", "exit") else f"{name}."
    config = FILES.config if name in ("target", "exit") else FILES.drafts_config[name]
    width, heads, eps = config["width"], config["heads"], config["eps"]
    size, count = width // heads, len(text)

    def matrix(tensor, stored=stored):
        return stored[tensor].astype(np.float64) * stored[f"{tensor}.scale"].astype(np.float64)[:, None]

    def norm(x, gain):
        return x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps) * gain.astype(np.float64)

    angles = np.arange(count)[:, None] * config["rope_theta"] ** (-np.arange(size // 2) / (size // 2))
    cos, sin = np.cos(angles)[:, None], np.sin(angles)[:, None]

    def turned(x):
        first, second = x[..., : size // 2], x[..., size // 2 :]
        return np.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)

    x = matrix(f"{prefix}embedding")[list(text)]
    for i in range(1 if name == "exit" else config["layers"]):
        layer = f"{prefix}layers.{i}."
        qkv = norm(x, stored[f"{layer}norm1"]) @ matrix(f"{layer}qkv").T
        q, k, v = (part.reshape(count, heads, size) for part in np.split(qkv, 3, axis=1))
        scores = np.einsum("ihd,jhd->hij", turned(q), turned(k)) / size**0.5
        scores[:, np.triu_indices(count, 1)[0], np.triu_indices(count, 1)[1]] = -np.inf
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        x = x + np.einsum("hij,jhd->ihd", shares, v).reshape(count, width) @ matrix(f"{layer}out").T
        inside = np.maximum(norm(x, stored[f"{layer}norm2"]) @ matrix(f"{layer}up").T, 0) ** 2
        x = x + inside @ matrix(f"{layer}down").T
    if name == "exit":
        x = x + x @ matrix("exit.map", FILES.drafts).T
        return norm(x, FILES.drafts["exit.norm"]) @ matrix("embedding").T
    return norm(x, stored[f"{prefix}norm"]) @ matrix(f"{prefix}embedding").T


@pytest.mark.parametrize("name", NETWORKS)
def test_logits_are_those_of_the_formulas(name):
    wanted = by_the_formulas(name, TEXT)
    reader = Reader(NETWORKS[name])
    for end in (1, 2, 3, 20, BLOCK + 2, len(TEXT)):
        rows = min(end, 5)
        found = reader.logits(TEXT[:end], rows)
        assert found.shape == (rows, tiny.VOCAB)
        assert np.abs(found - wanted[end - rows : end]).max() < 2e-4


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.usefixtures("same_bits")
def test_a_row_has_the_same_bits_in_any_company(name):
    """Greedy text cannot part between plain and speculative decoding where the kernel is plugged in."""
    alone, together = Reader(NETWORKS[name]), Reader(NETWORKS[name])
    wanted = [alone.logits(TEXT[:end])[0].tobytes() for end in range(1, 71)]
    for rows in (*range(1, 18), BLOCK):
        for end in (rows, rows + 1, 40, 70):
            found = together.logits(TEXT[:end], min(rows, end))
            assert [row.tobytes() for row in found] == wanted[max(0, end - rows) : end]


def test_with_numpy_alone_a_row_in_company_is_near():
    with kernel.set_aside():
        alone, together = Reader(PAIR.network), Reader(PAIR.network)
        for end in range(6, 40):
            assert np.abs(together.logits(TEXT[:end], 5)[-1] - alone.logits(TEXT[:end])[0]).max() < 1e-4


edits = st.lists(
    st.tuples(st.integers(0, 60), st.lists(st.integers(0, 3), min_size=1, max_size=35), st.integers(1, 6)),
    min_size=1,
    max_size=6,
)


@given(edits)
@settings(max_examples=min(25, settings.default.max_examples))
def test_a_reader_that_read_other_things_gives_what_a_fresh_one_gives(edits):
    """Each text keeps some of the one before and goes on otherwise: rejected drafts, and much wilder."""
    with stand_in.fixed_order():
        reader, text = Reader(PAIR.network), []
        for keep, more, rows in edits:
            text = (text[:keep] + more)[: PAIR.context]
            rows = min(rows, len(text))
            found = reader.logits(text, rows).tobytes()
            assert reader.tokens == tuple(text)
            assert found == Reader(PAIR.network).logits(text, rows).tobytes()


def test_only_what_is_new_is_read():
    reader, passes = Reader(PAIR.network), []
    once = reader._pass
    reader._pass = lambda tokens: (passes.append(len(tokens)), once(tokens))[1]
    reader.logits(TEXT[:20])
    reader.logits(TEXT[:25], 5)  # a round of four drafts
    reader.logits((*TEXT[:22], 7), 1)  # two were kept
    reader.logits((*TEXT[:22], 7), 1)  # the same again: its last token is read anew
    assert passes == [20, 5, 1, 1]
    del passes[:]
    reader.logits(TEXT, 3)
    assert sum(passes) == len(TEXT) - 22
    assert max(passes) <= BLOCK
    assert passes[-1] >= 3


def test_a_prompt_is_read_in_steps():
    reader = Reader(PAIR.network)
    assert list(reader.read(TEXT[:80])) == [0, 32, 64, 80]
    assert list(reader.read(TEXT[:40])) == [40]
    assert list(reader.read(())) == [0]
    list(reader.read(TEXT[:79]))
    assert np.abs(reader.logits(TEXT[:80]) - by_the_formulas("target", TEXT[:80])[-1]).max() < 2e-4


@pytest.mark.parametrize(
    ("text", "rows", "words"),
    [
        ((), 1, "text has 0 tokens; it must have from 1 to 96, the context"),
        ((1,) * 97, 1, "text has 97 tokens; it must have from 1 to 96"),
        ((1, 2), 3, "rows is 3; it must be a whole number from 1 to 2"),
        ((1,) * 50, 33, "rows is 33; it must be a whole number from 1 to 32"),
        ((1, 2), 0, "rows is 0"),
        ((1, 274), 1, "a token of the text is 274; it must be from 0 to 273"),
        ((-1, 2), 1, "a token of the text is -1"),
    ],
)
def test_texts_that_cannot_be_read_are_refused_and_do_no_harm(text, rows, words):
    reader = Reader(PAIR.network)
    before = reader.logits(TEXT[:30]).copy()
    with pytest.raises(ValueError, match=words):
        reader.logits(text, rows)
    assert np.abs(reader.logits(TEXT[:30]) - before).max() < 1e-4
    with pytest.raises(ValueError, match="text has 97 tokens"):
        list(reader.read((1,) * 97))


# Rows and draws, against sim's own

logits = st.lists(st.one_of(st.integers(-3, 3).map(float), st.floats(-30, 30)), min_size=1, max_size=12)
settings_of_a_sampler = st.tuples(
    st.sampled_from([0.0, 1e-10, 1e-8, 0.3, 0.7, 1.0, 2.5]), st.integers(0, 14), st.sampled_from([1.0, 0.95, 0.5, 1e-6])
)


@given(st.lists(logits, min_size=1, max_size=3), settings_of_a_sampler)
def test_rows_are_those_of_sim(rows, chosen):
    temperature, top_k, top_p = chosen
    size = min(map(len, rows))
    found = Sampler(temperature, top_k, top_p).rows(np.array([row[:size] for row in rows]))
    for row, given_row in zip(found, rows, strict=True):
        wanted = distribution(given_row[:size], temperature, top_k or None, None if top_p == 1.0 else top_p)
        assert np.isfinite(row).all()
        assert math.isclose(math.fsum(row), 1.0, abs_tol=1e-12)
        assert np.abs(row - np.array(wanted)).max() < 1e-12
        assert [value > 0 for value in row] == [value > 0 for value in wanted]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9).filter(lambda row: sum(row) > 1e-3), st.floats(0, 1 - 2**-53))
def test_draws_are_those_of_sim(weights, uniform):
    row = [weight / math.fsum(weights) for weight in weights]
    token = draw(np.array(row), uniform)
    assert row[token] > 0
    sums = np.add.accumulate(row)
    if np.abs(sums - uniform * sums[-1]).min() > 1e-12:  # else two ways of adding may fall on either side
        assert token == pick_token(row, uniform)


def test_a_draw_never_takes_what_cannot_be():
    for row in ([0.0, 1.0, 0.0], [0.0, 0.5, 0.5, 0.0, 0.0]):
        for uniform in (0.0, 0.5, 1 - 2**-53):
            assert row[draw(np.array(row), uniform)] > 0


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=9))
def test_replacements_are_those_of_sim(pairs):
    p, q = (np.array(row) + 1e-6 for row in zip(*pairs, strict=True))
    p, q = p / p.sum(), q / q.sum()
    found = replacement(p, q)
    wanted = replacement_row(tuple(p.tolist()), tuple(q.tolist()))
    if np.maximum(p - q, 0).sum() > 1e-12:
        assert np.abs(found / found.sum() - np.array(wanted)).max() < 1e-6
    assert replacement(p, p) is p


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ((-0.1, 0, 1.0), r"temperature is -0\.1; it must be a finite number, 0\.0 or more"),
        ((math.nan, 0, 1.0), "temperature is nan"),
        ((1.0, -1, 1.0), "top_k is -1; it must be a whole number, 0 or more"),
        ((1.0, 0, 0.0), r"top_p is 0\.0; it must be a finite number above 0"),
        ((1.0, 0, 1.1), r"top_p is 1\.1"),
    ],
)
def test_settings_that_make_no_sense_are_named(wrong, words):
    with pytest.raises(ValueError, match=words):
        Sampler(*wrong)
