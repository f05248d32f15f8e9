"""Text to tokens and back: any bytes, the trainer's own tokens, long prompts."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

pytest.importorskip("numpy")
Vocabulary = pytest.importorskip("sim.lm.text").Vocabulary
tiny = pytest.importorskip("tests.sim.tiny")

from bench.train import bpe  # noqa: E402

MERGES = [(int(a), int(b)) for a, b in tiny.files().target["merges"]]
PAIR = tiny.pair()
WORDS = "the there then thing rather in, an error: aaaaaaaaaaa  the\n\n    ...... été 12345 or"
texts = st.text(st.sampled_from("the rinagr.\n é_7"), max_size=60)


@given(st.one_of(st.binary(max_size=80), texts.map(str.encode)))
@example(bytes(range(256)) * 2)
def test_every_byte_has_tokens_and_comes_back(data):
    tokens = PAIR.encode(data)
    assert b"".join(map(PAIR.piece, tokens)) == data
    assert PAIR.text(tokens) == data.decode("utf-8", "replace")


@given(st.one_of(st.binary(max_size=80), texts.map(str.encode)))
@example(WORDS.encode())
def test_the_tokens_are_those_of_the_trainers_encoder(data):
    assert bpe.PRETOKENIZE.decode("latin-1") == tiny.PATTERN
    assert list(PAIR.encode(data)) == bpe.Encoder(MERGES).encode(data)


@given(texts)
@example("aaaaaaaaaaaaa")
@example("aaaa" * 9 + "thethethe")
def test_a_whole_text_as_one_piece_merges_the_earliest_pair_first(text):
    oracle = bpe.Encoder(MERGES)
    assert Vocabulary(MERGES, r"(?s:.+)").encode(text) == oracle._piece(text.encode())


@given(st.text(max_size=40))
@example("\ud800 half a pair")
def test_any_text_is_encoded(text):
    assert PAIR.text(PAIR.encode(text)) == text.encode("utf-8", "replace").decode()


def test_what_a_pattern_does_not_know_is_a_piece_too():
    only_letters = Vocabulary(MERGES, r"[a-z]+")
    assert only_letters.decode(only_letters.encode("..the..the..")) == b"..the..the.."
    assert len(only_letters.encode("..the..the..")) == 5  # ".." and "the" are tokens
    assert Vocabulary(MERGES, r"[a-z]*").encode("the. ") == only_letters.encode("the. ")


def test_nothing_has_no_tokens():
    assert PAIR.encode("") == PAIR.encode(b"") == ()
    assert PAIR.text(()) == ""


@pytest.mark.parametrize("data", ["a" * 10_000, "the thing, " * 910, "\n" * 10_000, "é" * 10_000, "x1 " * 3_333])
def test_ten_thousand_characters_are_encoded_whatever_they_are(data):
    for vocabulary in (PAIR, Vocabulary(MERGES, r"(?s:.+)")):
        tokens = vocabulary.encode(data)
        assert 0 < len(tokens) <= len(data.encode())
    assert PAIR.text(PAIR.encode(data)) == data


def test_remembered_pieces_are_forgotten_before_they_fill_the_memory(monkeypatch):
    monkeypatch.setattr("sim.lm.text._REMEMBERED", 3)
    little = Vocabulary(MERGES, tiny.PATTERN)
    assert little.encode(WORDS * 3) == PAIR.encode(WORDS * 3)
    assert len(little._known) <= 3


def test_halves_of_a_letter_are_shown_as_such():
    assert PAIR.text((0xC3,)) == "\ufffd"
    assert PAIR.text(PAIR.encode("é")) == "é"


@pytest.mark.parametrize("tokens", [(-1,), (0, tiny.VOCAB), (10**9,)])
def test_tokens_that_do_not_exist_are_named(tokens):
    with pytest.raises(ValueError, match=rf"tokens\[{len(tokens) - 1}\] is {tokens[-1]}; it must be from 0 to 273"):
        PAIR.text(tokens)


# Prompts that fit


def test_a_prompt_that_fits_stays_and_an_empty_one_becomes_a_new_line():
    assert PAIR.fit((1, 2, 3), 20) == ((1, 2, 3), 0)
    assert PAIR.fit((), 20) == ((10,), 0)
    assert PAIR.text(PAIR.fit((), 20).tokens) == "\n"


def test_a_long_prompt_keeps_its_end_and_says_what_was_left_out():
    tokens = PAIR.encode("x " * 5_000)
    kept, left_out = PAIR.fit(tokens, 20)
    assert len(kept) == PAIR.context - 20
    assert kept == tokens[left_out:]
    assert left_out == len(tokens) - len(kept)
    assert len(PAIR.fit(tokens, PAIR.context - 1).tokens) == 1


def test_room_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="room is 96; it must be a whole number from 0 to 95"):
        PAIR.fit((1,), 96)
    with pytest.raises(ValueError, match=r"tokens\[0\] is 274"):
        PAIR.fit((274,), 5)
