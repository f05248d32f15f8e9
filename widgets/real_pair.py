"""The real pair: a target and a draft that run in the page. Does speculation make it faster, here, on the clock?

At rest it replays recorded runs and looks like every other figure. Once “Run here” is on, it fetches the two files of
weights and lets two lanes race (`widgets._kit.race`). Which tokens come and what becomes of them follows from the seed;
only the times are measured (`MEASURES`). (Over 400 lines: one figure has two faces, a recording and a race.)
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sim import pass_time, speedup, verify_cost
from sim.data import Trace
from widgets._kit.drawing import linear
from widgets._kit.fates import HEAD, rows, shown, strip_tokens
from widgets._kit.lanes import Lane, Segment, lanes
from widgets._kit.params import Choice, Slider, Step, Text, Toggle
from widgets._kit.race import BUDGET, Clock, Race, Round, Setting, encoded, loaded, race
from widgets._kit.text import count, number, percent, ratio, times
from widgets._kit.view import Download, Progress, Row, Table, Verdict, View

TITLE = "A real pair, in this page"

MEASURES = "run"
"""The switch that starts the clock: with it on, no two runs give the same times."""

STOPS = 24
_DRAFTS = {
    "one-layer": "network of one layer",
    "two-layer": "network of two layers",
    "trigram": "trigram table",
    "bigram": "bigram table",
    "look-up": "look-up in the text",
    "exit": "target’s first layer",
}

PARAMS = {
    "kind": Choice("Text", {"prose": "prose", "code": "Python code"}, "prose"),
    "prompt": Choice("Beginning", {"0": "the recorded one", "1": "another", "2": "a third"}, "0"),
    "draft": Choice("Draft", _DRAFTS, "one-layer"),
    "temperature": Choice("Temperature", {"0": "0, greedy", "0.7": "0.7", "1": "1"}, "0.7"),
    "gamma": Slider("Draft length", 1, 8, 1, 4, unit="tokens", one="token", help="Counts once it runs here."),
    "seed": Slider("Sample", 1, 20, 1, 1, help="Counts once it runs here."),
    "step": Step("Step through", STOPS, 350, STOPS),
    "run": Toggle("Run here", False, help="Fetches 5 MB, then some seconds of work. Off and on again: once more."),
    "kernel": Toggle("With the kernel", True, help="Off: plain NumPy, which reads the weights for each position anew."),
    "own": Text(
        "Or your own beginning",
        "",
        10_000,
        2,
        help="Stays in this page. The models know English prose of 1800 and Python code, and little of either.",
        placeholder="Left empty, the beginning chosen above is used.",
    ),
}
NEEDS: tuple[str, ...] = ("numpy",)
DATA: tuple[str, ...] = ("traces/real-pair",)
FILES: tuple[str, ...] = ("models/target.safetensors", "models/drafts.safetensors")
SOURCE = (
    "Both models were trained for this page. Tokens and their fates follow from the sample alone; times are measured"
    " here, and nothing is sent anywhere. The card is a model: the roofline of one H100 with 70 billion weights in 16"
    " bits, and drafts that are as small beside them as these are."
)

_CARD = ("70b", "h100-sxm")
_WIDTH, _LAYERS, _VOCAB = 256, 4, 1024
_BEGINNINGS = {
    "prose": (
        "It was a fine morning for a walk, and her sister, who had",
        "“I cannot think so ill of him,” said she; “and if you knew",
    ),
    "code": (
        "class Reader:\n    def __init__(self, path):\n        self.path = path\n",
        "def parse(text):\n    if not text:\n        return None\n    for line in",
    ),
}
_VIEW_S = 0.25
"""Between two pictures of a race; in between, only the words say how far it is."""


@dataclass(frozen=True)
class _Shown:
    """What a picture is drawn of: the rounds up to the reader's step, all of them, and what they are a run of."""

    rounds: tuple[Round, ...]
    seen: tuple[Round, ...]
    draft: str
    gamma: int
    temperature: float
    beginning: str
    race: Race | None = None
    kernel: bool = True
    left_out: int = 0

    @property
    def tokens(self) -> int:
        return _total(one.emitted for one in self.rounds)

    @property
    def drafted(self) -> int:
        return _total(len(one.draft) for one in self.rounds)

    @property
    def kept(self) -> int:
        return _total(one.accepted for one in self.rounds)

    @property
    def tau(self) -> float:
        """Tokens for each pass of the target."""
        return self.tokens / len(self.rounds)

    @property
    def alpha(self) -> float | None:
        """Kept drafts over drafts that were looked at; None where there were none."""
        tested = _total(one.accepted + one.failed for one in self.rounds)
        return self.kept / tested if tested else None

    @property
    def formula(self) -> float | None:
        """`sim.speedup` at this run's accept rate and the costs measured in it."""
        found = self.race
        if found is None or self.alpha is None or found.c is None or found.verify is None:
            return None
        return speedup(self.alpha, self.gamma, found.c, found.verify)

    @property
    def card_round(self) -> float:
        """A round on the modelled card, in plain passes. Drafts take the time of the weights they read."""
        drafts = self.drafted / len(self.rounds) * _share(self.draft)
        return drafts + verify_cost(*_CARD, self.gamma)

    @property
    def card(self) -> float:
        """The speed-up of these very rounds on the card."""
        return self.tau / self.card_round


