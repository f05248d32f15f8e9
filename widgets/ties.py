"""Why did the text differ: greedy decoding twice, the same logits added up in two orders, and where a near tie turns.

Nothing here is scripted: both texts are decoded word by word from sums that `sim.summed` rounds as a short format does.
The world is small on purpose: after each word a few others are likely, one pair of them nearly tied. (Over 400 lines:
two drawings that no other widget has.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Any

from sim import rounded, spacing, summed
from widgets._kit.drawing import along, frame, ink, linear, logarithmic, rule, write
from widgets._kit.params import Choice, Slider, Toggle
from widgets._kit.text import coordinate, count, number, percent
from widgets._kit.view import Row, Table, Verdict, View

TITLE = "The same logits, added up twice"

TERMS = 16
SAMPLES = 20
FAR = 6.0
"""How far below the likeliest word every word lies that is not named here."""

# After each word: the others that are likely, and how far each lies below the likeliest. None is the reader's gap.
_AFTER: dict[str, tuple[tuple[str, float | None], ...]] = {
    "the": (("cat", 0.0), ("dog", 1.2), ("rain", 2.0)),
    "cat": (("sat", 0.0), ("lay", 1.5), ("ran", 2.3)),
    "sat": (("under", 0.0), ("near", 1.1), ("on", 1.9)),
    "under": (("trees", 0.0), ("stars", None), ("bridges", 2.6)),
    "trees": (("and", 0.0), ("until", 1.4), ("where", 2.2)),
    "stars": (("until", 0.0), ("and", 1.7), ("that", 2.1)),
    "and": (("slept", 0.0), ("dreamt", 1.6), ("sang", 2.4)),
    "until": (("dawn", 0.0), ("noon", 1.3), ("spring", 1.8)),
    "slept": (("well", 0.0), ("little", 1.2), ("late", 2.5)),
    "dawn": (("came", 0.0), ("broke", 1.4), ("rang", 2.7)),
}
_END = "."
LENGTH = 6

_FORMATS = {"bf16": "bf16, after every addition", "mixed": "float32, and the result to bf16", "float32": "float32"}
_ORDERS = {
    "forward": "first to last",
    "backward": "last to first",
    "pairwise": "in pairs of pairs",
    "blocks": "in four blocks",
}

PARAMS = {
    "gap": Slider(
        "Gap of the two best",
        0,
        1,
        1,
        0.02,
        stops=(0, 1e-7, 1e-6, 1e-5, 1e-4, 0.001, 0.003, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1),
        help="How far stars lies below trees, exactly, after “under”.",
    ),
    "size": Slider("Size of the logits", 1, 32, 1, 8, stops=(1, 2, 4, 8, 16, 32), help="Of the likeliest word."),
    "format": Choice("Rounded to", _FORMATS, "bf16"),
    "plain": Choice("Plain pass adds", _ORDERS, "forward"),
    "verify": Choice("Verifying pass adds", _ORDERS, "blocks"),
    "ties": Choice(
        "Verifying pass, on a tie",
        {"first": "first word, as the plain one", "last": "last word"},
        "first",
    ),
    "bug": Toggle("A bug: it misses the newest word", False),
    "seed": Slider("Sample", 1, SAMPLES, 1, 2, help="Other terms with the same sums."),
}
NEEDS: tuple[str, ...] = ()
DATA: tuple[str, ...] = ()
SOURCE = (
    "Computed: 16 terms a logit, each sum rounded as IEEE 754 does (half to even). A model’s sums are thousands of"
    " terms long, on units that add many at once; that the order depends on the shape of the batch is the same. One of"
    " many reports: https://github.com/vllm-project/vllm/issues/7627"
)


@dataclass(frozen=True)
class _Place:
    """One place of the text: what each pass writes there, and the logits that decided it."""

    context: str
    plain: str
    verify: str
    gap: float
    first: Mapping[str, float]
    second: Mapping[str, float]


def view(
    *,
    data: Mapping[str, Any],
    gap: float,
    size: int,
    format: str,
    plain: str,
    verify: str,
    ties: str,
    bug: bool,
    seed: int,
) -> View:
    """One state of the figure."""
    one = _adder(gap, size, format, plain, seed)
    two = _adder(gap, size, format, verify, seed)
    text = _decode(one, False, False)
    other = _decode(two, ties == "last", bug)
    places = _compare(text, other, one, two, bug)
    parted = next((index for index, place in enumerate(places) if place.plain != place.verify), None)
    short = "bf16" if format == "mixed" else format
    step = spacing(float(size), short)
    reach = step if format == "mixed" else (TERMS - 1) * step
    bits = [
        place.first[word] != place.second[word] for place in places[: _shared(parted, places)] for word in place.first
    ]
    turned = _turned(gap, size, format, plain, verify, ties)
    told = _Told(places, parted, step, reach, bits.count(True), len(bits), turned, format, bug)
    shown = parted if parted is not None else next(i for i, place in enumerate(places) if place.context == "under")
    return View(
        summary=_summary(text, other, told),
        readout=_readout(told),
        svg=_gaps(told) + _line(places[shown], step, told),
        table=_table(told),
        verdict=_verdict(told),
        title=_title(told),
    )


@dataclass(frozen=True)
class _Told:
    """What both decodes came to."""

    places: tuple[_Place, ...]
    parted: int | None
    step: float
    reach: float
    differ: int
    logits: int
    turned: int
    format: str
    bug: bool

    @property
    def gap(self) -> float | None:
        """The plain pass's gap where the texts part."""
        return None if self.parted is None else self.places[self.parted].gap


