"""Every number of the benchmark's five suites, and how it was made: filter by suite and device, one row a number.

Read it as the index of docs/data/measured. What a row does not say is written as unknown, never filled in.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sim.data import Measurement
from widgets._kit.landed import LANDED, file_name, legend
from widgets._kit.params import Choice, Toggle
from widgets._kit.text import brief, count, number, percent
from widgets._kit.view import Row, Table, Verdict, View

TITLE = "The benchmark’s numbers, and how they were made"

_SUITES = {
    "ceilings": "ceilings: copying, multiplying",
    "pass-cost": "pass cost",
    "draft-cost": "draft cost",
    "moe": "mixtures of experts",
    "speculate": "speculation, acceptance given",
}
PARAMS = {
    "suite": Choice("Suite", _SUITES, "ceilings"),
    "device": Choice("Device", {key: run.title for key, run in LANDED.items()}, "cpu"),
    "wide": Toggle("Only wide spreads", False, help="Rows whose quartiles lie more than 15 % of the median apart."),
}
NEEDS: tuple[str, ...] = ()
DATA: tuple[str, ...] = (
    "measured/ceilings-cpu",
    "measured/pass-cost-cpu",
    "measured/draft-cost-cpu",
    "measured/moe-cpu",
    "measured/speculate-cpu",
)
SOURCE = "Measured with the benchmark of this site; each file is served whole, with its command, versions and commit."

_WIDE = 0.15


def view(*, data: Mapping[str, Any], suite: str, device: str, wide: bool) -> View:
    """One state of the figure."""
    file = data[file_name(suite, device)]
    every = list(file.rows.values())
    shown = [row for row in every if not wide or _spread(row) > _WIDE]
    spreads = sorted(_spread(row) for row in every)
    middle = spreads[len(spreads) // 2] if spreads else 0.0
    many = len([row for row in every if _spread(row) > _WIDE])
    first = every[0]
    head = ("what", "settings", "median", "quartiles", "repeats", "the model says", "note")
    rows = tuple(
        (
            row.quantity,
            _settings(row),
            f"{brief(row.value)} {row.unit}",
            f"{brief(_low(row))} to {brief(_high(row))}",
            number(row.n),
            "" if row.predicted is None else f"{brief(row.predicted)} {row.unit}",
            row.note or "",
        )
        for row in shown
    )
    made = _made(first)
    return View(
        summary=f"{file.title or suite}: {count(len(shown), 'number', 'numbers')} of {number(len(every))}. {made}",
        readout=(
            Row("rows", "numbers shown", len(shown), "", number(len(shown))),
            Row("wide", "of the suite’s numbers spread widely", many, "", number(many)),
            Row("spread", "between the quartiles, in the middle row", middle, "", percent(middle, 1)),
            Row("repeats", "timings a number at least", min(row.n for row in every), "", _fewest(every)),
        ),
        table=Table(f"{_SUITES[suite]} on {LANDED[device].title}", head, rows),
        verdict=Verdict("care" if many else "info", file.note or "The file has no note."),
        title=f"{number(len(shown))} numbers: {_SUITES[suite]}",
        note=legend(),
    )


def _fewest(rows: list[Measurement]) -> str:
    return number(min(row.n for row in rows))


def _low(row: Measurement) -> float:
    return row.value if row.q1 is None else row.q1


def _high(row: Measurement) -> float:
    return row.value if row.q3 is None else row.q3


def _spread(row: Measurement) -> float:
    """Distance of the quartiles as a share of the median."""
    return (_high(row) - _low(row)) / row.value if row.value else 0.0


def _settings(row: Measurement) -> str:
    """What the row says about itself, in a few words."""
    parts = [row.model or "", row.draft or "", row.weights or ""]
    if row.layers_run is not None and row.layers is not None:
        parts.append(f"{number(row.layers_run)} of {number(row.layers)} layers")
    for name, value in (
        ("batch", row.batch),
        ("context", row.context),
        ("positions", row.positions),
        ("alpha", row.alpha),
        ("gamma", row.gamma),
    ):
        if value is not None:
            parts.append(f"{name} {number(value)}")
    if row.routing:
        parts.append(f"{row.routing} routing")
    if row.extrapolated:
        parts.append("extrapolated to all layers")
    return ", ".join(part for part in parts if part) or "–"


def _made(row: Measurement) -> str:
    """How the run was made, from the file's provenance."""
    software = ", ".join(f"{name} {version}" for name, version in (row.software or {}).items())
    shared = {True: "shared with other work", False: "not shared", None: "sharing unknown"}[row.shared]
    memory = "unknown" if row.memory_gb is None else f"{brief(row.memory_gb)} GB"
    return (
        f"{row.hardware or 'Hardware unknown'}, memory {memory}, {shared}; driver {row.driver or 'unknown'};"
        f" {software}; command {row.command or 'unknown'}; commit {row.commit or 'unknown'};"
        f" {row.date or 'date unknown'}; warm-up {'unknown' if row.warmup is None else number(row.warmup)}."
    )
