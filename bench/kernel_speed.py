"""How fast the kernel is in the page: the figure `your_machine`, run as a reader runs it, a few times in each engine.

Why it exists: the goals of the kernel are ratios within one engine on one machine, and the very figure that readers use
measures them, so the benchmark presses its switch and reads the file it offers.
`python -m bench kernel-speed [--engines chromium,firefox,webkit] [--write]` needs a built site (`make build`). With
--write it stores docs/data/measured/kernel-speed.json (the goals, every engine) and your-machine.json (the first
engine's passes, which the figure shows at rest). Exits 1 when a goal is missed.

It must not know: how a pass is timed.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import importlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from bench import quiet
from bench.rows import row
from bench.sim_speed import _processor
from sim.data import Measurement, Measurements, parse
from tests.tools.server import serve

__all__ = ["GOALS", "Run", "goals", "main", "passes", "run_once"]

ROOT = Path(__file__).resolve().parents[1]
MEASURED = ROOT / "docs" / "data" / "measured"
FIGURE = "#your_machine"
PATIENCE_S = 180.0
KINDS = (("kernel", 16), ("kernel", 64), ("numpy", 64))
"""Who multiplies, and MB of weights: those of a target of four million parameters, and more than caches hold."""


class Run(NamedTuple):
    """One press of the switch: who multiplied what, in which engine, and the file the figure offered."""

    engine: str
    by: str
    megabytes: int
    found: Measurements

    def passes(self) -> dict[int, Measurement]:
        """Rows by positions."""
        return {item.positions: item for item in self.found.rows.values() if item.positions is not None}

    def over_one(self, positions: int) -> float:
        """A pass of so many positions in passes of one."""
        return self.passes()[positions].value / self.passes()[1].value

    def arithmetic(self, positions: int) -> float:
        """Milliseconds that so many positions take at the pace of sixteen, where fetching the weights hardly counts."""
        return self.passes()[16].value * positions / 16

    def copy_share(self) -> float:
        """GB/s of a one-position pass over those of the copy, which counts what it reads and what it writes."""
        one = self.passes()[1]
        copy = next(item.value for item in self.found.rows.values() if item.unit == "GB/s")
        return (one.weight_bytes or 0.0) / one.value / 1e6 / copy


class Goal(NamedTuple):
    """A bound that the project set itself; `least`: a lower one."""

    what: str
    unit: str
    bound: float
    least: bool = False


GOALS: Mapping[str, Goal] = {
    "four-over-one-16mb": Goal("four-position pass over one-position pass, kernel, 16 MB of weights", "×", 1.5),
    "four-over-one-64mb": Goal("four-position pass over one-position pass, kernel, 64 MB of weights", "×", 1.35),
    "copy-share-64mb": Goal("one-position bandwidth over a plain memory copy, kernel, 64 MB", "×", 0.6, True),
}
_FROM: Mapping[str, tuple[int, Callable[[Run], float]]] = {
    "four-over-one-16mb": (16, lambda run: run.over_one(4)),
    "four-over-one-64mb": (64, lambda run: run.over_one(4)),
    "copy-share-64mb": (64, Run.copy_share),
}
"""The value of each goal: megabytes of weights, and what is read off a run of the kernel over them."""


def run_once(visitor: Any, url: str, engine: str, by: str, megabytes: int) -> Run:
    """Open the lab with the switch on and take the file when it is there. ValueError when another one multiplied."""
    state = f"run=on&{FIGURE[1:]}.size={megabytes}&{FIGURE[1:]}.kernel={'on' if by == 'kernel' else 'off'}"
    visitor.open(f"{url}labs/your-machine/?{FIGURE[1:]}.{state}")
    link = f"document.querySelector({json.dumps(FIGURE + ' a[download]')})"
    text = visitor.wait_for(
        f"{link} && decodeURIComponent({link}.href.slice({link}.href.indexOf(',') + 1))", "the run's file", PATIENCE_S
    )
    found = parse(text, "the figure's file")
    assert isinstance(found, Measurements)
    methods = [item.method for item in found.rows.values()]
    if methods.count(by) != len(methods):
        raise ValueError(f"{engine}: {by} was asked for and {methods[0]} did the work")
    return Run(engine, by, megabytes, found)


def goals(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """The rows with goals, and NumPy's ratio for scale, for every engine of these runs."""
    rows = []
    for engine in dict.fromkeys(run.engine for run in runs):
        mine = {kind: [run for run in runs if (run.engine, run.by, run.megabytes) == (engine, *kind)] for kind in KINDS}
        for ident, goal in GOALS.items():
            megabytes, value = _FROM[ident]
            those = mine["kernel", megabytes]
            found = [value(run) for run in those]
            made = row(f"{ident}-{engine}", f"{goal.what}, {engine}", goal.unit, found, warmup=1)
            met = made["value"] >= goal.bound if goal.least else made["value"] <= goal.bound
            if not met and not goal.least:
                made["note"] = "; ".join(filter(None, [_why(those), made.get("note")]))
            rows.append({**made, "goal": goal.bound, "met": met})
        plain = [run.over_one(4) for run in mine["numpy", 64]]
        what = f"four-position pass over one-position pass, NumPy, 64 MB of weights, {engine}"
        rows.append(row(f"four-over-one-numpy-{engine}", what, "×", plain, warmup=1))
    return rows


