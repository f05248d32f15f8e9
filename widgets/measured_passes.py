"""Measured passes: how long a pass took on a real device, against positions, batch and context.

Points are medians of this site's own benchmark. The line is the model of `sim.cost`, fitted to some of the positions
only (the table says which); how far it is off is told on the others, which the fit has not seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sim import HARDWARE
from sim.fitting import PassFit, Sample, fit_pass_time, samples, typical_error
from widgets._kit.chart import Curve, Mark, Note, Points, Wall, logarithmic, plot
from widgets._kit.landed import LANDED, file_name, legend
from widgets._kit.params import Choice
from widgets._kit.text import brief, number, percent, ratio, times
from widgets._kit.view import Row, Table, Verdict, View

TITLE = "Measured passes, and the model beside them"

_MODELS = {"8b": "Llama 3.1 8B", "70b": "Llama 3.1 70B"}
_FORMATS = {"wide": "as wide as the arithmetic", "fp8": "8 bits (fp8)"}
PARAMS = {
    "device": Choice("Device", {key: run.title for key, run in LANDED.items()}, "cpu"),
    "model": Choice("Model", {key: f"{title}, true width" for key, title in _MODELS.items()}, "8b"),
    "weights": Choice("Weight format", _FORMATS, "wide", help="32 bits on the CPU, 16 on a GPU; or 8 bits."),
    "batch": Choice("Batch", {"1": "1", "4": "4", "16": "16", "64": "64"}, "1"),
    "context": Choice("Context", {"0": "empty", "2048": "2,048", "8192": "8,192", "32768": "32,768"}, "0"),
}
NEEDS: tuple[str, ...] = ()
DATA: tuple[str, ...] = ("measured/pass-cost-cpu",)
SOURCE = (
    "Measured with the benchmark of this site (bench, suite pass-cost): random weights, medians of repeated passes."
    " How each run was made stands on the page Measurements."
)

FITTED = (1, 16, 256)
"""Positions that the model is fitted to; the error is told on all others."""


def view(*, data: Mapping[str, Any], device: str, model: str, weights: str, batch: str, context: str) -> View:
    """One state of the figure."""
    run = LANDED[device]
    file = data[file_name("pass-cost", device)]
    every = samples(file, model=_MODELS[model], weights=run.wide if weights == "wide" else weights)
    shown = sorted(
        (item for item in every if item.batch == int(batch) and item.context == int(context)),
        key=lambda item: item.positions,
    )
    if len(shown) < 2:
        return _nothing(run.gpu, every)
    fit = _fit(every)
    row = file.rows[shown[0].id]
    return _drawn(shown, every, fit, row, LANDED[device].title)


def _nothing(gpu: bool, every: Sequence[Sample]) -> View:
    pairs = list(dict.fromkeys((item.batch, item.context) for item in every))
    known = "; ".join(f"batch {number(batch)} with context {number(context, ',d')}" for batch, context in pairs)
    why = f"Measured for this model and format: {known}." if known else "This model was not run in this format here."
    if not gpu and not known:
        why = "A CPU multiplies in 32 bits here; 8-bit passes are measured on GPUs only, and no GPU run has landed."
    return View(
        summary=f"Nothing was measured for this choice. {why}",
        verdict=Verdict("info", why),
        title="Not measured",
        note=legend(),
    )


def _fit(every: Sequence[Sample]) -> PassFit | None:
    """The fit to the passes at FITTED, over every batch and context; None when they leave it open."""
    try:
        return fit_pass_time([item for item in every if item.positions in FITTED])
    except ValueError:
        return None


def _drawn(shown: Sequence[Sample], every: Sequence[Sample], fit: PassFit | None, row: Any, device: str) -> View:
    one, last = shown[0], shown[-1]
    unseen = [item for item in every if item.positions not in FITTED]
    here = [item for item in shown if item.positions not in FITTED]
    off = typical_error(fit, here) if fit and here else None
    overall = typical_error(fit, unseen) if fit and unseen else None
    ridge = fit.ridge(one) / one.batch if fit else None
    reached = (one.weight_bytes + one.kv_bytes) / one.ms / 1e6
    eight = next((item for item in shown if item.positions == 8), last)
    layers = "unknown" if row.layers_run is None else number(row.layers_run)
    of = "unknown" if row.layers is None else number(row.layers)
    said = "" if off is None else f" At positions it was not fitted to, the model is off by {percent(off)} here."
    return View(
        summary=(
            f"A pass over one position took {ratio(one.ms)} ms, over {number(eight.positions)}"
            f" {ratio(eight.ms)} ms, over {number(last.positions)} {ratio(last.ms)} ms"
            f" ({device}; {layers} of {of} layers; batch {number(one.batch)}, context {number(one.context, ',d')})."
            f"{said}"
        ),
        readout=(
            Row("one", "for one position", one.ms, "ms", ratio(one.ms)),
            Row("some", f"for {number(eight.positions)} positions", eight.ms, "ms", ratio(eight.ms)),
            Row("reading", "read in the one-position pass", reached, "GB/s", brief(reached)),
            Row("ridge", "positions at the ridge, fitted", ridge, "", "–" if ridge is None else brief(ridge)),
            Row("off", "off here, at positions not fitted", off, "", "–" if off is None else percent(off)),
            Row("overall", "off over the whole run, not fitted", overall, "", _share(overall)),
        ),
        svg=_picture(shown, fit, ridge),
        table=_table(shown, fit),
        verdict=_verdict(one, eight, ridge),
        title=f"{number(eight.positions)} positions took {times(eight.ms / one.ms, 2)} what one took",
        note=(f"The model is off by {percent(off)} here. " if off is not None else "") + legend(),
    )


def _share(value: float | None) -> str:
    return "–" if value is None else percent(value)


def _picture(shown: Sequence[Sample], fit: PassFit | None, ridge: float | None) -> str:
    lo, hi = shown[0].positions, shown[-1].positions
    x = logarithmic(
        lo,
        max(hi, 2),
        "positions in each sequence, log axis",
        ticks=[tick for tick in (1, 8, 64, 512) if lo <= tick <= hi],
    )
    line = [(item.positions, fit.ms(item)) for item in _between(shown, fit)] if fit else []
    values = [item.ms for item in shown] + [value for _, value in line]
    low, high = 0.6 * min(values), 1.15 * max(values)
    y = logarithmic(low, high, "milliseconds a pass, log axis", ticks=_ticks(low, high), show=brief)
    marks: list[Mark] = []
    if line:
        marks.append(Curve(tuple(line), "target"))
        used = ", ".join(number(item.positions) for item in shown if item.positions in FITTED)
        words = f"model, fitted to {used}" if used else "model"
        marks.append(Note(hi, low * 1.12, words, "target", "above"))
    if ridge is not None and lo < ridge < hi:
        marks.insert(0, Wall(ridge, f"ridge at {brief(ridge)}"))
    places = tuple((item.positions, item.ms) for item in shown)
    marks.append(Points(places, "measured", "ink", "measured", at=0, side="above"))
    label = (
        f"Measured time of a pass at {number(len(shown))} numbers of positions, from {ratio(shown[0].ms)} to"
        f" {ratio(shown[-1].ms)} ms, with the fitted model as a line"
    )
    return plot(label, x, y, marks, height=300, left=52)


def _ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 times the powers of ten between the ends; every second one where there are many."""
    every = [m * 10.0**power for power in range(-3, 6) for m in (1.0, 2.0, 5.0)]
    inside = [tick for tick in every if low <= tick <= high]
    return inside if len(inside) < 6 else [tick for tick in inside if number(tick).strip("0.").startswith("1")]


