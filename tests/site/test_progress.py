"""Progress: what a reader marks as finished stays in this browser, can be forgotten, and never costs anything else."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.site.conftest import Seen
from tests.tools.server import Host

ONE = "lessons/01-why-decode-is-slow/"
TWO = "lessons/02-draft-and-verify/"
THREE = "lessons/03-drafting-with-heads/"
STORED = """Object.fromEntries(Object.keys(localStorage).filter((key) => key.startsWith("sd"))
  .map((key) => [key, localStorage[key]]))"""
BLOCKED = "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError'); } })"
FULL = "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }"

Open = Callable[..., Page]


def button(page: Page) -> Locator:
    return page.locator("[data-progress=mark] button")


def card(page: Page, address: str) -> Locator:
    return page.locator(f"[data-progress=badge][data-node='{address.split('/')[1]}']")


def stop(page: Page) -> Locator:
    return page.locator(".sd-roadmap [data-progress=stop]")


def total(page: Page) -> Locator:
    return page.locator("[data-progress=total]")


def test_a_finished_node_shows_on_the_home_page_and_can_be_undone(open_page: Open) -> None:
    page = open_page(TWO)
    expect(button(page)).to_have_text("Mark this node as finished")
    button(page).press("Enter")
    expect(button(page)).to_have_text("Finished ✓ – undo")
    expect(button(page)).to_be_focused()
    page.locator(".md-header__button.md-logo").click()  # instant navigation
    expect(card(page, TWO)).to_contain_text("✓ finished")
    expect(card(page, ONE)).not_to_contain_text("finished")
    expect(total(page)).to_contain_text("You have finished 1 of 3 nodes.")
    expect(stop(page)).to_contain_text("You are here. 1 of 3 finished")
    page.reload()
    expect(card(page, TWO)).to_contain_text("✓ finished")
    page.locator(f".sd-nodes a[href*='{TWO}']").click()
    button(page).click()
    expect(button(page)).to_have_text("Mark this node as finished")
    page.locator(".md-header__button.md-logo").click()
    expect(card(page, TWO)).to_be_visible()
    expect(card(page, TWO)).not_to_contain_text("finished")
    expect(stop(page)).not_to_contain_text("finished")
    expect(total(page)).to_be_hidden()


def test_the_roadmap_says_when_every_node_of_the_stop_is_finished(open_page: Open, host: Host) -> None:
    page = open_page(ONE)
    for address in (ONE, TWO, THREE):
        page.goto(host.url + address)
        button(page).click()
    page.goto(host.url)
    expect(stop(page)).to_contain_text("✓ finished")
    total(page).get_by_role("button", name="Forget my progress").click()
    expect(stop(page)).not_to_contain_text("finished")


def test_nothing_is_stored_before_the_reader_presses_nor_after_forgetting(open_page: Open, host: Host) -> None:
    page = open_page("")
    expect(total(page)).to_be_hidden()
    for address in (ONE, THREE):
        page.goto(host.url + address)
        expect(button(page)).to_be_visible()
        assert page.evaluate(STORED) == {}
    button(page).click()
    assert page.evaluate(STORED) == {"sd-progress": '["03-drafting-with-heads"]'}
    page.goto(host.url)
    total(page).get_by_role("button", name="Forget my progress").click()
    expect(total(page)).to_have_text("Your progress is forgotten.")
    expect(page.locator(".sd-finished")).to_have_count(0)
    assert page.evaluate(STORED) == {}
    page.reload()
    expect(card(page, ONE)).to_be_visible()
    expect(total(page)).to_be_hidden()


def test_another_tab_follows(open_page: Open) -> None:
    home = open_page("")
    lesson = open_page(ONE, context=home.context)
    button(lesson).click()
    expect(card(home, ONE)).to_contain_text("✓ finished")


@pytest.mark.parametrize("stored", ["", "{", "null", "7", '{"01-why-decode-is-slow": true}', "[1, null, [2]]"])
def test_whatever_stands_in_the_browser_is_no_obstacle(open_page: Open, host: Host, stored: str) -> None:
    page = open_page(ONE)
    page.evaluate("text => localStorage.setItem('sd-progress', text)", stored)
    page.goto(host.url + ONE)
    button(page).click()
    expect(button(page)).to_have_text("Finished ✓ – undo")
    assert page.evaluate(STORED) == {"sd-progress": '["01-why-decode-is-slow"]'}


@pytest.mark.parametrize("trouble", [BLOCKED, FULL], ids=["blocked", "full"])
def test_a_browser_that_keeps_nothing_costs_nothing_else(
    open_page: Open, host: Host, seen: Seen, trouble: str
) -> None:
    page = open_page("")
    seen.expected.append(r"SecurityError|Failed to read the 'localStorage'|exception in the page: no")  # Material's own
    page.context.add_init_script(trouble)
    page.goto(host.url + ONE)
    button(page).click()
    expect(button(page)).to_have_text("Finished ✓ – undo")
    expect(page.locator("[data-progress=mark]")).to_contain_text("This browser keeps nothing for this site")
    page.locator("#pass_cost .sd-range").first.press("ArrowRight")
    expect(page.locator("#pass_cost")).to_have_attribute("data-state", "live", timeout=60_000)
    button(page).click()
    expect(button(page)).to_have_text("Mark this node as finished")


def test_without_javascript_there_is_nothing_of_it(open_page: Open, host: Host) -> None:
    page = open_page("", javascript=False)
    for place in page.locator("[data-progress=total], .sd-finished").all():
        expect(place).to_be_hidden()
    page.goto(host.url + ONE)
    expect(page.locator("[data-progress=mark]")).to_be_hidden()


def test_pages_without_a_place_for_it_do_not_fetch_it(open_page: Open, own_host: Host) -> None:
    page = open_page("reference/notation/", on=own_host)
    page.wait_for_load_state("networkidle")
    assert "assets/live/progress.js" not in [name for name, _ in own_host.asked]
