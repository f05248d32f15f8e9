"""How fast the site is for a reader and for an author: `python -m bench.site_speed [--runs N] [--pages N] [--write]`.

Why it exists: pages that run Python in a browser are known for making people wait. Every figure is taken in one run,
side by side with a page that boots plain Pyodide, with the same lesson without figures, and with the same text built by
MkDocs alone. The table says for each whether its goal was reached; --write stores it as docs/data/measured/site.json.
A goal that was missed is no failure of this command: the row says why.

It must not know how the browser is driven (site_browser.py), nor how the figures are shown.
"""

from __future__ import annotations

import argparse
import datetime
import math
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from bench import site_page, site_pages, store
from bench.rows import row
from bench.sim_speed import _processor
from sim.devices import device

if TYPE_CHECKING:
    from bench.site_browser import Bench

__all__ = ["FILE", "GOALS", "finished", "main", "p95", "started", "table"]

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "docs" / "data" / "measured" / "site.json"
MB = 1e6
_LIVE = (
    "in a profile of forty moves Python's view took 10 to 18 ms in the first eight, until the browser had compiled the"
    " interpreter well, and 4 to 8 ms in most others; messages and replacement took about 4 ms"
)
#: id → what it is, unit, goal (an upper limit), why it is missed where it is
GOALS: dict[str, tuple[str, str, float, str]] = {
    "boot-ratio": (
        "Python ready, warm cache, over plain Pyodide",
        "×",
        0.20,
        "in a profile 45 % was unpacking the memory, with the interpreter compiled beside it, 15 % running Pyodide's \
script, 35 % Pyodide restoring itself",
    ),
    "boot-ratio-numpy": (
        "NumPy imported, warm cache, over plain Pyodide",
        "×",
        0.50,
        "in a profile 80 % of what NumPy adds was its import: running its modules and linking its WebAssembly; \
unpacking and compiling were the rest",
    ),
    **{
        f"{ident}-{engine}": (
            f"{what} in {name}, warm cache, over plain Pyodide in it",
            "×",
            goal,
            "profiled in Chromium only",
        )
        for engine, name in (("firefox", "Firefox"), ("webkit", "WebKit"))
        for ident, what, goal in (("boot-ratio", "Python ready", 0.20), ("boot-ratio-numpy", "NumPy imported", 0.50))
    },
    "first-answer-baked": ("first answer, cold, 1.6 Mbit/s 150 ms, figure in view for 2 s", "ms", 100, ""),
    "first-answer-touch": (
        "first answer, cold, 1.6 Mbit/s 150 ms, touched at once",
        "ms",
        250,
        "a round trip is 150 ms, 9.5 kB of answers are 48 ms, and they share the line with what the page itself is \
still loading",
    ),
    "view-p95": (
        "view of a formula widget in Pyodide with its HTML, once warm, p95 of the slowest widget",
        "ms",
        8,
        "in a profile of measured_passes half the time went to the model of a pass, asked 77 times for one picture",
    ),
    "input-ratio": ("input to picture, live, p95, over round trip + replacement + view", "×", 2.0, _LIVE),
    "input-p95": ("input to picture, live, p95", "ms", 33, _LIVE),
    "read-bytes": (
        "a lesson read to its end, beyond the same page without figures",
        "MB",
        0.040,
        "scripts 16 kB, style 5 kB, the figure 6 kB, its answers 10 kB",
    ),
    "live-bytes": (
        "until a formula widget is live",
        "MB",
        7.0,
        "the interpreter is 3.6 MB, Python's memory 4.2 MB; of its 10 MB of objects 27 % were code, 23 % dicts and \
tuples, 13 % text. Better packing than gzip would help, and Chromium and WebKit unpack nothing better by themselves",
    ),
    "layout-shift": ("layout shift (CLS) while loading and moving sliders", "fraction", 0.0, ""),
    "long-task": ("longest task on the main thread from the first touch on", "ms", 50, ""),
    "rebuild-ratio": (
        "rebuild after a one-line edit, 100 pages with 300 widgets, over MkDocs alone",
        "×",
        1.3,
        "in a profile of what 300 kept figures add, reading their blocks as YAML was 26 %, putting them into the pages \
24 %, reading kept drawings 22 %, importing sim and widgets 20 %, controls 8 %",
    ),
    "growth": ("build time a page at 100 pages over that at 10", "×", 1.1, ""),
    "growth-bytes": (
        "bytes a page at 100 pages over those at 10",
        "×",
        1.1,
        "Material writes the whole navigation into every page, with and without figures",
    ),
}


