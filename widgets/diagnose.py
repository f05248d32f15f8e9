"""Your own deployment: a log, a counter dump or a benchmark's result, read in the page and put in the lesson's terms.

`sim.LogReader` reads, `sim.diagnose` and `sim.best_cut` say what the run speaks for. A long file is read in small
steps, so that it can be stopped; what was read is kept beside the file, so that a slider does not read it again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sim import (
    Diagnosis,
    Log,
    LogReader,
    Measured,
    Problem,
    Signs,
    best_cut,
    contradictions,
    diagnose,
    explained_cost,
    predicted_speedup,
    verify_line,
)
from widgets._kit.chart import Axis, Curve, Level, Mark, Now, Points, linear, plot
from widgets._kit.log_samples import SAMPLES
from widgets._kit.params import Choice, File, Slider, Text
from widgets._kit.plain import plain
from widgets._kit.text import count, number, percent, times
from widgets._kit.upload import Upload
from widgets._kit.view import Link, Progress, Row, Table, Verdict, View

TITLE = "What your log says"

PARAMS = {
    "sample": Choice("A sample", {key: name for key, (name, _) in SAMPLES.items()}, "vllm"),
    "c": Slider("Draft cost", 0, 0.5, 0.01, 0.1, help="One draft step, in plain passes."),
    "verify": Slider("Verifying pass", 1, 4, 0.05, 1.1, help="In plain passes, at the draft length of the run."),
    "reported": Slider("Reported", 0, 6, 0.05, 0, unit="×", help="The speed-up you measured; 0: not known."),
    "log": Text(
        "Or paste your own",
        "",
        200_000,
        4,
        placeholder="Lines of a vLLM, SGLang or llama.cpp log, /metrics text, or a benchmark’s JSON",
    ),
    "file": File("Or a file, up to 100 MB", help="Read in this page. It is sent nowhere and kept nowhere."),
}
NEEDS: tuple[str, ...] = ()
DATA: tuple[str, ...] = ()
SOURCE = (
    "Read by the shapes that vLLM, SGLang and llama.cpp print. Computed: tokens a round over what the round costs. The"
    " samples are made up in these shapes; the look-up follows a trace of https://arxiv.org/abs/2601.11580."
)


@dataclass(frozen=True)
class _Text:
    """What was read: the log, what else stood in it, and what it is called."""

    log: Log
    signs: Signs
    name: str
    own: bool


def steps(
    *, data: Mapping[str, Any], sample: str, c: float, verify: float, reported: float, log: str, file: Upload | None
) -> Iterator[Progress | View]:
    """A file wins over pasted text, and that over the sample."""
    if file is not None:
        if "read" not in file.memory:
            yield from _read_file(file)
        found: _Text = file.memory["read"]
    elif log.strip():
        found = _read(log, "the pasted text", own=True)
    else:
        found = _read(SAMPLES[sample][1], f"a sample: {SAMPLES[sample][0]}", own=False)
    yield _view(found, c, verify, reported)


def _read_file(file: Upload) -> Iterator[Progress]:
    reader, signs = LogReader(), Signs()
    name = plain(file.name, 60)
    for share, lines in file.lines():
        reader.feed(lines)
        signs.feed(lines)
        yield Progress(min(1.0, share), f"Reading {name}:")
    file.memory["read"] = _Text(reader.finish(), signs, name, own=True)


def _read(text: str, name: str, *, own: bool) -> _Text:
    reader, signs, lines = LogReader(), Signs(), text.split("\n")
    reader.feed(lines)
    signs.feed(lines)
    return _Text(reader.finish(), signs, name, own)


def _chosen(log: Log) -> tuple[Measured | None, bool]:
    """The run to look at: the total, else the last run that has a length. And whether it is the total."""
    if log.total is not None:
        return log.total, True
    with_length = [run for run in log.runs if run.length is not None]
    return (with_length[-1], False) if with_length else (None, False)


def _view(text: _Text, c: float, verify: float, reported: float) -> View:
    run, whole = _chosen(text.log)
    found = diagnose(run) if run is not None else None
    speeds = _speeds(found, c, verify)
    warnings = _warnings(text, run, whole, found)
    verdict = _verdict(found, speeds, warnings, c, verify, reported)
    rest = [said for said in warnings if said != verdict.text]
    return View(
        summary=_summary(text, run, found, rest),
        readout=_readout(run, found, speeds, c, verify, reported),
        svg=_positions(found) + _lengths(found, speeds, c, verify, reported),
        table=_table(text, run, found, speeds, c, verify, reported),
        verdict=verdict,
        title=_title(found, speeds),
        note=f"Read: {text.name}.",
        links=_links(found),
    )


def _speeds(found: Diagnosis | None, c: float, verify: float) -> tuple[float, ...]:
    """Speed-up of every draft length up to the run's, by its own positions, else by one accept rate."""
    if found is None or not found.gamma:
        return ()
    return best_cut(found.survival or found.fit, c, verify_line(verify, found.gamma))[2]