def _why(runs: Sequence[Run]) -> str:
    """Why four positions cost more than they should, from the same runs."""
    one, four = (median(run.passes()[count].value for run in runs) for count in (1, 4))
    bare = median(run.arithmetic(4) for run in runs)
    return f"missed: one position takes {one:.2f} ms and four {four:.2f} ms, of which arithmetic alone, at the pace of \
sixteen positions, is {bare:.2f} ms"


def passes(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Every pass and copy over 64 MB in one engine: the median of the runs' medians."""
    rows = []
    for by in ("kernel", "numpy"):
        mine = [run.found.rows for run in runs if run.by == by and run.megabytes == 64]
        for ident, first in mine[0].items():
            every = [found[ident].value for found in mine if ident in found]
            made = row(ident, first.quantity, first.unit, every, warmup=1, method=by)
            for key in ("positions", "weight_bytes", "kv_bytes", "operations"):
                if getattr(first, key) is not None and first.positions is not None:
                    made[key] = getattr(first, key)
            rows.append(made)
    return rows


NOTE = "Medians over runs of the figure your_machine, each of which gives the median of its batches."


def _file(
    suite: str, title: str, rows: list[dict[str, Any]], software: Mapping[str, str], note: str = NOTE, **more: Any
) -> str:
    name = _processor().replace("(R)", "").replace("(TM)", "").replace("  ", " ").strip()
    whole = {
        "version": 1,
        "kind": "measured",
        "suite": suite,
        "title": title,
        "note": note,
        "provenance": {
            "hardware": name if "CPU" in name else f"{name} CPU",
            "shared": True,
            "software": dict(software),
            "command": "python -m bench kernel-speed --write",
            "date": datetime.date.today().isoformat(),
            **more,
        },
        "rows": rows,
    }
    return json.dumps(whole, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


@contextlib.contextmanager
def _started(engine: str) -> Iterator[Callable[[], Any]]:
    from tests.engines.install import missing

    if why := missing(engine):
        raise SystemExit(f"kernel-speed: {engine}: {why}")
    with importlib.import_module(f"tests.engines.{engine}_visitor").engine() as new:
        yield new


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench kernel-speed", description=__doc__)
    parser.add_argument("--site", default="site", help="folder of the built site")
    parser.add_argument("--engines", default="chromium", help="comma-separated: chromium, firefox, webkit")
    parser.add_argument("--repeats", type=int, default=5, help="runs of each kind in each engine")
    parser.add_argument("--wait", type=float, default=60.0, metavar="S", help="seconds to wait for a quiet machine")
    parser.add_argument("--write", action="store_true", help="store both files in docs/data/measured")
    options = parser.parse_args(arguments)
    if not (Path(options.site) / "labs" / "your-machine" / "index.html").is_file():
        print(f"kernel-speed: no built site in {options.site}: run `make build` first", file=sys.stderr)
        return 2
    engines = options.engines.split(",")
    runs: list[Run] = []
    software: dict[str, str] = {}
    with contextlib.ExitStack() as stack:
        host = stack.enter_context(serve(Path(options.site).resolve(), "/sub/"))
        new = {engine: stack.enter_context(_started(engine)) for engine in engines}
        for turn in range(options.repeats):
            for engine in engines:
                for by, megabytes in KINDS:
                    quiet.wait(options.wait)
                    visitor = new[engine]()
                    try:
                        software[engine] = str(visitor.evaluate("navigator.userAgent"))
                        runs.append(run_once(visitor, host.url, engine, by, megabytes))
                    finally:
                        visitor.close()
                    last = runs[-1]
                    told = f"{last.passes()[1].value:7.2f} ms, four {last.over_one(4):.2f}×"
                    print(f"{turn + 1}/{options.repeats} {engine:<9} {by:<7} {megabytes} MB {told}", file=sys.stderr)
    rows = goals(runs)
    for entry in rows:
        goal = f"goal {entry['goal']:g}: {'met' if entry['met'] else 'MISSED'}" if "goal" in entry else ""
        print(f"{entry['value']:8.3f} {entry['unit']} {entry['quantity']:<84} {goal}")
    if options.write:
        MEASURED.mkdir(parents=True, exist_ok=True)
        first = [run for run in runs if run.engine == engines[0]]
        common = dict(next(iter(first[0].found.rows.values())).software or {})
        shape: dict[str, Any] = {"model": "one float32 matrix", "batch": 1, "context": 0}
        shape |= {"weights": "float32", "arithmetic": "float32"}
        speed = _file("kernel-speed", "The kernel's speed in the page", rows, software)
        here = {**common, engines[0]: software[engines[0]]}
        title = "Passes over one matrix, measured in a browser"
        (MEASURED / "kernel-speed.json").write_text(speed, encoding="utf-8")
        (MEASURED / "your-machine.json").write_text(
            _file("your-machine", title, passes(first), here, **shape), encoding="utf-8"
        )
        print("wrote kernel-speed.json and your-machine.json")
    return int(any(not entry["met"] for entry in rows if "goal" in entry))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
