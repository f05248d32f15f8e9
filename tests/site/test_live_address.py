"""The state of a figure in the page's address: links reproduce pictures, and what an address says wrongly is told."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.site.figures import Figure
from tests.tools.server import Host

Open = Callable[..., Page]
TWO = "lessons/02-draft-and-verify/"
QUIET_MS = 450  # the address is written 300 ms after the last change


def test_a_link_reproduces_the_picture_and_copy_link_gives_it(open_page: Open) -> None:
    page = open_page(TWO)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    figure = Figure(page, "draft_verify")
    figure.press("gamma", "End")
    figure.press("alpha", "ArrowRight")
    figure.is_state("live")
    figure.button("copy-link").click()
    figure.tells("copied")
    link = page.evaluate("navigator.clipboard.readText()")
    assert re.search(r"\?draft_verify\.gamma=8&draft_verify\.alpha=0\.\d+#draft_verify$|\?.*alpha.*gamma=8#", link)
    again = page.context.new_page()
    again.goto(link)
    other = Figure(again, "draft_verify")
    other.is_state("live")
    for part in ("picture", "readout", "tokens", "table", "title"):
        assert other.part(part).inner_html() == figure.part(part).inner_html()


def test_without_a_clipboard_the_link_stands_in_a_field(open_page: Open) -> None:
    page = open_page(TWO)
    page.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    figure = Figure(page, "draft_verify")
    figure.press("gamma", "ArrowRight")
    figure.button("copy-link").click()
    field = figure.notice.locator("input")
    expect(field).to_have_value(re.compile(r"\?draft_verify\.gamma=5#draft_verify$"))
    expect(field).to_be_focused()
    figure.button("dismiss").click()
    expect(figure.notice).to_be_hidden()
    expect(figure.button("copy-link")).to_be_focused()


def test_only_what_changed_is_written_and_what_is_foreign_stays(open_page: Open) -> None:
    page = open_page(TWO + "?h=draft+model&q=a%20b&other.gamma=2#the-rule")
    figure = Figure(page, "draft_verify")
    figure.press("gamma", "ArrowRight")
    page.wait_for_url("**/?h=draft+model&q=a%20b&other.gamma=2&draft_verify.gamma=5#the-rule")
    figure.press("gamma", "ArrowLeft")
    page.wait_for_url("**/?h=draft+model&q=a%20b&other.gamma=2#the-rule")


def test_a_long_drag_writes_once(open_page: Open) -> None:
    """Safari refuses more than 100 writes in 30 seconds."""
    page = open_page(TWO)
    page.evaluate(
        """() => {
          window.writes = 0;
          const plain = history.replaceState.bind(history);
          history.replaceState = (state, title, url) => { if (url) writes += 1; return plain(state, title, url); };
        }"""
    )
    page.locator("sd-widget#draft_verify:defined").wait_for()
    Figure(page, "draft_verify").slider("gamma").evaluate(
        """range => {
          for (const place of [...Array(60).keys()].map((step) => step % 8).concat(4)) {
            range.value = place;
            range.dispatchEvent(new Event("input", {bubbles: true}));
          }
        }"""
    )  # within the page, so that no pause of this test's own ends the drag early
    page.wait_for_url("**/?draft_verify.gamma=5")
    assert page.evaluate("writes") == 1


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("kinds.share=1.7", "Share: 1.7 is outside 0 to 1. It goes from 0 to 1."),
        ("kinds.length=-3", "Length: -3 is outside 1 to 16. It goes from 1 to 16 tokens."),
        ("kinds.length=2.5", "Length: 2.5 is not one of the stops; the nearest is 2."),
        ("kinds.length=3&kinds.length=9", "Length stands in the address more than once"),
        ("kinds.share=abc", "Share: “abc” is not a number. It goes from 0 to 1."),
        ("kinds.share=", "Share: No number was given."),
        ("kinds.share=NaN", "Share: “NaN” is not a number."),
        ("kinds.share=1e999", "is larger than any number here"),
        ("kinds.share=1,000", "could mean two numbers"),
        ("kinds.card=z", "Card: “z” is not one of a, b."),
        ("kinds.on=perhaps", "On: “perhaps” is neither on nor off."),
        ("kinds.words=secret", "There is no parameter “words” to set in the address."),
        ("kinds.alhpa=1", "There is no parameter “alhpa” to set in the address."),
        ("kinds.__proto__=1", "There is no parameter “__proto__”"),
        ("kinds.share=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E", "“<img src=x onerror=alert…” is not a number"),
    ],
)
def test_what_an_address_says_wrongly_is_told_and_taken_out(open_page: Open, odd: Host, query: str, words: str) -> None:
    page = open_page(f"lessons/odd-kinds/?q=x&{query}#part", on=odd)
    figure = Figure(page, "kinds")
    figure.tells(words)
    expect(figure.slider("share")).to_have_attribute("aria-valuetext", "0.5")
    expect(figure.slider("length")).to_have_attribute("aria-valuetext", "4 tokens")
    expect(figure.control("words").locator("textarea")).to_have_value("hello")
    page.wait_for_url("**/lessons/odd-kinds/?q=x#part")
    figure.is_state("static")
    assert figure.notice.locator("img").count() == 0


def test_good_values_next_to_bad_ones_hold(open_page: Open, odd: Host) -> None:
    query = "kinds.share=0,3&kinds.length=99&kinds.on=off&kinds.length=&kinds.card=b"
    page = open_page(f"lessons/odd-kinds/?{query}", on=odd)
    figure = Figure(page, "kinds")
    figure.says("share 0.3, length 4, round 0, card b, on False, words hello")
    figure.tells("Length stands in the address more than once")
    page.wait_for_url("**/lessons/odd-kinds/?kinds.share=0.3&kinds.card=b&kinds.on=off")


def test_a_value_in_the_far_part_opens_it(open_page: Open, odd: Host) -> None:
    figure = Figure(open_page("lessons/odd-kinds/?kinds.length=12", on=odd), "kinds")
    expect(figure.slider("length")).to_have_attribute("aria-valuetext", "12 tokens")
    expect(figure.slider("length")).to_have_attribute("max", "15")
    figure.says("share 0.5, length 12, round 0, card a, on True, words hello")


def test_the_same_widget_twice_keeps_two_states(open_page: Open, odd: Host) -> None:
    page = open_page("lessons/odd-five/?two.length=5", on=odd)
    Figure(page, "two").says("share 0.5, length 5, round 0, card a, on True, words hello")
    Figure(page, "one").press("length", "ArrowLeft")
    Figure(page, "one").says("share 0.5, length 3, round 0, card a, on True, words hello")
    page.wait_for_url("**/lessons/odd-five/?two.length=5&one.length=3")
    Figure(page, "five").says("share 0.5, length 4, round 0, card a, on True, words hello")


def test_back_within_a_page_goes_to_the_state_of_that_entry(open_page: Open, odd: Host) -> None:
    page = open_page("lessons/odd-kinds/", on=odd)
    figure = Figure(page, "kinds")
    figure.press("length", "ArrowRight")
    page.wait_for_url("**/?kinds.length=5")
    # A fragment set by a script makes Material put the content in anew: a key before that is lost with the old one.
    figure.root.evaluate("figure => { figure.dataset.old = ''; location.hash = 'part'; }")
    page.locator("sd-widget#kinds:not([data-old]):defined").wait_for()
    figure.press("length", "ArrowRight")
    page.wait_for_url("**/?kinds.length=6#part")
    page.go_back()
    expect(figure.slider("length")).to_have_attribute("aria-valuetext", "5 tokens")
    figure.says("share 0.5, length 5, round 0, card a, on True, words hello")


def test_what_was_not_written_yet_does_not_follow_to_the_next_page(open_page: Open) -> None:
    page = open_page(TWO)
    figure = Figure(page, "draft_verify")
    figure.press("gamma", "ArrowRight")
    page.locator("a[href*='01-why-decode']:visible").first.click()
    page.wait_for_url("**/01-why-decode-is-slow/")
    page.wait_for_timeout(QUIET_MS)
    assert "?" not in page.url
