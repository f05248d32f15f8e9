"""One pass: memory against compute. Why scoring eight positions costs what scoring one costs, and where that ends.

Read it as the shortest example of a widget: parameters on top, one pure function below, every number from `sim`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sim import HARDWARE, MODELS, Model, PassTime, pass_time, ridge_positions
from sim.beside import PUBLISHED_PASSES, PublishedPass
from widgets._kit.chart import Curve, Mark, Now, Points, Wall, linear, logarithmic, plot
from widgets._kit.lanes import Lane, Segment, lanes
from widgets._kit.params import Choice, Slider
from widgets._kit.text import brief, number, percent, ratio, times
from widgets._kit.view import Row, Table, Verdict, View

TITLE = "One pass: memory against compute"

_FORMATS = {"bf16": "16 bits (bf16)", "int8": "8 bits", "int4": "4 bits"}
_DEVICES = {"1": "1 card", "2": "2 cards", "4": "4 cards", "8": "8 cards"}
_MORE = (12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 320, 384, 512)
_DRAWN = (1, 2, 3, 4, 6, 8, *_MORE)
_LISTED = (1, 2, 4, 8, 16, 64, 256, 512)
_WORDS = ("", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight")


def _gigabytes(size: float) -> str:
    return brief(size / 1e9)


def _hardware_name(key: str) -> str:
    card = HARDWARE[key]
    return f"{_short(key)}: {_gigabytes(card.memory)} GB, {number(card.bandwidth / 1e12, '.2f')} TB/s"


def _short(key: str) -> str:
    """A card's name without form and memory: H100, RTX 4090."""
    return HARDWARE[key].title.split(" SXM")[0].removesuffix(" 80 GB")


def _whole(model: Model) -> bool:
    """Dense, and a model of its own: a head reads its target's weights as well, and scores nothing alone."""
    return not model.experts and not model.shared_params


PARAMS = {
    "positions": Slider(
        "Positions scored",
        1,
        8,
        1,
        1,
        extend=_MORE,
        help="In one pass, over the whole batch: the next token, and any guesses to be checked.",
    ),
    "model": Choice("Model", {key: model.title for key, model in MODELS.items() if _whole(model)}, "70b"),
    "weights": Choice("Weight format", _FORMATS, "bf16"),
    "hardware": Choice("Hardware", {key: _hardware_name(key) for key in HARDWARE}, "h100-sxm"),
    "devices": Choice("Cards sharing the model", _DEVICES, "1"),
}
NEEDS: tuple[str, ...] = ()
DATA: tuple[str, ...] = ()
SOURCE = (
    "Computed: the longer of bytes over bandwidth and operations over peak (a roofline). Arithmetic in 16 bits;"
    " overhead, key-value cache and traffic between cards are left out. Card figures:"
    " https://github.com/stas00/ml-engineering/tree/master/compute/accelerator Squares, where there are any, are"
    " published: https://arxiv.org/abs/2601.11580"
)


def view(*, data: Mapping[str, Any], positions: int, model: str, weights: str, hardware: str, devices: str) -> View:
    """One state of the figure."""
    cards = int(devices)

    def at(count: int) -> PassTime:
        return pass_time(model, hardware, count, weights=weights, devices=cards)

    one, now = at(1), at(positions)
    beside = PUBLISHED_PASSES.get((model, hardware, weights)) if cards == 1 else None
    ridge = ridge_positions(hardware, weights=weights)
    drawn = sorted(dict.fromkeys((*_DRAWN, int(ridge))))  # the bend itself is a point of the curve
    listed = tuple(sorted(dict.fromkeys((*_LISTED, positions))))
    return View(
        summary=_summary(positions, one, now, ridge),
        readout=(
            Row("weights", "of weights read in a pass", now.weight_bytes / 1e9, "GB", _gigabytes(now.weight_bytes)),
            Row("pass", "for the whole pass", now.total_ms, "ms", ratio(now.total_ms)),
            Row("positions", f"position{'' if positions == 1 else 's'} scored in it", positions, "", number(positions)),
            Row("per_position", "per scored position", now.per_position_ms, "ms", ratio(now.per_position_ms)),
            Row("idle", "of peak arithmetic unused", now.idle, "", percent(now.idle, 1)),
        ),
        svg=_bars(now) + _curve(positions, now, {count: at(count) for count in drawn}, ridge, beside),
        table=Table(
            "One pass, by the number of positions it scores",
            ("positions", "memory, ms", "arithmetic, ms", "pass, ms", "ms per position", "peak unused"),
            tuple(_table_row(count, at(count)) for count in listed),
        ),
        verdict=_verdict(now, model, weights, hardware, cards),
        title=_title(positions, one, now),
        note=_note(now, hardware, positions, beside),
    )


