"""A figure's large files: fetched when it runs, told as they come, refused when they are not the build's, given up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.site.conftest import Seen
from tests.site.faults import REPORTS
from tests.site.figures import READY_MS, Figure
from tests.site.odd import BLOB, BYTES, broken, linked_copy, live_folder
from tests.tools.server import Host, serve

Open = Callable[..., Page]
PAGE = "lessons/odd-filed/"
DONE = f"n is 1, {len(BYTES)} bytes, {BYTES.count(b'a')} of them a"


def fetched(host: Host) -> int:
    return sum(name.endswith(BLOB) for name, _ in host.asked)


def test_it_is_fetched_once_and_only_for_a_run(open_page: Open, odd: Host) -> None:
    figure = Figure(open_page(PAGE, on=odd), "filed")
    figure.press("n", "ArrowRight")
    figure.says("n is 2, at rest")
    assert fetched(odd) == 0
    figure.press("n", "ArrowLeft")
    figure.control("run").locator("label").click()
    figure.says(DONE)
    figure.press("n", "ArrowRight")
    figure.says(DONE.replace("1", "2", 1))
    assert fetched(odd) == 1


def test_on_a_slow_line_it_says_how_far_it_is_and_stop_is_heard(open_page: Open, odd: Host) -> None:
    figure = Figure(open_page(PAGE, on=odd), "filed")
    figure.press("n", "ArrowRight")
    figure.says("n is 2, at rest")
    odd.bits_per_s = 1_000_000  # eight seconds for the file
    figure.control("run").locator("label").click()
    expect(figure.words).to_contain_text("of 1.0 MB:", timeout=READY_MS)
    figure.button("stop").click()
    figure.tells("Stopped.")
    odd.bits_per_s = 0.0
    figure.button("retry").click()
    figure.says(DONE.replace("1", "2", 1))
    expect(figure.notice).to_be_hidden()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (BYTES[:-1], f"data/{BLOB} has {len(BYTES) - 1} bytes in place of {len(BYTES)}"),
        (b"!" + BYTES[1:], f"data/{BLOB} is damaged: it has the right size and not the right checksum"),
        (None, f"{BLOB} came back as 404"),
    ],
)
def test_a_file_that_is_not_the_one_is_refused_and_retry_works(
    open_page: Open, odd_site: Path, tmp_path: Path, seen: Seen, content: bytes | None, words: str
) -> None:
    seen.expected.append(REPORTS)
    site = linked_copy(odd_site, tmp_path / "site")
    with serve(site, "/sub/") as host:
        with broken(live_folder(site) / "data" / BLOB, content):
            page = open_page(PAGE, on=host)
            figure, kinds = Figure(page, "filed"), Figure(page, "kinds")
            figure.control("run").locator("label").click()
            figure.is_state("failed")
            figure.tells(words)
            kinds.press("share", "ArrowRight")
            kinds.is_state("live")
        figure.button("retry").click()
        figure.says(DONE)
        figure.is_state("live")


def test_a_web_page_in_its_place_is_told_as_one(open_page: Open, odd: Host, seen: Seen) -> None:
    seen.expected.append(REPORTS)
    page = open_page("", on=odd)
    page.context.route(f"**/{BLOB}", lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"))
    page.goto(odd.url + PAGE)
    figure = Figure(page, "filed")
    figure.control("run").locator("label").click()
    figure.tells(f"{BLOB} came back as a web page (text/html) in place of the file")
    page.context.unroute(f"**/{BLOB}")
    figure.button("retry").click()
    figure.says(DONE)