def p95(values: Sequence[float]) -> float:
    """The 95th of a hundred, without interpolation: at most 5 % are larger."""
    return sorted(values)[max(0, math.ceil(0.95 * len(values)) - 1)]


def finished(ident: str, values: Sequence[float], *, note: str = "", warmup: int = 0) -> dict[str, Any]:
    """The row of `ident` with its goal; the reason where that is missed."""
    what, unit, goal, why = GOALS[ident]
    made = row(ident, what, unit, values, warmup=warmup)
    met = made["value"] <= goal
    notes = [note, "" if met or not why else f"missed: {why}", made.pop("note", "")]
    if len(values) == 1:
        notes.append("one value: it is a count, or a single long run")
    return made | {"goal": goal, "met": met} | ({"note": "; ".join(filter(None, notes))} if any(notes) else {})


def in_browsers(built: Path, runs: int) -> tuple[list[dict[str, Any]], str]:
    """The rows that need browsers, and what was not measured because an engine is not here."""
    from playwright.sync_api import sync_playwright

    from bench import site_browser as browse
    from bench import site_engines as engines
    from tests.tools import chromium

    path = chromium.find()
    if path is None:
        raise RuntimeError(chromium.MESSAGE)
    rows, lacking = [], []
    with (
        tempfile.TemporaryDirectory(dir=ROOT / "build") as folder,
        browse.prepared(built, Path(folder) / "site") as host,
    ):
        with (
            sync_playwright() as playwright,
            playwright.chromium.launch(executable_path=path, args=list(chromium.ARGUMENTS)) as running,
        ):
            bench = browse.Bench(host, running)
            say("starts of Python in Chromium")
            rows += started("", browse.boots(bench, runs))
            for part in (_answers, _moves, _bytes):
                rows += part(bench, runs)
        for engine in engines.ENGINES:
            if why := engines.missing(engine):
                lacking.append(f"Not measured in {engine}: {why}.")
                continue
            say(f"starts of Python in {engine}")
            rows += started(f"-{engine}", engines.boots(engine, host.url, max(1, runs - 1)))
    order = list(GOALS)
    rows.sort(key=lambda made: order.index(made["id"]) if made["id"] in order else len(order))
    return rows, " ".join(lacking)


def started(suffix: str, times: Mapping[str, Sequence[Mapping[str, float]]]) -> list[dict[str, Any]]:
    """The rows of one engine's starts: each of ours over the median of plain Pyodide's."""
    rows = []
    for ident, when in (("boot-ratio", "ready"), ("boot-ratio-numpy", "numpy")):
        base = median(one[when] for one in times["plain"])
        mine = [one[when] for one in times["ours"]]
        told = f"{median(mine):.0f} ms over {base:.0f} ms"
        rows.append(finished(ident + suffix, [value / base for value in mine], note=told, warmup=1 if suffix else 2))
    return rows