def _table_row(count: int, cost: PassTime) -> tuple[str, ...]:
    times_ms = (cost.memory_ms, cost.compute_ms, cost.total_ms, cost.per_position_ms)
    return (number(count), *(ratio(value) for value in times_ms), percent(cost.idle, 1))


def _bars(now: PassTime) -> str:
    axis = linear(now.total_ms, "milliseconds")
    reading = Lane("Memory: reading every weight", (Segment(0, now.memory_ms, "memory"),), f"{ratio(now.memory_ms)} ms")
    unused = (Segment(now.compute_ms, now.total_ms - now.compute_ms, "target", "ghost"),) if now.idle > 0 else ()
    working = Lane(
        "Arithmetic, at the listed peak",
        (*unused, Segment(0, now.compute_ms, "target")),
        f"{ratio(now.compute_ms)} ms" + (", then waiting" if now.busy < 0.4 else ""),
    )
    return lanes(
        f"Two bars on one time axis: memory {ratio(now.memory_ms)} ms, arithmetic {ratio(now.compute_ms)} ms",
        axis,
        (reading, working),
        wall=(now.total_ms, "the pass ends"),
    )


def _curve(
    positions: int, now: PassTime, drawn: Mapping[int, PassTime], ridge: float, beside: PublishedPass | None
) -> str:
    bend = number(ridge, ".0f")
    x = logarithmic(1, _DRAWN[-1], "positions scored, log axis", ticks=(1, 8, 64, 512))
    costs = tuple(drawn.values())
    low = min(cost.per_position_ms for cost in costs)
    places = tuple((n, beside.ms(n)) for n in _LISTED) if beside else ()
    high = max([cost.total_ms for cost in costs] + [ms for _, ms in places])
    y = logarithmic(low, high, "milliseconds, log axis", show=brief)
    middle = tuple(drawn).index(12)
    marks: list[Mark] = [
        Wall(ridge, f"ridge at {bend}"),
        Curve(
            tuple((n, cost.total_ms) for n, cost in drawn.items()),
            "memory",
            "whole pass",
            middle + (6 if places else 0),
            "below",
        ),
        Curve(
            tuple((n, cost.per_position_ms) for n, cost in drawn.items()), "target", "per position", middle + 2, "under"
        ),
    ]
    if places:
        marks.append(Points(places, "published", "ink", "published", shape="square", at=3, side="above"))
    if positions > 1:
        marks.append(Now(positions, now.total_ms, "", "memory", hollow=True))
    side = "high" if positions > 90 else "corner" if positions > 1 else "above"
    marks.append(Now(positions, now.per_position_ms, f"{ratio(now.per_position_ms)} ms", side=side))
    return plot(
        f"Time of a pass and time per position against positions scored; now {number(positions)}"
        f" at {ratio(now.per_position_ms)} ms per position; memory-bound up to {bend} positions",
        x,
        y,
        marks,
        height=250,
    )


def _title(positions: int, one: PassTime, now: PassTime) -> str:
    if positions == 1:
        return f"One position: {ratio(now.memory_ms)} ms of reading for {ratio(now.compute_ms)} ms of arithmetic"
    name = _WORDS[positions] if positions < len(_WORDS) else number(positions)
    if now.total_ms <= one.total_ms * 1.005:
        return f"{name} positions cost what one costs"
    longer = now.total_ms / one.total_ms
    return f"{name} positions cost {times(longer, 1 if longer >= 1.1 else 2)} what one costs"