def _shared(parted: int | None, places: tuple[_Place, ...]) -> int:
    """How many places both passes decided from the same text."""
    return len(places) if parted is None else parted + 1


@lru_cache(maxsize=1024)
def _terms(word: str, after: str, seed: int) -> tuple[float, ...]:
    """Terms of a logit of this word, as deviations that add up to nothing."""
    chance = Random(f"{after} {word} {seed}")
    raw = [chance.random() for _ in range(TERMS)]
    mean = math.fsum(raw) / TERMS
    return tuple(value - mean for value in raw)


Adder = Callable[[str], dict[str, float]]


def _adder(gap: float, size: int, format: str, order: str, seed: int) -> Adder:
    """The logits after a word, as a pass that adds in this order and format computes them."""

    def of(context: str) -> dict[str, float]:
        found: dict[str, float] = {}
        for word, below in _AFTER.get(context, ((_END, 0.0),)):
            exact = size - (gap if below is None else below)
            found[word] = _computed(word, context, exact, size, seed, format, order)
        return found

    return of


@lru_cache(maxsize=4096)
def _computed(word: str, after: str, exact: float, size: int, seed: int, format: str, order: str) -> float:
    """One logit as computed: its terms, spread around their mean, added up in this format and order."""
    terms = [exact / TERMS + size / TERMS * 1.5 * part for part in _terms(word, after, seed)]
    if format == "mixed":
        return rounded(summed(terms, "float32", order), "bf16")
    return summed(terms, format, order)


def _choose(logits: Mapping[str, float], last: bool) -> str:
    """The word with the largest logit; of exactly equal ones the first, or the last."""
    largest = max(logits.values())
    best = [word for word, logit in logits.items() if logit == largest]
    return best[-1 if last else 0]


def _decode(logits: Adder, last: bool, bug: bool) -> tuple[str, ...]:
    """The text that greedy decoding writes after “the cat”. With the bug each choice is made one word too early."""
    text = ["the", "cat"]
    while len(text) < LENGTH + 2:
        text.append(_choose(logits(text[-2 if bug else -1]), last))
    return tuple(text[2:])


def _compare(text: tuple[str, ...], other: tuple[str, ...], one: Adder, two: Adder, bug: bool) -> tuple[_Place, ...]:
    """Place by place along the plain text. A word that is not likely there lies `FAR` below the likeliest."""
    before = ("the", "cat", *text)
    found = []
    for index, (mine, theirs) in enumerate(zip(text, other, strict=True)):
        context = before[index + 1]
        first, second = one(context), two(before[index] if bug else context)
        words = dict.fromkeys((*first, theirs, *(second if bug else ())))
        low = max(first.values()) - FAR
        full = {word: first.get(word, low) for word in words}
        seen = {word: second.get(word, max(second.values()) - FAR) for word in words}
        rival = theirs if theirs != mine else max((w for w in full if w != mine), key=lambda w: full[w], default=mine)
        found.append(_Place(context, mine, theirs, full[mine] - full.get(rival, low), full, seen))
    return tuple(found)


def _turned(gap: float, size: int, format: str, plain: str, verify: str, ties: str) -> int:
    """In how many of the samples the two orders choose differently after “under”."""
    turned = 0
    for seed in range(1, SAMPLES + 1):
        first = _adder(gap, size, format, plain, seed)("under")
        second = _adder(gap, size, format, verify, seed)("under")
        turned += _choose(first, False) != _choose(second, ties == "last")
    return turned


