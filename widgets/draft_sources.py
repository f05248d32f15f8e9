"""Where drafts can come from: what each source loads, what it runs in a round, what was published for it.

Sizes and times are computed by `sim` for one target; acceptance, tokens per pass and speed-ups are published rows and
drawn as such. The verifying pass has the same width in every lane, because it is the same pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sim import MODELS, Model, draft_cost, expected_tokens, pass_time, round_time, verify_cost
from widgets._kit.chart import Axis, Level, Mark, Note, Points, linear, plot
from widgets._kit.lanes import Lane, Segment, lanes
from widgets._kit.params import Choice, Slider
from widgets._kit.text import brief, count, number, times
from widgets._kit.view import Row, Table, Verdict, View

TITLE = "Where the drafts come from"

TARGET, CARD, CARDS = "70b", "h100-sxm", 2
LONGEST = 7


@dataclass(frozen=True)
class Source:
    """One way to draft. `model` is what is loaded (None: nothing); `once`: one run makes all drafts of a round.

    `row` is the published result shown for it; `places` are (position, row) of published acceptance by position
    (`mean`: one rate for all positions).
    """

    name: str
    loads: str
    runs: str
    model: Model | None
    once: bool
    row: str
    places: tuple[tuple[int, str], ...]
    measured: str
    kind: str
    rule: str
    mean: bool = False


_HEADS = 5
# 5 × (8192 × 8192 + 128256 × 8192): a residual block and an output matrix a head, for a 70B of Llama 3.1's shape.
_MEDUSA = Model("Medusa heads for a 70B", 5.59e9, 5.59e9, 0, 0, 0, "arXiv 2401.10774, section 2.1")
_KEPT = "The check is the one of node 2, so the output keeps the target’s distribution."

SOURCES: Mapping[str, Source] = {
    "model": Source(
        "separate model",
        "a whole 8B model, and its cache",
        "one pass of the small model for each draft",
        MODELS["8b"],
        False,
        "specbench-a100-7b-sps-overall",
        ((1, "leviathan-t3-15-t0"),),
        "mean accept rate (8B for 137B)",
        "info",
        f"{_KEPT} It must share the target’s vocabulary or be translated, and it has to be hosted, matched and kept.",
        mean=True,
    ),
    "medusa": Source(
        "Medusa heads",
        "five heads on the target, without a cache",
        "all heads once, side by side, a place each",
        _MEDUSA,
        True,
        "specbench-a100-7b-medusa-overall",
        tuple((head, f"medusa-head{number(head)}-top1-vicuna-7b") for head in range(1, 6)),
        "top-1 accuracy of each head",
        "care",
        "Lossy: typical acceptance, Medusa’s own rule above temperature 0, and Medusa-2, which changes the target’s"
        " weights. With the check of node 2 its drafts keep the distribution.",
    ),
    "eagle": Source(
        "EAGLE-style head",
        "about one layer of the target, and its cache",
        "the head once for each draft",
        MODELS["eagle-70b"],
        False,
        "specbench-a100-7b-eagle-overall",
        ((1, "eagle1-n-alpha-0"), (2, "eagle1-n-alpha-1"), (5, "eagle1-n-alpha-4")),
        "accept rate at each position",
        "info",
        f"{_KEPT} The head is trained for this one target: a day or two on eight cards for EAGLE’s own.",
    ),
    "mtp": Source(
        "multi-token prediction",
        "one module trained with the target, drawn as large as EAGLE’s head",
        "the module once for each draft",
        MODELS["eagle-70b"],
        False,
        "vllm-dsv32-mtp1",
        ((1, "vllm-dsv32-mtp1"), (1, "deepseek-v3-mtp")),
        "published for the first draft only",
        "info",
        f"{_KEPT} Relaxed acceptance, which some engines offer for it, is lossy.",
    ),
    "lookup": Source(
        "n-gram look-up",
        "nothing",
        "a search in the text so far, drawn as free",
        None,
        True,
        "specbench-a100-7b-pld-overall",
        ((1, "sdbench-trace-instructcoder-n-gram-k7"), (1, "sdbench-trace-cnn-n-gram-k7")),
        "first draft: code edits, summaries",
        "info",
        f"{_KEPT} Hits come in long runs: rare on the first draft, likely after one. It depends on your text alone.",
    ),
}

_BACKDROP = {"medusa": "Medusa, top-1", "eagle": "EAGLE"}  # the two with a published curve, for comparison

PARAMS = {
    "source": Choice("Drafts from", {key: item.name for key, item in SOURCES.items()}, "model"),
    "gamma": Slider("Draft length", 1, LONGEST, 1, 4, unit="tokens", one="token"),
}
NEEDS: tuple[str, ...] = ()
DATA = ("published",)
BAKED = ("source", "gamma")
SOURCE = (
    "Sizes and times: computed for a 70B in 16 bits on two H100, weights only, one token after another, without launch"
    " overheads, which weigh more on small drafters. Acceptance and results: published, on other models and machines."
)


@dataclass(frozen=True)
class _Cost:
    """What one source costs at a draft length: GB beside the target, time of a draft run and of the round in passes."""

    beside_gb: float
    run: float
    round: float
    verify: float


def _cost(source: Source, gamma: int) -> _Cost:
    verify = verify_cost(TARGET, CARD, gamma, devices=CARDS)
    if source.model is None:
        return _Cost(0.0, 0.0, round_time(0, 0.0, verify), verify)
    run = draft_cost(source.model, TARGET, CARD, devices=CARDS)
    beside = pass_time(source.model, CARD, devices=CARDS).stored_bytes / 1e9
    return _Cost(beside, run, round_time(1 if source.once else gamma, run, verify), verify)


def view(*, data: Mapping[str, Any], source: str, gamma: int) -> View:
    """One state of the figure."""
    chosen, rows = SOURCES[source], data["published"].rows
    costs = {key: _cost(item, gamma) for key, item in SOURCES.items()}
    cost, found = costs[source], rows[chosen.row]
    target = pass_time(TARGET, CARD, devices=CARDS)
    room = (target.capacity_bytes - target.stored_bytes) / 1e9 - cost.beside_gb
    tokens = _tokens(found)
    where = "published" if found.tokens_per_pass is not None else "from the published accept rate"
    drafts = "1 draft" if gamma == 1 else f"{number(gamma)} drafts"
    wide = " Beyond five places the heads can only add guesses for the same places, in a tree."
    return View(
        summary=(
            f"Loaded besides the target: {chosen.loads}. To make {drafts}: {chosen.runs}."
            f"{wide if gamma > _HEADS and source == 'medusa' else ''} Then the same verifying pass."
            f" Published, {_conditions(found)}: {_result(found)}, {times(found.speedup, 2)}."
        ),
        readout=(
            Row("beside", "loaded beside the target", cost.beside_gb, "GB", brief(cost.beside_gb)),
            Row("room", "left for caches on these cards", room, "GB", brief(room)),
            Row("round", "passes for a round, computed", cost.round, "", number(cost.round, ".2f")),
            Row("tokens", f"tokens per pass, {where}", tokens, "", number(tokens, ".2f")),
            Row("speedup", "speed-up, published", found.speedup, "", times(found.speedup, 2)),
        ),
        svg=_memory(target.stored_bytes / 1e9, target.capacity_bytes / 1e9, chosen, cost)
        + _rounds(source, gamma, costs)
        + _places(chosen, rows),
        table=_table(gamma, costs, rows),
        verdict=Verdict(chosen.kind, chosen.rule),
        title=_title(chosen, cost),
        note=_note(chosen, rows),
    )


def _tokens(row: Any) -> float:
    """Tokens per pass as printed, else from the printed accept rate."""
    printed: float | None = row.tokens_per_pass
    return expected_tokens(row.alpha, row.gamma) if printed is None else printed


def _result(row: Any) -> str:
    """What was printed for the drafts, and what follows where only a rate was."""
    tokens = f"{number(_tokens(row), '.2f')} tokens per pass"
    return tokens if row.tokens_per_pass is not None else f"an accept rate of {number(row.alpha)}, so {tokens}"


_READ = {"secondary": "known to us second-hand", "derived": "counted by us in published traces"}


def _note(chosen: Source, rows: Mapping[str, Any]) -> str:
    """Whose result this is, and how the acceptance was read where not in the source itself."""
    text = f"Published result: {_origin(rows[chosen.row].source)}."
    marks = [rows[name].verification for _, name in chosen.places]
    ways = [_READ[mark] for mark in dict.fromkeys(marks) if mark in _READ]
    part = "in part " if "primary" in marks else ""
    return f"{text} Acceptance by position: {part}{', '.join(ways)}." if ways else text


def _conditions(row: Any) -> str:
    return f"{row.target_model} on {row.hardware.replace('1x ', 'one ')}, batch {number(row.batch)}"


def _origin(text: str) -> str:
    """The source's name without its address: addresses stand on the sources page."""
    return text.split(" http")[0].rstrip(" ,.;")


