"""How fast `sim` is: a million rounds in NumPy, the closed forms behind the sliders, and `parse_log`.

Why it exists: a slider must answer at once and a lab must draw a million rounds while the reader watches.
`python -m bench.sim_speed [--log MB] [--write]` prints the figures beside their goals; --write stores them as
docs/data/measured/sim-speed.json. Exits 1 when a goal is missed.

It must not know: how the figures are shown.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import sim
from bench import log_speed
from bench.rows import row
from sim.montecarlo import accepted_counts

__all__ = ["closed_forms", "million_rounds", "report"]

FILE = Path(__file__).parents[1] / "docs" / "data" / "measured" / "sim-speed.json"
ROUNDS = 1_000_000
CALLS: dict[str, Callable[[], object]] = {  # what a slider asks for, at the values the lessons open on
    "expected_tokens": lambda: sim.expected_tokens(0.8, 4),
    "passes_for": lambda: sim.passes_for(100, 0.8, 4),
    "speedup": lambda: sim.speedup(0.8, 4, 0.17),
    "optimal_gamma": lambda: sim.optimal_gamma(0.8, 0.17),
    "operations_factor": lambda: sim.operations_factor(0.8, 4, 0.17),
    "engine_acceptance_rate": lambda: sim.engine_acceptance_rate(0.8, 4),
    "share_discarded": lambda: sim.share_discarded(0.8, 4),
    "alpha_from_tokens": lambda: sim.alpha_from_tokens(3.3616, 4),
    "break_even_alpha": lambda: sim.break_even_alpha(4, 0.17),
    "cost_from_speedup": lambda: sim.cost_from_speedup(2.0, 0.8, 4),
    "tokens_from_survival": lambda: sim.tokens_from_survival((0.8, 0.64, 0.512, 0.4096)),
    "burst_tokens": lambda: sim.burst_tokens(sim.Burst(0.1, 0.1, 0.9, 0.1), 4),
    "pass_time": lambda: sim.pass_time("70b", "h100-sxm", 8),
    "ridge_positions": lambda: sim.ridge_positions("h100-sxm"),
    "experts_touched": lambda: sim.experts_touched(256, 8, 5),
}


def seconds(call: Callable[[], object]) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def million_rounds(repeats: int = 9) -> list[dict[str, Any]]:
    """Rounds in NumPy beside the uniforms they need, turn by turn, and the pure-Python loop for scale."""
    survival = sim.survival_from_rates([0.8] * 4)

    def uniforms() -> object:
        return np.random.Generator(np.random.PCG64(1)).random(ROUNDS)

    def rounds() -> object:
        return accepted_counts(survival, ROUNDS, 1)

    uniforms(), rounds()
    pairs = [(seconds(uniforms), seconds(rounds)) for _ in range(repeats)]
    loop = [seconds(lambda: sim.draw_rounds(0.8, 4, ROUNDS // 10, 1)) for _ in range(3)]
    what = f"{ROUNDS:,} rounds of 4 drafts"
    ratios = [drawn / plain for plain, drawn in pairs]
    return [
        row("uniforms-ms", f"drawing {ROUNDS:,} uniforms, NumPy", "ms", [1e3 * p for p, _ in pairs], warmup=1),
        row("rounds-ms", f"{what}, NumPy", "ms", [1e3 * drawn for _, drawn in pairs], warmup=1),
        row("rounds-ratio", f"{what} over the uniforms", "×", ratios, warmup=1, goal=3.0),
        row("rounds-python-ms", f"{what}, pure Python (a tenth, times ten)", "ms", [1e4 * s for s in loop], warmup=0),
    ]


def closed_forms(repeats: int = 7, calls: int = 1000) -> list[dict[str, Any]]:
    """Microseconds of every closed form a slider uses."""
    rows = []
    for name, call in CALLS.items():
        batches = [seconds(lambda call=call: [call() for _ in range(calls)]) for _ in range(repeats + 1)]  # type: ignore[misc]
        times = [1e6 * batch / calls for batch in batches[1:]]
        rows.append(row(f"call-{name}", f"one call of {name}", "µs", times, warmup=calls, goal=50.0))
    return rows


def report(megabytes: float) -> dict[str, Any]:
    """The whole file: every row that has a goal says it."""
    logs = log_speed.measure(megabytes) if megabytes else []
    rows = million_rounds() + closed_forms() + logs
    for entry in logs:
        if entry["id"] == "parse-log-server-ratio":
            entry["goal"] = log_speed.LIMIT
    return {
        "version": 1,
        "kind": "measured",
        "suite": "sim-speed",
        "title": "How fast the model itself runs",
        "note": "Medians. A goal is an upper limit; rows without one are there for scale.",
        "provenance": {
            "hardware": f"{platform.machine()} CPU, {_processor()}",
            "shared": True,
            "software": {"python": platform.python_version(), "numpy": np.__version__},
            "command": "python -m bench.sim_speed --write",
            "date": datetime.date.today().isoformat(),
        },
        "rows": rows,
    }


def met(entry: dict[str, Any]) -> bool:
    """Whether a row's median is within its goal; a row without one is."""
    return bool(entry["value"] <= entry.get("goal", entry["value"]))


def _processor() -> str:
    """The processor's own name where Linux tells it."""
    info = Path("/proc/cpuinfo")
    names = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    return next((line.split(":", 1)[1].strip() for line in names if line.startswith("model name")), platform.system())


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.sim_speed", description=__doc__)
    parser.add_argument("--log", type=float, default=100.0, metavar="MB", help="size of the log; 0 leaves it out")
    parser.add_argument("--write", action="store_true", help=f"store {FILE.name}")
    options = parser.parse_args(arguments)
    found = report(options.log)
    for entry in found["rows"]:
        goal = f"goal {entry['goal']:g}: {'met' if met(entry) else 'MISSED'}" if "goal" in entry else ""
        print(f"{entry['value']:12.3f} {entry['unit']:<3} {entry['quantity']:<60} {goal}")
    if options.write:
        FILE.parent.mkdir(parents=True, exist_ok=True)
        FILE.write_text(json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")
    return int(any(not met(entry) for entry in found["rows"]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
