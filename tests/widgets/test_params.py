"""Parameters: what they accept, what they refuse and in which words, what readers and addresses see."""

import math
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widgets._kit.params import Choice, Slider, Step, Text, Toggle, _read_number

LENGTH = Slider("Draft length", 1, 8, 1, 4, unit="tokens", one="token", extend=16)
RATE = Slider("Accept rate", 0, 1, 0.01, 0.8)
LOG = Slider("Positions", 1, 4, 1, 1, extend=(8, 64, 512))
CARD = Choice("Card", {"h100-sxm": "H100", "h200": "H200", "2": "two"}, "h100-sxm")


def test_stops_are_clean_numbers_and_keep_their_type():
    assert LENGTH.stops == (1, 2, 3, 4, 5, 6, 7, 8)
    assert LENGTH.all_stops[-1] == 16
    assert RATE.all_stops[70] == 0.7
    assert LOG.stops == (1, 2, 3, 4)
    assert LOG.all_stops == (1, 2, 3, 4, 8, 64, 512)
    assert Slider("Batch", 1, 64, 1, 8, stops=(1, 8, 64)).all_stops == (1, 8, 64)


def test_values_come_back_in_normal_form():
    assert LENGTH.check(2.0) == 2
    assert isinstance(LENGTH.check(2.0), int)
    assert isinstance(RATE.check(1), float)
    assert LENGTH.check(16) == 16


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (17, "17 is outside 1 to 16 tokens"),
        (2.5, "2.5 is not one of the stops; the nearest are 2 and 3 tokens"),
        (True, "True is not a number from 1 to 16"),
        ("4", "'4' is not a number from 1 to 16"),
        (None, "None is not a number from 1 to 16"),
        (float("nan"), "nan is not a number from 1 to 16"),
        (float("inf"), "inf is outside 1 to 16 tokens"),
    ],
)
def test_a_slider_says_what_is_allowed(value, words):
    with pytest.raises(ValueError) as caught:
        LENGTH.check(value)
    assert str(caught.value) == words


def test_almost_zero_is_not_zero():
    with pytest.raises(ValueError, match=r"1e-09 is not one of the stops; the nearest are 0 and 0.01"):
        RATE.check(1e-9)


@pytest.mark.parametrize(("typed", "value"), [("0.5", 0.5), ("0,5", 0.5), (" .5 ", 0.5), ("1", 1.0), ("5e-1", 0.5)])
def test_numbers_are_read_as_people_type_them(typed, value):
    assert RATE.read(typed) == value


@pytest.mark.parametrize("typed", ["1,000", "1.000,5", "12,000", "1,000.5"])
def test_a_separator_between_thousands_is_not_guessed(typed):
    with pytest.raises(ValueError, match="could mean two numbers"):
        RATE.read(typed)


@pytest.mark.parametrize("typed", ["", "four", "nan", "inf", "1_0", "0x1", "1 2", "--1", "١"])
def test_what_is_not_a_number_is_said_so(typed):
    with pytest.raises(ValueError, match="is not a number"):
        RATE.read(typed)


def test_what_stands_beside_the_label():
    assert LENGTH.show(4) == "4 tokens"
    assert LENGTH.show(1) == "1 token"
    assert RATE.show(0.7) == "0.7"
    assert Step("Step", 12, 600, 12).show(3) == "3 of 12"
    assert CARD.show("h200") == "H200"
    assert Toggle("On", True).show(False) == "off"


def test_a_choice_takes_its_keys_and_suggests():
    assert CARD.check("h200") == "h200"
    assert CARD.check(2) == "2"
    with pytest.raises(ValueError, match=r"'h100-smx' is not one of h100-sxm, h200, 2 \(did you mean h100-sxm\?\)"):
        CARD.check("h100-smx")
    with pytest.raises(ValueError):
        CARD.check(True)


def test_a_toggle_is_a_yes_or_a_no():
    on = Toggle("Speculation", True)
    assert (on.read("on"), on.read("OFF"), on.read("0")) == (True, False, False)
    assert on.address(True) == "on"
    for value in (1, "yes", None):
        with pytest.raises(ValueError, match="neither true nor false"):
            on.check(value)
    with pytest.raises(ValueError, match="neither on nor off"):
        on.read("maybe")


def test_what_a_reader_writes_stays_private():
    words = Text("Your words", "", 10, 4)
    assert words.private
    assert words.check("a\r\nb\rc") == "a\nb\nc"
    with pytest.raises(ValueError, match="11 characters; at most 10"):
        words.check("x" * 11)
    with pytest.raises(ValueError, match="private"):
        words.address("x")


@pytest.mark.parametrize(
    "make",
    [
        lambda: Slider("A", 0, 1, 0.3, 0),  # 0.3 does not arrive at 1
        lambda: Slider("A", 0, 1, 0, 0),
        lambda: Slider("A", 0, 1, 0.1, 0.55),
        lambda: Slider("A", 1, 8, 1, 1, extend=(8, 16)),  # 8 twice
        lambda: Choice("A", {}, ""),
        lambda: Choice("A", {"a": "A"}, "b"),
        lambda: Step("A", 0, 500, 0),
        lambda: Text("A", "long", 2, 1),
    ],
)
def test_a_wrong_parameter_fails_where_it_is_written(make):
    with pytest.raises(ValueError):
        make()


GROUPS = {"en": (",", "."), "de": (".", ","), "fr": ("\u202f", ","), "ch": ("\u2019", "."), "si": (" ", ",")}


@given(st.integers(-(10**9), 10**9), st.integers(0, 4), st.sampled_from(sorted(GROUPS)), st.booleans())
def test_a_number_in_any_habit_is_read_as_itself_or_refused(digits, decimals, locale, grouped):
    """Never ten or a thousand times the value. A point and three digits are decimals, as the site writes them."""
    group, point = GROUPS[locale]
    value = digits / 10**decimals
    whole, _, part = f"{value:{',' if grouped else ''}.{decimals}f}".partition(".")
    text = whole.replace(",", group) + (point + part if part else "")
    if grouped and locale == "de" and not part:
        text += ","  # without decimals 1.000 is one, as everywhere on the site
    with suppress(ValueError):
        assert _read_number(text) == value


TYPED = st.text(max_size=40) | st.text(alphabet="0123456789.,eE+-_ \u2212\u0660naif\x00<&", max_size=24)


@given(TYPED)
def test_whatever_an_address_says_is_a_value_in_normal_form_or_refused(text):
    for param in (LENGTH, RATE, CARD, Toggle("On", True), Step("Step", 12, 600, 12)):
        try:
            value = param.read(text)
        except ValueError:
            continue
        assert param.check(value) == value
        assert param.read(param.address(value)) == value
        if not isinstance(value, str):
            assert math.isfinite(value)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=5))
def test_whatever_a_block_or_a_message_holds_is_a_value_or_refused(value):
    for param in (LENGTH, RATE, CARD, Toggle("On", True), Step("Step", 12, 600, 12)):
        try:
            kept = param.check(value)
        except ValueError:
            continue
        assert param.check(kept) == kept
        assert type(kept) in (int, float, bool, str)
