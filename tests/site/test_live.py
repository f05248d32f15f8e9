"""Figures alive: Python answers in the reader's browser, one worker for the visit, and it comes back."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

import sim
import widgets
from tests.site.conftest import Seen
from tests.site.figures import Figure, count_workers, worker_count
from tests.tools.server import Host
from widgets._kit.render import PARTS, parts
from widgets._kit.text import number
from widgets._page.policy import policy

ONE = "lessons/01-why-decode-is-slow/"
TWO = "lessons/02-draft-and-verify/"

Open = Callable[..., Page]


def test_reading_costs_nothing(open_page: Open, host: Host) -> None:
    """Nothing of Python is fetched, and no worker started, until a hand comes near."""
    before = len(host.asked)
    page = open_page(TWO)
    figure = Figure(page, "draft_verify")
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    expect(page.locator("sd-widget:defined").first).to_be_attached()
    asked = [name for name, _ in host.asked[before:]]
    assert not [name for name in asked if re.search(r"pyodide|worker\.js$|site\.zip", name) and "search" not in name]
    figure.is_state("static")
    expect(figure.words).to_have_text("Drawn when this page was built")


def test_moving_a_slider_shows_what_sim_says(open_page: Open) -> None:
    page = open_page(TWO)
    figure = Figure(page, "draft_verify")
    figure.press("gamma", "End")
    expect(figure.slider("gamma")).to_have_attribute("aria-valuetext", "8 tokens")
    figure.is_state("live")
    expect(figure.words).to_have_text("Live: Python is answering")
    values = [float(row.get_attribute("data-value") or "nan") for row in figure.root.locator(".sd-row").all()]
    expected = (sim.expected_tokens(0.8, 8), sim.speedup(0.8, 8, 0.17))
    for wanted in expected:
        assert any(abs(value - wanted) < 1e-8 for value in values), (wanted, values)


def test_static_is_live_byte_for_byte_in_every_part(open_page: Open) -> None:
    """What CPython drew at build time and what Python in the browser draws, over a few states of each widget."""
    page = open_page(TWO)
    Figure(page, "draft_verify").press("gamma", "ArrowRight")
    Figure(page, "draft_verify").is_state("live")
    for name in ("draft_verify", "pass_cost"):
        widget = widgets.load(name)
        assert widget.view is not None
        for key, param in widget.params.items():
            choices: Any = getattr(param, "all_stops", None) or getattr(param, "options", (True, False))
            values = widget.values({key: list(choices)[-1]})
            live = page.evaluate(
                """async ([widget, params]) => {
                  const folder = document.querySelector("[data-live]").dataset.live;
                  const base = document.querySelector("script[src*='live/start.js']").src;
                  const { python } = await import(new URL(`./${folder}/python.js`, base));
                  return new Promise((hear) => python.ask({}, widget, params, hear));
                }""",
                [name, values],
            )
            static = parts(widget, widget.view(data={}, **values))
            for part in PARTS:
                assert live["view"][part] == static[part], (name, key, part)


def test_one_slider_one_worker_one_page_change_one_step_back(open_page: Open, browser: Any) -> None:
    page = open_page("")
    count_workers(page)
    page.goto(page.url + ONE)
    Figure(page, "pass_cost").press("positions", "ArrowRight")
    Figure(page, "pass_cost").is_state("live")
    shown = Figure(page, "pass_cost").part("title").inner_text()
    page.wait_for_url("**/?pass_cost.positions=2")

    page.locator("a[href*='02-draft-and-verify']:visible").first.click()
    second = Figure(page, "draft_verify")
    second.is_state("live")
    second.press("gamma", "ArrowRight")
    expect(second.slider("gamma")).to_have_attribute("aria-valuetext", "5 tokens")
    page.wait_for_url("**/?draft_verify.gamma=5")
    expect(second.root.locator(".sd-row[data-key=tokens], .sd-row").first).to_contain_text("3.69")

    page.go_back()
    first = Figure(page, "pass_cost")
    expect(first.slider("positions")).to_have_attribute("aria-valuetext", "2")
    first.is_state("live")
    expect(first.part("title")).to_have_text(shown)
    assert worker_count(page) == 1


def test_ten_page_changes_leave_one_worker_and_one_set_of_listeners(open_page: Open) -> None:
    page = open_page("")
    count_workers(page)
    page.goto(page.url + TWO)
    Figure(page, "draft_verify").press("gamma", "ArrowRight")
    Figure(page, "draft_verify").is_state("live")
    for _ in range(5):
        page.locator("a[href*='01-why-decode']:visible").first.click()
        Figure(page, "pass_cost").is_state("live")
        page.locator("a[href*='02-draft-and-verify']:visible").first.click()
        Figure(page, "draft_verify").is_state("live")
    figure = Figure(page, "draft_verify")
    figure.press("gamma", "ArrowRight")
    expect(figure.slider("gamma")).to_have_attribute("aria-valuetext", "5 tokens")
    page.wait_for_url("**/?draft_verify.gamma=5")
    assert worker_count(page) == 1


def test_after_the_back_button_from_another_site_it_is_alive_again(open_page: Open) -> None:
    page = open_page(ONE)
    figure = Figure(page, "pass_cost")
    figure.press("positions", "ArrowRight")
    figure.is_state("live")
    page.wait_for_url("**/?pass_cost.positions=2")
    page.goto("about:blank")
    page.go_back()
    figure.press("positions", "ArrowRight")
    figure.is_state("live")
    expect(figure.slider("positions")).to_have_attribute("aria-valuetext", "3")
    page.wait_for_url("**/?pass_cost.positions=3")


def test_a_hand_quicker_than_the_script(open_page: Open, own_host: Host) -> None:
    """A slider moved while the script is still on its way keeps the reader's value."""
    own_host.delay_s = {r"sd-widget\.js$": 1.0}
    page = open_page(ONE, on=own_host)
    figure = Figure(page, "pass_cost")
    figure.press("positions", "ArrowRight", "ArrowRight")
    figure.is_state("live")
    expect(figure.slider("positions")).to_have_attribute("aria-valuetext", "3")
    page.wait_for_url("**/?pass_cost.positions=3")


