"""When it loses: use it, do not use it, or measure first, for a deployment the reader describes.

The answer is the interval of the speed-up under the stated errors (`sim.decide`); the pictures show where along the
batch it turns, what each reader and the card as a whole get, and what is left in memory. Published results are drawn as
published, only where model and drafter are the same. (Over 400 lines: three pictures that no other widget has.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sim import (
    DRAFTERS,
    ENGINES,
    HARDWARE,
    MODELS,
    Decision,
    RequestTime,
    Setting,
    alpha_from_tokens,
    break_even_batch,
    cost_per_million,
    decide,
    draft_model,
    request_time,
    round_at,
    time_quantile,
)
from widgets._kit.chart import Axis, Curve, Level, Mark, Note, Now, Points, Wall, linear, logarithmic, plot
from widgets._kit.lanes import Lane, Segment, lanes
from widgets._kit.params import Choice, Slider
from widgets._kit.text import brief, count, number, percent, ratio, times
from widgets._kit.view import Link, Row, Table, Verdict, View

TITLE = "Use it, leave it, or measure first"

_BATCHES = (1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
_SWEEP = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
_LENGTHS = (32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768)
_TARGETS = ("8b", "70b", "mixtral-8x7b", "qwen3-30b-a3b", "gpt-oss-20b")
_CARDS = {"1": "1 card", "2": "2 cards", "4": "4 cards", "8": "8 cards"}
_FORMATS = {"bf16": "16 bits (bf16)", "int8": "8 bits", "int4": "4 bits"}

PARAMS = {
    "batch": Slider("Batch", 1, 512, 1, 16, stops=_BATCHES, help="Sequences decoded at a time."),
    "alpha": Slider("Accept rate", 0, 1, 0.01, 0.62, help="Measured on your own traffic, if you can."),
    "doubt": Slider("Give or take", 0, 0.3, 0.01, 0.05, help="How far the accept rate may be from the truth."),
    "gamma": Slider("Draft length", 1, 8, 1, 3, unit="tokens", one="token"),
    "drafter": Choice("Drafts from", {key: item.title for key, item in DRAFTERS.items()}, "eagle"),
    "model": Choice("Target", {key: MODELS[key].title for key in _TARGETS}, "8b"),
    "weights": Choice("Weight format", _FORMATS, "bf16"),
    "hardware": Choice("Hardware", {key: card.title for key, card in HARDWARE.items()}, "h100-sxm"),
    "devices": Choice("Cards", _CARDS, "1"),
    "engine": Choice("Engine", {key: item.title for key, item in ENGINES.items()}, "vllm-2025"),
    "prompt": Slider("Prompt", 32, 32768, 1, 512, stops=_LENGTHS, unit="tokens"),
    "output": Slider("Answer", 32, 8192, 1, 256, stops=_LENGTHS[:9], unit="tokens"),
    "price": Slider("Price", 0.1, 15, 0.1, 2.5, help="One card for one hour, in your currency."),
}
NEEDS: tuple[str, ...] = ()
DATA = ("published",)
SOURCE = (
    "Computed: passes as memory plus arithmetic, with constants fitted to https://arxiv.org/abs/2601.11580 (tuned)"
    " and to published points of early engines. Left out: traffic between cards, queueing, other readers’ prompts."
    " Open shapes: published results; where only a request rate was published, the batch is our estimate."
)


@dataclass(frozen=True)
class _Seen:
    """A published result and the deployment it was printed for; `batch` is ours where only a request rate is given.

    Where the source names no card or no engine that this figure offers, they stay "": such a result may be the nearest
    one that is known, and is never drawn as if it belonged to the deployment shown.
    """

    row: str
    drafter: str
    model: str
    batch: int
    hardware: str = ""
    engine: str = ""
    cards: int = 1


_SGLANG = (2, 4, 8, 16, 24, 32, 48, 56, 64)
_VLLM = (1, 16, 64, 128)
_SEEN = (
    *(_Seen(f"sdbench-fig1-sharegpt-bs{b}-eagle", "eagle", "8b", b, "h100-sxm", "vllm-2025") for b in _VLLM),
    *(_Seen(f"sdbench-fig1-sharegpt-bs{b}-n-gram", "ngram", "8b", b, "h100-sxm", "vllm-2025") for b in _VLLM),
    *(_Seen(f"eagle3-sglang-bs{b}-eagle", "eagle", "8b", b, "h100-sxm", "sglang-2025") for b in _SGLANG),
    _Seen("sdbench-eagle-70b-bs1", "eagle", "70b", 1, "h100-sxm", "vllm-2025", 4),
    _Seen("vllm-2024-sharegpt-qps1", "model", "70b", 2, "h100-sxm", "vllm-2024", 4),
    _Seen("vllm-2024-sharegpt-qps10", "model", "70b", 48, "h100-sxm", "vllm-2024", 4),
    _Seen("vllm-2024-cnndm-qps1", "ngram", "70b", 2, "h100-sxm", "vllm-2024", 4),
    _Seen("vllm-2024-cnndm-qps8", "ngram", "70b", 86, "h100-sxm", "vllm-2024", 4),
    _Seen("peagle-speedbench-eagle3", "eagle", "gpt-oss-20b", 1, "b200", "vllm-2025"),
    _Seen("sdbench-qwen3-eagle3-tree21", "tree", "8b", 1, "h100-sxm"),  # another 8B, in SGLang 0.5.9
    _Seen("specbundle-llama-3-3-70b-instruct-mtbench", "eagle", "70b", 8),
    _Seen("eagle1-mixtral-87-mt-bench-t0", "eagle", "mixtral-8x7b", 1),
    _Seen("specbundle-qwen3-30b-a3b-instruct-2507-mtbench", "eagle", "qwen3-30b-a3b", 8),
)


@dataclass(frozen=True)
class _Point:
    """One batch: speed-up, and tokens a second without and with drafts, for a reader and for a card."""

    batch: int
    speedup: float
    user: float
    user_plain: float
    device: float
    device_plain: float


def view(
    *,
    data: Mapping[str, Any],
    batch: int,
    alpha: float,
    doubt: float,
    gamma: int,
    drafter: str,
    model: str,
    weights: str,
    hardware: str,
    devices: str,
    engine: str,
    prompt: int,
    output: int,
    price: float,
) -> View:
    """One state of the figure."""
    cards = int(devices)
    setting = Setting(
        model, hardware, drafter, gamma, alpha, doubt, batch, prompt + output // 2, engine, weights, cards
    )
    found = decide(setting)
    sweep = [_point(setting, size, found.tokens) for size in _SWEEP]
    edge = break_even_batch(setting, known={point.batch: point.speedup for point in sweep})
    now = _point(setting, batch, found.tokens)
    whole = request_time(
        model, hardware, prompt, output, 1e3 / now.user_plain, 1e3 / now.user,
        engine=engine, weights=weights, devices=cards,
    )  # fmt: skip
    plain_cost = cost_per_million(price, cards, batch, whole.plain_ms, output)
    cost = cost_per_million(price, cards, batch, whole.speculative_ms, output)
    tail = time_quantile(alpha_from_tokens(found.tokens, gamma), gamma, found.round.round_ms)
    seen, book = _nearest(setting), found.ledger
    row = data["published"].rows[seen.row]
    return View(
        summary=_summary(setting, found, whole, _turn_words(edge, sweep)),
        readout=(
            Row("speedup", "speed-up of writing", found.mid, "", times(found.mid, 2)),
            Row("interval", "may lie between", f"{number(found.low)} {number(found.high)}", "", _range(found)),
            Row("edge", "first batch at which it loses", edge, "", _edge(edge)),
            Row("best", "best draft length", found.best_gamma, "", _best(found)),
            Row("request", "speed-up of a whole request", whole.gain, "", times(whole.gain, 2)),
            Row("decode", "of a request is writing", whole.decode_share, "", percent(whole.decode_share)),
            Row("user", "a second for one reader", now.user, "tokens", ratio(now.user)),
            Row("device", "a second from one card", now.device, "tokens", ratio(now.device)),
            Row("cost", f"per million tokens; plain {ratio(plain_cost)}", cost, "", ratio(cost)),
            Row("tail", "for 100 tokens, in 95 of 100 cases", tail / 1e3, "s", ratio(tail / 1e3)),
            Row("most", f"sequences fit; {_whole(book.most_plain)} without", book.most, "", _whole(book.most)),
        ),
        svg=_turn(setting, found, sweep, edge, data["published"].rows) + _shares(sweep, now) + _memory(setting, found),
        table=_table(sweep, now, found, whole),
        verdict=_verdict(setting, found, whole),
        title=_title(setting, found),
        note=_note(seen, row, found),
        links=(
            Link(
                "Put your own log beside it: take these costs along",
                "labs/diagnose/",
                "diagnose",
                (("c", _stop(found.round.c, 0.01, 0.5)), ("verify", _stop(found.round.verify, 0.05, 4.0))),
            ),
        ),
    )


def _point(setting: Setting, batch: int, tokens: float) -> _Point:
    found = round_at(replace(setting, batch=batch))
    user, plain = 1e3 * tokens / found.round_ms, 1e3 / found.plain_ms
    share = batch / setting.devices
    return _Point(batch, user / plain, user, plain, user * share, plain * share)


def _whole(size: int) -> str:
    return number(size, ",.0f")


def _stop(value: float, step: float, most: float) -> str:
    """The stop of a slider in another figure that is nearest to `value`."""
    return number(min(most, int(value / step + 0.5) * step))


def _nearest(setting: Setting) -> _Seen:
    """The published result most like this deployment: drafter and target first, then engine, card and batch."""

    def away(seen: _Seen) -> float:
        ratio = max(seen.batch, setting.batch) / min(seen.batch, setting.batch)
        unlike = (
            100.0 * (DRAFTERS[seen.drafter].kind != DRAFTERS[setting.drafter].kind),
            40.0 * (seen.drafter != setting.drafter),
            200.0 * (seen.model != setting.model),
            20.0 * (seen.engine != setting.engine),
            5.0 * (seen.hardware != setting.hardware),
        )
        total = ratio
        for part in unlike:
            total += part
        return total

    best = _SEEN[0]
    for seen in _SEEN[1:]:
        if away(seen) < away(best) - 1e-9:
            best = seen
    return best


def _range(found: Decision) -> str:
    return f"{number(found.low, '.2f')}–{times(found.high, 2)}"


def _edge(edge: int | None) -> str:
    return "none to 512" if edge is None else number(edge)


def _turn_words(edge: int | None, sweep: list[_Point]) -> str:
    """Where along the batch it loses. It need not stay so: a mixture's gain first rises with the batch."""
    if edge is None:
        return "no batch up to 512 loses"
    later = next((point.batch for point in sweep if point.batch > edge and point.speedup > 1.0), None)
    if later is not None:
        return f"it loses at batch {number(edge)}, and gains again at {number(later)}"
    return "it loses at any batch" if edge == 1 else f"it loses from batch {number(edge)}"


