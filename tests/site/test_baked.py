"""A slider is answered before Python is there, from what was drawn when the site was built."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

import sim
from tests.site.conftest import Seen
from tests.site.figures import Figure
from tests.tools.server import Host

Open = Callable[..., Page]
TWO = "lessons/02-draft-and-verify/"
SLOW = {r"snapshot\.bin$": 20.0}
BAKED = "Drawn in advance; starting Python…"
ASK = """async ([widget, params]) => {
  const folder = document.querySelector("[data-live]").dataset.live;
  const base = document.querySelector("script[src*='live/start.js']").src;
  const { python } = await import(new URL(`./${folder}/python.js`, base));
  return new Promise((hear) => python.ask({}, widget, params, hear));
}"""
FIND = """async ([name, keys]) => {
  const folder = document.querySelector("[data-live]").dataset.live;
  const base = document.querySelector("script[src*='live/start.js']").src;
  const { Baked } = await import(new URL(`./${folder}/baked.js`, base));
  const baked = new Baked(name);
  await baked.load();
  return keys.map((key) => baked.find(key));
}"""


def test_a_slider_is_answered_before_python_is_there(open_page: Open, own_host: Host) -> None:
    own_host.delay_s = SLOW
    page = open_page(TWO, on=own_host)
    figure = Figure(page, "draft_verify")
    shown = figure.part("picture").inner_html()
    figure.press("gamma", "ArrowRight")
    figure.is_state("baked")
    expect(figure.words).to_have_text(BAKED)
    expect(figure.root.locator(".sd-row[data-key=tokens]")).to_contain_text("3.69")
    assert figure.part("picture").inner_html() != shown
    page.wait_for_url("**/?draft_verify.gamma=5")
    figure.press("gamma", "ArrowLeft")  # and back to the page's own state
    expect(figure.root.locator(".sd-row[data-key=tokens]")).to_contain_text("3.36")
    figure.is_state("baked")


def test_what_was_not_drawn_in_advance_waits_and_says_so(open_page: Open, own_host: Host) -> None:
    own_host.delay_s = {r"snapshot\.bin$": 4.0}
    page = open_page(TWO, on=own_host)
    figure = Figure(page, "draft_verify")
    figure.press("gamma", "ArrowRight")
    figure.is_state("baked")
    figure.press("alpha", "ArrowRight")  # two away from the page's own state
    figure.is_state("starting")
    expect(figure.words).to_have_text("Starting Python…")
    figure.press("alpha", "ArrowLeft")
    figure.is_state("baked")
    figure.press("alpha", "ArrowRight")
    figure.is_state("live")
    expect(figure.root.locator(".sd-row[data-key=tokens]")).to_contain_text(f"{sim.expected_tokens(0.81, 5):.2f}")


def test_a_question_asked_before_the_answers_came_is_answered_from_them(open_page: Open, own_host: Host) -> None:
    own_host.delay_s = SLOW | {r"assets/baked/": 1.0}
    page = open_page(TWO, on=own_host)
    figure = Figure(page, "draft_verify")
    figure.press("gamma", "ArrowRight")
    figure.is_state("starting")
    figure.is_state("baked")
    expect(figure.root.locator(".sd-row[data-key=tokens]")).to_contain_text("3.69")


def test_without_the_answers_python_answers(open_page: Open, own_host: Host, seen: Seen) -> None:
    own_host.broken = {r"assets/baked/": 404}
    seen.expected.append("404")
    page = open_page(TWO, on=own_host)
    figure = Figure(page, "draft_verify")
    figure.press("gamma", "ArrowRight")
    figure.is_state("live")
    expect(figure.root.locator(".sd-row[data-key=tokens]")).to_contain_text("3.69")


def test_a_glance_brings_the_answers_and_passing_by_does_not(open_page: Open, own_host: Host) -> None:
    page = open_page(TWO, on=own_host)
    page.evaluate("scrollTo(0, 0)")
    with page.expect_response(re.compile(r"/assets/baked/[0-9a-f]{12}\.json$")):
        Figure(page, "draft_verify").root.locator(".sd-controls").scroll_into_view_if_needed()
    Figure(page, "draft_verify").is_state("static")
    assert not [name for name, _ in own_host.asked if name.endswith("/worker.js")]


def test_baked_is_live_byte_for_byte_in_the_browser(open_page: Open, host: Host) -> None:
    """Cut together by the page's own script, and answered by Python in the browser: the same strings."""
    page = open_page(TWO)
    Figure(page, "draft_verify").press("gamma", "ArrowRight")
    Figure(page, "draft_verify").is_state("live")
    name = Figure(page, "draft_verify").root.get_attribute("data-baked")
    states = json.loads((host.folder / "assets" / "baked" / f"{name}.json").read_text(encoding="utf-8"))["states"]
    own = json.loads(Figure(page, "draft_verify").root.get_attribute("data-values") or "{}")
    found = page.evaluate(FIND, [name, list(states)])
    assert len(states) >= 12
    for key, shown in zip(states, found, strict=True):
        changed, text = key.split("=")
        value = {"on": True, "off": False}[text] if changed == "on" else json.loads(text)
        assert page.evaluate(ASK, ["draft_verify", {**own, changed: value}])["view"] == shown, key


def test_every_figure_with_answers_has_its_file_and_no_file_is_large(host: Host) -> None:
    named = []
    for path in host.folder.rglob("index.html"):
        named += re.findall(r'data-baked="([0-9a-f]{12})"', path.read_text(encoding="utf-8"))
    files = {path.stem: path for path in (host.folder / "assets" / "baked").glob("*.json")}
    assert len(named) >= 8
    assert sorted(set(named)) == sorted(files)
    assert all(len(gzip.compress(path.read_bytes(), 6)) <= 12_000 for path in files.values())