def _title(chosen: Source, cost: _Cost) -> str:
    name = chosen.name[0].upper() + chosen.name[1:]
    loaded = f"{brief(cost.beside_gb)} GB more" if cost.beside_gb > 0 else "nothing more to load"
    return f"{name}: {loaded}, {number(cost.round, '.2f')} passes a round"


def _memory(target: float, capacity: float, chosen: Source, cost: _Cost) -> str:
    segments = [Segment(0, target, "target")]
    if cost.beside_gb > 0:
        segments.append(Segment(target, cost.beside_gb, "draft"))
    return lanes(
        f"In memory: target {brief(target)} GB, {chosen.name} {brief(cost.beside_gb)} GB, of {brief(capacity)} GB",
        linear(capacity, "GB", ticks=4, snug=True),
        (Lane("Memory of two H100", tuple(segments), aside=f"{brief(target)} + {brief(cost.beside_gb)} GB"),),
        key=(("target", "target"), ("draft", "for drafts")),
    )


def _rounds(source: str, gamma: int, costs: Mapping[str, _Cost]) -> str:
    """All sources on one time axis; the verifying pass is as wide in each."""
    rows = []
    for key, item in SOURCES.items():
        cost = costs[key]
        runs = (1 if item.once else gamma) if cost.run > 0 else 0
        starts = [round_time(place, cost.run, cost.verify) - cost.verify for place in range(runs)]
        parts = [Segment(start, cost.run, "draft", "low") for start in starts]
        words = "the same check" if key == source else ""
        parts.append(Segment(cost.round - cost.verify, cost.verify, "target", text=words))
        name = item.name[0].upper() + item.name[1:]
        rows.append(Lane(name, tuple(parts), aside=number(cost.round, ".2f"), chosen=key == source))
    longest = max(_cost(item, LONGEST).round for item in SOURCES.values())
    return lanes(
        f"One round with {count(gamma, 'drafted token', 'drafted tokens')}, in passes of the target, for every source",
        linear(longest, "one round, in passes"),
        rows,
        key=(("draft", "draft"), ("target", "verify")),
        slim=True,
    )