def steps(
    *,
    data: Mapping[str, Any],
    kind: str,
    prompt: str,
    draft: str,
    temperature: str,
    gamma: int,
    seed: int,
    step: int,
    run: bool,
    kernel: bool,
    own: str,
) -> Iterator[Progress | View]:
    """One state of the figure: a recorded run at once, or a race with a picture every now and then."""
    trace = _trace(data, kind, draft, float(temperature))
    if not run:
        _last.clear()
        yield resting(trace, step, own=bool(own), moved=(gamma, seed, prompt) != (trace.gamma, 1, "0"))
        return
    beginning = own or (trace.prompt or "" if prompt == "0" else _BEGINNINGS[kind][int(prompt) - 1])
    state = (draft, temperature, gamma, seed, kernel, beginning)
    if state not in _last:
        yield Progress(0.0, "Unpacking the weights…")
        pair = loaded(*(data[name] for name in FILES))
        tokens, left_out = encoded(pair, beginning, gamma)
        # Sample 1 is the recorded one.
        setting = Setting(draft, gamma, float(temperature), (trace.seed or 0) + seed - 1, tokens)
        told = time.perf_counter()
        found: Race | None = None
        for found in race(pair, setting, kernel=kernel, clock=time.perf_counter):
            if found is None:
                yield Progress(0.0, "Reading the beginning…")
            elif not found.rounds or time.perf_counter() - told < _VIEW_S or found.over:
                yield Progress(found.done, "Racing…")
            else:
                yield raced(found, setting, beginning, kernel=kernel, left_out=left_out)
                told = time.perf_counter()
        assert found is not None
        _last.clear()
        _last[state] = (found, setting, left_out)
    found, setting, left_out = _last[state]
    yield raced(found, setting, beginning, kernel=kernel, left_out=left_out, step=step)


_last: dict[tuple[Any, ...], tuple[Race, Setting, int]] = {}
"""The last race, so that it can be stepped through. The switch, turned off, forgets it."""


def resting(trace: Trace, step: int, *, own: bool, moved: bool) -> View:
    """A recorded run, up to the step. `own` and `moved`: what the reader set that only a run here can show."""
    rounds = tuple(Round.of(one) for one in trace.steps or ())
    it = _Shown(
        rounds,
        _up_to(rounds, step),
        trace.draft or "",
        trace.gamma or 1,
        trace.temperature or 0.0,
        trace.prompt or "",
    )
    waiting = "Your own beginning waits for “Run here”." if own else ""
    if moved and not own:
        waiting = "Switch on “Run here” for your values."
    recorded = f"A recording: {count(it.gamma, 'draft', 'drafts')} a round, sample 1."
    return _view(
        it,
        title=f"{number(it.tau, '.2f')} tokens a pass, recorded. And here?",
        summary=f"{recorded} {_story(it)} {waiting}".rstrip(),
        note="Nothing has been measured here yet.",
        verdict=Verdict(
            "info",
            f"On a card that waits for memory these rounds are {times(it.card, 2)} as fast as plain decoding, by the"
            " model. Whether they are faster on this machine, only a run here can tell.",
        ),
    )