def _best(speeds: tuple[float, ...]) -> int | None:
    best = 0 if speeds else None
    for length, speed in enumerate(speeds):
        if best is not None and speed > speeds[best] * (1 + 1e-9):
            best = length
    return best


def _warnings(text: _Text, run: Measured | None, whole: bool, found: Diagnosis | None) -> list[str]:
    """What the reader must know before believing the numbers, the weightiest first."""
    said = []
    if text.signs.random_prompts:
        said.append("The prompts were random tokens: acceptance on noise says nothing about your traffic.")
    if text.signs.ignore_eos:
        said.append(
            "Ends were ignored (ignore_eos): texts forced beyond their end repeat, and repetition is easy to draft."
        )
    if run is not None:
        if run.rule == "independent":
            said.append(
                "This is vLLM’s first engine: its rate also counts drafts behind a failure, so no accept rate follows."
            )
        if run.scope == "lifetime":
            said.append("These counters run since the server started: take one reading before and one after your run.")
        if run.counts_bonus is False:
            said.append("The printed length leaves the extra token out; here it is counted.")
        if run.estimated:
            said.append(f"Worked out from rounded figures: {', '.join(run.estimated)}.")
        if not whole:
            said.append("The runs in this text cannot be added up; the last one is shown.")
    if found is not None and found.misleads and found.off is not None:
        way = "more" if found.off > 0 else "fewer"
        why = "hits come in bursts" if found.off > 0 else "later drafts are worse than the first"
        said.append(
            f"One accept rate misleads here: the run has {percent(abs(found.off))} {way} tokens a round than its first"
            f" position promises, because {why}."
        )
    if found is not None and found.gamma and found.drafted is not None and found.drafted < found.gamma - 0.05:
        said.append(
            f"Rounds drafted {number(found.drafted, '.2f')} tokens on average, not always {number(found.gamma)}."
        )
    notes = [problem for problem in text.log.problems if problem.kind != "cut"]  # a long log is no fault
    said.extend(_told(problem) for problem in notes[:3])
    if len(notes) > 3:
        said.append(f"{number(len(notes) - 3)} further notes stand in the data.")
    return said


def _told(problem: Problem) -> str:
    message = plain(problem.message)
    if problem.line:
        return f"Line {number(problem.line)}: {message}."
    return f"{message[0].upper()}{message[1:]}."


_LABELS = (
    ("rounds", "rounds read"),
    ("tau", "tokens a round"),
    ("rate", "accepted over drafted"),
    ("alpha", "one accept rate with this mean"),
    ("first", "kept the first draft"),
    ("predicted", "speed-up, predicted"),
    ("reported", "speed-up, reported"),
    ("best", "best length up to the run’s"),
)


def _readout(
    run: Measured | None, found: Diagnosis | None, speeds: tuple[float, ...], c: float, verify: float, reported: float
) -> tuple[Row, ...]:
    values: dict[str, tuple[float | int | None, str]] = {}
    if run is not None:
        values["rounds"] = (run.rounds, "–" if run.rounds is None else number(run.rounds, ",.0f"))
        values["rate"] = (run.rate, "–" if run.rate is None else percent(run.rate, 1))
    if found is not None:
        predicted = predicted_speedup(found, c, verify)
        values["tau"] = (found.tau, number(found.tau, ".2f"))
        values["alpha"] = (found.alpha, "–" if found.alpha is None else number(found.alpha, ".2f"))
        values["first"] = (found.first, "–" if found.first is None else percent(found.first, 1))
        values["predicted"] = (predicted, times(predicted, 2))
        best = _best(speeds)
        values["best"] = (best, "–" if best is None else "none" if best == 0 else number(best))
    if reported > 0:
        values["reported"] = (reported, times(reported, 2))
    return tuple(
        Row(key, label, values.get(key, (None, ""))[0], "", values.get(key, (None, "–"))[1]) for key, label in _LABELS
    )