def _answers(bench: Bench, runs: int) -> list[dict[str, Any]]:
    from bench.site_browser import first_answer

    say("first answers")
    rows = []
    for ident, settled in (("first-answer-baked", True), ("first-answer-touch", False)):
        found = [first_answer(bench, "1.6 Mbit/s 150 ms", settled) for _ in range(runs)]
        told = f"states afterwards: {', '.join(sorted({one['state'] for one in found}))}"
        said = sorted({words for one in found for words in one["said"]})
        rows.append(finished(ident, [one["ms"] for one in found], note=f"{told}; it said: {' / '.join(said)}"))
        for line, slowdown in (("10 Mbit/s 40 ms", 1.0), ("none", 4.0)):
            other = [first_answer(bench, line, settled, slowdown)["ms"] for _ in range(max(1, runs // 2))]
            what = f"{GOALS[ident][0].split(',')[0]}, {'in view for 2 s' if settled else 'touched at once'}"
            where = f"line {line}, processor slowed {slowdown:g}×"
            rows.append(scale(f"{ident}-{'fast' if slowdown == 1 else 'slow-cpu'}", f"{what}; {where}", "ms", other))
    return rows


def _moves(bench: Bench, runs: int) -> list[dict[str, Any]]:
    from bench import site_browser as browse

    say("moves while live")
    times = browse.views(bench, 12 if runs > 3 else 4)
    slowest = max(times, key=lambda name: p95(times[name]))
    others = (f"{name} {p95(found):.1f}" for name, found in times.items() if name != slowest)
    rows = [finished("view-p95", [p95(times[slowest])], note=f"{slowest}; others: {', '.join(others)}")]
    runs_of = [browse.moves(bench, 40 if runs > 3 else 12) for _ in range(max(1, runs // 2))]
    trip = browse.round_trips(bench, 60)
    replacing = [one for found in runs_of for one in found["replace"]]
    parts = [median(trip), median(replacing), median(times["draft_verify"])]
    told = f"over {sum(parts):.1f} ms: round trip {parts[0]:.1f}, replacement {parts[1]:.1f}, view {parts[2]:.1f}"
    tails = [p95(found["ms"]) for found in runs_of]
    slowed = browse.moves(bench, 12, slowdown=4)
    return [
        *rows,
        finished("input-ratio", [tail / sum(parts) for tail in tails], note=told),
        finished("input-p95", tails, note="goal 16 ms, limit 33 ms"),
        finished("layout-shift", [found["shift"] for found in runs_of]),
        finished("long-task", [found["task"] for found in runs_of]),
        scale("long-task-slow-cpu", "longest task, processor slowed 4×", "ms", [slowed["task"]]),
    ]


def _bytes(bench: Bench, runs: int) -> list[dict[str, Any]]:
    from bench import site_browser as browse

    say("bytes")
    more = browse.read_bytes(bench, browse.LESSON) - browse.read_bytes(bench, "lessons/bare/")
    files = browse.live_bytes(bench)
    told = ", ".join(f"{name} {size / MB:.2f}" for name, size in sorted(files.items(), key=lambda f: -f[1])[:4])
    return [
        finished("read-bytes", [more / MB], note="answers baked for the figures in it included"),
        finished("live-bytes", [sum(files.values()) / MB], note=told),
    ]


def scale(ident: str, what: str, unit: str, values: Sequence[float]) -> dict[str, Any]:
    """A row without a goal, there for scale."""
    made = row(ident, what, unit, values, warmup=0)
    return made | {"note": made.get("note") or "few repeats; for scale"}


def builds(many: int, few: int, repeats: int) -> list[dict[str, Any]]:
    """The rows about building: the first build, then one line edited and built again, ours and plain in turn."""
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as name:
        folder = Path(name)
        say(f"builds of {few} and {many} pages")
        firsts, sizes, bare = {}, {}, {}
        for pages in (few, many):
            cache = folder / f"cache-{pages}"  # its own: each has all to draw
            site_pages.write(folder / str(pages), pages)
            firsts[pages] = _build(folder / str(pages), "mkdocs.yml", cache)
            sizes[pages] = _page_bytes(folder / str(pages))
            _build(folder / str(pages), "plain.yml", cache)
            bare[pages] = _page_bytes(folder / str(pages))
        edited = folder / str(many) / "docs" / "page-000.md"
        ours, plain = [], []
        for turn in range(repeats):
            text = edited.read_text(encoding="utf-8")
            edited.write_text(f"{text}\nOne more line, number {turn}.\n", encoding="utf-8")
            ours.append(_build(folder / str(many), "mkdocs.yml", cache))
            plain.append(_build(folder / str(many), "plain.yml", cache))
    base = median(plain)
    told = f"{median(ours):.1f} s over {base:.1f} s; first build {firsts[many]:.1f} s; \
{many} pages, {many * site_pages.PER_PAGE} widgets"
    time_growth = (firsts[many] / many) / (firsts[few] / few)
    byte_growth = sizes[many] / sizes[few]
    growths = (time_growth, byte_growth, bare[many] / bare[few])
    exponents = [math.log(growth) / math.log(many / few) for growth in growths]
    return [
        finished("rebuild-ratio", [one / base for one in ours], note=told, warmup=1),
        finished(
            "growth",
            [time_growth],
            note=f"first build {firsts[few]:.1f} s and {firsts[many]:.1f} s; time a page \
grows with the pages to the power {exponents[0]:.2f}",
        ),
        finished(
            "growth-bytes",
            [byte_growth],
            note=f"to the power {exponents[1]:.2f}; with MkDocs alone \
{exponents[2]:.2f}",
        ),
    ]


def _page_bytes(folder: Path) -> float:
    """Mean bytes of a page's HTML in the site just built there."""
    sizes = [path.stat().st_size for path in (folder / "site").glob("page-*/index.html")]
    return sum(sizes) / len(sizes)


def _build(folder: Path, config: str, cache: Path) -> float:
    """Seconds of one build in a process of its own; drawings are kept in `cache`."""
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "-q", "-f", str(folder / config), "-d", str(folder / "site")],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT), "DRAWINGS": str(cache)},
        check=True,
    )
    return time.perf_counter() - began


def table(rows: Sequence[dict[str, Any]]) -> str:
    """The rows as lines of text."""
    lines = []
    for entry in rows:
        spread = f"{entry['min']:.4g} – {entry['max']:.4g}" if "min" in entry else ""
        goal = f"≤ {entry['goal']:g}: {'met' if entry['met'] else 'MISSED'}" if "goal" in entry else ""
        lines.append(f"{entry['id']:<28}{entry['value']:>9.4g} {entry['unit']:<9}{goal:<16}{entry['n']:>3} {spread}")
        if entry.get("note"):
            lines.append(f"    {entry['note']}")
    return "\n".join(lines)


def _hardware() -> str:
    """The processor as data files name it."""
    try:
        return device(_processor()).name
    except ValueError:
        return device(f"CPU {platform.machine()} core").name


def say(what: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {what} …", file=sys.stderr, flush=True)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.site_speed", description=__doc__)
    parser.add_argument("--runs", type=int, default=6, help="repeats (default 6); 1: does it run?")
    parser.add_argument("--pages", type=int, default=100, help="pages of the large built site (default 100)")
    parser.add_argument("--write", action="store_true", help=f"store {FILE.name}, and show it on the page Measurements")
    parser.add_argument("--site", type=Path, help="a site that is built already")
    options = parser.parse_args(arguments)
    if options.runs < 1 or not 10 <= options.pages <= 100:
        parser.error("--runs is at least 1, --pages 10 to 100")
    if options.write and options.pages != 100:
        parser.error("--write goes with 100 pages: the rows say so")
    began = time.perf_counter()
    (ROOT / "build").mkdir(exist_ok=True)
    built = options.site or ROOT / "build" / "bench-site"
    if options.site is None:
        say("the site")
        env = {**os.environ, "SITE_DIR": str(built), "EXECUTE_NOTEBOOKS": "0"}
        subprocess.run([sys.executable, "-m", "widgets", "build"], cwd=ROOT, env=env, check=True, stdout=sys.stderr)
    rows, lacking = in_browsers(built.resolve(), options.runs)
    rows += builds(options.pages, options.pages // 10, max(1, options.runs // 2))
    print(table(rows))
    print(f"{lacking}\n{(time.perf_counter() - began) / 60:.1f} minutes".lstrip())
    if options.write:
        provenance = {
            "hardware": _hardware(),
            "shared": True,
            "software": {"python": platform.python_version()},
            "command": "make bench-site",
            "date": datetime.date.today().isoformat(),
        }
        note = f"Medians. A goal is an upper limit. {lacking}".strip()
        whole = store.empty("site", "How fast the site is", provenance, note)
        store.save(FILE, whole | {"rows": rows})
        site_page.land(rows)
        print(f"wrote {FILE.relative_to(ROOT)} and {site_page.PAGE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
