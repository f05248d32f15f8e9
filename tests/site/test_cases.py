"""Failures that people reported elsewhere, tried on the built site; tests/cases.toml says which case is which.

Each test asserts the case's own value. What other tests of the site cover is not repeated here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.site.conftest import Seen
from tests.site.faults import BASES
from tests.site.figures import Figure, count_workers, worker_count
from tests.tools.server import Host, serve

Open = Callable[..., Page]
ONE = "lessons/01-why-decode-is-slow/"
KINDS = "share 0.6, length 4, round 0, card a, on True, words hello"

# Questions straight to the worker, one after another; the last answer's words.
ASK = """
async ({ widget, params, times }) => {
  const worker = window.pythons.at(-1);
  let said = "";
  for (let n = 0; n < times; n += 1) {
    const id = (window.asked = (window.asked ?? 1e6) + 1);
    const given = Object.fromEntries(Object.entries(params).map(([key, of]) => [key, of[n % of.length]]));
    const answer = new Promise((resolve) => {
      const hear = ({ data }) => {
        const reply = JSON.parse(data);
        if (reply.id !== id) return;
        worker.removeEventListener("message", hear);
        resolve(reply);
      };
      worker.addEventListener("message", hear);
    });
    worker.postMessage(JSON.stringify({ id, widget, params: given }));
    const reply = await answer;
    if (!reply.view) throw new Error(JSON.stringify(reply));
    said = reply.view.summary;
  }
  return said;
}
"""


@pytest.fixture
def asked(open_page: Open, odd: Host) -> Callable[..., str]:
    """`asked(widget, times, parameter=[values in turn])` gives the summary of the last answer."""
    page = open_page("", on=odd)
    count_workers(page)
    page.goto(f"{odd.url}lessons/odd-kinds/")
    Figure(page, "kinds").press("share", "ArrowRight")
    Figure(page, "kinds").says(KINDS)

    def ask(widget: str, times: int = 1, **params: list[object]) -> str:
        return str(page.evaluate(ASK, {"widget": widget, "params": params, "times": times}))

    return ask


def test_C07_after_a_long_session_text_is_still_text(asked: Callable[..., str]) -> None:
    assert "é中😀" in asked("blocks", 2, large=[True])
    assert "words é中😀" in asked("kinds", 500, words=["hello", "é中😀"])


def test_C10_two_thousand_steps_leave_nothing_behind(asked: Callable[..., str]) -> None:
    def blocks() -> int:
        return int(re.findall(r"\d+", asked("blocks", 3, large=[False]))[0])

    asked("kinds", 100, share=[0.1, 0.2])
    before = blocks()
    asked("kinds", 2000, share=[0.1, 0.2], length=[1, 2, 3])
    assert blocks() - before < 500


def test_C02_no_header_for_threads_is_needed(open_page: Open) -> None:
    page = open_page(ONE)
    assert page.evaluate("[self.crossOriginIsolated, typeof SharedArrayBuffer]") == [False, "undefined"]
    Figure(page, "pass_cost").press("positions", "ArrowRight")
    Figure(page, "pass_cost").is_state("live")


def test_C23_files_with_an_underscore_are_kept_by_every_host(built: Path) -> None:
    """GitHub Pages leaves such files out unless this one lies beside them."""
    assert (built / ".nojekyll").is_file()


@pytest.mark.parametrize("base", BASES)
def test_C24_nothing_is_asked_for_outside_the_prefix(built: Path, open_page: Open, seen: Seen, base: str) -> None:
    with serve(built, base) as host:
        page = open_page(ONE, on=host)
        figure = Figure(page, "pass_cost")
        figure.press("positions", "ArrowRight")
        figure.is_state("live")
        page.locator("a[href*='02-draft-and-verify']:visible").first.click()
        Figure(page, "draft_verify").press("gamma", "ArrowRight")
        page.wait_for_url("**gamma=5")
        own = [url for url in seen.requests if url.startswith("http")]
        assert len(own) > 15
        assert [url for url in own if not url.startswith(host.url)] == []
        assert [path for path, status in host.asked if status >= 400] == []


def test_C25_five_figures_share_one_python(open_page: Open, odd: Host) -> None:
    page = open_page("", on=odd)
    count_workers(page)
    page.goto(f"{odd.url}lessons/odd-five/")
    for id in ("one", "two", "five"):
        Figure(page, id).press("share", "ArrowRight")
        Figure(page, id).says(KINDS)
    assert worker_count(page) == 1
    assert len([name for name, _ in odd.asked if name.endswith("pyodide.asm.wasm")]) == 1


def test_C27_tests_wait_for_a_sign_and_not_for_time() -> None:
    """Time is waited for only where nothing may happen in it."""
    here = Path(__file__).parent
    sleeps = {path.name: path.read_text(encoding="utf-8") for path in here.glob("*.py") if path != Path(__file__)}
    assert [name for name, text in sleeps.items() if re.search(r"\bsleep\(", text)] == []
    waits = [name for name, text in sleeps.items() for _ in re.findall(r"wait_for_timeout\(", text)]
    assert sorted(waits) == ["test_labs_b.py", "test_live_address.py", "test_live_controls.py"]


def test_D04_marks_change_their_colour_with_the_palette_and_keep_their_data(open_page: Open) -> None:
    page = open_page(ONE)
    figure = Figure(page, "pass_cost")
    colour = "e => { const s = getComputedStyle(e); return [s.fill, s.stroke, s.color].join(' ') }"
    mark, words = figure.root.locator(".sd-chart path").first, figure.part("summary").inner_text()
    text = figure.root.locator(".sd-chart text").first
    light = mark.evaluate(colour), text.evaluate(colour)
    for _ in range(2):  # follow the system → light → dark
        page.locator("form[data-md-component=palette] label:visible").click()
    expect(page.locator("body")).to_have_attribute("data-md-color-scheme", "slate")
    dark = mark.evaluate(colour), text.evaluate(colour)
    assert all(before != after for before, after in zip(light, dark, strict=True))
    assert figure.part("summary").inner_text() == words


def test_D07_the_error_page_is_whole_at_any_depth(built: Path, open_page: Open, seen: Seen) -> None:
    with serve(built, "/") as host:
        seen.expected.append(r"no/such/page")
        page = open_page("no/such/page/at/all", on=host)
        expect(page.locator("h1")).to_have_text("404 - Not found")
        assert [path for path, status in host.asked if status >= 400] == ["no/such/page/at/all"]


def test_D17_a_dark_page_is_printed_light_with_the_state_the_reader_made(open_page: Open) -> None:
    page = open_page(ONE, dark=True)
    figure = Figure(page, "pass_cost")
    figure.press("positions", "ArrowRight")
    figure.is_state("live")
    words = figure.part("summary").inner_text()
    page.emulate_media(media="print", color_scheme="dark")
    assert figure.root.evaluate("e => getComputedStyle(e).color") == "rgb(29, 36, 48)"
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground in ("rgb(255, 255, 255)", "rgba(0, 0, 0, 0)")
    expect(figure.part("summary")).to_have_text(words)
    expect(figure.part("summary")).to_be_visible()
    expect(figure.root.locator(".sd-chart").first).to_be_visible()
    expect(figure.root.locator(".sd-controls")).to_be_hidden()
    assert page.pdf()[:5] == b"%PDF-"


def test_D21_the_script_is_one_module_with_an_address_that_fits_the_page(built: Path) -> None:
    for file in built.rglob("index.html"):
        text = file.read_text(encoding="utf-8")
        scripts = re.findall(r"<script[^>]*start\.js[^>]*>", text)
        if "embed" in file.parts or "sd-widget" not in text:
            continue
        assert len(scripts) == 1, file
        assert 'type="module"' in scripts[0], file
        source = re.search(r'src="([^"]+)"', scripts[0])
        assert source, file
        assert (file.parent / source[1]).resolve() == (built / "assets/live/start.js").resolve()


def test_E05_a_finger_that_scrolls_does_not_move_a_slider(open_page: Open, odd: Host) -> None:
    page = open_page("lessons/odd-kinds/", on=odd, size="phone", has_touch=True, is_mobile=True)
    figure = Figure(page, "kinds")
    expect(figure.control("length").locator(".sd-problem[role=status]")).to_be_attached()
    session = page.context.new_cdp_session(page)

    def touch(kind: str, x: float = 0, y: float = 0) -> None:
        points = [] if kind == "touchEnd" else [{"x": x, "y": y}]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    for name in ("share", "length", "round"):
        slider = figure.slider(name)
        slider.evaluate("e => e.scrollIntoView({ block: 'center', behavior: 'instant' })")
        before = page.evaluate("scrollY"), slider.get_attribute("aria-valuetext")
        box = slider.bounding_box()
        assert box
        x, y = box["x"] + box["width"] * 0.8, box["y"] + box["height"] / 2
        touch("touchStart", x, y)
        for step in range(1, 16):
            touch("touchMove", x, y - 10 * step)
        page.wait_for_function(f"scrollY > {before[0]} + 60")
        touch("touchEnd")
        assert slider.get_attribute("aria-valuetext") == before[1], name


@pytest.mark.parametrize("locale", ["de-DE", "fr-FR"])
def test_E07_decimals_are_read_in_any_locale_and_written_with_a_point(open_page: Open, odd: Host, locale: str) -> None:
    figure = Figure(open_page("lessons/odd-kinds/", on=odd, locale=locale), "kinds")
    expect(figure.control("length").locator(".sd-problem[role=status]")).to_be_attached()
    field = figure.control("share").locator(".sd-typed")
    for typed, read in (("0,3", "0.3"), ("0.4", "0.4"), (".6", "0.6"), ("1e-1", "0.1"), (",7", "0.7")):
        field.fill(typed)
        field.press("Enter")
        expect(figure.slider("share")).to_have_attribute("aria-valuetext", read)
        expect(field).to_have_value(read)


def test_E14_a_picture_in_closed_details_has_its_full_width_when_it_is_first_shown(open_page: Open) -> None:
    page = open_page(ONE)
    page.evaluate(
        """() => {
          const figure = document.querySelector("sd-widget"), details = document.createElement("details");
          details.append(document.createElement("summary"));
          figure.before(details);
          details.append(figure);
        }"""
    )
    chart = page.locator("sd-widget .sd-chart").first
    expect(chart).to_be_hidden()
    page.evaluate("document.querySelector('details:has(sd-widget)').open = true")
    expect(chart).to_be_visible()
    wide = "e => [e.getBoundingClientRect().width, e.closest('.sd-picture').getBoundingClientRect().width]"
    for size in (1280, 390):
        page.set_viewport_size({"width": size, "height": 900})
        picture, room = chart.evaluate(wide)
        assert room > 250
        assert abs(picture - room) < 1


def test_F19_the_table_stays_when_the_live_part_meets_half_a_file(open_page: Open, own_host: Host, seen: Seen) -> None:
    seen.expected.append(r"status 503|console error|request failed")
    own_host.broken = {r"site\.zip$": 503}
    page = open_page(ONE, on=own_host)
    figure = Figure(page, "pass_cost")
    rows = figure.part("table").locator("tr").count()
    figure.press("positions", "PageUp")
    figure.control("model").locator("select").select_option(index=1)
    figure.is_state("failed")
    figure.tells("site.zip came back as 503")
    assert figure.part("table").locator("tr").count() == rows > 2
    assert json.loads(figure.root.get_attribute("data-values") or "{}")
