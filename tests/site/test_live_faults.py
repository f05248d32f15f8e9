"""What goes wrong in a reader's browser.

It is said in words, the lesson stays readable, and Retry works once the fault is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.site.conftest import Seen
from tests.site.figures import Figure, count_workers, worker_count
from tests.site.odd import linked_copy, live_folder
from tests.tools.server import TYPES, Host, serve

Open = Callable[..., Page]
KINDS = "share 0.6, length 4, round 0, card a, on True, words hello"
ALL = r"console (error|warning)|status \d+|request failed"  # the browser's own reports of a fault made on purpose


@pytest.fixture
def page_of(open_page: Open, odd: Host, seen: Seen) -> Callable[[str], Page]:
    def opened(name: str) -> Page:
        page = open_page("", on=odd)
        count_workers(page)
        page.goto(f"{odd.url}lessons/odd-{name}/")
        return page

    return opened


def test_an_endless_loop_is_stopped_and_everything_lives_on(page_of: Callable[[str], Page]) -> None:
    page = page_of("loop")
    loop, kinds = Figure(page, "loop"), Figure(page, "kinds")
    loop.press("n", "ArrowRight")
    loop.says("n is 2")
    loop.press("n", "ArrowRight")
    loop.tells("Python is still working on this picture.")
    page.mouse.wheel(0, 300)  # the page itself is not held up
    kinds.press("share", "ArrowRight")  # waits behind the loop
    loop.button("stop").click()
    loop.tells("Stopped. Python did not stop in time and was started again. The picture still shows the last answer.")
    kinds.says(KINDS)
    kinds.tells("was started again")
    loop.press("n", "ArrowLeft")
    loop.is_state("live")
    loop.says("n is 2")
    expect(loop.notice).to_be_hidden()
    assert worker_count(page) == 2


def test_a_newer_question_ends_long_work_with_the_worker_alive(page_of: Callable[[str], Page]) -> None:
    page = page_of("long")
    long, kinds = Figure(page, "long"), Figure(page, "kinds")
    long.press("n", "ArrowRight")
    long.says("n is 2")
    long.set("n", 1000)  # twenty seconds of work
    expect(long.words).to_contain_text("round")
    kinds.press("share", "ArrowRight")  # goes in between
    kinds.says(KINDS)
    long.set("n", 3)
    long.says("n is 3")
    long.set("n", 1000)
    expect(long.words).to_contain_text("round")
    long.button("stop").click()
    long.tells("Stopped.")
    expect(long.words).to_have_text("Live: Python is answering")
    assert worker_count(page) == 1


def test_memory_used_up_is_told_and_given_back(page_of: Callable[[str], Page]) -> None:
    page = page_of("hog")
    hog, kinds = Figure(page, "hog"), Figure(page, "kinds")
    hog.press("n", "End")
    hog.tells("There is not enough memory for this.")
    hog.press("n", "Home")
    hog.says("n is 0")
    kinds.press("share", "ArrowRight")
    kinds.says(KINDS)


def test_a_flood_of_output_is_capped(page_of: Callable[[str], Page]) -> None:
    page = page_of("flood")
    lengths: list[int] = []
    page.on("console", lambda message: lengths.append(len(message.text)))
    flood = Figure(page, "flood")
    flood.press("n", "ArrowRight")
    flood.says("n is 2")
    flood.tells("It printed more than 20000 bytes; the rest was dropped.")
    assert sum(lengths) < 40_000


def test_a_worker_killed_twenty_times_in_a_row(page_of: Callable[[str], Page]) -> None:
    """As a browser short of memory does it: silently. Each time the next question finds a new one."""
    page = page_of("kinds")
    figure = Figure(page, "kinds")
    figure.press("share", "ArrowRight")
    figure.says(KINDS)
    for _ in range(20):
        page.evaluate("window.pythons.at(-1).dispatchEvent(new ErrorEvent('error', {message: 'killed'}))")
    figure.is_state("failed")
    figure.tells("Python could not start")
    figure.button("retry").click()
    figure.is_state("live")
    figure.press("share", "ArrowLeft")
    figure.says(KINDS.replace("0.6", "0.5"))
    assert worker_count(page) <= 6


def test_a_worker_that_died_in_the_middle_of_an_answer(page_of: Callable[[str], Page]) -> None:
    page = page_of("kinds")
    figure = Figure(page, "kinds")
    figure.press("share", "ArrowRight")
    figure.says(KINDS)
    page.evaluate("window.pythons.at(-1).terminate()")
    figure.press("share", "ArrowLeft")
    figure.tells("Python is still working on this picture.")
    figure.tells("Python gave no sign of life and was started again.")
    figure.says(KINDS.replace("0.6", "0.5"))
    figure.is_state("live")


# file, what is in its place, words that must be told
BROKEN = [
    ("worker.js", b"<!doctype html><title>404</title>", "worker.js holds a web page in place of JavaScript"),
    ("boot.js", b"export const nothing = 1;", "boot.js has 25 bytes in place of"),
    ("pyodide.mjs", None, "pyodide.mjs came back as 404"),
    ("pyodide.asm.mjs", b"", "pyodide.asm.mjs has 0 bytes in place of"),
    ("pyodide.asm.wasm", b"\0asm", "pyodide.asm.wasm has 4 bytes in place of"),
    ("pyodide-lock.json", b"{", "pyodide-lock.json has 1 bytes in place of"),
    ("site.zip", b"<html>", "site.zip has 6 bytes in place of"),
    ("site.zip", None, "site.zip came back as 404"),
]


@contextmanager
def broken(file: Path, content: bytes | None) -> Iterator[None]:
    """`file` replaced or taken away; the original is the same file as in the shared site and is not written to."""
    aside = file.with_suffix(file.suffix + ".aside")
    file.rename(aside)
    if content is not None:
        file.write_bytes(content)
    yield
    file.unlink(missing_ok=True)
    aside.rename(file)


@pytest.mark.parametrize(("name", "content", "words"), BROKEN)
def test_a_broken_file_is_named_and_retry_works_once_it_is_whole(
    open_page: Open, odd_site: Path, tmp_path: Path, seen: Seen, name: str, content: bytes | None, words: str
) -> None:
    seen.expected.append(ALL)
    site = linked_copy(odd_site, tmp_path / "site")
    with serve(site, "/sub/") as host:
        with broken(live_folder(site) / name, content):
            page = open_page("lessons/odd-kinds/", on=host)
            figure = Figure(page, "kinds")
            figure.press("share", "ArrowRight")
            figure.is_state("failed")
            expect(figure.words).to_have_text("Python could not start")
            figure.tells(words)
            expect(figure.part("summary")).to_have_text(KINDS.replace("0.6", "0.5"))
        figure.button("retry").click()
        figure.says(KINDS)
        figure.is_state("live")
        expect(figure.notice).to_be_hidden()


def test_a_page_whose_live_part_is_gone(open_page: Open, odd: Host, seen: Seen) -> None:
    seen.expected.append(ALL)
    odd.broken = {r"sd-widget\.js$": 404}
    page = open_page("lessons/odd-kinds/", on=odd)
    figure = Figure(page, "kinds")
    figure.is_state("failed")
    figure.tells("sd-widget.js could not be loaded")
    odd.broken = {}
    figure.button("retry").click()
    figure.press("share", "ArrowRight")
    figure.says(KINDS)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("data/published.json", b"<!doctype html>", "data/published.json is malformed"),
        ("data/published.json", None, "data/published.json came back as 404"),
        ("numpy", b"PK", "has 2 bytes in place of"),
        ("numpy", None, "came back as 404"),
    ],
)
def test_what_one_figure_needs_fails_that_figure_only(
    open_page: Open, odd_site: Path, tmp_path: Path, seen: Seen, name: str, content: bytes | None, words: str
) -> None:
    seen.expected.append(ALL)
    site = linked_copy(odd_site, tmp_path / "site")
    file = next(live_folder(site).glob(f"{name}*"))
    with serve(site, "/sub/") as host:
        with broken(file, content):
            page = open_page("lessons/odd-vector/", on=host)
            vector, kinds = Figure(page, "vector"), Figure(page, "kinds")
            vector.press("n", "End")
            vector.is_state("failed")
            vector.tells(words)
            kinds.press("share", "ArrowRight")
            kinds.says(KINDS)
            kinds.is_state("live")
        vector.button("retry").click()
        expect(vector.part("summary")).to_contain_text("the sum is 15", timeout=30_000)
        vector.is_state("live")


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("delete window.WebAssembly", "this browser has no WebAssembly"),
        ("window.Worker = class { constructor() { throw new Error('workers are refused') } }", "workers are refused"),
        ("delete window.Worker", "Worker is not defined"),
    ],
)
def test_a_browser_that_cannot(open_page: Open, odd: Host, script: str, words: str) -> None:
    page = open_page("", on=odd)
    page.add_init_script(script)
    page.goto(f"{odd.url}lessons/odd-kinds/")
    figure = Figure(page, "kinds")
    figure.press("share", "ArrowRight")
    figure.is_state("failed")
    figure.tells(words[0].upper() + words[1:])
    expect(figure.slider("share")).to_have_attribute("aria-valuetext", "0.6")


def test_a_policy_that_refuses_workers_is_told(open_page: Open, odd: Host, seen: Seen) -> None:
    seen.expected.append(r"console error|exception in the page: __md_get")
    odd.headers = {"Content-Security-Policy": "worker-src 'none'"}
    page = open_page("lessons/odd-kinds/", on=odd)
    figure = Figure(page, "kinds")
    figure.press("share", "ArrowRight")
    figure.is_state("failed")
    figure.tells("content security policy")


def test_wrong_types_for_wasm_and_zip_do_no_harm(
    open_page: Open, odd: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host that knows neither .wasm nor .zip: the interpreter is compiled from its bytes."""
    monkeypatch.setitem(TYPES, ".wasm", "application/octet-stream")
    monkeypatch.setitem(TYPES, ".zip", "application/octet-stream")
    figure = Figure(open_page("lessons/odd-kinds/", on=odd), "kinds")
    figure.press("share", "ArrowRight")
    figure.says(KINDS)


