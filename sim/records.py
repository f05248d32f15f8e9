"""What a row and a file of docs/data hold: frozen dataclasses, the units of their fields, the smallest sensible values.

Why it exists: the reader (sim.data), docs/data/schema.json (made by bench.schema) and the checks (bench.check) rest on
this one list of fields. A field that is missing or null is None, which means unknown.

It must not know: JSON, files, how anything is drawn.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

__all__ = [
    "AT_LEAST",
    "FRACTIONS",
    "ID",
    "MARKS",
    "UNITS",
    "VERSION",
    "DataError",
    "Dataset",
    "Measurement",
    "Measurements",
    "Provenance",
    "Published",
    "PublishedRow",
    "Trace",
    "Traces",
]

VERSION = 1
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
MARKS = ("primary", "secondary", "figure", "derived", "memory")

_FROM_0 = (
    "alpha c accepted_per_drafted gamma speedup predicted_speedup speedup_from_times ops_factor ms_per_token "
    "baseline_ms_per_token tokens_per_second qps temperature memory_gb clock_mhz power_cap_w warmup context rounds "
    "drafted tested accepted emitted rate standard_error alpha_error weight_bytes kv_bytes operations verify_ratio"
)
_FROM_1 = "tokens_per_pass batch devices layers layers_run positions experts active n concurrency"
AT_LEAST: Mapping[str, float] = MappingProxyType(dict.fromkeys(_FROM_0.split(), 0) | dict.fromkeys(_FROM_1.split(), 1))
"""Smallest sensible value of a field; smaller is an error, not an oddity."""
FRACTIONS = ("alpha", "accepted_per_drafted", "rate")

_UNITS = {
    "fraction": "alpha alpha_error c accepted_per_drafted rate",
    "tokens": "gamma tokens_per_pass positions context drafted tested accepted emitted",
    "×": "speedup predicted_speedup speedup_from_times ops_factor",
    "ms": "ms_per_token baseline_ms_per_token",
    "tokens/s": "tokens_per_second",
    "requests/s": "qps",
    "GB": "memory_gb",
    "MHz": "clock_mhz",
    "W": "power_cap_w",
    "°C": "temperature_c",
    "bytes": "weight_bytes kv_bytes",
}
UNITS: Mapping[str, str] = MappingProxyType({name: unit for unit, names in _UNITS.items() for name in names.split()})
"""Units of the fields whose unit is fixed. A measured `value` carries its own unit in the row."""


class DataError(ValueError):
    """Data that cannot be used; the message names the file and the key."""


def _nothing() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """One published result, as printed. `verification` says how it was read (primary, secondary, figure, derived).

    `no_formula`: why no formula can give this row; `slip`: what the source's own numbers give instead; `caution`: read
    the note first; `baseline`: what speedup is relative to when that is not plain decoding; `lossless` False: the
    method changes the output. alpha, c and accepted_per_drafted are fractions, *_ms_* milliseconds.
    """

    id: str
    source: str
    year: int
    method: str
    verification: str
    target_model: str | None = None
    draft: str | None = None
    hardware: str | None = None
    batch: int | None = None
    temperature: float | None = None
    task: str | None = None
    gamma: int | None = None
    alpha: float | None = None
    c: float | None = None
    tokens_per_pass: float | None = None
    speedup: float | None = None
    note: str | None = None
    ops_factor: float | None = None
    predicted_speedup: float | None = None
    ms_per_token: float | None = None
    baseline_ms_per_token: float | None = None
    speedup_from_times: float | None = None
    tokens_per_second: float | None = None
    qps: float | None = None
    accepted_per_drafted: float | None = None
    lossless: bool | None = None
    baseline: str | None = None
    no_formula: str | None = None
    slip: str | None = None
    caution: str | None = None
    extra: Mapping[str, Any] = field(default_factory=_nothing)


@dataclass(frozen=True, slots=True)
class Provenance:
    """How a number came about. A file states it once under `provenance`; a row may override any field of it."""

    hardware: str | None = None
    devices: int | None = None
    memory_gb: float | None = None
    driver: str | None = None
    clock_mhz: float | None = None
    power_cap_w: float | None = None
    temperature_c: float | None = None
    shared: bool | None = None
    software: Mapping[str, str] | None = None
    command: str | None = None
    commit: str | None = None
    date: str | None = None
    warmup: int | None = None
    tool: str | None = None
    model: str | None = None
    draft: str | None = None
    method: str | None = None
    weights: str | None = None
    arithmetic: str | None = None
    layers: int | None = None
    layers_run: int | None = None
    batch: int | None = None
    context: int | None = None
    positions: int | None = None
    alpha: float | None = None
    gamma: int | None = None
    c: float | None = None
    temperature: float | None = None
    draft_sampling: str | None = None
    dataset: str | None = None
    ignore_eos: bool | None = None
    counts_bonus: bool | None = None
    acceptance_rule: str | None = None
    experts: int | None = None
    active: int | None = None
    routing: str | None = None
    synthetic: str | None = None
    extrapolated: bool | None = None
    concurrency: int | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement(Provenance):
    """One measured value: `value` in `unit` is the median of `n` repeats, the spread is min, q1, q3, max.

    A row about acceptance is the mean over all its rounds and also carries the counts and the other notations of the
    same run (rate as fraction, tokens_per_pass with the extra token, per_position from 0), so that they can be checked.
    """

    id: str
    quantity: str
    unit: str
    value: float
    n: int
    min: float | None = None
    q1: float | None = None
    q3: float | None = None
    max: float | None = None
    predicted: float | None = None
    goal: float | None = None
    standard_error: float | None = None
    alpha_error: float | None = None
    weight_bytes: float | None = None
    kv_bytes: float | None = None
    operations: float | None = None
    verify_ratio: float | None = None
    rounds: int | None = None
    drafted: int | None = None
    tested: int | None = None
    accepted: int | None = None
    emitted: int | None = None
    rate: float | None = None
    tokens_per_pass: float | None = None
    per_position: tuple[float, ...] | None = None
    speedup: float | None = None
    ms_per_token: float | None = None
    tokens_per_second: float | None = None
    extra: Mapping[str, Any] = field(default_factory=_nothing)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace(Provenance):
    """Rounds of one run: `drafted[i]` tokens proposed and `accepted[i]` kept in round i, without the extra token.

    A run of the tiny pair also has its `prompt` and its `steps`, one a round, as `sim.lm.recorded` makes them: objects
    with draft (texts), accepted, token (text), p, q, coins (numbers, len(draft) + 1 each) and top ([text, p, q or
    null] of the likeliest tokens at every position up to that of `token`). `tokens` are ids, without the prompt's.
    """

    id: str
    drafted: tuple[int, ...]
    accepted: tuple[int, ...]
    seed: int | None = None
    tokens: tuple[int, ...] | None = None
    prompt: str | None = None
    steps: tuple[Mapping[str, Any], ...] | None = None
    extra: Mapping[str, Any] = field(default_factory=_nothing)


@dataclass(frozen=True, slots=True)
class _Set:
    version: int
    title: str | None
    note: str | None
    notes: tuple[str, ...]
    extra: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Published(_Set):
    """The published record: rows by id, in file order. `marks` explains each way of reading."""

    rows: Mapping[str, PublishedRow]
    marks: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Measurements(_Set):
    """One suite of our own measurements: rows by id, in file order, provenance already filled into each row."""

    suite: str | None
    rows: Mapping[str, Measurement]


@dataclass(frozen=True, slots=True)
class Traces(_Set):
    """Acceptance traces: rows by id, in file order."""

    rows: Mapping[str, Trace]


Dataset = Published | Measurements | Traces
