"""`python -m bench check FILE…`: is this data file right, and does it look plausible?

Why it exists: a wrong unit or a cold first run looks like any other number on a chart. Three levels: an error is
wrong; a question looks wrong and is answered by a `note` in the row; a remark is only said. Exit code 1 while an error
or a question is open, so CI can run this on every data file.

It must not know: how the numbers were made, and how they are drawn.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from bench.rows import WIDE
from sim import data, expected_tokens, metrics
from sim.devices import DEVICES, device

__all__ = ["Finding", "check", "main"]


class Finding(NamedTuple):
    """level: error, question or remark. `where` is the row's id or the name of a key."""

    level: str
    where: str
    message: str


_UNIT_WORDS = (
    "ms s µs tokens tokens/s requests/s rounds/s fraction % × GB MB GB/s MB/s TB/s TFLOP/s TOP/s W MHz °C experts "
    "nats characters files weights contexts"
)
UNITS = tuple(_UNIT_WORDS.split())
_TIMES = ("ms", "s", "µs")
_WIDE = 0.25
"""Largest distance of min and max in shares of the value, where no quartiles are given; of the quartiles: WIDE."""
_OLDER = "A100 A10 A30 A40 V100 T4 3090 3080 3070 3060 MI250 MI210 MI100 M1 M2"
_NO_FP8 = tuple(_OLDER.split())
_FP4 = ("B200", "B300", "GB200", "GB300", "MI350X", "MI355X", "5090", "5080", "5070", "PRO 6000")


def check(text: str, name: str) -> list[Finding]:
    """All findings about the text of one data file, errors of reading first (then nothing else is looked at)."""
    try:
        whole = data.parse(text, name)
    except data.DataError as error:
        return [Finding("error", "", str(error))]
    found = [Finding("remark", "", note) for note in whole.notes]
    if isinstance(whole, data.Published):
        for row in whole.rows.values():
            found += _published(row)
    elif isinstance(whole, data.Measurements):
        found += _named(whole, name)
        for one in whole.rows.values():
            answered = one.note is not None
            for rule in RULES:
                for finding in rule(one):
                    if finding.level != "question" or not answered:
                        found.append(finding)
    else:
        for trace in whole.rows.values():
            found += _trace(trace)
    return found


def _published(row: data.PublishedRow) -> Iterator[Finding]:
    """What a printed row says must hang together, or be marked: no_formula, slip, caution, baseline."""
    tree = "tree" in row.method.lower() or row.lossless is False
    for told in metrics.contradictions(
        gamma=None if tree else row.gamma,
        rate=None if tree else row.accepted_per_drafted,
        tau=row.tokens_per_pass,
        speedup=None if row.no_formula or row.baseline else row.speedup,
    ):
        yield Finding("error", row.id, f"{told}; mark the row with no_formula and the reason, or correct it")
    if row.alpha is not None and row.gamma is not None and row.speedup is not None and row.no_formula is None:
        most = expected_tokens(row.alpha, row.gamma)
        if row.speedup > most + 0.05:
            told = (
                f"speed-up {row.speedup:g} is above {most:.3f}, all that alpha {row.alpha:g} and gamma {row.gamma} give"
            )
            yield Finding("error", row.id, f"{told}; mark the row with no_formula and the reason")
    if row.ms_per_token and row.baseline_ms_per_token and row.speedup and row.slip is None:
        quotient = metrics.speedup_from_times(row.baseline_ms_per_token, row.ms_per_token)
        if abs(quotient - row.speedup) > 0.0051:
            yield Finding(
                "error", row.id, f"speed-up {row.speedup:g}, but the times give {quotient:.3f}; record the slip"
            )
    if row.verification == "memory":
        yield Finding("error", row.id, "a value from memory is not data")


def _named(whole: data.Measurements, name: str) -> Iterator[Finding]:
    """The content decides; a file name that says something else is refused."""
    stem = Path(name).stem.casefold()
    if whole.suite is None:
        yield Finding("error", "suite", "the suite is missing")
    elif whole.suite.casefold() not in stem:
        yield Finding(
            "error", "suite", f"the file is named {Path(name).name!r}, its suite is {whole.suite!r}; rename it"
        )
    words = stem.replace("_", "-").split("-")
    said = {DEVICES[word] for word in words if word in DEVICES}
    names: dict[str, None] = {}
    for row in whole.rows.values():
        try:
            names[device(row.hardware or "").name] = None
        except ValueError:
            continue  # _hardware says so for the row
    for told in sorted(said):
        if names and not any(real.startswith(told) for real in names):
            yield Finding("error", "hardware", f"the file name says {told}, its rows say {', '.join(sorted(names))}")