def _positions(found: Diagnosis | None) -> str:
    """Acceptance by position as the log has it, against the one accept rate with the same mean."""
    gamma = found.gamma if found is not None and found.gamma else 4
    marks: list[Mark] = []
    words = "not known"
    if found is not None and found.fit and found.alpha is not None:
        line = tuple((float(place), share) for place, share in enumerate(found.fit, 1))
        marks.append(Curve(line, "target", f"one rate of {number(found.alpha, '.2f')}", 0, "corner", dashed=True))
    if found is not None and found.survival:
        points = tuple((float(place), share) for place, share in enumerate(found.survival, 1))
        marks.append(Points(points, "measured", "accepted", "in the log", joined=True, side="above"))
        words = ", ".join(number(share, ".2f") for share in found.survival)
    ticks = tuple(float(place) for place in range(1, gamma + 1, 1 if gamma <= 16 else 8))
    return plot(
        f"Share of rounds that keep each draft: {words}",
        Axis(0.5, gamma + 0.5, ticks, "draft, from the first"),
        linear(1.0, "share of rounds that keep it", ticks=4),
        marks,
        height=250,
    )


def _lengths(found: Diagnosis | None, speeds: tuple[float, ...], c: float, verify: float, reported: float) -> str:
    """The speed-up of every draft length up to the run's; what was reported as a measured point at the run's length."""
    last = max(len(speeds) - 1, 4 if found is None else (found.gamma or 4))
    top = max(1.5, reported, *speeds)
    marks: list[Mark] = [Level(1.0, "1×")]
    best = _best(speeds)
    words = "not known"
    if best is not None:
        curve = tuple((float(length), speed) for length, speed in enumerate(speeds))
        marks.append(Curve(curve, "target", dots=True))
        marks.append(Now(float(best), speeds[best], f"{times(speeds[best], 2)} at {number(best)}", side="above"))
        words = ", ".join(f"{number(length)}: {times(speed, 2)}" for length, speed in enumerate(speeds))
    if reported > 0:
        marks.append(
            Points(((float(last), reported),), "measured", "ink", f"reported {times(reported, 2)}", side="left")
        )
    ticks = tuple(float(place) for place in range(0, last + 1, 1 if last <= 16 else 8))
    return plot(
        f"Speed-up by draft length, by these acceptances, at a draft cost of {number(c)} and a verifying pass of"
        f" {number(verify)}: {words}",
        Axis(-0.3, last + 0.3, ticks, "draft length"),
        linear(top, "speed-up by these acceptances", ticks=4, show=lambda x: number(x) + "×"),
        marks,
        height=250,
    )


def _title(found: Diagnosis | None, speeds: tuple[float, ...]) -> str:
    if found is None:
        return "Nothing in this text gives a length"
    best = _best(speeds)
    tokens = f"{number(found.tau, '.2f')} tokens a round"
    if best is None:
        return f"{tokens}, and no word on how many were drafted"
    if best == 0:
        return f"{tokens}: no draft length pays at this cost"
    if best == found.gamma:
        return f"{tokens}: the best length is at least the run’s own, {number(best)}"
    return f"{tokens}: {count(best, 'draft', 'drafts')} would do better than {number(found.gamma or 0)}"


_TOOLS = {
    "": "No tool was recognised",
    "mixed": "Lines of several tools",
    "vllm": "Read as vLLM",
    "sglang": "Read as SGLang",
}


