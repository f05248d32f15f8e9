"""How fast the site is for a reader and for an author: `python -m bench.site_speed [--quick] [--write]`.

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
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from bench import site_pages, store
from bench.rows import row
from bench.sim_speed import _processor
from sim.devices import device

__all__ = ["FILE", "GOALS", "finished", "main", "p95", "table"]

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "docs" / "data" / "measured" / "site.json"
MB = 1e6
NEVER = "Firefox and WebKit are driven by `make engines`, which does not time them: boot-ratio-firefox and \
boot-ratio-webkit were not measured."
#: id → what it is, unit, goal (an upper limit), why it is missed where it is
GOALS: dict[str, tuple[str, str, float, str]] = {
    "boot-ratio": ("Python ready, warm cache, over plain Pyodide", "×", 0.20, "a quarter is unpacking the \
memory and compiling the interpreter, which run side by side; ours also counts the import of every widget"),
    "boot-ratio-numpy": ("NumPy imported, warm cache, over plain Pyodide", "×", 0.50, "NumPy itself is loaded plainly, \
and needs Python's library, whose file is fetched only now; its kernel is compiled and linked as well"),
    "first-answer-baked": ("first answer, cold, 1.6 Mbit/s 150 ms, figure in view for 2 s", "ms", 100, ""),
    "first-answer-touch": ("first answer, cold, 1.6 Mbit/s 150 ms, touched at once", "ms", 250, "the answers share \
the line with what the page itself is still loading"),
    "view-p95": ("view of a formula widget in Pyodide with its HTML, p95 of the slowest widget", "ms", 8, "the widget \
in the note sweeps many settings for one picture"),
    "input-ratio": ("input to picture, live, p95, over round trip + replacement + view", "×", 2.0, ""),
    "input-p95": ("input to picture, live, p95", "ms", 33, ""),
    "read-bytes": ("a lesson read to its end, beyond the same page without figures", "MB", 0.040, "scripts \
15 kB, style 5 kB, the figure 6 kB, its answers 12 kB"),
    "live-bytes": ("until a formula widget is live", "MB", 7.0, "the interpreter is 3.5 MB, its memory as it starts \
4.7 MB: half of that is Pyodide's own start-up (asyncio and what that imports)"),
    "layout-shift": ("layout shift (CLS) while loading and moving sliders", "fraction", 0.0, ""),
    "long-task": ("longest task on the main thread from the first touch on", "ms", 50, ""),
    "rebuild-ratio": ("rebuild after a one-line edit, 100 pages with 300 widgets, over MkDocs alone", "×", 1.3, ""),
    "growth": ("build time a page at 100 pages over that at 10", "×", 1.1, ""),
    "growth-bytes": ("bytes a page at 100 pages over those at 10", "×", 1.1, ""),
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


def in_browser(built: Path, runs: int) -> list[dict[str, Any]]:
    """The rows that need Chromium."""
    from playwright.sync_api import sync_playwright

    from bench import site_browser as browse
    from tests.tools import chromium

    path = chromium.find()
    if path is None:
        raise RuntimeError(chromium.MESSAGE)
    rows = []
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=path, args=list(chromium.ARGUMENTS)) as running,
        tempfile.TemporaryDirectory(dir=ROOT / "build") as folder,
        browse.prepared(built, Path(folder) / "site", running) as bench,
    ):
        say("starts of Python")
        plain, ours = [], []
        for _ in range(max(1, runs // 2)):  # turn by turn, so that a busy moment hits both
            plain += browse.boots(bench, "plain", 2)
            ours += browse.boots(bench, "ours", 2)
        for ident, when in (("boot-ratio", "ready"), ("boot-ratio-numpy", "numpy")):
            base = median(one[when] for one in plain)
            mine = [one[when] for one in ours]
            told = f"{median(mine):.0f} ms over {base:.0f} ms"
            rows.append(finished(ident, [value / base for value in mine], note=told, warmup=2))
        say("first answers")
        for ident, settled in (("first-answer-baked", True), ("first-answer-touch", False)):
            found = [browse.first_answer(bench, "1.6 Mbit/s 150 ms", settled) for _ in range(runs)]
            told = f"states afterwards: {', '.join(sorted({one['state'] for one in found}))}"
            said = sorted({words for one in found for words in one["said"]})
            rows.append(finished(ident, [one["ms"] for one in found], note=f"{told}; it said: {' / '.join(said)}"))
            for line, slowdown in (("10 Mbit/s 40 ms", 1.0), ("none", 4.0)):
                other = [browse.first_answer(bench, line, settled, slowdown)["ms"] for _ in range(max(1, runs // 2))]
                what = f"{GOALS[ident][0].split(',')[0]}, {'in view for 2 s' if settled else 'touched at once'}"
                where = f"line {line}, processor slowed {slowdown:g}×"
                short = f"{ident}-{'fast' if slowdown == 1 else 'slow-cpu'}"
                rows.append(scale(short, f"{what}; {where}", "ms", other))
        say("moves while live")
        times = browse.views(bench, 12 if runs > 3 else 4)
        slowest = max(times, key=lambda name: p95(times[name]))
        others = (f"{name} {p95(found):.1f}" for name, found in times.items() if name != slowest)
        told = f"{slowest}; others: {', '.join(others)}"
        rows.append(finished("view-p95", [p95(times[slowest])], note=told))
        runs_of = [browse.moves(bench, 40 if runs > 3 else 12) for _ in range(max(1, runs // 2))]
        trip = browse.round_trips(bench, 60)
        replacing = [one for found in runs_of for one in found["replace"]]
        floor = median(trip) + median(replacing) + median(times["draft_verify"])
        tails = [p95(found["ms"]) for found in runs_of]
        rows.append(finished("input-ratio", [tail / floor for tail in tails], note=f"over {floor:.1f} ms"))
        rows.append(finished("input-p95", tails, note="goal 16 ms, limit 33 ms"))
        rows.append(finished("layout-shift", [found["shift"] for found in runs_of]))
        rows.append(finished("long-task", [found["task"] for found in runs_of]))
        slowed = browse.moves(bench, 12, slowdown=4)
        rows.append(scale("long-task-slow-cpu", "longest task, processor slowed 4×", "ms", [slowed["task"]]))
        say("bytes")
        more = browse.read_bytes(bench, browse.LESSON) - browse.read_bytes(bench, "lessons/bare/")
        rows.append(finished("read-bytes", [more / MB], note="answers baked for the figures in it included"))
        files = browse.live_bytes(bench)
        told = ", ".join(f"{name} {size / MB:.2f}" for name, size in sorted(files.items(), key=lambda f: -f[1])[:4])
        rows.append(finished("live-bytes", [sum(files.values()) / MB], note=told))
    return rows


def scale(ident: str, what: str, unit: str, values: Sequence[float]) -> dict[str, Any]:
    """A row without a goal, there for scale."""
    made = row(ident, what, unit, values, warmup=0)
    return made | {"note": made.get("note") or "few repeats; for scale"}


def builds(many: int, few: int, repeats: int) -> list[dict[str, Any]]:
    """The rows about building: the first build, then one line edited and built again, ours and plain in turn."""
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as name:
        folder = Path(name)
        say(f"builds of {few} and {many} pages")
        firsts, sizes = {}, {}
        for pages in (few, many):
            site_pages.write(folder / str(pages), pages)
            firsts[pages] = _build(folder / str(pages), "mkdocs.yml", folder / "cache")
            html = [path.stat().st_size for path in (folder / str(pages) / "site").glob("page-*/index.html")]
            sizes[pages] = sum(html) / len(html)
        edited = folder / str(many) / "docs" / "page-000.md"
        ours, plain = [], []
        _build(folder / str(many), "plain.yml", folder / "cache")
        for turn in range(repeats):
            text = edited.read_text(encoding="utf-8")
            edited.write_text(f"{text}\nOne more line, number {turn}.\n", encoding="utf-8")
            ours.append(_build(folder / str(many), "mkdocs.yml", folder / "cache"))
            plain.append(_build(folder / str(many), "plain.yml", folder / "cache"))
    base = median(plain)
    told = f"{median(ours):.1f} s over {base:.1f} s; first build {firsts[many]:.1f} s; \
{many} pages, {many * site_pages.PER_PAGE} widgets"
    time_growth = (firsts[many] / many) / (firsts[few] / few)
    byte_growth = sizes[many] / sizes[few]
    exponents = [math.log(growth) / math.log(many / few) for growth in (time_growth, byte_growth)]
    return [
        finished("rebuild-ratio", [one / base for one in ours], note=told, warmup=1),
        finished("growth", [time_growth], note=f"first build {firsts[few]:.1f} s and {firsts[many]:.1f} s; time a page \
grows with the pages to the power {exponents[0]:.2f}"),
        finished("growth-bytes", [byte_growth], note=f"to the power {exponents[1]:.2f}: Material writes the whole \
navigation into every page"),
    ]


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
    parser.add_argument("--quick", action="store_true", help="few repeats and small sites: does it run?")
    parser.add_argument("--write", action="store_true", help=f"store {FILE.name}")
    parser.add_argument("--site", type=Path, help="a site that is built already")
    options = parser.parse_args(arguments)
    (ROOT / "build").mkdir(exist_ok=True)
    built = options.site or ROOT / "build" / "bench-site"
    if options.site is None:
        say("the site")
        env = {**os.environ, "SITE_DIR": str(built), "EXECUTE_NOTEBOOKS": "0"}
        subprocess.run([sys.executable, "-m", "widgets", "build"], cwd=ROOT, env=env, check=True, stdout=sys.stderr)
    rows = in_browser(built.resolve(), 2 if options.quick else 6)
    rows += builds(20, 4, 1) if options.quick else builds(100, 10, 3)
    print(table(rows))
    if options.write:
        provenance = {
            "hardware": _hardware(),
            "shared": True,
            "software": {"python": platform.python_version()},
            "command": "make bench-site",
            "date": datetime.date.today().isoformat(),
        }
        whole = store.empty("site", "How fast the site is", provenance, f"Medians. A goal is an upper limit. {NEVER}")
        store.save(FILE, whole | {"rows": rows})
        print(f"wrote {FILE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