_POWERS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def _small(x: float) -> str:
    """A gap in few characters: 0, 4.8×10⁻⁷, 0.0625, 6."""
    if x == 0:
        return "0"
    power = math.floor(math.log10(abs(x)) + 1e-9)
    if power < -4:
        return number(x / 10.0**power, ".1f") + "×10" + number(power).translate(_POWERS)
    text = number(x, f".{max(0, 2 - power)}f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _tick(x: float) -> str:
    return "10⁻⁶" if x < 1e-5 else _small(x)


_LOW, _HIGH = 1e-7, 100.0


def _gaps(told: _Told) -> str:
    """A row a place: both words, and on a log axis the gap that decided; below the wall rounding may turn it."""
    x = logarithmic(_LOW, _HIGH, "", ticks=(1e-6, 0.001, 1), show=_tick)
    high, split = 31, 0.42
    tall = float(high * len(told.places))

    def at(value: float) -> float:
        return split + (1 - split) * x.at(max(value, _LOW))

    wall = at(told.reach)
    inner = [
        f'<rect x="{along(split)}" y="0" width="{along(wall - split)}" height="{coordinate(tall)}" '
        f'fill="{ink("draft")}" fill-opacity=".12"/>',
        rule(along(wall), -24, along(wall), tall, "draft", "4 3", 1.5),
        write("0", -10, "plain"),
        write(along(0.2), -10, "verifying"),
        write(along(wall), -30, "rounding reaches to here", anchor="end" if wall > 0.5 else "start", tone="draft"),
    ]
    for value in x.ticks:
        inner.append(rule(along(at(value)), tall, along(at(value)), tall + 4, "muted"))
        inner.append(write(along(at(value)), tall + 18, x.show(value), anchor="middle"))
    inner.append(rule(along(split), tall, "100%", tall, "muted"))
    inner.append(write("100%", tall + 36, "gap of the two best logits, log axis", anchor="end"))
    for index, place in enumerate(told.places):
        middle = high * index + high / 2
        after = told.parted is not None and index > told.parted
        same = place.plain == place.verify
        tone = "muted" if after else "ink" if same else "rejected"
        inner.append(write("0", middle + 4.5, place.plain, tone="muted" if after else "ink"))
        mark = "" if same or after else "✗ "
        inner.append(write(along(0.2), middle + 4.5, mark + place.verify, tone=tone, strong=bool(mark)))
        if after:
            continue
        spot, gap = along(at(place.gap)), "tie" if place.gap == 0 else _small(place.gap)
        inner.append(rule(along(split), middle, "100%", middle))
        inner.append(f'<circle cx="{spot}" cy="{coordinate(middle)}" r="5" fill="{ink(tone)}"/>')
        right = at(place.gap) < 0.95
        inner.append(
            write(
                spot, middle + 4.5, gap, anchor="start" if right else "end", dx=9 if right else -9, tone=tone, halo=True
            )
        )
    label = "Both texts word by word, with the gap of the two best logits at each place"
    return frame(label, int(tall + 46 + 44), (46, 6, 44, 2), inner)


def _line(place: _Place, step: float, told: _Told) -> str:
    """The two words in question on the line of logits: in the plain pass and in the verifying one."""
    pair = (place.plain, place.verify)
    if place.plain == place.verify:
        rest = sorted((w for w in place.first if w != place.plain), key=lambda w: -place.first[w])
        pair = (place.plain, rest[0] if rest else place.plain)
    values = [row[word] for row in (place.first, place.second) for word in pair]
    low, high = min(values), max(values)
    room = max(2.5 * step, 0.4 * (high - low))
    x = linear(high + room, lo=low - room, ticks=4, snug=True)
    row, tall = 70, 140.0
    inner = []
    if (high - low + 2 * room) / step <= 24:
        first = math.ceil((low - room) / step - 1e-9)
        last = math.floor((high + room) / step + 1e-9)
        inner += [rule(along(x.at(k * step)), 0, along(x.at(k * step)), tall) for k in range(first, last + 1)]
    for index, (name, logits) in enumerate((("plain pass", place.first), ("verifying pass", place.second))):
        level = row * index + 48.0
        inner.append(write("0", row * index + 14.0, name, tone="ink", halo=True))
        inner.append(rule("0", level, "100%", level, "muted"))
        chosen = place.plain if index == 0 else place.verify
        apart = abs(x.at(logits[pair[0]]) - x.at(logits[pair[1]]))
        for word in dict.fromkeys(pair):
            spot = x.at(logits[word])
            inside = f'fill="{ink("target")}"'
            looks = inside if word == chosen else f'fill="var(--sd-ground)" stroke="{ink("target")}"'
            inner.append(f'<circle cx="{along(spot)}" cy="{coordinate(level)}" r="6" stroke-width="2" {looks}/>')
            other = pair[1] if word == pair[0] else pair[0]
            left = logits[word] < logits[other] or (logits[word] == logits[other] and word == pair[1])
            anchor, dx = ("end", -10) if left else ("start", 10)
            if apart > 0.3:
                anchor, dx = ("start", 10) if left else ("end", -10)
            words = ("✓ " if word == chosen else "") + word
            inner.append(
                write(along(spot), level - 9, words, anchor=anchor, dx=dx, tone="ink", halo=True, strong=word == chosen)
            )
    ends = (low, high) if high > low else (low,)
    for k, value in enumerate(ends):
        spot = x.at(value)
        anchor = "middle" if len(ends) == 1 else "end" if k == 0 else "start"
        inner.append(write(along(spot), tall + 14, _logit(value, step), anchor=anchor))
    grid = f", a line every {_small(step)}" if inner and (high - low + 2 * room) / step <= 24 else ""
    inner.append(write("100%", tall + 34, f"logit after “{place.context}”{grid}", anchor="end"))
    label = f"Logits of {pair[0]} and {pair[1]} after {place.context}, in both passes"
    return frame(label, int(tall + 46), (2, 2, 44, 2), inner)


def _logit(x: float, step: float) -> str:
    """A logit with the digits that its format has."""
    digits = max(2, min(8, 2 - math.floor(math.log10(step) + 1e-9)))
    return number(x, f".{digits}f")


def _readout(told: _Told) -> tuple[Row, ...]:
    where = None if told.parted is None else told.parted + 1
    return (
        Row("parted", "word at which the texts part", where, "", "none" if where is None else number(where)),
        Row("gap", "gap of the two logits there", told.gap, "", "–" if told.gap is None else _small(told.gap)),
        Row("step", "one step of the format", told.step, "", _small(told.step)),
        Row("differ", "of logits differ in their last bits", told.differ / told.logits, "", _share(told)),
        Row("turned", f"of {number(SAMPLES)} samples turn at this gap", told.turned, "", number(told.turned)),
    )


def _share(told: _Told) -> str:
    return percent(told.differ / told.logits)


def _table(told: _Told) -> Table:
    rows = []
    for index, place in enumerate(told.places):
        after = told.parted is not None and index > told.parted
        verdict = "already another text" if after else "same" if place.plain == place.verify else "the texts part"
        moved = max(abs(place.first[word] - place.second[word]) for word in place.first)
        rows.append(
            (
                number(index + 1),
                place.plain,
                place.verify,
                "–" if after else _small(place.gap),
                "–" if after else _small(moved),
                verdict,
            )
        )
    where = "none" if told.parted is None else number(told.parted + 1)
    rows.append(
        (where, "in all", "", "–" if told.gap is None else _small(told.gap), _share(told), f"step {_small(told.step)}")
    )
    rows.append(("samples", "that turn", "", number(told.turned), _small(told.step), f"reach {_small(told.reach)}"))
    return Table(
        "Word by word: both texts, the gap in the plain pass, and how far a logit moved between the passes",
        ("word", "plain pass", "verifying pass", "gap", "a logit moved by up to", ""),
        tuple(rows),
    )


def _written(text: tuple[str, ...]) -> str:
    return "the cat " + " ".join(word for word in text if word != _END)


def _summary(text: tuple[str, ...], other: tuple[str, ...], told: _Told) -> str:
    if told.parted is None:
        return f"Both passes write “{_written(text)}”."
    return (
        f"Plain: “{_written(text)}”. Verifying: “{_written(other)}”. They part at word {number(told.parted + 1)},"
        " and after one other word everything behind it is another text."
    )


def _title(told: _Told) -> str:
    if told.parted is None:
        return "Both passes write the same text"
    place = told.places[told.parted]
    if told.gap == 0:
        return f"An exact tie: one pass takes {place.plain}, the other {place.verify}"
    if told.gap is not None and told.gap > told.reach:
        return f"The texts part at a gap of {_small(told.gap)}: that is no rounding"
    return f"Same numbers, other order: {place.plain} becomes {place.verify}"


def _verdict(told: _Told) -> Verdict:
    bits = f"{number(told.differ)} of {number(told.logits)} logits differ in their last bits"
    if told.parted is None:
        if not told.differ:
            return Verdict("info", "Same tokens, and here even the same bits. Nobody promises the second.")
        text = f"Same tokens, not the same bits: {bits}, and no gap was small enough for that to matter."
        return Verdict("gain", text)
    gap = told.gap if told.gap is not None else 0.0
    place = told.places[told.parted]
    if gap > told.reach:
        times = number(gap / told.step, ",.0f")
        return Verdict(
            "loss",
            f"A bug, not rounding. The plain pass prefers {place.plain} to {place.verify} by {_small(gap)}, which is"
            f" {times} steps of the format. Look at caches, positions and masks before you blame arithmetic.",
        )
    if gap == 0 and place.first == place.second:
        return Verdict(
            "care",
            f"Both passes computed the very same numbers, and {place.plain} and {place.verify} are equal in them. The"
            " two paths break the tie differently: give them one rule.",
        )
    steps = "less than a step" if gap < 0.99 * told.step else count(int(gap / told.step + 0.5), "step", "steps")
    return Verdict(
        "care",
        f"Rounding, not a bug: the two words lie {_small(gap)} apart, {steps} of the format, and rounding alone can"
        f" move that by up to {_small(told.reach)}. Neither text is wrong.",
    )