def raced(found: Race, setting: Setting, beginning: str, *, kernel: bool, left_out: int = 0, step: int = STOPS) -> View:
    """A race in this page, over or in the middle."""
    seen = _up_to(found.rounds, step) if found.over else found.rounds
    it = _Shown(
        found.rounds,
        seen,
        setting.draft,
        setting.gamma,
        setting.temperature,
        beginning,
        race=found,
        kernel=kernel,
        left_out=left_out,
    )
    if not found.over:
        plain, fast = found.plain.tokens, found.speculative.tokens
        return _view(
            it,
            title=f"{number(min(BUDGET, fast))} tokens with drafts, {number(min(BUDGET, plain))} without, so far",
            summary=_story(it),
            note=_doubts(it),
            verdict=Verdict(
                "info",
                "The lanes take turns, and both have had the same time. A lane’s clock runs while it works, and not"
                " while a beginning is read or a picture is drawn.",
            ),
        )
    by = "kernel" if found.by_kernel else "numpy"
    name = f"real-pair-{setting.draft}-g{number(setting.gamma)}-s{number(setting.seed)}-{by}.json"
    return _view(
        it,
        title=_title(found.speedup or 0.0),
        summary=f"{_story(it)} {_same(it)}",
        note=_doubts(it),
        verdict=_verdict(it),
        links=(Download("Keep this run as a file", name, as_file(it, setting)),),
    )


def _view(
    it: _Shown,
    *,
    title: str,
    summary: str,
    note: str,
    verdict: Verdict,
    links: tuple[Download, ...] = (),
) -> View:
    return View(
        summary=summary,
        readout=_readout(it),
        svg=_finish(it) + _costs(it),
        table=_table(it),
        tokens=strip_tokens(it.beginning, it.seen),
        verdict=verdict,
        title=title,
        note=note,
        links=links,
    )


def _trace(data: Mapping[str, Any], kind: str, draft: str, temperature: float) -> Trace:
    """The recorded run of these; ValueError where there is none."""
    for row in data["traces/real-pair"].rows.values():
        if isinstance(row, Trace) and (row.dataset, row.draft, row.temperature) == (kind, draft, temperature):
            return row
    raise ValueError(f"no run is recorded of {draft} on {kind} at temperature {number(temperature)}")


def _up_to(rounds: tuple[Round, ...], step: int) -> tuple[Round, ...]:
    return rounds[: math.ceil(len(rounds) * step / STOPS)]


def _total(whole: Iterator[int]) -> int:
    return int(math.fsum(whole))


def _share(draft: str) -> float:
    """The weights that a draft step reads, over those of a pass of the target; counts, one width and depth each."""
    block, output = 12 * _WIDTH**2, _VOCAB * _WIDTH
    target = _LAYERS * block + output
    reads = {
        "one-layer": 12 * 64**2 + _VOCAB * 64,
        "two-layer": 2 * 12 * 128**2 + _VOCAB * 128,
        "exit": block + _WIDTH**2 + output,
    }
    return reads.get(draft, 0) / target


def _title(faster: float) -> str:
    if faster >= 1.02:
        return f"On this machine, speculation is {times(faster, 2)} as fast"
    if faster > 0.98:
        return "On this machine, speculation gains nothing and loses nothing"
    return f"On this machine, speculation is slower: {times(faster, 2)} the speed"


def _story(it: _Shown) -> str:
    """What was written, and in how many passes."""
    tail = it.beginning[-48:]
    more = "…" if len(it.beginning) > 48 else ""
    given = count(len(it.rounds), "pass", "passes")
    cut = f" ({count(it.left_out, 'token', 'tokens')} before it had no room)" if it.left_out else ""
    return (
        f"After “{more}{shown(tail)}”{cut} the target writes {count(it.tokens, 'token', 'tokens')} in {given}:"
        f" {number(it.kept)} of {count(it.drafted, 'drafted token', 'drafted tokens')} are kept."
    )


def _same(it: _Shown) -> str:
    if it.race is None or it.race.same is None:
        return ""
    if it.race.same:
        return "Both lanes wrote the same text."
    if it.temperature > 0:
        return "The lanes wrote different texts, both drawn from the same distribution."
    return "The lanes parted at a near tie: NumPy adds in another order when there are more rows."


