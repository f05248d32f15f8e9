"""A device fitted to measured passes, so that `sim.cost` can be held against passes it has not seen.

Why it exists: fit and prediction must be apart. `fit_pass_time` takes some measured passes and finds the bandwidth,
the arithmetic rate and the fixed time with which `pass_time` comes nearest to them; `PassFit.ms` asks the very same
`pass_time` for any other pass, and the caller states the error there. It must not know files, charts or acceptance.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from types import MappingProxyType

from sim.cost import pass_time
from sim.data import Measurement, Measurements
from sim.presets import Hardware, Model

__all__ = ["PassFit", "Sample", "fit_pass_time", "samples", "typical_error"]

_FORMS = ("max", "sum")


@dataclass(frozen=True)
class Sample:
    """One measured pass: its settings, what it reads (bytes) and computes (operations), and its median time."""

    positions: int
    batch: int
    context: int
    ms: float
    weight_bytes: float
    kv_bytes: float
    operations: float
    id: str = ""
    low_ms: float = 0.0
    high_ms: float = 0.0

    @property
    def scored(self) -> int:
        """Positions over the whole batch."""
        return self.positions * self.batch


@dataclass(frozen=True)
class PassFit:
    """What the fit found. `hardware` is a device for `pass_time`; `ms` is its answer for a pass like the samples."""

    hardware: Hardware
    form: str
    fitted: int

    def ms(self, sample: Sample) -> float:
        """Predicted time of this pass, from `sim.cost.pass_time` on the fitted device; `sample.ms` is not looked at."""
        values = sample.kv_bytes / (sample.batch * sample.context) / 2.0 if sample.context else 0.0
        shape = Model(
            "the layers that ran",
            sample.weight_bytes / 2.0,
            sample.operations / 2.0 / sample.scored,
            *(1, 1, int(values / 2.0 + 0.5)),
            source="bytes and operations counted by the run",
        )
        found = pass_time(shape, self.hardware, sample.positions, sample.batch, sample.context, form=self.form)
        return found.total_ms

    def error(self, sample: Sample) -> float:
        """How far the prediction is off, as a share of the measured time; above 0 when it says too long."""
        return self.ms(sample) / sample.ms - 1.0

    def ridge(self, sample: Sample) -> float:
        """Positions over the whole batch at which arithmetic takes as long as reading, for passes like this one."""
        reading = (sample.weight_bytes + sample.kv_bytes) / self.hardware.bandwidth
        return reading * self.hardware.peak["bf16"] / (sample.operations / sample.scored)


def samples(
    data: Measurements | Iterable[Measurement], *, model: str, weights: str | None = None, quantity: str = "pass time"
) -> tuple[Sample, ...]:
    """The measured passes of one model (and weight format) in a data file, in file order.

    Rows that do not say their positions, batch, context, bytes or operations are left out: nothing is filled in.
    """
    rows = data.rows.values() if isinstance(data, Measurements) else data
    found: list[Sample] = []
    for row in rows:
        if row.quantity != quantity or row.unit != "ms" or row.model != model:
            continue
        if weights is not None and row.weights != weights:
            continue
        if row.positions is None or row.batch is None or row.context is None:
            continue
        if row.weight_bytes is None or row.operations is None or row.kv_bytes is None:
            continue
        sizes = (row.weight_bytes, row.kv_bytes, row.operations)
        ends = (row.q1 if row.q1 is not None else row.value, row.q3 if row.q3 is not None else row.value)
        found.append(Sample(row.positions, row.batch, row.context, row.value, *sizes, row.id, *ends))
    return tuple(found)


def fit_pass_time(measured: Sequence[Sample], form: str | None = None) -> PassFit:
    """The device with which `pass_time` comes nearest to `measured`, by the sum of squared relative errors.

    `form` "max" (roofline) or "sum"; None takes the nearer one, and "max" when they are equally near. Found are
    1/bandwidth, 1/rate and the fixed time, each at least 0 (least squares; for "max" with every way of splitting the
    passes at an intensity into memory-bound and compute-bound). ValueError for fewer than two samples, or passes that
    leave bandwidth or rate open.
    """
    if len(measured) < 2:
        raise ValueError(f"measured has {len(measured)} passes; two or more are needed for a fit")
    if form is not None and form not in _FORMS:
        raise ValueError(f"form is {form!r}, not one of {', '.join(_FORMS)}")
    best: tuple[float, str, tuple[float, float, float]] | None = None
    for shape in (form,) if form else _FORMS:
        for rates in _candidates(measured, shape):
            if rates[0] <= 0 or rates[1] <= 0:
                continue
            error = fsum((_time(item, rates, shape) / item.ms - 1.0) ** 2 for item in measured)
            if best is None or error < best[0] * (1.0 - 1e-9):
                best = (error, shape, rates)
    if best is None:
        raise ValueError("these passes leave bandwidth or arithmetic rate open; add passes with few and many positions")
    _, shape, (per_byte, per_operation, fixed) = best
    peak: Mapping[str, float] = MappingProxyType({"bf16": 1e3 / per_operation})
    device = Hardware("fitted", 1e15, 1e3 / per_byte, peak, "fitted to measured passes", overhead_ms=fixed)
    return PassFit(device, shape, len(measured))


def typical_error(fit: PassFit, held_out: Sequence[Sample]) -> float:
    """Median of the absolute relative errors over passes that the fit has not seen. ValueError without any."""
    if not held_out:
        raise ValueError("held_out is empty; the error is stated on passes that were not fitted")
    errors = sorted(abs(fit.error(item)) for item in held_out)
    middle = len(errors) // 2
    return errors[middle] if len(errors) % 2 else (errors[middle - 1] + errors[middle]) / 2.0


def _bytes(item: Sample) -> float:
    return item.weight_bytes + item.kv_bytes


def _intensity(item: Sample) -> float:
    return item.operations / _bytes(item)


def _time(item: Sample, rates: tuple[float, float, float], form: str) -> float:
    reading, computing = rates[0] * _bytes(item), rates[1] * item.operations
    return (max(reading, computing) if form == "max" else reading + computing) + rates[2]


def _candidates(measured: Sequence[Sample], form: str) -> Iterable[tuple[float, float, float]]:
    """Solutions (ms a byte, ms an operation, fixed ms) to be compared, with and without a fixed time."""
    if form == "sum":
        rows = [(_bytes(item), item.operations, 1.0, item.ms) for item in measured]
        yield from _solved(rows)
        return
    ordered = sorted(measured, key=lambda item: (_intensity(item), item.id))
    for cut in range(1, len(ordered)):
        if _intensity(ordered[cut]) <= _intensity(ordered[cut - 1]) * (1.0 + 1e-9):
            continue  # equal passes are bound by the same thing
        rows = [(_bytes(item), 0.0, 1.0, item.ms) for item in ordered[:cut]]
        rows += [(0.0, item.operations, 1.0, item.ms) for item in ordered[cut:]]
        yield from _solved(rows)


def _solved(rows: Sequence[tuple[float, float, float, float]]) -> Iterable[tuple[float, float, float]]:
    """Least squares of relative errors over bytes, operations and a constant; again without the constant."""
    scaled = [(a / t, b / t, c / t) for a, b, c, t in rows]

    def dot(i: int, j: int) -> float:
        return fsum(row[i] * row[j] for row in scaled)

    right = [fsum(row[i] for row in scaled) for i in range(3)]
    matrix = [[dot(i, j) for j in range(3)] for i in range(3)]
    for count in (3, 2):
        found = _gauss([line[:count] for line in matrix[:count]], right[:count])
        if found is not None and all(value >= 0.0 for value in found):
            yield (found[0], found[1], found[2] if count == 3 else 0.0)


def _gauss(matrix: list[list[float]], right: list[float]) -> list[float] | None:
    """Solution of a small symmetric system, scaled to a unit diagonal; None when it is (nearly) singular."""
    size = len(right)
    scale = [matrix[i][i] ** 0.5 for i in range(size)]
    if min(scale) <= 0.0:
        return None
    rows = [[matrix[i][j] / scale[i] / scale[j] for j in range(size)] + [right[i] / scale[i]] for i in range(size)]
    for i in range(size):
        if abs(rows[i][i]) < 1e-12:
            return None
        for k in range(i + 1, size):
            factor = rows[k][i] / rows[i][i]
            rows[k] = [a - factor * b for a, b in zip(rows[k], rows[i], strict=True)]
    found = [0.0] * size
    for i in reversed(range(size)):
        rest = fsum(rows[i][j] * found[j] for j in range(i + 1, size))
        found[i] = (rows[i][size] - rest) / rows[i][i]
    return [found[i] / scale[i] for i in range(size)]