def test_leaving_in_the_middle_of_the_start_keeps_the_one_worker(page_of: Callable[[str], Page], odd: Host) -> None:
    odd.delay_s = {r"pyodide\.asm\.wasm$": 1.5}
    page = page_of("kinds")
    Figure(page, "kinds").press("share", "ArrowRight")
    Figure(page, "kinds").is_state("starting")
    page.locator("a[href*='02-draft-and-verify']:visible").first.click()
    figure = Figure(page, "draft_verify")
    figure.press("gamma", "ArrowRight")
    figure.is_state("live")
    assert worker_count(page) == 1


def test_a_deploy_during_the_visit_loads_the_next_page_as_a_whole(
    open_page: Open, odd_site: Path, tmp_path: Path
) -> None:
    site = linked_copy(odd_site, tmp_path / "site")
    with serve(site, "/sub/") as host:
        page = open_page("", on=host)
        count_workers(page)
        page.goto(f"{host.url}lessons/odd-kinds/")
        Figure(page, "kinds").press("share", "ArrowRight")
        Figure(page, "kinds").says(KINDS)
        old = live_folder(site)
        old.rename(old.with_name("0123456789ab"))
        for path in site.rglob("index.html"):
            text = path.read_text(encoding="utf-8").replace(old.name, "0123456789ab")
            path.unlink()
            path.write_text(text, encoding="utf-8")
        page.evaluate("window.mark = 1")
        page.locator("a[href*='02-draft-and-verify']:visible").first.click()
        figure = Figure(page, "draft_verify")
        expect(figure.root).to_have_attribute("data-live", "0123456789ab")
        figure.press("gamma", "ArrowRight")
        figure.is_state("live")
        assert page.evaluate("window.mark") is None
        assert worker_count(page) == 1