def _doubts(it: _Shown) -> str:
    doubts = "A browser does not tell what machine this is, whether it was throttled, or what other tabs did meanwhile."
    if it.kernel and it.race is not None and not it.race.by_kernel:
        return f"This browser does not run the kernel, so NumPy did the work. {doubts}"
    return f"One run of {number(BUDGET)} tokens; another sample gives another number. {doubts}"


def _verdict(it: _Shown) -> Verdict:
    found = it.race
    assert found is not None
    faster, verify = found.speedup, found.verify
    if faster is None or verify is None:
        return Verdict("care", "This clock ticks too coarsely for this machine: no time passed between two ticks.")
    most = it.gamma + 1
    if verify < 0.7 or verify > 1.5 * most:
        text = "Something else was at work during this run: its times contradict each other. Switch off and on again."
        return Verdict("care", text)
    said = f"Measured {times(faster, 2)}."
    if it.formula is not None and found.c is not None and it.alpha is not None:
        rest = found.speculative.other_ms / found.speculative.rounds
        said += (
            f" The formula says {times(it.formula, 2)}, from what this run has: an accept rate of"
            f" {number(it.alpha, '.2f')}, a draft step of {ratio(found.c)} and a verifying pass of"
            f" {number(verify, '.2f')} plain ones. It leaves out drawing and bookkeeping, {ratio(rest)} ms a round."
        )
    if not found.by_kernel and verify > 0.6 * most:
        said += " Without the kernel arithmetic sets the length of a pass, so checking guesses saves little or nothing."
    return Verdict("gain" if faster >= 1.02 else "info" if faster > 0.98 else "loss", said)


_NONE = "–"


def _readout(it: _Shown) -> tuple[Row, ...]:
    found = it.race
    measured = found.speedup if found is not None else None
    plain = found.plain.rate if found is not None and found.plain.ms > 0 else None
    fast = found.speculative.rate if found is not None and found.speculative.ms > 0 else None
    alpha, formula = it.alpha, it.formula
    return (
        Row("tokens_per_pass", "tokens a pass of the target", it.tau, "", number(it.tau, ".2f")),
        Row("passes", f"passes for {number(it.tokens)} tokens", len(it.rounds), "", number(len(it.rounds))),
        Row("accepted", "of the drafts looked at are kept", alpha, "", percent(alpha) if alpha is not None else _NONE),
        Row("plain", "tokens a second, plain, here", plain, "", ratio(plain) if plain else _NONE),
        Row("fast", "tokens a second, speculative, here", fast, "", ratio(fast) if fast else _NONE),
        Row("speedup", "measured here", measured, "", times(measured, 2) if measured else _NONE),
        Row("formula", "by the formula, with these costs", formula, "", times(formula, 2) if formula else _NONE),
        Row("card", "on a memory-bound card, by the model", it.card, "", times(it.card, 2)),
    )


def _finish(it: _Shown) -> str:
    """Tokens that both lanes have after the same time: when the first is through, or so far."""
    found = it.race
    plain, fast = it.tokens / it.card, float(it.tokens)
    if found is None:
        ms = len(it.rounds) * it.card_round * pass_time(*_CARD).total_ms
        if plain > fast:
            plain, fast = fast, fast * it.card
            ms = it.tokens * pass_time(*_CARD).total_ms
        where = f"after {ratio(ms / 1e3)} s on a card, by the model"
    else:
        plain, fast = found.finish or (min(BUDGET, found.plain.tokens), min(BUDGET, found.speculative.tokens))
        where = "when the first lane was through" if found.finish else "so far"
    kept = fast * it.kept / it.tokens
    parts = (Segment(0, kept, "accepted"), Segment(kept, fast - kept, "target"))
    axis = linear(max(BUDGET, it.tokens if found is None else 0), "tokens", ticks=4, snug=True)
    return lanes(
        f"Tokens in the same time, {where}: plain {number(plain, '.0f')}, speculative {number(fast, '.0f')}",
        axis,
        (
            Lane("Plain", (Segment(0, plain, "target"),), number(plain, ".0f"), aside=where),
            Lane("Speculative", tuple(part for part in parts if part.width > 0.0), number(fast, ".0f")),
        ),
        key=(("accepted", "✓ drafts"), ("target", "own")),
    )


