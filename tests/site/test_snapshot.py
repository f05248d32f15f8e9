"""Python starts from the memory written down at build time; where that fails it starts plainly, and nobody notices."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import sim
from tests.site.figures import Figure
from tests.tools.server import Host, serve

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
    assert sent <= 9_200_000, {name: (live / name).stat().st_size for name in names}


def test_the_rest_of_the_library_comes_when_something_asks_for_it(open_page: Callable[..., Page], odd: Host) -> None:
    figure = Figure(open_page("lessons/odd-library/", on=odd), "library")
    figure.press("n", "ArrowRight")
    figure.says("n is 2, hue 0.3333")
    assert len([name for name, _ in odd.asked if name.endswith("python_stdlib.zip")]) in (1, 2)  # its size, itself


def test_without_a_memory_a_broken_library_is_named(open_page: Callable[..., Page], odd: Host, seen: object) -> None:
    """Only a plain start needs the library's file, and then a fault in it is told."""
    odd.broken = {r"snapshot\.bin$": 404, r"python_stdlib\.zip$": 404}
    seen.expected += [r"console (error|warning)", r"status 404", r"python_stdlib\.zip"]  # type: ignore[attr-defined]
    figure = Figure(open_page("lessons/odd-kinds/", on=odd), "kinds")
    figure.press("share", "ArrowRight")
    figure.is_state("failed")
    figure.tells("python_stdlib.zip came back as 404")


@pytest.mark.parametrize("fault", ["missing", "truncated", "not packed", "another program's memory"])
def test_without_a_usable_memory_it_starts_plainly(
    open_page: Callable[..., Page], seen: object, built: Path, tmp_path: Path, fault: str
) -> None:
    site = tmp_path / "site"
    shutil.copytree(built, site, copy_function=lambda source, target: Path(target).hardlink_to(source))
    memory = next(site.glob("assets/live/*/snapshot.bin"))
    whole = memory.read_bytes()
    memory.unlink()
    if fault == "truncated":
        memory.write_bytes(whole[: len(whole) // 2])
    elif fault == "not packed":
        memory.write_bytes(b"<!doctype html>" * 1000)
    elif fault == "another program's memory":
        memory.write_bytes(gzip.compress(bytes(32 * 1024 * 1024), 1))
    seen.expected += ["snapshot.bin", "404"]  # type: ignore[attr-defined]
    with serve(site, "/sub/") as host:
        page = open_page(LESSON, on=host)
        move(page)
        assert page.evaluate(STARTED) == ["plain"]