def _best(found: Decision) -> str:
    return "none" if found.best_gamma == 0 else number(found.best_gamma)


def _title(setting: Setting, found: Decision) -> str:
    size = count(setting.batch, "sequence", "sequences")
    if not found.ledger.fits:
        if found.ledger.most_plain < setting.batch:
            verb = "does" if setting.batch == 1 else "do"
            return f"Do not use it here: even without a drafter {size} {verb} not fit"
        return f"Do not use it here: {size} and a drafter do not fit"
    return f"{_OPENING[found.kind]}: {times(found.mid, 2)} with {size}, {_range(found)} with its error"


def _summary(setting: Setting, found: Decision, whole: RequestTime, turn: str) -> str:
    return (
        f"A round takes {number(found.round.round_ms / found.round.plain_ms, '.2f')} plain passes and yields"
        f" {number(found.tokens, '.2f')} tokens: {times(found.mid, 2)}, or {_range(found)} with the model off by"
        f" {percent(found.model_error, 1)} and the accept rate by {number(setting.alpha_error, '.2f')}. By this model"
        f" {turn}. Over a whole request, reading the prompt included, it is {times(whole.gain, 2)}."
    )


_OPENING = {"use": "Use it", "no": "Do not use it here", "measure": "Measure first"}
_KIND = {"use": "gain", "no": "loss", "measure": "care"}