def _costs(it: _Shown) -> str:
    """What a token costs in either lane: in milliseconds where it was measured, in plain passes of the card before."""
    found = it.race
    if found is None:
        drafts = (it.card_round - verify_cost(*_CARD, it.gamma)) / it.tau
        plain, fast = (0.0, 1.0, 0.0), (drafts, it.card_round / it.tau - drafts, 0.0)
        title, aside = "plain passes", "on a card, by the model"
    else:
        plain, fast = _each(found.plain), _each(found.speculative)
        title, aside = "ms", "measured here"
    most = max(math.fsum(plain), math.fsum(fast), 1e-9)
    axis = linear(most * 1.02, title, ticks=4)

    def lane(name: str, parts: tuple[float, float, float], aside: str = "") -> Lane:
        start, segments = 0.0, []
        for width, tone in zip(parts, ("draft", "target", "muted"), strict=True):
            if width > 0.0:
                segments.append(Segment(start, width, tone))
            start += width
        return Lane(name, tuple(segments), ratio(start), aside=aside)

    return lanes(
        f"Cost of a token in {title}: plain {ratio(math.fsum(plain))}, speculative {ratio(math.fsum(fast))}",
        axis,
        (lane("A plain token", plain, aside), lane("A token with drafts", fast)),
        key=(("draft", "draft"), ("target", "pass"), ("muted", "rest")),
    )


def _each(clock: Clock) -> tuple[float, float, float]:
    tokens = max(1, clock.tokens)
    return (clock.draft_ms / tokens, clock.pass_ms / tokens, clock.other_ms / tokens)


def _table(it: _Shown) -> Table:
    """Every token seen, then the totals of the readout. In the middle of a race the totals alone."""
    blank = ("",) * (len(HEAD) - 3)
    body = [] if it.race is not None and not it.race.over else list(rows(it.seen))
    for row in _readout(it):
        body.append(("all", row.text, row.label, *blank))
    caption = f"Each token, with what decided it; the draft is the {_DRAFTS[it.draft]}"
    return Table(caption, HEAD, tuple(body))


def as_file(it: _Shown, setting: Setting) -> str:
    """The run as a file of the kind that docs/data holds, without a word of the text."""
    import datetime
    import platform

    import numpy as np

    found = it.race
    assert found is not None
    by = "kernel" if found.by_kernel else "numpy"
    name = f"{by}-{setting.draft}-g{number(setting.gamma)}"
    measured: list[tuple[str, str, str, float | None]] = [
        ("speedup", "speed-up on the wall clock", "×", found.speedup),
        ("formula", "speed-up by the formula, with this run's accept rate and costs", "×", it.formula),
        ("plain", "plain decoding", "tokens/s", found.plain.rate),
        ("fast", "speculative decoding", "tokens/s", found.speculative.rate),
        ("pass", "plain pass of the target", "ms", found.plain.one_pass_ms),
        ("verify", "verifying pass of the target", "ms", found.speculative.one_pass_ms),
        ("draft", "one draft step", "ms", found.speculative.one_draft_ms),
        ("rest", "drawing and bookkeeping in a round", "ms", found.speculative.other_ms / found.speculative.rounds),
    ]
    whole = {
        "version": 1,
        "kind": "measured",
        "suite": "real-pair",
        "title": "Plain and speculative decoding of the real pair, measured in a browser",
        "note": "One race; write the machine's name into provenance as hardware: a browser does not tell it.",
        "provenance": {
            "hardware": None,
            "shared": True,
            "command": "the figure real_pair of this site, switched to Run here",
            "software": {"numpy": np.__version__, "system": platform.platform(), "python": platform.python_version()},
            "date": datetime.date.today().isoformat(),
            "warmup": 1,
            "method": by,
            "draft": setting.draft,
            "gamma": setting.gamma,
            "temperature": setting.temperature,
            "batch": 1,
        },
        "rows": [
            {"id": f"{key}-{name}", "quantity": what, "unit": unit, "value": value, "n": 1, **_counts(it, key)}
            for key, what, unit, value in measured
            if value is not None
        ],
    }
    return json.dumps(whole, indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def _counts(it: _Shown, key: str) -> dict[str, Any]:
    """What the wall clock's row says of the rounds it was measured over."""
    if key != "speedup":
        return {}
    counts = {"rounds": len(it.rounds), "drafted": it.drafted, "accepted": it.kept, "emitted": it.tokens}
    return {**counts, "tokens_per_pass": it.tau}