def _hardware(row: data.Measurement) -> Iterator[Finding]:
    if row.hardware is None:
        yield Finding("error", row.id, "hardware is missing; it is never filled in")
        return
    try:
        real = device(row.hardware)
    except ValueError as error:
        yield Finding("error", row.id, str(error))
        return
    if real.name != row.hardware and not real.name.startswith("CPU "):
        hint = f" and devices {real.count}" if real.count else ""
        yield Finding("error", row.id, f"hardware {row.hardware!r} is written {real.name!r}{hint}")
    word = real.name.split(" ", 1)[-1]
    if row.arithmetic and "fp8" in row.arithmetic.lower() and (word.startswith(_NO_FP8) or real.name.startswith("CPU")):
        yield Finding("error", row.id, f"{real.name} has no fp8 arithmetic; were only the weights in fp8?")
    if row.arithmetic and "fp4" in row.arithmetic.lower() and not any(part in real.name for part in _FP4):
        yield Finding("error", row.id, f"{real.name} has no fp4 arithmetic; were only the weights in fp4?")


def _spread(row: data.Measurement) -> Iterator[Finding]:
    points = [point for point in (row.min, row.q1, row.q3, row.max) if point is not None]
    if row.n > 1 and (row.min is None or row.max is None):
        yield Finding("error", row.id, f"{row.n} repeats without min and max; the spread belongs to the value")
        return
    if points != sorted(points) or (points and not points[0] <= row.value <= points[-1]):
        yield Finding("error", row.id, f"min, q1, q3, max and value {row.value:g} are out of order")
        return
    if row.n == 1:
        yield Finding("question", row.id, "one single value: is there really no repeat? Say so in a note")
    elif row.value and row.min is not None and row.max is not None:
        quartiles = row.q1 is not None and row.q3 is not None and row.n >= 4
        wide = (row.q3 - row.q1 if quartiles else row.max - row.min) / abs(row.value)  # type: ignore[operator]
        if row.min < row.value / 2 and row.unit not in _TIMES:
            yield Finding("question", row.id, f"{row.min:g} is less than half of {row.value:g}: a run without warm-up?")
        elif wide > (WIDE if quartiles else _WIDE):
            yield Finding("question", row.id, f"the spread is {wide:.0%} of the value; say why in a note")
    if row.warmup is None:
        yield Finding("error", row.id, "the number of warm-up runs is missing (0 is an answer)")


def _units(row: data.Measurement) -> Iterator[Finding]:
    if row.unit not in UNITS:
        hint = "; sizes are in GB = 1e9 bytes" if row.unit in ("MiB", "GiB", "KiB") else ""
        yield Finding("error", row.id, f"unit {row.unit!r} is not one of {', '.join(UNITS)}{hint}")
        return
    if row.value < 0 and row.unit != "°C":
        yield Finding("error", row.id, f"{row.value:g} {row.unit} is below 0")
    if row.unit == "fraction" and row.value > 1:
        yield Finding("question", row.id, f"{row.value:g} as a fraction is above 1: is it a percentage?")
    if row.unit == "%" and 0 < row.value < 1.5:
        yield Finding(
            "question", row.id, f"{row.value:g} %: is it a fraction, {row.value:.0%}? If it is not, say so in a note"
        )
    words = row.quantity.lower()
    if row.unit == "%" and row.value > 100 and any(word in words for word in ("rate", "acceptance", "share")):
        yield Finding("error", row.id, f"{row.value:g} % of {row.quantity!r} is above 100 %")
    latency = any(
        word in words for word in ("ttft", "tpot", "itl", "latency", "pass time", "time to first", "per token")
    )
    if latency and row.unit == "s" and row.value > 10:
        yield Finding("question", row.id, f"{row.value:g} s for {row.quantity!r}: are these milliseconds?")
    if latency and row.unit == "ms" and 0 < row.value < 0.5 and "ttft" in words:
        yield Finding("question", row.id, f"{row.value:g} ms for {row.quantity!r}: are these seconds?")