def _verdict(setting: Setting, found: Decision, whole: RequestTime) -> Verdict:
    """The answer and its reason in one sentence, and what would change it."""
    text = f"{_OPENING[found.kind]}. {_reason(setting, found)}"
    if found.kind == "use" and whole.decode_share < 0.5:
        writing = f"only {percent(whole.decode_share)} of a request is writing"
        text += f" But {writing}, so it gains {times(whole.gain, 2)} in all."
    elif found.kind != "use" and found.cause != "memory" and found.best_gamma not in (0, setting.gamma):
        text += f" A draft length of {number(found.best_gamma)} does better."
    return Verdict(_KIND[found.kind], text)


def _reason(setting: Setting, found: Decision) -> str:
    now = found.round
    tokens = f"{number(found.tokens, '.2f')} tokens"
    cost = number(now.round_ms / now.plain_ms, ".2f")
    if found.cause == "memory":
        need, have = (_gb(size) for size in (found.ledger.capacity - found.ledger.left, found.ledger.capacity))
        return f"Target, drafter and caches need {need} GB, and the memory holds {have} GB."
    scored = number(now.positions * setting.batch, ",d")
    check = f"costs {number(now.verify, '.2f')} plain passes"
    why = {
        "verify": f"checking {scored} positions {check}",
        "experts": f"checking {scored} positions brings in more experts and {check}",
        "draft": f"the drafts alone cost {number(now.draft_ms / now.plain_ms, '.2f')} plain passes",
        "engine": f"this engine spends {ratio(now.extra_ms)} ms a round beside the passes",
        "tokens": "drafting and checking cost little here",
    }[found.cause]
    if found.kind == "no":
        return f"A round yields {tokens} and takes {cost} plain passes, mostly because {why}."
    if found.kind == "use":
        if found.cause == "tokens":
            return f"A round yields {tokens} for {cost} plain passes: {why}."
        return f"A round yields {tokens} for {cost} plain passes, although {why}."
    return f"The interval {_range(found)} spans 1×: a round yields {tokens} for {cost} plain passes, and {why}."


