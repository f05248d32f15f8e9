"""The six drafts as models: a prefix in, a row out, at every temperature; tables as the trainer reads them; copying."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim import reshaped

np = pytest.importorskip("numpy")
lm = pytest.importorskip("sim.lm")
tiny = pytest.importorskip("tests.sim.tiny")

from bench.train import tables  # noqa: E402
from sim.lm.drafts import LookUp  # noqa: E402
from sim.lm.rows import Sampler  # noqa: E402

FILES = tiny.files()
PAIR = FILES.loaded()
PREFIX = PAIR.encode("the thing and the th")
token_lists = st.lists(st.integers(0, 3), min_size=1, max_size=30)


def test_the_pair_has_all_six():
    assert PAIR.drafts == lm.DRAFTS == ("one-layer", "two-layer", "trigram", "bigram", "look-up", "exit")
    for name in lm.DRAFTS:
        assert PAIR.draft(name).name == name
    with pytest.raises(ValueError, match="draft is 'medusa'; it must be one of: one-layer, two-layer, trigram"):
        PAIR.draft("medusa")


@pytest.mark.parametrize("name", [*lm.DRAFTS, "target"])
@pytest.mark.parametrize(
    ("temperature", "top_k", "top_p"), [(1.0, 0, 1.0), (0.7, 0, 0.9), (0.0, 0, 1.0), (1.5, 5, 1.0)]
)
def test_a_model_is_a_function_of_the_prefix(name, temperature, top_k, top_p):
    def made():
        cut = temperature, top_k, top_p
        return PAIR.target(*cut) if name == "target" else PAIR.draft(name, None, *cut)

    model = made()
    for prefix in (PREFIX, PREFIX[:4], (10,), (*PREFIX[:4], 7), PREFIX):
        row = model(prefix)
        assert all(type(value) is float for value in row)
        assert len(row) == PAIR.vocab
        assert math.isclose(math.fsum(row), 1.0, abs_tol=1e-9)
        assert np.abs(np.array(row) - made()(prefix)).max() < 1e-5
        if top_k:
            assert sum(value > 0 for value in row) <= top_k or name == "look-up"
        if temperature == 0.0 and name != "look-up":
            assert sorted(row)[-2:] == [0.0, 1.0]


@pytest.mark.parametrize("name", ["one-layer", "two-layer", "exit", "trigram", "bigram"])
def test_the_temperature_is_that_of_sim(name):
    """A draft's row at 0.7 is its own row at 1, reshaped: both sides see the same steps."""
    for prefix in (PREFIX, PREFIX[:3]):
        hot = PAIR.draft(name, None, 1.0)(prefix)
        assert np.abs(np.array(PAIR.draft(name, None, 0.7)(prefix)) - reshaped(hot, 0.7)).max() < 1e-6
        assert PAIR.draft(name, None, 0.7, 4, 1.0)(prefix) == pytest.approx(reshaped(hot, 0.7, 4), abs=1e-6)


def test_bigram_rows_are_those_of_the_trainer():
    wanted = tables.bigram_rows(FILES.drafts)
    for token in range(PAIR.vocab):
        row = PAIR._tables["bigram"].row((token,))
        assert np.abs(row - wanted[token]).max() < 1e-12
        assert abs(row.sum() - 1) < 1e-9


def test_trigram_rows_are_those_of_the_trainer():
    known = FILES.drafts["trigram.contexts"][::10].tolist()
    contexts = [divmod(context, PAIR.vocab) for context in (*known, 0, 1, PAIR.vocab**2 - 1, 12345)]
    for before, last in contexts:
        row = PAIR._tables["trigram"].row((before, last))
        assert np.abs(row - tables.trigram_row(FILES.drafts, before, last)).max() < 1e-12
        assert abs(row.sum() - 1) < 1e-9
    for last in range(0, PAIR.vocab, 9):
        assert np.abs(PAIR._tables["trigram"].row((last,)) - tables.two_row(FILES.drafts, last)).max() < 1e-12


def test_a_bigram_that_lists_nothing_is_uniform():
    made = tiny.files()
    made.drafts["bigram.weights"][5] = 0
    assert made.loaded().draft("bigram")((5,)) == pytest.approx((1 / PAIR.vocab,) * PAIR.vocab)


def test_rows_that_were_made_are_kept_and_the_memory_is_not_filled(monkeypatch):
    draft = PAIR.draft("trigram", None, 0.7)
    assert draft.row((1, 2, 3)) is draft.row((9, 2, 3))
    monkeypatch.setattr("sim.lm.drafts._REMEMBERED", 2)
    for last in range(6):
        draft.row((last, last))
        assert len(draft._known) <= 2


# Copying from the text


def copied(text, longest=3):
    """The same in the plainest words."""
    for length in range(min(longest, len(text) - 1), 0, -1):
        for start in range(len(text) - length - 1, -1, -1):
            if text[start : start + length] == text[-length:]:
                return text[start + length]
    return None


@given(token_lists)
def test_the_look_up_finds_the_longest_ending_at_its_latest_place(text):
    assert LookUp(4, Sampler()).token(text) == copied(text)


@given(st.lists(st.sampled_from([0, 1, 256, 257, 0x0101, 0xFF00, 0x00FF, 65535]), min_size=1, max_size=40))
def test_the_look_up_is_not_misled_by_halves_of_tokens(text):
    assert LookUp(1 << 16, Sampler()).token(text) == copied(text)


def test_the_look_up_is_sure_or_says_nothing():
    draft = PAIR.draft("look-up", None, 0.7)
    assert draft.row((1, 2, 3, 1, 2)).tolist() == [1.0 if token == 3 else 0.0 for token in range(PAIR.vocab)]
    assert draft((1, 2, 3, 1, 2))[3] == 1.0
    assert draft.row((1, 2, 3)) is draft.row((1,)) is None
    assert draft((1, 2, 3)) == (1 / PAIR.vocab,) * PAIR.vocab


@pytest.mark.parametrize("name", lm.DRAFTS)
def test_a_prompt_can_be_read_beforehand(name):
    text = (list(range(90, 120)) * 3)[:70]
    draft = PAIR.draft(name, None, 0.7)
    assert list(draft.read(text))[-1] == 70
    assert np.abs(draft.row(text) - PAIR.draft(name, None, 0.7).row(text)).max() < 1e-5