def _summary(text: _Text, run: Measured | None, found: Diagnosis | None, warnings: list[str]) -> str:
    tool = _TOOLS.get(text.log.tool or "", f"Read as {text.log.tool}")
    shown = count(len(text.log.runs), "record", "records")
    if found is None:
        said = f"{tool}: {shown}, and none of them gives tokens per round."
    else:
        rounds = (
            "an unknown number of rounds" if run is None or run.rounds is None else count(run.rounds, "round", "rounds")
        )
        drafts = f" of {number(found.drafted, '.2f')} drafts" if found.drafted is not None else ""
        said = f"{tool}: {shown}, {rounds}{drafts}, {number(found.tau, '.2f')} tokens each."
    return " ".join([said, *warnings])


def _verdict(
    found: Diagnosis | None, speeds: tuple[float, ...], warnings: list[str], c: float, verify: float, reported: float
) -> Verdict:
    """The weightiest thing: a warning, else what was reported against what was predicted, else the best length."""
    if warnings and not (reported > 0 and found is not None):
        return Verdict("care", warnings[0])
    if found is None:
        return Verdict("info", "Choose a sample, paste a few lines of a log, or drop a file.")
    if reported > 0:
        return _compare(found, c, verify, reported)
    best = _best(speeds)
    if best is None:
        return Verdict("info", "The text does not say how many tokens were drafted, so no draft length can be judged.")
    if best == 0:
        return Verdict(
            "loss", f"At a draft cost of {number(c)} none of these lengths pays. Do not use it at this cost."
        )
    if best == found.gamma:
        return Verdict(
            "gain", f"Up to the run’s {number(best)} drafts each further one still pays. Try a longer one and measure."
        )
    gain = speeds[best] / speeds[-1] - 1.0
    return Verdict(
        "info", f"Cutting the drafts to {number(best)} gains {percent(gain, 1)} by these acceptances and this cost."
    )


def _compare(found: Diagnosis, c: float, verify: float, reported: float) -> Verdict:
    predicted = predicted_speedup(found, c, verify)
    wrong = contradictions(tau=found.tau, speedup=reported)
    if wrong:
        return Verdict("care", f"Check the baseline: {wrong[0]}.")
    off = predicted / reported - 1.0
    both = f"predicted {times(predicted, 2)}, reported {times(reported, 2)}"
    if abs(off) <= 0.05:
        return Verdict("gain", f"The two agree within 5%: {both}.")
    cost = explained_cost(found, reported, verify)
    if cost is None:
        return Verdict("care", f"No draft cost explains it: {both}. The verifying pass must be cheaper than set here.")
    more = "dearer" if off > 0 else "cheaper"
    return Verdict(
        "care", f"Rounds are {more} than set here: {both}. A draft cost of {number(cost, '.2f')} would explain it."
    )


def _table(
    text: _Text,
    run: Measured | None,
    found: Diagnosis | None,
    speeds: tuple[float, ...],
    c: float,
    verify: float,
    reported: float,
) -> Table:
    rows = [(row.label, row.text, "") for row in _readout(run, found, speeds, c, verify, reported)]
    if found is not None:
        fit = (*found.fit, *(0.0 for _ in found.survival or ()))
        rows.extend(
            (f"draft {number(place)} kept", percent(share, 1), f"with one rate: {percent(fit[place - 1], 1)}")
            for place, share in enumerate(found.survival or (), 1)
        )
    rows.extend((f"speed-up at {count(k, 'draft', 'drafts')}", times(speed, 2), "") for k, speed in enumerate(speeds))
    rows.extend(
        (f"record at line {number(one.line)}", _length(one), plain(one.engine or "", 30)) for one in text.log.runs[:20]
    )
    rows.extend(
        (f"note on line {number(problem.line)}", problem.kind, plain(problem.message))
        for problem in text.log.problems[:40]
    )
    return Table(f"What was read from {text.name}", ("what", "value", "more"), tuple(rows))


def _length(one: Measured) -> str:
    return "no length" if one.length is None else f"{number(one.length, '.2f')} tokens a round"


def _links(found: Diagnosis | None) -> tuple[Link, ...]:
    """To `verdict` with this accept rate and length, rounded to what its sliders have. Nothing else of the log."""
    if found is None or found.alpha is None or not found.gamma:
        return ()
    values = (("alpha", number(found.alpha, ".2f")), ("gamma", number(min(8, found.gamma))))
    return (Link("Does it pay? Take this accept rate and length along", "labs/verdict/", "verdict", values),)
