"""Faults at a moment: a policy, a worker that dies, a view that misbehaves, a page left and come back to, a deploy.

The rows of the table (tests/site/faults.py) name the tests here. Where the page waits by a clock, the test moves it.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from playwright.sync_api import Browser, CDPSession, Page, expect

from tests.site.conftest import Seen
from tests.site.faults import MOMENTS, REPORTS, place
from tests.site.figures import Figure, count_workers, worker_count
from tests.site.odd import BUILT, KINDS, live_folder
from tests.tools import chromium
from tests.tools.server import Host, Spoiled, serve

Open = Callable[..., Page]
STARTED = 'performance.getEntriesByName("python ready").map(mark => mark.detail)'


def test_a_policy_that_refuses_workers_is_told(open_page: Open, odd: Host, seen: Seen) -> None:
    seen.expected.append(r"console error|exception in the page: __md_get")
    odd.headers = {"Content-Security-Policy": "worker-src 'none'"}
    page = open_page("lessons/odd-kinds/", on=odd)
    figure = Figure(page, "kinds")
    figure.press("share", "ArrowRight")
    figure.fails("content security policy")
    page.wait_for_url("**/?kinds.share=0.6")
    odd.headers = {}
    page.reload()
    figure.is_alive(KINDS)


# --- the worker dies ----------------------------------------------------------------------------------------------


def silence(page: Page) -> None:
    """As long as the page listens before it asks whether anybody is there, and then waits for an answer."""
    page.clock.fast_forward(12_500)
    page.clock.run_for(2_100)


def test_a_worker_that_died_in_the_middle_of_an_answer(page_of: Callable[..., Page]) -> None:
    page = page_of("long", clock=True)
    figure = Figure(page, "long")
    figure.press("n", "ArrowRight")
    figure.says("n is 2")
    figure.set("n", 1000)  # twenty seconds of work
    expect(figure.words).to_contain_text("round")
    page.evaluate("window.pythons.at(-1).terminate()")
    page.clock.fast_forward(1_000)
    figure.tells("Python is still working on this picture.")
    silence(page)
    figure.tells("Python gave no sign of life and was started again.")
    expect(figure.words).to_contain_text("round")  # asked once more, and at work
    figure.set("n", 3)
    figure.says("n is 3")
    figure.is_state("live")
    assert worker_count(page) == 2


def test_a_worker_that_died_unseen(page_of: Callable[..., Page]) -> None:
    page = page_of("kinds", clock=True)
    figure = Figure(page, "kinds")
    figure.press("share", "ArrowRight")
    figure.says(KINDS)
    page.evaluate("window.pythons.at(-1).terminate()")
    figure.press("share", "ArrowLeft")
    page.clock.fast_forward(1_000)
    figure.tells("Python is still working on this picture.")
    silence(page)
    figure.tells("Python gave no sign of life and was started again.")
    figure.says(BUILT)
    figure.is_state("live")


def starting(page_of: Callable[..., Page], odd: Host) -> tuple[Page, Figure, Event]:
    """A figure whose Python starts and cannot go on before the event is set."""
    page = page_of("kinds")
    figure = Figure(page, "kinds")
    held = Event()
    odd.broken = {place("site.zip"): Spoiled(held=held)}
    figure.press("share", "ArrowRight")
    figure.is_state("starting")
    return page, figure, held


def test_a_worker_killed_while_it_starts(page_of: Callable[..., Page], odd: Host) -> None:
    page, figure, held = starting(page_of, odd)
    page.evaluate("window.pythons.at(-1).dispatchEvent(new ErrorEvent('error', {message: 'killed'}))")
    figure.fails("Python could not start: killed.")
    held.set()
    figure.button("retry").click()
    figure.is_alive(KINDS)


def test_a_worker_killed_twenty_times_in_a_row(page_of: Callable[..., Page]) -> None:
    """As a browser short of memory does it: silently. Each time the next question finds a new one."""
    page = page_of("kinds")
    figure = Figure(page, "kinds")
    figure.press("share", "ArrowRight")
    figure.says(KINDS)
    for _ in range(20):
        page.evaluate("window.pythons.at(-1).dispatchEvent(new ErrorEvent('error', {message: 'killed'}))")
    figure.fails("Python could not start")
    figure.button("retry").click()
    figure.is_state("live")
    figure.press("share", "ArrowLeft")
    figure.says(BUILT)
    figure.is_state("live")
    assert worker_count(page) <= 6


# --- views that misbehave -----------------------------------------------------------------------------------------


def test_an_endless_loop_is_stopped_and_everything_lives_on(page_of: Callable[..., Page]) -> None:
    page = page_of("five", clock=True)
    loop, others = Figure(page, "four"), [Figure(page, id) for id in ("one", "two", "five")]
    loop.press("n", "ArrowRight")
    loop.says("n is 2")
    loop.press("n", "ArrowRight")
    page.clock.fast_forward(1_000)
    loop.tells("Python is still working on this picture.")
    page.mouse.wheel(0, 300)  # the page itself is not held up
    for figure in others:
        figure.press("share", "ArrowRight")  # waits behind the loop
    loop.button("stop").click()
    page.clock.fast_forward(2_000)
    loop.tells("Stopped. Python did not stop in time and was started again. The picture still shows the last answer.")
    loop.is_readable()
    for figure in others:
        figure.says(KINDS)
        figure.tells("was started again")
    loop.press("n", "ArrowLeft")
    loop.is_alive("n is 2")
    assert worker_count(page) == 2


def test_a_newer_question_ends_long_work_with_the_worker_alive(page_of: Callable[..., Page]) -> None:
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


def test_memory_used_up_is_told_and_given_back(page_of: Callable[..., Page]) -> None:
    page = page_of("hog")
    hog, kinds = Figure(page, "hog"), Figure(page, "kinds")
    hog.press("n", "End")
    hog.tells("There is not enough memory for this.")
    hog.is_readable()
    hog.press("n", "Home")
    hog.says("n is 0")
    kinds.press("share", "ArrowRight")
    kinds.says(KINDS)


def test_a_flood_of_output_is_capped(page_of: Callable[..., Page]) -> None:
    page = page_of("flood")
    lengths: list[int] = []
    page.on("console", lambda message: lengths.append(len(message.text)))
    flood = Figure(page, "flood")
    flood.press("n", "ArrowRight")
    flood.says("n is 2")
    flood.tells("It printed more than 20000 bytes; the rest was dropped.")
    assert sum(lengths) < 40_000


# --- pages that are left, hidden, and come back -------------------------------------------------------------------


def test_a_page_frozen_while_python_starts(page_of: Callable[..., Page], odd: Host) -> None:
    """As a phone does with a page behind another one."""
    page, figure, held = starting(page_of, odd)
    lifecycle = page.context.new_cdp_session(page)
    lifecycle.send("Page.setWebLifecycleState", {"state": "frozen"})
    held.set()
    lifecycle.send("Page.setWebLifecycleState", {"state": "active"})
    figure.is_alive(KINDS)
    assert worker_count(page) == 1


@pytest.fixture(scope="module")
def keeping(browser: Browser) -> Iterator[Browser]:
    """A browser that keeps pages for the back button, which Playwright otherwise switches off."""
    switch = "--disable-back-forward-cache"
    running = browser.browser_type.launch(
        executable_path=chromium.find(), args=[*chromium.ARGUMENTS], ignore_default_args=[switch]
    )
    yield running
    running.close()


@pytest.mark.parametrize("gone", [False, True], ids=["Python alive in it", "Python gone in it"])
def test_a_page_back_from_the_cache(keeping: Browser, odd: Host, built: Path, seen: Seen, gone: bool) -> None:
    context = keeping.new_context()
    page = context.new_page()
    seen.host = odd
    seen.watch(page)
    count_workers(page)
    page.add_init_script("addEventListener('pageshow', (event) => { window.persisted = event.persisted; })")
    page.goto(f"{odd.url}lessons/odd-kinds/")
    Figure(page, "kinds").press("share", "ArrowRight")
    Figure(page, "kinds").is_alive(KINDS)
    if gone:
        page.evaluate("window.pythons[0].terminate()")
    with serve(built, "/other/") as other:
        seen.expected.append(re.escape(other.url))
        page.goto(other.url)
        page.go_back(wait_until="commit")
        session = context.new_cdp_session(page)  # Playwright's own hands do not reach into a page that came back
        assert told(session, "[persisted, document.querySelector('#kinds').dataset.state]") == [True, "live"]
        assert told(session, BACK) == [BUILT, "live", 2 if gone else 1]
        if gone:
            assert "Python was started again." in told(session, "document.querySelector('#kinds .sd-notice').innerText")
    context.close()


#: A hand on the slider, and what the figure says once it has answered.
BACK = """new Promise((resolve) => {
  const figure = document.querySelector("#kinds"), summary = figure.querySelector("[data-part=summary]");
  const look = () => {
    const said = summary.textContent;
    if (said.startsWith("share 0.5")) resolve([said, figure.dataset.state, pythons.length]);
  };
  new MutationObserver(look).observe(figure, { childList: true, subtree: true, attributes: true });
  const range = figure.querySelector("[data-param=share] .sd-range");
  range.value = 5;
  range.dispatchEvent(new Event("input", { bubbles: true }));
})"""


def told(session: CDPSession, script: str) -> Any:
    asked = {"expression": script, "returnByValue": True, "awaitPromise": True}
    return session.send("Runtime.evaluate", asked)["result"].get("value")


def test_leaving_in_the_middle_of_the_start_keeps_the_one_worker(page_of: Callable[..., Page], odd: Host) -> None:
    held = Event()
    odd.broken = {place("pyodide.asm.wasm"): Spoiled(held=held)}
    page = page_of("kinds")
    Figure(page, "kinds").press("share", "ArrowRight")
    Figure(page, "kinds").is_state("starting")
    page.locator("a[href*='02-draft-and-verify']:visible").first.click()
    figure = Figure(page, "draft_verify")
    figure.press("gamma", "ArrowRight")
    held.set()
    figure.is_state("live")
    assert worker_count(page) == 1


def test_two_tabs_have_two_pythons(page_of: Callable[..., Page], open_page: Open, odd: Host) -> None:
    one = page_of("kinds", clock=True)
    first = Figure(one, "kinds")
    second = Figure(open_page("lessons/odd-kinds/?kinds.length=5", on=odd, context=one.context), "kinds")
    first.press("share", "ArrowRight")
    first.is_alive(KINDS)
    second.is_alive(BUILT.replace("length 4", "length 5"))
    one.evaluate("window.pythons.at(-1).terminate()")
    second.press("share", "ArrowRight")
    second.is_alive(KINDS.replace("length 4", "length 5"))
    first.press("share", "ArrowLeft")
    silence(one)
    first.tells("Python gave no sign of life and was started again.")
    first.says(BUILT)


# --- deploys ------------------------------------------------------------------------------------------------------


def deploy(site: Path) -> None:
    """The site as the next build leaves it: pages that name another folder, the old folder gone."""
    old = live_folder(site)
    old.rename(old.with_name("0123456789ab"))
    for path in site.rglob("index.html"):
        text = path.read_text(encoding="utf-8").replace(old.name, "0123456789ab")
        path.unlink()
        path.write_text(text, encoding="utf-8")


def test_a_deploy_during_the_visit_loads_the_next_page_as_a_whole(open_page: Open, own_site: Host) -> None:
    page = open_page("", on=own_site)
    count_workers(page)
    page.goto(f"{own_site.url}lessons/odd-kinds/")
    Figure(page, "kinds").press("share", "ArrowRight")
    Figure(page, "kinds").says(KINDS)
    deploy(own_site.folder)
    page.evaluate("window.mark = 1")
    page.locator("a[href*='02-draft-and-verify']:visible").first.click()
    figure = Figure(page, "draft_verify")
    expect(figure.root).to_have_attribute("data-live", "0123456789ab")
    figure.press("gamma", "ArrowRight")
    figure.is_state("live")
    assert page.evaluate("window.mark") is None
    assert worker_count(page) == 1


def test_a_deploy_before_python_starts(open_page: Open, own_site: Host, seen: Seen) -> None:
    seen.expected.append(REPORTS)
    page = open_page("lessons/odd-kinds/", on=own_site)
    figure = Figure(page, "kinds")
    page.locator("sd-widget#kinds:defined").wait_for()
    deploy(own_site.folder)
    figure.press("share", "ArrowRight")
    figure.fails("worker.js came back as 404")
    page.wait_for_url("**/?kinds.share=0.6")
    figure.button("retry").click()
    figure.is_alive(KINDS)
    expect(figure.root).to_have_attribute("data-live", "0123456789ab")


def test_a_deploy_before_numpy_comes(open_page: Open, own_site: Host, seen: Seen) -> None:
    """Python runs, of the old build; what a figure needs besides is gone with that build."""
    seen.expected.append(REPORTS)
    page = open_page("lessons/odd-vector/", on=own_site)
    kinds, vector = Figure(page, "kinds"), Figure(page, "vector")
    kinds.press("share", "ArrowRight")
    kinds.is_alive(KINDS)
    deploy(own_site.folder)
    vector.press("n", "End")
    vector.fails("came back as 404")
    page.wait_for_url("**/?kinds.share=0.6&vector.n=5")
    vector.button("retry").click()
    vector.is_state("live")
    expect(vector.part("summary")).to_contain_text("the sum is 15,")
    kinds.is_alive(KINDS)


def test_a_page_deployed_before_its_folder(open_page: Open, own_site: Host, seen: Seen) -> None:
    seen.expected.append(REPORTS)
    live = live_folder(own_site.folder)
    aside = live.rename(live.with_name("old"))
    page = open_page("lessons/odd-kinds/", on=own_site)
    figure = Figure(page, "kinds")
    figure.fails("sd-widget.js could not be loaded")
    aside.rename(live)
    figure.load_anew()
    figure.press("share", "ArrowRight")
    figure.is_alive(KINDS)


# --- the memory Python starts from --------------------------------------------------------------------------------


def _other_memory(host: Host, fault: str) -> dict[str, int | Spoiled]:
    live = live_folder(host.folder)
    if fault == "no way to unpack it":
        script = b"delete self.DecompressionStream;" + (live / "worker.js").read_bytes()
        return {place("worker.js"): Spoiled(body=script)}
    whole = gzip.decompress((live / "snapshot.bin").read_bytes())
    head = 16 + 4 * int.from_bytes(whole[8:12], "little")  # ours: four numbers, and which pages follow
    sign = slice(head + 16, head + 48)  # of the interpreter that wrote it, in Pyodide's head
    other = bytes(len(whole))
    if fault == "the memory of another interpreter":
        other = whole[: sign.start] + bytes(255 - byte for byte in whole[sign]) + whole[sign.stop :]
    return {place("snapshot.bin"): Spoiled(body=gzip.compress(other, 1))}


@pytest.mark.parametrize("fault", [row.at for row in MOMENTS if row.test.endswith("starts_plainly")])
def test_without_a_usable_memory_it_starts_plainly(open_page: Open, odd: Host, fault: str) -> None:
    odd.broken = _other_memory(odd, fault)
    page = open_page("lessons/odd-kinds/", on=odd)
    figure = Figure(page, "kinds")
    figure.press("share", "ArrowRight")
    figure.is_alive(KINDS)
    assert page.evaluate(STARTED) == ["plain"]


def test_without_a_memory_a_broken_library_is_named(open_page: Open, odd: Host, seen: Seen) -> None:
    """Only a plain start needs the library's file, and then a fault in it is told."""
    seen.expected.append(REPORTS)
    odd.broken = {r"snapshot\.bin$": 404, r"python_stdlib\.zip$": 404}
    figure = Figure(open_page("lessons/odd-kinds/", on=odd), "kinds")
    figure.press("share", "ArrowRight")
    figure.fails("python_stdlib.zip came back as 404")
    odd.broken = {}
    figure.button("retry").click()
    figure.is_alive(KINDS)