def _gb(size: float) -> str:
    return brief(size / 1e9)


def _note(seen: _Seen, row: Any, found: Decision) -> str:
    """The nearest published result, as published."""
    load = (
        f"{number(row.qps)} requests a second" if row.batch is None and row.qps else f"batch {number(row.batch or 1)}"
    )
    where = ", ".join(part for part in (row.target_model, row.hardware, load) if part)
    return f"Nearest published result: {row.method}, {where}: {times(row.speedup, 2)} ({_origin(row)})."


def _origin(row: Any) -> str:
    """The source without its address, and how the number was read where not in the source itself."""
    text = row.source.split("original")[-1].lstrip(": ") if row.verification == "secondary" else row.source
    text = text.split(" http")[0].split(" (")[0].split(";")[0].rstrip(" ,.")
    how = {"secondary": ", known to us second-hand", "figure": ", read off a figure"}
    return f"{text}{how.get(row.verification, '')}"


def _turn(setting: Setting, found: Decision, sweep: list[_Point], edge: int | None, rows: Mapping[str, Any]) -> str:
    """Speed-up along the batch, with its error as a band, and what others printed for this model and drafter."""
    same = [
        seen for seen in _SEEN
        if (seen.drafter, seen.model, seen.hardware, seen.engine, seen.cards)
        == (setting.drafter, setting.model, setting.hardware, setting.engine, setting.devices)
    ]  # fmt: skip
    printed = tuple((float(seen.batch), rows[seen.row].speedup) for seen in same)
    low, high = found.low / found.mid, found.high / found.mid
    top = max(2.0, found.high, *(point.speedup * high for point in sweep), *(value for _, value in printed))
    curve = tuple((float(point.batch), point.speedup) for point in sweep)
    marks: list[Mark] = [
        Level(1.0, "1×"),
        Curve(tuple((x, y * high) for x, y in curve), "muted", dashed=True),
        Curve(tuple((x, y * low) for x, y in curve), "muted", dashed=True),
        Curve(curve, "target"),
    ]
    if edge is not None and edge > 1:
        marks.insert(0, Wall(float(edge), f"loses at {number(edge)}"))
    marks.append(Note(1.0, top * 0.17, "dashed: with its error", side="right"))
    if printed:
        marks.append(Note(1.0, top * 0.06, "circles: published", side="right"))
        marks.append(Points(printed, "published", "ink"))
    marks.append(Now(float(setting.batch), found.mid, times(found.mid, 2), side="below"))
    return plot(
        f"Speed-up against batch, with its error as dashed lines; now {times(found.mid, 2)} at"
        f" {number(setting.batch)}; published results as open circles: {number(len(printed))}",
        logarithmic(1, 512, "batch, log axis", ticks=(1, 4, 16, 64, 256)),
        linear(top, "speed-up of writing", ticks=4, show=lambda x: number(x) + "×"),
        marks,
        height=280,
    )


