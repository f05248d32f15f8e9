"""What a page may cost a reader, in bytes and messages: never in time, which a busy machine would decide."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable

from playwright.sync_api import Page

from tests.site.conftest import ROOT
from tests.site.figures import Figure
from tests.tools.server import COMPRESSED, Host

Open = Callable[..., Page]
WARM = int(re.findall(r"WARM_VIEWS = (\d+);", (ROOT / "widgets/_browser/worker.js").read_text(encoding="utf-8"))[0])
TWO = "lessons/02-draft-and-verify/"
COUNT = """
  window.messages = [];
  const plain = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (message, ...rest) {
    window.messages.push(typeof message === "string" ? message : message.text);
    return plain.call(this, message, ...rest);
  };
"""
REPLACED = """() => {
  window.replaced = [];
  for (const part of document.querySelectorAll("#draft_verify [data-part]")) {
    new MutationObserver(() => replaced.push(part.dataset.part)).observe(part, { childList: true });
  }
}"""


def packed(host: Host, names: list[str]) -> int:
    """Bytes of these files as a host sends them."""
    contents = [(host.folder / name, (host.folder / name).read_bytes()) for name in names]
    return sum(len(gzip.compress(one, 6)) if path.suffix in COMPRESSED else len(one) for path, one in contents)


def test_reading_a_lesson_costs_little_more_than_its_text(open_page: Open, own_host: Host) -> None:
    """Scripts, style, the figures' HTML and the answers baked for them, read to the end with nothing touched."""
    page = open_page(TWO, on=own_host)
    page.wait_for_load_state("networkidle")
    with page.expect_response(re.compile("/assets/baked/")):
        Figure(page, "draft_verify").root.locator(".sd-controls").scroll_into_view_if_needed()
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.wait_for_load_state("networkidle")
    names = [name for name, _ in own_host.asked]
    assert not [name for name in names if re.search(r"pyodide|worker\.js|site\.zip|snapshot", name)]
    ours = [name for name in names if name.startswith(("assets/live/", "assets/baked/"))]
    html = (own_host.folder / TWO / "index.html").read_text(encoding="utf-8")
    bare = re.sub(r"<sd-widget.*?</sd-widget>", "", html, flags=re.DOTALL)
    figures = len(gzip.compress(html.encode(), 6)) - len(gzip.compress(bare.encode(), 6))
    assert packed(own_host, [name for name in ours if "assets/baked/" in name]) <= 10_000
    assert packed(own_host, ours) + figures <= 40_000


def test_a_step_of_a_slider_is_one_message_and_touches_only_what_changed(open_page: Open) -> None:
    page = open_page("")
    page.context.add_init_script(COUNT)
    page.goto(page.url + TWO)
    figure = Figure(page, "draft_verify")
    figure.press("gamma", "ArrowRight")
    figure.is_state("live")
    page.evaluate(REPLACED)
    before = page.evaluate("messages.length")
    figure.press("gamma", "ArrowRight")
    page.wait_for_function("replaced.includes('summary')")
    sent = page.evaluate("messages")[before:]
    assert len(sent) == 1
    assert '"gamma":6' in sent[0]
    assert len(sent[0]) < 300
    replaced = page.evaluate("replaced")
    assert len(set(replaced)) == len(replaced)
    assert "picture" in replaced
    assert "note" not in replaced  # it is the same in both states
    assert len(figure.part("picture").inner_html()) < 30_000


def test_a_step_of_a_slider_lays_the_page_out_once_and_not_part_by_part(open_page: Open) -> None:
    """Eight parts change. Asking one where it is scrolled to, after another was replaced, would lay out the whole page."""
    page = open_page(TWO)
    figure = Figure(page, "draft_verify")
    figure.press("gamma", "ArrowRight")
    figure.is_state("live")
    page.evaluate(REPLACED)
    chrome = page.context.new_cdp_session(page)
    chrome.send("Performance.enable")

    def layouts() -> float:
        metrics = chrome.send("Performance.getMetrics")["metrics"]
        return next(float(one["value"]) for one in metrics if one["name"] == "LayoutCount")

    before = layouts()
    figure.set("gamma", 8)
    page.wait_for_function("replaced.includes('picture')")
    assert layouts() - before <= 3  # for the number at the control, for the picture, and a frame between them


def test_a_figure_is_drawn_a_few_times_for_nobody_until_it_is_quick(open_page: Open, odd: Host) -> None:
    """So often at most as the worker says, and nothing of it reaches the page or the console."""
    page = open_page("", on=odd)
    printed: list[str] = []
    page.on("console", lambda message: printed.append(message.text) if "drawn" in message.text else None)
    page.goto(f"{odd.url}lessons/odd-calls/")
    figure = Figure(page, "calls")
    asked = 0
    for n in (2, 3, 4):
        figure.set("n", n)
        figure.is_alive(f"n is {n}")
        asked += 1
    times = int(figure.part("title").inner_text().split()[1])
    assert 1 <= times - asked <= WARM
    assert len(printed) == asked