def test_two_hands_quicker_than_the_script(open_page: Open, own_host: Host) -> None:
    own_host.delay_s = {r"sd-widget\.js$": 1.0}
    page = open_page(TWO, on=own_host)
    figure = Figure(page, "draft_verify")
    figure.press("gamma", "End")
    figure.press("alpha", "ArrowRight")
    figure.is_state("live")
    page.wait_for_url("**/?draft_verify.gamma=8&draft_verify.alpha=0.81")
    expect(figure.part("readout").locator('[data-key="tokens"]')).to_have_attribute(
        "data-value", number(sim.expected_tokens(0.81, 8))
    )


def test_a_drag_is_one_message_at_a_time_and_one_announcement(open_page: Open, odd: Host) -> None:
    page = open_page("lessons/odd-kinds/", on=odd)
    figure = Figure(page, "kinds")
    figure.press("share", "ArrowRight")
    figure.says("share 0.6, length 4, round 0, card a, on True, words hello")
    page.evaluate(
        """() => {
          window.told = [];
          const summary = document.querySelector("[data-part=summary]");
          new MutationObserver(() => told.push(summary.textContent)).observe(summary, {childList: true, subtree: true});
          const range = document.querySelector("[data-param=length] .sd-range");
          for (let i = 0; i <= 7; i += 1) { range.value = i; range.dispatchEvent(new Event("input")); }
        }"""
    )
    figure.says("share 0.6, length 8, round 0, card a, on True, words hello")
    assert page.evaluate("told.length") == 1


def test_numpy_and_data_are_fetched_only_for_the_widget_that_needs_them(open_page: Open, odd: Host) -> None:
    page = open_page("lessons/odd-vector/", on=odd)
    Figure(page, "kinds").press("share", "ArrowRight")
    Figure(page, "kinds").says("share 0.6, length 4, round 0, card a, on True, words hello")
    assert not [name for name, _ in odd.asked if "numpy" in name]
    figure = Figure(page, "vector")
    figure.press("n", "End")
    published = json.loads((odd.folder / "data" / "published.json").read_text(encoding="utf-8"))
    rows = published["rows"] if isinstance(published, dict) else published
    figure.says(f"the sum is 15, rows: {len(rows)}")
    assert len([name for name, _ in odd.asked if "numpy" in name]) == 1


def test_a_strict_policy_is_enough(open_page: Open, own_host: Host, odd: Host) -> None:
    """Every page and a live figure, with nothing refused: no inline style, no eval, no blob:, no script by others."""
    strict = {"Content-Security-Policy": policy(own_host.folder)}
    assert "unsafe-inline" not in strict["Content-Security-Policy"]
    own_host.headers = strict
    page = open_page(ONE, on=own_host)
    figure = Figure(page, "pass_cost")
    figure.press("positions", "ArrowRight")
    figure.is_state("live")
    expect(figure.notice).to_be_hidden()
    page.locator("a[href*='02-draft-and-verify']:visible").first.click()
    Figure(page, "draft_verify").press("gamma", "ArrowRight")
    Figure(page, "draft_verify").is_state("live")
    for address in own_host.pages():
        page.goto(own_host.url + address)
    odd.headers = strict  # NumPy and a data file
    vector = Figure(open_page("lessons/odd-vector/", on=odd), "vector")
    vector.press("n", "End")
    expect(vector.part("summary")).to_contain_text("the sum is 15", timeout=30_000)


def test_a_policy_without_webassembly_leaves_the_lesson_and_says_why(
    open_page: Open, own_host: Host, seen: Seen
) -> None:
    seen.expected.append(r"console (error|warning)|exception in the page")
    own_host.headers = {"Content-Security-Policy": policy(own_host.folder).replace("'wasm-unsafe-eval' ", "")}
    page = open_page(ONE, on=own_host)
    figure = Figure(page, "pass_cost")
    figure.press("positions", "ArrowRight")
    figure.control("model").locator("select").select_option(index=1)
    figure.is_state("failed")
    expect(figure.words).to_have_text("Python could not start")
    figure.tells("WebAssembly")
    expect(figure.part("summary")).to_be_visible()
    expect(figure.root.locator(".sd-chart").first).to_be_visible()