def _summary(positions: int, one: PassTime, now: PassTime, ridge: float) -> str:
    size = f"{_gigabytes(now.weight_bytes)} GB of weights"
    if positions == 1:
        return (
            f"Scoring one position means reading all {size}: {ratio(now.memory_ms)} ms. The arithmetic takes"
            f" {ratio(now.compute_ms)} ms of that, so {percent(now.idle, 1)} of the peak arithmetic goes unused."
        )
    if now.bound == "memory":
        return (
            f"Scoring {number(positions)} positions takes {ratio(now.total_ms)} ms, the same as scoring one: the {size}"
            f" are read once either way. Per scored position that is {ratio(now.per_position_ms)} ms; how many of them"
            " become tokens is another question."
        )
    return (
        f"Past the ridge at {number(ridge, '.0f')} positions the arithmetic sets the length: {number(positions)}"
        f" positions take {ratio(now.total_ms)} ms against {ratio(one.total_ms)} ms for one, and every further one adds"
        " its share."
    )


def _note(now: PassTime, hardware: str, positions: int, beside: PublishedPass | None) -> str | None:
    """What to doubt about this state in particular, and how far the model is off where passes were published."""
    found = ["This card’s figures are known to us second-hand."] if HARDWARE[hardware].source.startswith("sec") else []
    if now.bound == "compute":
        found.append("No kernel reaches the listed peak, so real passes are longer.")
    if beside:
        real = beside.ms(positions)
        off, word = percent(abs(now.total_ms / real - 1.0)), "short" if now.total_ms < real else "long"
        found.append(f"Squares: a published fit to real passes ({beside.title}), {ratio(real)} ms here.")
        found.append(f"The model is off by {off} here, too {word}.")
    return " ".join(found) or None


def _tight(found: PassTime) -> bool:
    """Whether the weights leave next to no room for anything else."""
    return found.weight_bytes > 0.95 * found.capacity_bytes


def _held(found: PassTime) -> str:
    """The time of a pass that fits, and whether that is all that fits."""
    return f"{ratio(found.total_ms)} ms" + (", the weights only" if _tight(found) else "")


def _verdict(now: PassTime, model: str, weights: str, hardware: str, cards: int) -> Verdict:
    """Whether the weights fit where this pass is said to run; if not, what does hold them."""
    need, room = _gigabytes(now.weight_bytes), _gigabytes(now.capacity_bytes)
    where = "this card" if cards == 1 else f"{number(cards)} of these cards"
    if now.fits:
        left = (now.capacity_bytes - now.weight_bytes) / 1e9
        tight = _tight(now)
        tail = ", too little for much of a key-value cache." if tight else " for the key-value cache and the rest."
        text = f"It fits: {need} GB of weights in the {room} GB of {where}. That leaves {brief(left)} GB{tail}"
        return Verdict("care" if tight else "info", text)
    fitting: list[str] = []
    for key, name in _FORMATS.items():
        other = pass_time(model, hardware, now.positions, weights=key, devices=cards)
        if key != weights and other.fits:
            fitting.append(f"{name} ({_held(other)})")
            break
    for count in (2, 4, 8):
        other = pass_time(model, hardware, now.positions, weights=weights, devices=count)
        if count > cards and other.fits:
            fitting.append(f"{number(count)} cards ({_held(other)})")
            break
    for key, card in HARDWARE.items():
        other = pass_time(model, key, now.positions, weights=weights, devices=cards)
        if key != hardware and other.fits:
            many, each = ("one", "") if cards == 1 else (number(cards), " each")
            memory = f"{_gigabytes(card.memory)} GB{each}"
            fitting.append(f"{many} {_short(key)} with {memory} ({_held(other)})")
    text = (
        f"{need} GB of weights do not fit in the {room} GB of {where}: a right time for a machine that cannot run it."
    )
    return Verdict("care", f"{text} What does hold them: {', '.join(fitting)}." if fitting else text)
