"""A reader's way through the lesson, step by step the same in Chromium, Firefox and WebKit.

What one of them cannot do, here and why: tests/engines/README.md.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import sim
from tests.engines.visitor import Visitor
from tests.site.test_real_pair import greedy
from tests.tools.server import Host

ONE = "lessons/01-why-decode-is-slow/"
TWO = "lessons/02-draft-and-verify/"
TOKENS = '#draft_verify [data-key="tokens"]'
STARTS = 'performance.getEntriesByName("python ready").map((mark) => mark.detail)'
ALL = r"status of \d+|Failed to load|NetworkError|blocked"  # the browser's own reports of a fault made on purpose


def move(visitor: Visitor, figure: str, slider: str, *keys: str) -> None:
    """Keys on a slider, then wait until Python has answered."""
    visitor.press(f"#{figure} [data-param={slider}] .sd-range", *keys)
    visitor.wait_for_attribute(f"#{figure}", "data-state", "live")


def shows(visitor: Visitor, gamma: int) -> None:
    """The figure comes to say what `sim` says."""
    value = f"Number(document.querySelector({json.dumps(TOKENS)})?.dataset.value)"
    expected = sim.expected_tokens(0.8, gamma)
    visitor.wait_for(f"Math.abs({value} - {expected!r}) < 1e-8", f"tokens at draft length {gamma}: {expected}")


def test_read_move_go_on_come_back(visitor: Visitor, host: Host, note: Callable[[str], None]) -> None:
    visitor.open(host.url + TWO)
    assert visitor.attribute("#draft_verify", "data-state") == "static"
    assert "3.36" in visitor.text(TOKENS)
    shows(visitor, 4)

    began = time.perf_counter()
    move(visitor, "draft_verify", "gamma", "ArrowRight")
    note(f"Python's first answer after {time.perf_counter() - began:.1f} s")
    assert visitor.attribute("#draft_verify-gamma", "aria-valuetext") == "5 tokens"
    shows(visitor, 5)
    assert visitor.evaluate(STARTS) == ["snapshot"]
    visitor.wait_for("location.search === '?draft_verify.gamma=5'", "the address holds the state")

    visitor.evaluate("window.stayed = true")
    visitor.click(".md-nav a[href*='01-why-decode']")
    visitor.wait_for(f"location.pathname.endsWith({json.dumps(ONE)}) && !!document.querySelector('#pass_cost')", ONE)
    move(visitor, "pass_cost", "positions", "ArrowRight")
    assert visitor.evaluate("window.stayed") is True, "the page was loaded as a whole"

    visitor.back()
    visitor.wait_for("!!document.querySelector('#draft_verify')", "the lesson before")
    visitor.wait_for_attribute("#draft_verify", "data-state", "live")
    visitor.wait_for("document.querySelector('#draft_verify-gamma').getAttribute('aria-valuetext') === '5 tokens'", "5")
    shows(visitor, 5)
    move(visitor, "draft_verify", "gamma", "ArrowLeft")
    shows(visitor, 4)
    assert visitor.evaluate(STARTS) == ["snapshot"], "one worker for the whole visit"

    visitor.open(host.url + TWO + "?draft_verify.gamma=8")
    began = time.perf_counter()
    visitor.wait_for_attribute("#draft_verify", "data-state", "live")
    note(f"the second time, with everything in its cache, after {time.perf_counter() - began:.1f} s")
    shows(visitor, 8)


FIGURE = "getComputedStyle(document.querySelector('#draft_verify .sd-figure'))"
COLOURS = f"[getComputedStyle(document.body).backgroundColor, {FIGURE}.backgroundColor, {FIGURE}.color]"
SWITCH = "form[data-md-component=palette] label:not([hidden])"


def to_dark(visitor: Visitor) -> None:
    visitor.click(SWITCH)  # from the system's colours to light ones
    visitor.wait_for("document.querySelector('#__palette_1').checked", "the light palette")
    visitor.click(SWITCH)
    visitor.wait_for("document.body.dataset.mdColorScheme === 'slate'", "the dark palette")


def test_the_palette_changes_page_and_figure(visitor: Visitor, host: Host) -> None:
    visitor.open(host.url + TWO)
    light = visitor.evaluate(COLOURS)
    to_dark(visitor)
    visitor.wait_for(f"!{COLOURS}.some((colour) => {json.dumps(light)}.includes(colour))", "no colour of the light one")
    dark = visitor.evaluate(COLOURS)
    for paper, night in zip(light[:2], dark[:2], strict=True):
        assert brightness(night) < 80 < 180 < brightness(paper), (light, dark)
    assert brightness(dark[2]) > 180 > 80 > brightness(light[2]), (light, dark)
    visitor.click(SWITCH)
    visitor.wait_for(f"String({COLOURS}) === String({json.dumps(light)})", "the system's colours: light ones here")


def brightness(colour: str) -> float:
    """Of a colour as browsers write it, `rgb(12, 34, 56)`: 0 is black, 255 white."""
    red, green, blue = (float(part) for part in colour.split("(")[1].rstrip(")").split(",")[:3])
    return 0.299 * red + 0.587 * green + 0.114 * blue


def test_a_file_that_was_missing_and_retry(visitor: Visitor, own_host: Host) -> None:
    visitor.expected.append(ALL)
    own_host.broken = {r"site\.zip$": 404}
    visitor.open(own_host.url + TWO)
    visitor.press("#draft_verify-gamma", "ArrowRight")
    visitor.wait_for_attribute("#draft_verify", "data-state", "failed")
    assert "site.zip came back as 404" in visitor.text("#draft_verify .sd-notice")
    own_host.broken = {}
    visitor.click("#draft_verify [data-do=retry]")
    visitor.wait_for_attribute("#draft_verify", "data-state", "live")
    shows(visitor, 5)
    assert visitor.evaluate("document.querySelector('#draft_verify .sd-notice').hidden") is True


def test_numpy_and_a_data_file(visitor: Visitor, odd: Host, note: Callable[[str], None]) -> None:
    visitor.open(f"{odd.url}lessons/odd-vector/")
    move(visitor, "kinds", "share", "ArrowRight")
    assert not [name for name, _ in odd.asked if "numpy" in name]
    rows = len(json.loads((odd.folder / "data" / "published.json").read_text(encoding="utf-8"))["rows"])
    began = time.perf_counter()
    visitor.press("#vector [data-param=n] .sd-range", "End")
    words = f"the sum is 15, rows: {rows}"
    told = "document.querySelector('#vector [data-part=summary]').innerText"
    refused = "document.querySelector('#vector').dataset.state === 'failed'"
    visitor.wait_for(f"{told} === {json.dumps(words)} || {refused}", words)
    assert visitor.text("#vector [data-part=summary]") == words, visitor.text("#vector .sd-notice")
    note(f"NumPy's first answer after {time.perf_counter() - began:.1f} s more")


def test_the_real_pair_writes_the_same_in_every_engine(
    visitor: Visitor, host: Host, note: Callable[[str], None]
) -> None:
    """At temperature 0 the kernel's order of additions is the same everywhere: the tokens are those of CPython."""
    wanted = greedy("code", "bigram", 4)
    figure = "document.querySelector('#real_pair')"
    state = "kind=code&real_pair.draft=bigram&real_pair.temperature=0&real_pair.gamma=4&real_pair.run=on"
    began = time.perf_counter()
    visitor.open(f"{host.url}labs/real-pair/?real_pair.{state}")
    over = f"!!{figure}.querySelector('a[download]') || {figure}.dataset.state === 'failed'"
    visitor.wait_for(over, "a race that is over", 240)
    assert visitor.attribute("#real_pair", "data-state") == "live", visitor.text("#real_pair .sd-notice")
    note(f"the real pair's first race is over after {time.perf_counter() - began:.1f} s")
    cells = f"""[...{figure}.querySelectorAll(".sd-token:not([data-kind=given])")].map((one) => [one.dataset.kind,
      one.querySelector(":scope > s, :scope > span:not(.sd-glyph, .sd-said)").textContent])"""
    assert [tuple(cell) for cell in visitor.evaluate(cells)] == wanted
    visitor.wait_for(f"{figure}.innerText.includes('Both lanes wrote the same text.')", "greedy is greedy", 5)
    assert "kernel" in (visitor.attribute("#real_pair a[download]", "download") or "")
    note(visitor.text("#real_pair [data-part=title]"))


