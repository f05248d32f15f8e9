"""Controls under the reader's hands: keyboard, mouse, typing, touch, Play. Most of it needs no Python yet."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from threading import Event

import pytest
from playwright.sync_api import Page, expect

from tests.site.faults import place
from tests.site.figures import Figure
from tests.tools.server import Host, Spoiled

Open = Callable[..., Page]
START = "share {share}, length {length}, round {round}, card {card}, on {on}, words {words}"


def summary(**changed: object) -> str:
    values: dict[str, object] = {"share": 0.5, "length": 4, "round": 0, "card": "a", "on": True, "words": "hello"}
    return START.format_map(values | changed)


@pytest.mark.parametrize("when", ["before the script", "between two answers"])
def test_a_table_stays_where_the_reader_has_scrolled_it(open_page: Open, own_host: Host, when: str) -> None:
    """Every answer puts another table in its place."""
    held = Event()
    if when == "between two answers":
        held.set()
    own_host.broken = {place("sd-widget.js"): Spoiled(held=held)}
    figure = Figure(open_page("labs/verdict/", on=own_host, size="phone"), "verdict")
    table = figure.part("table").locator(".sd-scroll")
    figure.root.locator("summary").click()
    if when == "between two answers":
        figure.press("batch", "ArrowRight")
        figure.is_state("live")
    old = table.element_handle()
    table.evaluate("table => table.scrollTo({ left: 30, behavior: 'instant' })")
    held.set()
    figure.root.and_(figure.page.locator(":defined")).wait_for()
    figure.press("batch", "ArrowRight")
    figure.page.wait_for_function("old => !old.isConnected", arg=old)
    assert table.evaluate("table => table.scrollLeft") == 30


@pytest.fixture
def kinds(open_page: Open, odd: Host) -> Figure:
    page = open_page("lessons/odd-kinds/", on=odd)
    figure = Figure(page, "kinds")
    expect(page.locator("sd-widget:defined")).to_be_attached()
    expect(figure.control("length").locator(".sd-problem[role=status]")).to_be_attached()  # the script is there
    return figure


def test_every_kind_of_control_reaches_python(kinds: Figure) -> None:
    """By keyboard, by mouse, one after another, each change on top of the last."""
    kinds.press("share", "ArrowRight")
    kinds.says(summary(share=0.6))
    kinds.control("card").locator("select").select_option("b")
    kinds.says(summary(share=0.6, card="b"))
    kinds.control("on").locator("label").click()
    kinds.says(summary(share=0.6, card="b", on=False))
    kinds.control("words").locator("textarea").fill("two <b>words</b>")
    kinds.says(summary(share=0.6, card="b", on=False, words="two <b>words</b>"))
    kinds.button("next").click()
    kinds.says(summary(share=0.6, card="b", on=False, words="two <b>words</b>", round=1))
    box = kinds.slider("length").bounding_box()
    assert box
    kinds.page.mouse.click(box["x"] + box["width"] - 8, box["y"] + box["height"] / 2)
    kinds.says(summary(share=0.6, card="b", on=False, words="two <b>words</b>", round=1, length=8))
    assert "words" not in kinds.page.url
    kinds.button("reset").click()
    kinds.says(summary())
    kinds.page.wait_for_url(lambda url: "?" not in url)


def test_what_is_read_aloud_is_what_is_seen_at_every_stop(kinds: Figure) -> None:
    for name, stops in (("share", 11), ("length", 8), ("round", 6)):
        kinds.press(name, "Home")
        for _ in range(stops):
            aloud = kinds.slider(name).get_attribute("aria-valuetext")
            control = kinds.control(name)
            unit = control.locator(".sd-unit")
            seen = control.locator(".sd-typed").input_value()
            if unit.count():
                seen = f"{seen} {unit.inner_text()}"
            if name != "round":
                assert aloud == seen
            else:
                assert aloud is not None
                assert aloud.startswith(seen)
            kinds.page.keyboard.press("ArrowRight")
    expect(kinds.slider("share")).to_have_attribute("aria-valuetext", "1")


@pytest.mark.parametrize(
    ("name", "typed", "shown", "words"),
    [
        ("share", "0,3", "0.3", ""),
        ("share", ".3", "0.3", ""),
        ("share", "3e-1", "0.3", ""),
        ("share", "0.33", "0.3", "0.33 is between two stops; the nearest is 0.3."),
        ("share", "1.7", "1.7", "1.7 is outside 0 to 1. It goes from 0 to 1."),
        ("share", "-1", "-1", "outside 0 to 1"),
        ("share", "abc", "abc", "“abc” is not a number"),
        ("share", "", "", "No number was given"),
        ("share", "NaN", "NaN", "is not a number"),
        ("length", "1,000", "1,000", "could mean two numbers"),
        ("length", "1.000,5", "1.000,5", "could mean two numbers"),
        ("length", "12", "12", ""),
        ("length", "17", "17", "17 is outside 1 to 16. It goes from 1 to 16 tokens."),
    ],
)
def test_typed_numbers(kinds: Figure, name: str, typed: str, shown: str, words: str) -> None:
    field = kinds.control(name).locator(".sd-typed")
    field.fill(typed)
    field.press("Enter")
    problem = kinds.control(name).locator(".sd-problem")
    expect(field).to_have_value(shown)
    if words:
        expect(problem).to_contain_text(words)
    else:
        expect(problem).to_be_hidden()
    kinds.press(name, "Home")  # and it recovers, whatever was typed
    expect(problem).to_be_hidden()
    expect(field).to_have_value("0" if name == "share" else "1")


def test_the_far_part_of_a_slider_opens_by_its_button(kinds: Figure) -> None:
    kinds.press("length", "End")
    expect(kinds.slider("length")).to_have_attribute("aria-valuetext", "8 tokens")
    kinds.button("extend").click()
    expect(kinds.slider("length")).to_be_focused()
    expect(kinds.button("extend")).to_be_hidden()
    kinds.page.keyboard.press("End")
    expect(kinds.slider("length")).to_have_attribute("aria-valuetext", "16 tokens")
    kinds.says(summary(length=16))


def test_play_goes_to_the_end_and_a_hand_stops_it(kinds: Figure) -> None:
    kinds.press("share", "ArrowRight")
    kinds.says(summary(share=0.6))
    play = kinds.button("play")
    play.click()
    expect(play).to_have_text("Pause")
    kinds.says(summary(share=0.6, round=5))
    expect(play).to_have_text("Play")
    play.click()  # from the end it begins again
    expect(play).to_have_text("Pause")
    kinds.button("previous").click()
    expect(play).to_have_text("Play")


def test_nothing_plays_while_the_tab_is_hidden_and_nothing_bursts_after(kinds: Figure) -> None:
    page = kinds.page
    kinds.press("share", "ArrowRight")
    kinds.is_state("live")
    page.evaluate(
        """() => {
          window.hide = (state) => {
            Object.defineProperty(document, "visibilityState", {value: state, configurable: true});
            document.dispatchEvent(new Event("visibilitychange"));
          };
          document.querySelector("[data-do=play]").click();
          hide("hidden");
        }"""
    )
    at = kinds.slider("round").input_value()
    page.wait_for_timeout(600)  # six steps' time: hidden, nothing may move
    expect(kinds.slider("round")).to_have_value(at)
    page.evaluate(
        """() => {
          window.steps = [];
          const range = document.querySelector("[data-param=round] .sd-range");
          const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value");
          Object.defineProperty(range, "value", {
            get() { return set.get.call(this); },
            set(to) { steps.push(performance.now()); set.set.call(this, to); },
            configurable: true,
          });
          hide("visible");
        }"""
    )
    kinds.says(summary(share=0.6, round=5))
    times = page.evaluate("steps")
    assert min(b - a for a, b in itertools.pairwise(times)) > 50


def test_with_reduced_motion_play_shows_the_end_at_once(open_page: Open, odd: Host) -> None:
    page = open_page("lessons/odd-kinds/", on=odd, reduced_motion="reduce")
    figure = Figure(page, "kinds")
    expect(figure.control("length").locator(".sd-problem[role=status]")).to_be_attached()
    figure.button("play").click()
    expect(figure.slider("round")).to_have_value("5")
    expect(figure.button("play")).to_have_text("Play")


def test_enter_in_a_field_sends_no_form(kinds: Figure) -> None:
    kinds.page.evaluate("window.mark = 1")
    kinds.control("share").locator(".sd-typed").press("Enter")
    assert kinds.page.evaluate("window.mark") == 1


def test_a_field_that_is_not_ours_is_left_alone(open_page: Open, odd: Host) -> None:
    """A page of a later build may hold a kind of control that this script does not know."""
    page = open_page("lessons/odd-kinds/", on=odd, javascript=True)
    page.evaluate(
        """() => {
          const widget = document.querySelector("sd-widget");
          const copy = widget.cloneNode(true);
          copy.querySelector("[data-param=share]").dataset.kind = "hologram";
          widget.replaceWith(copy);
        }"""
    )
    figure = Figure(page, "kinds")
    figure.press("length", "ArrowRight")
    figure.says(summary(length=5))
