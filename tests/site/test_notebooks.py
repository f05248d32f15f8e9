"""Notebook pages of the built site: run, small, without a script of their own, the same however one gets there."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

DERIVED, TABLES = "notebooks/derive-the-speed-up/", "notebooks/leviathan-tables/"
PAGES = {DERIVED: "The speed-up, derived", TABLES: "A paper’s tables"}
SAID = {DERIVED: "formula: 2.0010", TABLES: "every printed digit agrees"}
ran = pytest.mark.skipif(os.environ.get("EXECUTE_NOTEBOOKS") == "0", reason="the site was built without running them")


def content(built: Path, address: str) -> str:
    text = (built / address / "index.html").read_text(encoding="utf-8")
    found = re.search(r'<article class="md-content__inner.*?</article>', text, re.DOTALL)
    assert found
    return found[0]


@pytest.mark.parametrize("address", PAGES)
def test_no_script_no_foreign_address_no_weight(built: Path, address: str) -> None:
    html = content(built, address)
    assert not re.search(r"<(script|style|iframe|link)\b|\son\w+=", html)
    assert re.findall(r'(?:src|data)="(?:https?:)?//[^"]*"', html) == []
    hosts = set(re.findall(r'href="https?://([^/"]+)', html))
    assert hosts <= {"arxiv.org"}
    assert len(html) < 60_000


@ran
@pytest.mark.parametrize("address", PAGES)
def test_the_outputs_are_there_without_javascript_too(open_page: Callable[..., Page], address: str) -> None:
    page = open_page(address, javascript=False)
    assert page.locator(".sd-notebook-output").count() >= 3
    expect(page.locator(".sd-notebook-output", has_text=SAID[address])).to_be_visible()


@ran
def test_it_is_the_same_by_click_and_by_address(open_page: Callable[..., Page]) -> None:
    shown = "[...document.querySelectorAll('.sd-notebook-output, .sd-formula')].map((one) => one.innerHTML)"
    page = open_page("notebooks/derive-the-speed-up/")
    loaded = page.evaluate(shown)
    page.locator("a[href*='leviathan-tables/']:visible").first.click()
    expect(page.locator("h1")).to_contain_text("tables, computed again")
    page.locator(".md-content a[href*='derive-the-speed-up/']:visible").first.click()
    expect(page.locator("h1")).to_contain_text("derived and tried")
    assert page.evaluate(shown) == loaded


@pytest.mark.parametrize(("address", "title"), PAGES.items())
def test_the_navigation_has_its_own_words(open_page: Callable[..., Page], address: str, title: str) -> None:
    page = open_page(address)
    expect(page.locator(".md-nav__link--active:visible", has_text=title).first).to_be_visible()
    expect(page.locator("h1")).not_to_contain_text(title)
    assert page.title().startswith(title)


def test_the_search_holds_the_words_and_nothing_of_the_machinery(built: Path) -> None:
    entries = json.loads((built / "search" / "search_index.json").read_text(encoding="utf-8"))["docs"]
    text = " ".join(entry["text"] for entry in entries if entry["location"].startswith("notebooks/"))
    assert "geometric series" in text
    for noise in ("import", "np.random", "print(", "__code", "every printed digit agrees", "function", "jp-", "mfrac"):
        assert noise not in text
    assert len(text) < 12_000


@pytest.mark.parametrize("size", ["phone", "wide"])
@pytest.mark.parametrize("address", PAGES)
def test_wide_outputs_scroll_inside_themselves(open_page: Callable[..., Page], address: str, size: str) -> None:
    page = open_page(address, size=size)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_program_can_be_had(built: Path, open_page: Callable[..., Page]) -> None:
    page = open_page(TABLES, javascript=False)
    link = page.locator(".sd-notebook-source a")
    assert (built / "notebooks" / "leviathan-tables" / (link.get_attribute("href") or "")).is_file()