def test_print_shows_the_state_in_light_colours_without_controls(visitor: Visitor, host: Host) -> None:
    visitor.open(host.url + TWO)
    to_dark(visitor)
    move(visitor, "draft_verify", "gamma", "ArrowRight")
    if (page := visitor.pdf()) is not None:
        assert page.startswith(b"%PDF-")
        assert len(page) > 20_000
    # What this engine makes of the rules for paper: they are put on for the screen, and those for the screen taken off.
    visitor.evaluate(
        """[...document.styleSheets].forEach(function swap(group) {
          for (const rule of group.cssRules) {
            if (rule.media?.mediaText === "print") rule.media.mediaText = "all";
            else if (rule.media?.mediaText === "screen") rule.media.mediaText = "not all";
            else if (rule.cssRules) swap(rule);
          }
        })"""
    )
    assert visitor.style("#draft_verify .sd-controls", "display") == "none"
    assert visitor.style("#draft_verify .sd-tools", "display") == "none"
    assert visitor.style("#draft_verify .sd-picture", "display") != "none"
    assert visitor.style("#draft_verify", "break-inside") == "avoid"
    shows(visitor, 5)
    assert "3.69" in visitor.text(TOKENS)
    visitor.wait_for(f"{COLOURS}[0] === 'rgb(255, 255, 255)'", "white paper, in the dark palette too", 5)
    assert brightness(visitor.evaluate(f"{FIGURE}.color")) < 80
    assert visitor.style("#draft_verify", "--sd-ground") == "#f7f6f2"