def _places(chosen: Source, rows: Mapping[str, Any]) -> str:
    points = tuple((float(place), rows[key].alpha) for place, key in chosen.places)
    words = ", ".join(f"{number(place)}: {number(value, '.2f')}" for place, value in points)
    marks: list[Mark] = []
    for key, word in _BACKDROP.items():
        if SOURCES[key] is not chosen:
            line = tuple((float(place), rows[name].alpha) for place, name in SOURCES[key].places)
            marks.append(Points(line, "published", "muted", word, joined=True, side="right"))
    if chosen.mean:
        marks.append(Level(points[0][1], number(points[0][1], ".2f"), "draft"))
    else:
        marks.append(Points(points, "published", "draft", joined=len(points) > 2))
        marks.extend(Note(place, value, number(value, ".2f"), "draft", "corner") for place, value in points)
    return plot(
        f"Published acceptance by position, {chosen.measured}: {words}",
        Axis(0.5, LONGEST + 0.5, tuple(float(place) for place in range(1, LONGEST + 1)), "position of the draft"),
        linear(1.0, chosen.measured, ticks=4),
        marks,
        height=190,
    )


def _table(gamma: int, costs: Mapping[str, _Cost], rows: Mapping[str, Any]) -> Table:
    lines = []
    for key, item in SOURCES.items():
        row, cost = rows[item.row], costs[key]
        rates = ", ".join(f"{number(place)}: {number(rows[name].alpha, '.2f')}" for place, name in item.places)
        computed = (brief(cost.beside_gb), number(cost.round, ".2f"))
        tokens = number(_tokens(row), ".2f") + ("" if row.tokens_per_pass is not None else ", from its accept rate")
        published = (tokens, times(row.speedup, 2), _conditions(row), rates)
        lines.append((item.name, *computed, *published))
    head = (
        "drafts from",
        "GB beside the target",
        "passes a round, computed",
        "tokens per pass, published",
        "speed-up, published",
        "published for",
        "published by position (Medusa: accuracy of each head alone)",
    )
    return Table(f"Five sources, {count(gamma, 'drafted token', 'drafted tokens')} a round", head, tuple(lines))
