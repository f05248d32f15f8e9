"""Python starts from the memory written down at build time; where that fails it starts plainly, and nobody notices."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import sim
from tests.tools.server import serve

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