def _between(shown: Sequence[Sample], fit: PassFit) -> list[Sample]:
    """Passes to draw the line through: those measured, and the ridge itself, where it bends."""
    one = shown[0]
    found = list(shown)
    bend = int(fit.ridge(one) / one.batch + 0.5)
    if shown[0].positions < bend < shown[-1].positions and all(item.positions != bend for item in shown):
        scale = bend / one.positions
        found.append(Sample(bend, one.batch, one.context, 1.0, one.weight_bytes, one.kv_bytes, one.operations * scale))
    return sorted(found, key=lambda item: item.positions)


def _table(shown: Sequence[Sample], fit: PassFit | None) -> Table:
    rows = tuple(
        (
            number(item.positions),
            ratio(item.ms),
            f"{ratio(item.low_ms)} to {ratio(item.high_ms)}",
            "–" if fit is None else ratio(fit.ms(item)),
            "–" if fit is None else _signed(fit.error(item)),
            "yes" if item.positions in FITTED else "no",
        )
        for item in shown
    )
    head = ("positions", "measured, ms", "quartiles, ms", "model, ms", "model is off by", "fitted to it")
    one = shown[0]
    return Table(f"Passes at batch {number(one.batch)} and context {number(one.context, ',d')}", head, rows)


def _signed(share: float) -> str:
    return ("+" if share >= 0 else "−") + percent(abs(share))


def _verdict(one: Sample, eight: Sample, ridge: float | None) -> Verdict:
    more = eight.ms / one.ms
    count = number(eight.positions)
    sheet = HARDWARE["h100-sxm"]
    listed = sheet.peak["bf16"] / sheet.bandwidth
    if ridge is None:
        return Verdict("info", f"{count} positions took {times(more, 2)} the time of one.")
    if more < 1.25:
        text = f"Memory-bound up to about {brief(ridge)} positions: checking {count} costs little more than one."
        return Verdict("gain", text)
    text = (
        f"This device is bound by arithmetic early, from about {brief(ridge)} positions on (a listed H100: about"
        f" {brief(listed)}), so checking {count} positions costs {times(more, 2)} one. Here drafts must be few,"
        " or cheap and nearly always right."
    )
    return Verdict("care", text)