def _shares(sweep: list[_Point], now: _Point) -> str:
    """What one reader gets against what a card yields, along the batch, without and with drafts."""
    plain = tuple((point.user_plain, point.device_plain) for point in sweep)
    with_drafts = tuple((point.user, point.device) for point in sweep)
    widest = max(x for x, _ in (*plain, *with_drafts))
    highest = max(y for _, y in (*plain, *with_drafts))
    lowest = min(y for _, y in (*plain, *with_drafts))
    marks: list[Mark] = [
        Curve(plain, "memory", "without", 2, "left", dashed=True),
        Curve(with_drafts, "target", "with drafts", 7),
        Now(now.user_plain, now.device_plain, "", "memory", hollow=True),
        Now(now.user, now.device, ratio(now.device), side="right" if now.user < 0.8 * widest else "left"),
    ]
    return plot(
        f"Tokens a second for one reader against tokens a second from one card, for batches 1 to 512. At batch"
        f" {number(now.batch)}: {ratio(now.user)} and {ratio(now.device)} with drafts, {ratio(now.user_plain)} and"
        f" {ratio(now.device_plain)} without",
        linear(widest, "tokens a second for one reader", ticks=5),
        _decades(lowest, highest, "tokens a second from one card, log axis"),
        marks,
        height=280,
        left=52,
    )


def _decades(low: float, high: float, title: str) -> Axis:
    ticks = tuple(10.0**power for power in range(-1, 7) if low <= 10.0**power <= high)
    return Axis(low, high, ticks, title, log=True, show=lambda x: number(x, ",.0f" if x >= 1 else ""))


def _memory(setting: Setting, found: Decision) -> str:
    book = found.ledger
    parts = (
        (book.weights, "target"),
        (book.cache, "memory"),
        (book.draft_weights + book.draft_cache, "draft"),
    )
    segments, start = [], 0.0
    for size, tone in parts:
        if size > 0:
            segments.append(Segment(start / 1e9, size / 1e9, tone))
        start += size
    room = f"{_gb(book.left)} GB left" if book.fits else f"{_gb(-book.left)} GB too much"
    top = max(book.capacity, start)
    small = draft_model(setting.model, setting.drafter)
    return lanes(
        f"Memory: target {_gb(book.weights)} GB, caches {_gb(book.cache)} GB, drafter {_gb(book.draft_weights)} GB and"
        f" its caches {_gb(book.draft_cache)} GB, of {_gb(book.capacity)} GB",
        linear(top / 1e9, "GB", ticks=4, snug=True),
        (Lane("Memory", tuple(segments), aside=room),),
        wall=(book.capacity / 1e9, "all there is") if not book.fits else None,
        key=(("target", "target"), ("memory", "caches"), ("draft", "drafter" if small else "drafter: nothing")),
    )


def _table(sweep: list[_Point], now: _Point, found: Decision, whole: RequestTime) -> Table:
    points = {point.batch: point for point in (*sweep, now)}
    low, high = found.low / found.mid, found.high / found.mid
    rows = tuple(
        (
            number(point.batch),
            times(point.speedup, 2),
            f"{number(point.speedup * low, '.2f')}–{times(point.speedup * high, 2)}",
            ratio(point.user_plain),
            ratio(point.user),
            ratio(point.device_plain),
            ratio(point.device),
        )
        for _, point in sorted(points.items())
    )
    head = (
        "batch",
        "speed-up",
        "may lie between",
        "tokens/s a reader, plain",
        "with drafts",
        "tokens/s a card, plain",
        "with drafts",
    )
    request = f"whole request {times(whole.gain, 2)}, of which writing {percent(whole.decode_share)}"
    book = found.ledger
    kept = f"target {_gb(book.weights)}, caches {_gb(book.cache)}, drafter {_gb(book.draft_weights + book.draft_cache)}"
    memory = f"memory in GB: {kept}, of {_gb(book.capacity)}"
    return Table(f"The same deployment along the batch; {request}; {memory}", head, rows)