def _acceptance(row: data.Measurement) -> Iterator[Finding]:
    """Rate against length, counts, speed-up; and whether the text that was generated means anything."""
    stated = [value for value in (row.rate, row.tokens_per_pass, row.accepted, row.per_position) if value is not None]
    if not stated:
        return
    prefix = row.acceptance_rule != "independent"  # vLLM V0 also counts what agrees after a rejection
    for told in metrics.contradictions(
        gamma=row.gamma,
        rate=row.rate if prefix else None,
        tau=row.tokens_per_pass,
        speedup=row.speedup,
        survival=row.per_position,
    ):
        yield Finding("error", row.id, told)
    if row.accepted is not None and row.drafted is not None:
        if row.accepted > row.drafted:
            yield Finding("error", row.id, f"{row.accepted} tokens accepted of {row.drafted} drafted")
        elif row.drafted and row.rate is not None and abs(row.rate - row.accepted / row.drafted) > 5e-4:
            yield Finding("error", row.id, f"rate {row.rate:g}, but {row.accepted} of {row.drafted} were accepted")
    if row.synthetic is not None:
        return
    for key, value in (("dataset", row.dataset), ("ignore_eos", row.ignore_eos)):
        if value is None:
            yield Finding("question", row.id, f"{key} is unknown: acceptance depends on the text; say why in a note")
    if row.draft_sampling is None:
        yield Finding("question", row.id, "draft_sampling is unknown: greedy and sampled drafts are different methods")
    if row.dataset is not None and "random" in row.dataset.lower():
        yield Finding("remark", row.id, "random tokens: this acceptance is not representative")
    elif row.ignore_eos:
        yield Finding("remark", row.id, "generated on after the end token: this acceptance is not representative")


def _speed(row: data.Measurement) -> Iterator[Finding]:
    """Throughput against latency: at a concurrency, at most that many tokens a time per token."""
    if row.tokens_per_second is not None and row.ms_per_token:
        streams = row.concurrency or row.batch
        if streams is not None and row.tokens_per_second > 1.05 * streams * 1000 / row.ms_per_token:
            most = streams * 1000 / row.ms_per_token
            told = f"{row.tokens_per_second:g} tokens/s from {streams} streams at {row.ms_per_token:g} ms a token"
            yield Finding("error", row.id, f"{told}: at most {most:.4g} are possible")


def _model(row: data.Measurement) -> Iterator[Finding]:
    if row.layers_run is not None and row.layers is not None and row.layers_run > row.layers:
        yield Finding("error", row.id, f"{row.layers_run} layers were run of a model with {row.layers}")
    if row.layers_run is not None and row.layers is None:
        yield Finding("error", row.id, "layers_run without layers: the share of the model is unknown")
    missing = [key for key in ("command", "date", "software") if getattr(row, key) is None]
    if missing:
        yield Finding("error", row.id, f"provenance lacks {', '.join(missing)}")


RULES: tuple[Callable[[data.Measurement], Iterator[Finding]], ...] = (
    _hardware, _spread, _units, _acceptance, _speed, _model,
)  # fmt: skip


def _trace(row: data.Trace) -> Iterator[Finding]:
    if len(row.drafted) != len(row.accepted):
        yield Finding("error", row.id, f"{len(row.drafted)} rounds drafted, {len(row.accepted)} rounds accepted")
        return
    for place, (drafted, accepted) in enumerate(zip(row.drafted, row.accepted, strict=True)):
        if accepted > drafted:
            yield Finding("error", row.id, f"round {place}: {accepted} accepted of {drafted} drafted")
            return
    if row.steps is None:
        return
    counts = [(len(step["draft"]), step["accepted"]) for step in row.steps]
    if counts != list(zip(row.drafted, row.accepted, strict=True)):
        yield Finding("error", row.id, "the counts of the steps are not those of drafted and accepted")
    for place, step in enumerate(row.steps):
        kept = [coin * q < p for coin, p, q in zip(step["coins"], step["p"], step["q"], strict=True)][:-1]
        if [*kept, False].index(False) != step["accepted"]:
            yield Finding("error", row.id, f"round {place}: the coins keep other drafts than it says")
            return


def main(arguments: list[str]) -> int:
    """Check every file; a finding a line, then one line of counts. 1 while something is open, 2 for no file."""
    if not arguments:
        print("python -m bench check FILE…", file=sys.stderr)
        return 2
    levels = {"error": 0, "question": 0, "remark": 0}
    rows = 0
    for name in arguments:
        try:
            text = Path(name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            findings = [Finding("error", "", f"{name}: {error}")]
            text = ""
        else:
            findings = check(text, name)
        if Path(name).name == "schema.json":
            findings = []  # the schema describes data; it is none
        for level, where, message in findings:
            levels[level] += 1
            print(f"{level}: {message}" if message.startswith(name) else f"{level}: {name}: {where}: {message}")
        if not any(level == "error" and not where for level, where, _ in findings) and Path(name).name != "schema.json":
            rows += len(data.parse(text, name).rows)
    print(f"{len(arguments)} files, {rows} rows: {levels['error']} errors, {levels['question']} open questions, "
          f"{levels['remark']} remarks")  # fmt: skip
    return 1 if levels["error"] or levels["question"] else 0
