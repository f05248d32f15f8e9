"""The browser's side of `make bench-site`: a built site, a slow line, a slow processor, and what a reader notices.

Every function takes a `Bench` and gives raw repeats; nothing is averaged here. Pages run in Chromium; the line is
slowed in the host and not in the browser, whose own emulation does not reach workers. Extra files lie in a linked copy
of the site: a worker that boots plain Pyodide as its documentation says, one that boots ours, and the lesson without
figures. It must not know goals, nor how results are written.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page

import widgets
from tests.site.odd import linked_copy, live_folder
from tests.tools.server import COMPRESSED, Host, serve
from widgets._page.baked import states

__all__ = ["BOOT", "LESSON", "LINES", "PAGE", "Bench", "boots", "first_answer", "live_bytes", "moves", "prepared"]
__all__ += ["read_bytes", "round_trips", "views", "views_asked"]

WORKER = Path(widgets.__file__).parent / "_browser" / "worker.js"
#: views that a page's worker draws for nobody, before a reader may ask
WARM = int(re.findall(r"WARM_VIEWS = (\d+);", WORKER.read_text(encoding="utf-8"))[0])
LESSON = "lessons/02-draft-and-verify/"
PAGE = "assets/live/bench/"  # an empty page beside the workers
FIGURE = "draft_verify"
LINES = {"none": (0.0, 0.0), "10 Mbit/s 40 ms": (10e6, 0.04), "1.6 Mbit/s 150 ms": (1.6e6, 0.15)}
PLAIN = """
import { loadPyodide } from "../LIVE/pyodide.mjs";
const pyodide = await loadPyodide({ indexURL: new URL("../LIVE/", import.meta.url).href });
pyodide.runPython("1 + 1");
postMessage("ready");
onmessage = async () => {
  await pyodide.loadPackage("numpy", { messageCallback() {} });
  pyodide.runPython("import numpy");
  postMessage("numpy");
};
"""
OURS = """
import { boot } from "../LIVE/boot.js";
const python = await boot(() => {});
postMessage("ready");
onmessage = async ({ data }) => {
  if (data === "numpy") {
    await python.load("numpy");
    postMessage("numpy");
    return;
  }
  for (const [name, text] of Object.entries(data.files)) python.answer.set_data(name, text);
  postMessage(data.questions.map((question) => {
    const began = performance.now();
    python.answer.begin(question);
    return performance.now() - began;
  }));
};
"""
ECHO = "onmessage = ({ data }) => postMessage(data);"
BOOT = """([name, then]) => new Promise((done) => {
  const began = performance.now();
  const times = {};
  const worker = new Worker(`${document.baseURI}${name}.js`, { type: "module" });
  worker.onmessage = ({ data }) => {
    times[data] = performance.now() - began;
    if (data === "ready" && then) return worker.postMessage("numpy");
    worker.terminate();
    done(times);
  };
})"""
ASK = """(message) => new Promise((done) => {
  const worker = new Worker(`${document.baseURI}ours.js`, { type: "module" });
  worker.onmessage = ({ data }) => data === "ready" ? worker.postMessage(message) : (worker.terminate(), done(data));
})"""
PING = """(count) => new Promise((done) => {
  const worker = new Worker(`${document.baseURI}echo.js`);
  const times = [];
  let began = 0;
  worker.onmessage = () => {
    times.push(performance.now() - began);
    if (times.length > count) return done(times.slice(1));
    began = performance.now();
    worker.postMessage("x".repeat(200));
  };
  began = performance.now();
  worker.postMessage("x");
})"""
WATCH = """() => {
  window.seen = { shift: 0, tasks: [] };
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) seen.shift += entry.value;
  }).observe({ type: "layout-shift", buffered: true });
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) seen.tasks.push([startTime, duration]);
  }).observe({ type: "longtask", buffered: true });
}"""
#: One stop to the right; resolves with the time until the picture is another one, and what the figure said meanwhile.
MOVE = """([id, name, by]) => new Promise((done) => {
  const figure = document.getElementById(id);
  const range = figure.querySelector(`[data-param=${name}] .sd-range`);
  const said = [];
  let began = 0;
  const watch = new MutationObserver(() => {
    const at = performance.now();
    watch.disconnect();
    words.disconnect();
    done({ ms: at - began, state: figure.dataset.state, said });
  });
  const words = new MutationObserver(() => said.push(figure.querySelector(".sd-state").textContent));
  watch.observe(figure.querySelector("[data-part=picture]"), { childList: true });
  words.observe(figure.querySelector(".sd-state"), { childList: true, subtree: true, characterData: true });
  range.focus();
  range.value = Number(range.value) + by;
  began = performance.now();
  range.dispatchEvent(new Event("input", { bubbles: true }));
})"""
REPLACE = """([id, count]) => {
  const parts = [...document.getElementById(id).querySelectorAll("[data-part]")];
  const held = parts.map((part) => part.innerHTML);
  return Array.from({ length: count }, () => {
    const began = performance.now();
    parts.forEach((part, place) => { part.innerHTML = held[place]; });
    return performance.now() - began;
  });
}"""


@dataclass
class Bench:
    """A running host with the site and the extra files, and the browser."""

    host: Host
    browser: Browser

    @contextmanager
    def visitor(self, line: str = "none", slowdown: float = 1.0, **options: Any) -> Iterator[BrowserContext]:
        """A new visitor with an empty cache, on a line of `LINES`."""
        self.host.bits_per_s, self.host.latency_s = LINES[line]
        context = self.browser.new_context(viewport={"width": 1280, "height": 900}, **options)
        context.set_default_timeout(120_000)
        if slowdown != 1:
            context.on("page", lambda page: _slow(page, slowdown))
        try:
            yield context
        finally:
            context.close()
            self.host.bits_per_s = self.host.latency_s = 0.0

    def open(self, context: BrowserContext, path: str) -> Page:
        page = context.new_page()
        page.goto(self.host.url + path)
        return page


def _slow(page: Page, factor: float) -> None:
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": factor})


@contextmanager
def prepared(built: Path, folder: Path) -> Iterator[Host]:
    """The site in `built`, with the extra files, served from `folder`."""
    site = linked_copy(built, folder)
    live = live_folder(site)
    extra = live.parent / "bench"
    extra.mkdir()
    for name, text in (("plain", PLAIN), ("ours", OURS), ("echo", ECHO)):
        (extra / f"{name}.js").write_text(text.replace("LIVE", live.name), encoding="utf-8")
    (extra / "index.html").write_text("<!doctype html><meta charset=utf-8><title>bench</title>", encoding="utf-8")
    lesson = (site / LESSON / "index.html").read_text(encoding="utf-8")
    bare = re.sub(r"<sd-widget.*?</sd-widget>", "", lesson, flags=re.DOTALL)
    bare = re.sub(r"<(?:script|link)[^>]*assets/live/[^>]*>(?:</script>)?", "", bare)
    target = site / "lessons" / "bare" / "index.html"
    target.parent.mkdir()
    target.write_text(bare, encoding="utf-8")
    with serve(site, "/sub/") as host:
        yield host


def boots(bench: Bench, turns: int) -> dict[str, list[dict[str, float]]]:
    """Worker ("plain", "ours") → milliseconds to "ready" and to "numpy", each turn; two turns before fill the cache.

    Turn by turn, so that a busy moment hits both. Two: Chromium keeps compiled code from the second visit on.
    """
    times: dict[str, list[dict[str, float]]] = {"plain": [], "ours": []}
    with bench.visitor() as context:
        for _ in range(turns + 2):
            for name, found in times.items():
                page = bench.open(context, PAGE)
                found.append(page.evaluate(BOOT, [name, True]))
                page.close()
    return {name: found[2:] for name, found in times.items()}


def first_answer(bench: Bench, line: str, settled: bool, slowdown: float = 1.0) -> dict[str, Any]:
    """A cold visit that moves a slider: at once, or after the figure was in view for two seconds."""
    with bench.visitor(line, slowdown) as context:
        page = bench.open(context, LESSON)
        page.locator(f"#{FIGURE}:defined .sd-controls").scroll_into_view_if_needed()
        page.wait_for_function("customElements.get('sd-widget') !== undefined")
        if settled:
            page.wait_for_timeout(2000)
        found: dict[str, Any] = page.evaluate(MOVE, [FIGURE, "gamma", 1])
    return found


def moves(bench: Bench, count: int, slowdown: float = 1.0) -> dict[str, Any]:
    """Live moves: milliseconds each, the sum of layout shifts, the longest task from then on, bare replacements."""
    with bench.visitor(slowdown=slowdown) as context:
        page = context.new_page()
        page.add_init_script(f"({WATCH})()")
        page.goto(bench.host.url + LESSON)
        page.wait_for_load_state("networkidle")
        page.wait_for_timeout(500)
        began = page.evaluate("performance.now()")
        page.locator(f"#{FIGURE} .sd-range").first.focus()
        page.locator(f"#{FIGURE}[data-state=live]").wait_for()
        times = []
        for place in range(count):
            by = 1 if place % 8 < 4 else -1
            times.append(page.evaluate(MOVE, [FIGURE, "gamma" if place % 2 else "alpha", by])["ms"])
            page.wait_for_timeout(60)
        page.wait_for_timeout(600)
        seen = page.evaluate("seen")
        replaced = page.evaluate(REPLACE, [FIGURE, 20])
    tasks = [length for start, length in seen["tasks"] if start >= began]
    return {"ms": times, "shift": seen["shift"], "task": max(tasks, default=0.0), "replace": replaced}


def round_trips(bench: Bench, count: int) -> list[float]:
    """Milliseconds of an empty message to a worker and back."""
    with bench.visitor() as context:
        times: list[float] = bench.open(context, PAGE).evaluate(PING, count)
    return times


def views(bench: Bench, each: int) -> dict[str, list[float]]:
    """Milliseconds of `view` in Pyodide, its HTML and JSON included, for every formula widget at `each` states.

    Its own state comes first, as often as the page's worker draws it for nobody, and is not counted.
    """
    with bench.visitor() as context:
        page = bench.open(context, PAGE)
        found = {}
        for name, questions in views_asked(each).items():
            data = bench.host.folder / "data"
            files = {file: (data / f"{file}.json").read_text(encoding="utf-8") for file in widgets.load(name).data}
            found[name] = page.evaluate(ASK, {"files": files, "questions": questions})[WARM:]
    return found


def views_asked(each: int) -> dict[str, list[str]]:
    """For every formula widget with controls: its own state `WARM` times, then that and `each` others, thrice each."""
    asked = {}
    for name in widgets.names():
        widget = widgets.load(name)
        if widget.view is None or widget.needs or not widget.params:
            continue
        measured = [{}, *islice(states(widget, widget.values({})), each)]
        every: list[dict[str, Any]] = [{}] * WARM + [params for params in measured for _ in range(3)]
        asked[name] = [json.dumps({"id": 1, "widget": name, "params": params}) for params in every]
    return asked


def read_bytes(bench: Bench, path: str) -> int:
    """Bytes on the wire of a page that is read to its end with nothing touched."""
    with bench.visitor() as context:
        before = len(bench.host.asked)
        page = bench.open(context, path)
        page.wait_for_load_state("networkidle")
        height = page.evaluate("document.documentElement.scrollHeight")
        for top in range(0, height, 500):
            page.evaluate("(top) => scrollTo(0, top)", top)
            page.wait_for_timeout(700)
        page.wait_for_load_state("networkidle")
    return sum(_wire(bench.host, name) for name, _ in bench.host.asked[before:])


def live_bytes(bench: Bench) -> dict[str, int]:
    """Bytes on the wire from the first touch until the figure is live, by file."""
    with bench.visitor() as context:
        page = bench.open(context, LESSON)
        page.wait_for_load_state("networkidle")
        before = len(bench.host.asked)
        page.locator(f"#{FIGURE} .sd-range").first.focus()
        page.locator(f"#{FIGURE}[data-state=live]").wait_for()
    return {name.rsplit("/", 1)[-1]: _wire(bench.host, name) for name, _ in bench.host.asked[before:]}


def _wire(host: Host, name: str) -> int:
    """Bytes of the body as a host sends it: gzip at its usual level, where that is used at all."""
    path = host.folder / name
    path = path / "index.html" if path.is_dir() else path
    content = path.read_bytes() if path.is_file() else b""
    return len(gzip.compress(content, 6, mtime=0)) if path.suffix in COMPRESSED else len(content)
