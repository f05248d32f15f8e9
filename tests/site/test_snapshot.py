"""Python starts from the memory written down at build time. Where that fails: tests/site/faults.py."""

from __future__ import annotations

import gzip
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

import sim
from tests.site.figures import Figure
from tests.tools.server import Host

LESSON = "lessons/02-draft-and-verify/"
STARTED = 'performance.getEntriesByName("python ready").map(mark => mark.detail)'


def move(page: Page) -> None:
    """Draft length from 4 to 5, by keyboard, and wait for Python's answer."""
    page.locator("#draft_verify-gamma").press("ArrowRight")
    expect(page.locator("#draft_verify")).to_have_attribute("data-state", "live", timeout=60_000)
    shown = page.locator('#draft_verify [data-key="tokens"]').get_attribute("data-value")
    assert float(shown or 0) == pytest.approx(sim.expected_tokens(0.8, 5))


def test_python_starts_from_its_memory(open_page: Callable[..., Page]) -> None:
    page = open_page(LESSON)
    move(page)
    assert page.evaluate(STARTED) == ["snapshot"]


def test_what_travels_until_a_figure_is_live(open_page: Callable[..., Page], own_host: Host) -> None:
    """Python's library stays where it is: what the widgets use of it is in the memory. Nothing is fetched twice."""
    page = open_page(LESSON, on=own_host)
    page.wait_for_load_state("networkidle")  # the page shares a script with the worker
    before = len(own_host.asked)
    move(page)
    names = [name.rsplit("/", 1)[1] for name, _ in own_host.asked[before:] if "assets/live/" in name]
    assert "python_stdlib.zip" not in names
    assert sorted(set(names)) == sorted(names)
    live = next(own_host.folder.glob("assets/live/*/"))
    sent = sum(
        len(content if name.endswith((".bin", ".zip")) else gzip.compress(content, 6))
        for name in names
        for content in [(live / name).read_bytes()]
    )
    assert sent <= 8_600_000, {name: (live / name).stat().st_size for name in names}


def test_the_rest_of_the_library_comes_when_something_asks_for_it(open_page: Callable[..., Page], odd: Host) -> None:
    figure = Figure(open_page("lessons/odd-library/", on=odd), "library")
    figure.press("n", "ArrowRight")
    figure.says("n is 2, hue 0.3333")
    assert len([name for name, _ in odd.asked if name.endswith("python_stdlib.zip")]) in (1, 2)  # its size, itself


def test_numpy_comes_compiled_and_asks_for_nothing_else(open_page: Callable[..., Page], odd: Host) -> None:
    """Neither the wheel nor Python's library: what importing NumPy needs of it is in the pack."""
    page = open_page("lessons/odd-vector/", on=odd)
    figure = Figure(page, "vector")
    figure.press("n", "End")
    expect(figure.part("summary")).to_contain_text("the sum is 15", timeout=60_000)
    assert page.evaluate(STARTED) == ["snapshot"]
    names = [name.rsplit("/", 1)[1] for name, _ in odd.asked if "assets/live/" in name]
    assert names.count("numpy.bin") == 1
    assert not [name for name in names if name.endswith((".whl", "stdlib.zip"))]
