"""WCAG 2.2 AA: what axe finds on every page in both palettes, and what axe cannot see in the figures.

The second half stands on one page that holds every widget (`odd-every`), so that one visit looks at all controls. What
other files hold is not repeated: contrast (`tests/widgets/test_look.py`), reflow at 320 px and 400 % (`test_pages.py`),
touch and print (`test_cases.py` E05, D17), Play and reduced motion (`test_live_controls.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.site.figures import Figure
from tests.site.odd import PAGES
from tests.site.test_pages import addresses
from tests.tools.server import Host
from tests.widgets.test_look import contrast

AXE = Path(__file__).resolve().parents[2] / "node_modules" / "axe-core" / "axe.min.js"
RULES = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}}

#: What moves for more than five seconds without a button that stops it.
ENDLESS = """() => [
  ...document.getAnimations().filter((film) => film.effect.getComputedTiming().activeDuration > 5000),
  ...document.querySelectorAll("marquee, blink, video[autoplay], animate[repeatCount=indefinite]"),
].map((moving) => moving.animationName ?? moving.outerHTML)"""


def violations(page: Page) -> list[str]:
    """What axe finds on the page as it stands: rule, words, and the first places."""
    found: Any = page.evaluate("rules => axe.run(document, rules)", RULES)
    return [
        f"{rule['id']}: {rule['help']} at {[node['target'] for node in rule['nodes'][:3]]} "
        f"{rule['nodes'][0].get('failureSummary', '')!r}"
        for rule in found["violations"]
    ]


@pytest.mark.parametrize("palette", ["light", "dark"])
def test_axe_reports_nothing_on_any_page(built: Path, open_page: Callable[..., Page], palette: str) -> None:
    page = open_page("", reduced_motion="reduce", color_scheme=palette)
    root = page.url
    found = {}
    for address in addresses(built):
        page.goto(root + address)
        page.evaluate(AXE.read_text(encoding="utf-8"))
        assert page.evaluate(ENDLESS) == [], address
        if reported := violations(page):
            found[address] = reported
    assert found == {}


FIGURES = len(PAGES["every"])


@pytest.fixture
def every(open_page: Callable[..., Page], odd: Host) -> Callable[..., Page]:
    """The page with every widget, its script there."""

    def opened(clock: bool = False, **options: Any) -> Page:
        page = open_page("", on=odd, **options)
        if clock:
            page.clock.install()
        page.goto(f"{odd.url}lessons/odd-every/")
        expect(page.locator("sd-widget:defined")).to_have_count(FIGURES)
        return page

    return opened


#: At a few stops of each slider: what is read aloud, and what stands beside the track.
SPOKEN = """() => [...document.querySelectorAll("sd-widget input[type=range]")].flatMap((range) => {
  const control = range.closest("[data-param]");
  const place = [...control.querySelectorAll("input[type=range]")].indexOf(range);
  const [min, max] = [Number(range.min), Number(range.max)];
  return [0, 0.3, 0.5, 0.8, 1].map((share) => {
    range.value = Math.round(min + share * (max - min));
    range.dispatchEvent(new Event("input", { bubbles: true }));
    const typed = control.querySelectorAll(".sd-typed")[place];
    const unit = control.querySelector(".sd-unit")?.textContent.trim();
    const beside = typed ? [typed.value, unit] : [control.innerText];
    const name = `${control.closest("sd-widget").id}.${control.dataset.param}[${place}]`;
    return [name, range.getAttribute("aria-valuetext"), beside.filter(Boolean).join(" "), control.dataset.kind];
  });
})"""


def test_what_is_read_aloud_is_what_is_seen_at_every_slider(every: Callable[..., Page]) -> None:
    found = every().evaluate(SPOKEN)
    assert len({name for name, *_ in found}) > 40
    wrong = [
        (name, aloud, seen)
        for name, aloud, seen, kind in found
        if (aloud != seen if kind in ("slider", "bars") else not aloud.startswith(seen.split("\n")[0]))
    ]
    assert wrong == []


#: Each figure's first slider moves by one stop; done when Python has answered all. The page's clock stands still.
MOVED = """async () => {
  window.told = {};
  const moved = [];
  for (const figure of document.querySelectorAll("sd-widget")) {
    const range = figure.querySelector(".sd-range:not([disabled])");
    if (!range) continue;
    told[figure.id] = 0;
    for (const region of figure.querySelectorAll("[aria-live], [role=status], [role=alert]")) {
      const watch = new MutationObserver(() => (told[figure.id] += 1));
      watch.observe(region, { childList: true, subtree: true, characterData: true });
    }
    moved.push(figure);
    range.value = Number(range.value) + (range.value === range.max ? -1 : 1);
    range.dispatchEvent(new Event("input", { bubbles: true }));
  }
  const { live } = document.querySelector("sd-widget").dataset;
  const start = document.querySelector("script[src*='live/start.js']").src;
  const { python } = await import(new URL(`./${live}/python.js`, start));
  const turn = () => new Promise((done) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = done;
    port2.postMessage(0);
  });
  while (moved.some((figure) => python.busy(figure))) await turn();
  return Object.fromEntries(moved.map(({ id }) => [id, told[id]]));
}"""


def test_a_change_is_announced_once_when_the_reader_is_quiet(every: Callable[..., Page]) -> None:
    page = every(clock=True)
    first = Figure(page, "pass_cost")
    first.press("positions", "ArrowRight")
    first.is_state("live")
    page.clock.pause_at(page.evaluate("Date.now()") / 1000 + 60)
    told = page.evaluate(MOVED)
    assert len(told) >= 8
    assert set(told.values()) == {0}
    page.clock.run_for(500)
    assert page.evaluate("told") == dict.fromkeys(told, 1)


#: The controls of the figures in the order of the Tab key, each with its kind and place.
CONTROLS = """() => [...document.querySelectorAll("sd-widget :is(a[href], button, input, select, textarea, summary)")]
  .filter((element) => element.checkVisibility({ visibilityProperty: true }) && !element.disabled)
  .map((element, index) => {
    element.dataset.stop = index;
    const box = (element.matches(".sd-switch input") ? element.closest("label") : element).getBoundingClientRect();
    const sentence = element.localName === "a" && getComputedStyle(element).display === "inline";
    const name = `${element.closest("sd-widget").id}: ${element.textContent.trim().slice(0, 30)}`;
    const kind = `${element.localName}.${element.className}`;
    return { index, kind, name, tab: element.tabIndex, width: box.width, height: box.height, sentence };
  })"""


def test_every_control_is_reached_by_tab_in_its_order_and_shows_that_it_is(every: Callable[..., Page]) -> None:
    """Seen means: pixels change around it. One of each kind of control is looked at."""
    page = every(reduced_motion="reduce")
    controls = page.evaluate(CONTROLS)
    assert len(controls) > 120
    assert [control for control in controls if control["tab"] != 0] == []
    page.locator("[data-stop='0']").focus()
    reached: list[int] = []
    unseen, looked = [], set()
    for _ in range(2 * len(controls)):
        stop = page.evaluate("Number(document.activeElement.dataset.stop ?? -1)")  # -1: a part that scrolls, say
        if stop >= 0:
            reached.append(stop)
        if stop >= 0 and controls[stop]["kind"] not in looked:
            looked.add(controls[stop]["kind"])
            here = page.locator(f"[data-stop='{stop}']")
            around = here.locator("xpath=..")
            around.scroll_into_view_if_needed()
            focused = around.screenshot()
            here.evaluate("element => element.blur()")
            if around.screenshot() == focused:
                unseen.append(controls[stop]["kind"])
            here.focus()
        if stop == len(controls) - 1:
            break
        page.keyboard.press("Tab")
    assert unseen == []
    assert reached == [control["index"] for control in controls]


def test_every_control_is_large_enough_for_a_finger(every: Callable[..., Page]) -> None:
    """24 by 24 pixels, links within sentences excepted."""
    small = [
        control
        for control in every(size="phone", has_touch=True).evaluate(CONTROLS)
        if not control["sentence"] and min(control["width"], control["height"]) < 24
    ]
    assert small == []


def test_with_reduced_motion_nothing_in_a_figure_moves(every: Callable[..., Page]) -> None:
    page = every(reduced_motion="reduce")
    moving = page.evaluate(
        """() => [...document.querySelectorAll("sd-widget *")].filter((element) => {
          const { transitionDuration, transitionProperty, animationName } = getComputedStyle(element);
          return animationName !== "none" || (transitionProperty !== "none" && /[1-9]/.test(transitionDuration));
        }).map((element) => element.className)"""
    )
    assert moving == []


#: The colours of the marks and words in charts that carry a meaning, and of what is behind them.
MARKS = """() => {
  const paint = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const hex = (colour) => {
    paint.fillStyle = "#000000";
    paint.fillStyle = colour;
    paint.fillRect(0, 0, 1, 1);
    const [red, green, blue] = paint.getImageData(0, 0, 1, 1).data;
    return `#${((1 << 24) | (red << 16) | (green << 8) | blue).toString(16).slice(1)}`;
  };
  const behind = hex(getComputedStyle(document.body).backgroundColor);
  const swatch = document.querySelector("sd-widget").appendChild(document.createElement("i"));
  swatch.style.cssText = "forced-color-adjust: none; color: var(--sd-ground)";
  const rim = hex(getComputedStyle(swatch).color);
  const found = new Set();
  for (const mark of document.querySelectorAll("sd-widget .sd-chart :is(text, path, circle)")) {
    const { fill, stroke, strokeWidth } = getComputedStyle(mark);
    if (mark.localName === "text") found.add(hex(fill));
    else if (stroke !== "none" && parseFloat(strokeWidth) >= 1.5) found.add(hex(stroke));
  }
  found.delete(rim); // the rim that parts a mark from what lies under it
  return { behind, found: [...found] };
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_with_forced_colours_charts_and_controls_are_still_seen(every: Callable[..., Page], scheme: str) -> None:
    page = every(forced_colors="active", color_scheme=scheme)
    marks = page.evaluate(MARKS)
    assert len(marks["found"]) >= 2
    assert [colour for colour in marks["found"] if contrast(colour, marks["behind"]) < 3] == []
    bare = page.evaluate(
        """() => [...document.querySelectorAll("sd-widget :is(button, select, .sd-typed, textarea, .sd-track)")]
          .filter((element) => element.checkVisibility())
          .filter((element) => {
            const { borderTopWidth, textDecorationLine } = getComputedStyle(element);
            return parseFloat(borderTopWidth) === 0 && textDecorationLine !== "underline";
          }).map((element) => element.outerHTML)"""
    )
    assert bare == []


def test_no_figure_is_cut_on_paper(every: Callable[..., Page]) -> None:
    page = every()
    page.emulate_media(media="print")
    breaks = page.locator("sd-widget").evaluate_all("all => all.map((figure) => getComputedStyle(figure).breakInside)")
    assert breaks == ["avoid"] * FIGURES
    hidden = page.locator("sd-widget .sd-summary").evaluate_all(
        "all => all.filter((words) => !words.checkVisibility()).length"
    )
    assert hidden == 0
