"""Formulas in a real browser: drawn without a script, in a font that only their pages fetch, after any navigation."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.tools.server import Host

FORMULAS = "reference/formulas/"
FONT = "assets/fonts/stix-two-math.woff2"
HEIGHTS = """() => Object.fromEntries([...document.querySelectorAll("math")].map((math) => [
  math.getAttribute("alttext"),
  Math.max(...[...math.querySelectorAll("mo[fence]")].map((mo) => mo.getBoundingClientRect().height)),
]))"""


def test_brackets_grow_with_what_they_hold(open_page: Callable[..., Page]) -> None:
    page = open_page(FORMULAS)
    page.evaluate("document.fonts.ready.then(() => true)")
    heights = page.evaluate(HEIGHTS)
    around_fraction = heights[r"\Pr\left[\text{keep } x\right] = \min\left(1, \frac{p(x)}{q(x)}\right)"]
    line = page.evaluate("parseFloat(getComputedStyle(document.querySelector('math')).fontSize)")
    assert around_fraction > 1.8 * line


def test_only_pages_with_formulas_fetch_the_font(open_page: Callable[..., Page], own_host: Host) -> None:
    page = open_page("", on=own_host)
    page.wait_for_load_state("networkidle")
    assert FONT not in [name for name, _ in own_host.asked]
    page.goto(own_host.url + FORMULAS)
    page.evaluate("document.fonts.ready.then(() => true)")
    assert (FONT, 200) in own_host.asked
    page.goto(own_host.url + "lessons/02-draft-and-verify/")
    assert [name for name, _ in own_host.asked].count(FONT) == 1


def test_they_are_the_same_after_clicking_through_the_site(open_page: Callable[..., Page]) -> None:
    page = open_page(FORMULAS)
    loaded = page.locator("math").evaluate_all("all => all.map((math) => math.outerHTML)")
    assert len(loaded) >= 13
    page.locator("a[href*='notation/']:visible").first.click()
    expect(page.locator("math")).to_have_count(0)
    page.locator("a[href*='formulas/']:visible").first.click()
    expect(page.locator("math")).to_have_count(len(loaded))
    assert page.locator("math").evaluate_all("all => all.map((math) => math.outerHTML)") == loaded
    expect(page.locator("math").first).to_be_visible()


@pytest.mark.parametrize("width", [320, 390])
def test_a_long_one_scrolls_inside_itself(open_page: Callable[..., Page], width: int) -> None:
    page = open_page(FORMULAS, viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == width
    over = page.locator(".sd-formula").evaluate_all("all => all.map((one) => one.scrollWidth > one.clientWidth)")
    assert any(over) == (width == 320)


def test_without_javascript_they_are_there_too(open_page: Callable[..., Page]) -> None:
    page = open_page(FORMULAS, javascript=False)
    expect(page.locator("math").first).to_be_visible()
