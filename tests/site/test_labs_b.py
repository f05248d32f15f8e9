"""The labs `verdict`, `metrics` and `diagnose`: whole without JavaScript, numbers as in `sim`, a log goes nowhere."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from sim import Setting, decide, diagnose, engine_acceptance_rate, parse_log
from tests.site.conftest import Seen
from tests.site.figures import READY_MS, Figure

Open = Callable[..., Page]

LABS = ("verdict", "metrics", "diagnose")
LINE = (
    "INFO 09-02 11:22:33 [metrics.py:96] SpecDecoding metrics: Mean acceptance length: 2.36, Accepted throughput: 13.60"
    " tokens/s, Drafted throughput: 30.00 tokens/s, Accepted: 136 tokens, Drafted: 300 tokens, Per-position acceptance "
    "rate: 0.680, 0.420, 0.260, Avg Draft acceptance rate: 45.3%\n"
)
SECRET = "our-private-model-7731"


def number(figure: Figure, key: str) -> float:
    return float(figure.part("readout").locator(f"[data-key={key}]").get_attribute("data-value") or "nan")


def opened(open_page: Open, name: str, query: str = "", **options: Any) -> Figure:
    page = open_page(f"labs/{name}/{query}", **options)
    return Figure(page, name)


@pytest.mark.parametrize("name", LABS)
def test_a_lab_is_whole_without_javascript(open_page: Open, name: str) -> None:
    figure = opened(open_page, name, javascript=False)
    expect(figure.part("picture").locator("svg.sd-chart").first).to_be_visible()
    expect(figure.part("readout").locator(".sd-row").first).to_be_visible()
    expect(figure.part("summary")).not_to_be_empty()
    expect(figure.part("table").locator("tbody tr").first).to_be_attached()
    expect(figure.root.locator(".sd-controls")).to_be_hidden()


@pytest.mark.parametrize("name", LABS)
def test_a_lab_does_not_scroll_sideways_on_a_phone(open_page: Open, name: str) -> None:
    page = opened(open_page, name, size="phone").page
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_verdict_at_a_linked_state_is_that_of_sim(open_page: Open) -> None:
    query = "?verdict.batch=24&verdict.engine=sglang-2025&verdict.doubt=0.02&verdict.prompt=256"
    figure = opened(open_page, "verdict", query)
    figure.is_state("live")
    expect(figure.part("verdict")).to_contain_text("Do not use it here", timeout=READY_MS)
    found = decide(Setting("8b", "h100-sxm", "eagle", 3, 0.62, 0.02, 24, 384, "sglang-2025"))
    assert number(figure, "speedup") == pytest.approx(found.mid, rel=1e-6)
    figure.press("batch", "Home")
    expect(figure.part("verdict")).to_contain_text("Use it.", timeout=READY_MS)


def test_the_state_goes_from_lab_2_to_lab_6_and_back(open_page: Open) -> None:
    figure = opened(open_page, "verdict")
    figure.part("links").locator("a").click()
    page = figure.page
    page.wait_for_url(re.compile(r"/labs/diagnose/\?diagnose\.c=[0-9.]+&diagnose\.verify=[0-9.]+#diagnose"))
    other = Figure(page, "diagnose")
    other.is_state("live")
    expect(other.notice).to_be_hidden()
    other.part("links").locator("a").click()
    page.wait_for_url(re.compile(r"/labs/verdict/\?.*verdict\.gamma=3"))
    back = Figure(page, "verdict")
    back.is_state("live")
    expect(back.notice).to_be_hidden()
    expect(back.control("alpha").locator(".sd-typed")).to_have_value("0.65")


def test_a_rate_becomes_all_the_other_numbers(open_page: Open) -> None:
    figure = opened(open_page, "metrics", "?metrics.given=alpha&metrics.rate=0.8&metrics.gamma=8")
    expect(figure.part("title")).to_contain_text("with 8 drafts", timeout=READY_MS)
    assert number(figure, "rate") == pytest.approx(engine_acceptance_rate(0.8, 8), rel=1e-6)
    figure.control("given").locator("select").select_option("positions")
    figure.control("positions").locator("textarea").fill("0.739, 0.478, 0.261")
    expect(figure.part("title")).to_contain_text("2.48 tokens per pass with 3 drafts", timeout=READY_MS)
    assert "0.739" not in figure.page.url


def traces(page: Page) -> str:
    """Everything a page could leave behind: address, history, storage, cookies, names of databases and caches."""
    return json.dumps(
        page.evaluate(
            """async () => [location.href, {...history.state, x: 0, y: 0}, {...localStorage}, {...sessionStorage},
                 document.cookie,
                 "databases" in indexedDB ? await indexedDB.databases() : [], await caches.keys(), window.name]"""
        )
    )


def drop(figure: Figure, name: str, content: str) -> None:
    """A file dropped by hand on the place for it."""
    transfer = figure.page.evaluate_handle(
        """([name, content]) => {
          const transfer = new DataTransfer();
          transfer.items.add(new File([content], name, {type: "text/plain"}));
          return transfer;
        }""",
        [name, content],
    )
    figure.page.locator(f"sd-widget#{figure.id}:defined").wait_for()  # before that nobody hears a drop
    zone = figure.control("file").locator(".sd-drop")
    zone.dispatch_event("dragover", {"dataTransfer": transfer})
    zone.dispatch_event("drop", {"dataTransfer": transfer})


@pytest.mark.parametrize("how", ["pasted", "dropped", "chosen"])
def test_a_log_leaves_no_trace_and_no_request(open_page: Open, seen: Seen, tmp_path: Path, how: str) -> None:
    """Once Python runs, reading a log asks the network for nothing, and nothing of it stands anywhere afterwards."""
    figure = opened(open_page, "diagnose")
    page = figure.page
    figure.press("c", "ArrowRight")
    figure.is_state("live")
    page.wait_for_url(re.compile("diagnose.c="))
    page.wait_for_load_state("networkidle")
    before, asked = traces(page), len(seen.requests)
    text = f"{SECRET}\n" + LINE * 4
    if how == "pasted":
        figure.control("log").locator("textarea").fill(text)
    elif how == "dropped":
        drop(figure, f"{SECRET}.log", text)
    else:
        path = tmp_path / f"{SECRET}.log"
        path.write_text(text)
        figure.control("file").locator("input").set_input_files(path)
    expect(figure.part("readout").locator("[data-key=rounds]")).to_have_attribute("data-value", "400", timeout=READY_MS)
    total = parse_log(text).total
    assert total is not None
    found = diagnose(total)
    assert found is not None
    assert number(figure, "tau") == pytest.approx(found.tau)
    page.wait_for_timeout(700)  # an address would be written 300 ms after a change
    assert traces(page) == before
    assert seen.requests[asked:] == []
    assert SECRET not in page.evaluate("JSON.stringify(history.state)")
    assert SECRET not in page.content().replace(f"Reading from {SECRET}.log", "").replace(
        f"Read: {SECRET}.log", ""
    ).replace(f"What was read from {SECRET}.log", ""), "the figure's own words name the file and nothing else of it"
    figure.button("reset").click()
    expect(figure.part("readout").locator("[data-key=rounds]")).to_have_attribute("data-value", "300", timeout=READY_MS)


def test_hostile_text_is_shown_as_text(open_page: Open) -> None:
    figure = opened(open_page, "diagnose")
    bad = "<img src=x onerror='window.hit=1'> SpecDecoding metrics: <script>window.hit=1</script>\x07 \u202e x%\n"
    figure.control("log").locator("textarea").fill(bad)
    expect(figure.part("verdict")).to_contain_text("shape that is not known", timeout=READY_MS)
    drop(figure, "<img src=x onerror='window.hit=1'>.log", bad)
    expect(figure.part("note")).to_contain_text("<img src=x", timeout=READY_MS)
    assert figure.page.evaluate("window.hit") is None


def test_a_long_file_shows_progress_and_stops(open_page: Open, tmp_path: Path) -> None:
    figure = opened(open_page, "diagnose")
    figure.press("c", "ArrowRight")
    figure.is_state("live")
    path = tmp_path / "long.log"
    path.write_text(LINE * 120_000)  # about 30 MB
    figure.control("file").locator("input").set_input_files(path)
    expect(figure.words).to_contain_text("Reading long.log", timeout=READY_MS)
    figure.notice.get_by_role("button", name="Stop").click()
    expect(figure.notice).to_contain_text("Stopped", timeout=2_000)
    figure.button("reset").click()
    expect(figure.part("readout").locator("[data-key=rounds]")).to_have_attribute("data-value", "300", timeout=READY_MS)


def test_a_file_that_is_too_large_is_refused_at_once(open_page: Open) -> None:
    figure = opened(open_page, "diagnose")
    figure.page.evaluate(
        """() => {
          const zone = document.querySelector(".sd-drop");
          zone.dataset.max = "1000";
        }"""
    )
    drop(figure, "big.log", "x" * 2000)
    expect(figure.control("file").locator(".sd-problem")).to_contain_text("at most")
