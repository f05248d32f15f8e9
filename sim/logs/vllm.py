"""vLLM: the V0 line, the five V1 lines, the offline example script, per-request objects, `vllm bench serve` JSON.

Why it exists: the same engine printed its acceptance in seven ways within two years, as fraction and as percent, with
and without the bonus token. Shapes and dates: https://github.com/vllm-project/vllm/pull/15902, /16665, /17908, /24127;
the V0 line: https://github.com/vllm-project/vllm/issues/7301.

It must not know: other engines, the console of the serving benchmark (console.py), counters (prometheus.py).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from sim.logs.checks import fraction, real, run, whole
from sim.logs.record import Measured, Refused, Sink
from sim.metrics import survival_from_histogram

__all__ = ["bench_result", "offline", "offline_line", "request_metrics", "serving", "v0_or_early", "v1"]

_NUM = r"([-+]?(?:[\d.]+(?:[eE][-+]?\d+)?|nan|inf))"
_LIST = r"([-+\d.naif, ]+)"
_TAIL = r",?\s*$"

_V0 = re.compile(
    rf"Speculative metrics: Draft acceptance rate: {_NUM}, System efficiency: {_NUM}, Number of speculative tokens: "
    rf"{_NUM}, Number of accepted tokens: {_NUM}, Number of draft tokens: {_NUM}, "
    rf"Number of emitted tokens: {_NUM}\.?{_TAIL}"
)
_A = re.compile(
    rf"Speculative metrics: Draft acceptance rate: {_NUM}, Number of accepted tokens: {_NUM}, "
    rf"Number of draft tokens: {_NUM}{_TAIL}"
)
_B = re.compile(
    rf"SpecDecoding metrics: Draft acceptance rate: {_NUM}%, Accepted: {_NUM} tokens, Drafted: {_NUM} tokens{_TAIL}"
)
_C_D = re.compile(
    rf"SpecDecoding metrics: Draft acceptance rate: {_NUM}%, Mean acceptance length: {_NUM}, "
    rf"(?:Accepted throughput: {_NUM} tokens/s, Drafted throughput: {_NUM} tokens/s, )?"
    rf"Accepted: {_NUM} tokens, Drafted: {_NUM} tokens, Per-position acceptance rate: {_LIST}\s*$"
)
_E = re.compile(
    rf"SpecDecoding metrics: Mean acceptance length: {_NUM}, Accepted throughput: {_NUM} tokens/s, "
    rf"Drafted throughput: {_NUM} tokens/s, Accepted: {_NUM} tokens, Drafted: {_NUM} tokens, "
    rf"Per-position acceptance rate: {_LIST}, Avg Draft acceptance rate: {_NUM}%{_TAIL}"
)
_COMMON = re.compile(
    r"Mean acceptance length: (\d{1,4}\.\d\d), Accepted throughput: (\d{1,9}\.\d\d) tokens/s, "
    r"Drafted throughput: (\d{1,9}\.\d\d) tokens/s, Accepted: (\d{1,12}) tokens, Drafted: (\d{1,12}) tokens, "
    r"Per-position acceptance rate: ((?:[01]\.\d{3}, )*[01]\.\d{3}), Avg Draft acceptance rate: (\d{1,3}\.\d)%\s*$"
)
_ENGINE = re.compile(r"Engine (\d+): SpecDecoding")


def v1(sink: Sink, line: int, text: str) -> None:
    """Shapes b to e; each line covers one interval. Refused for any other line with the marker."""
    if _sound(sink, line, text):
        return
    found = _E.search(text)
    if found:
        length, fast, drafting, accepted, drafted, places, rate = found.groups()
    elif found := _C_D.search(text):
        rate, length, fast, drafting, accepted, drafted, places = found.groups()
    elif found := _B.search(text):
        rate, accepted, drafted = found.groups()
        length = fast = drafting = places = None
    else:
        raise Refused("unknown-shape", "a SpecDecoding line of a shape that is not known; nothing is read from it")
    engine = _ENGINE.search(text) if "Engine " in text else None
    tokens = whole("drafted", drafted)
    label = engine[1] if engine else None
    if tokens == 0:  # the engine then prints nan, which is no fault
        run(
            sink,
            line,
            "interval",
            "vllm",
            engine=label,
            drafted=0,
            accepted=whole("accepted", accepted),
            scope="interval",
        )
        return
    extra = {}
    if fast is not None:
        extra = {
            "accepted_tokens_per_second": real("accepted throughput", fast),
            "drafted_tokens_per_second": real("drafted throughput", drafting),
        }
    run(
        sink,
        line,
        "interval",
        "vllm",
        engine=label,
        drafted=tokens,
        accepted=whole("accepted", accepted),
        rate=fraction("draft acceptance rate", rate, percent=True),
        length=None if length is None else real("length", length),
        per_position=None if places is None else [real("position", item) for item in places.split(",")],
        depth=None if places is None else places.count(",") + 1,
        scope="interval",
        extra=extra,
    )


def _sound(sink: Sink, line: int, text: str) -> bool:
    """Shape e where all its numbers agree and the draft length was constant, the case of nearly every line.

    Only here for speed: it accepts nothing that the general way would not read to the same values; False hands over.
    """
    found = _COMMON.search(text)
    if not found:
        return False
    length, fast, drafting, kept, proposed, listed, percent = found.groups()
    places = tuple(map(float, listed.split(", ")))
    accepted, drafted = int(kept), int(proposed)
    rounds, rest = divmod(drafted, len(places))
    if rest or not 0 < accepted <= drafted:
        return False
    mean, rate = accepted / rounds, accepted / drafted
    if (
        abs(1 + mean - float(length)) > 5e-3
        or abs(rate - float(percent) / 100) > 5e-4
        or abs(mean - math.fsum(places)) > 5e-4 * len(places)
        or list(places) != sorted(places, reverse=True)
        or places[0] > 1
    ):
        return False
    if sink.counted("vllm", "interval", drafted, accepted, rounds, places):
        return True
    engine = _ENGINE.search(text) if "Engine " in text else None
    extra = {"accepted_tokens_per_second": float(fast), "drafted_tokens_per_second": float(drafting)}
    one = Measured(
        engine[1] if engine else None, rounds, drafted, accepted, None, rate, 1 + mean, places, "interval", True,
        "prefix", (), MappingProxyType(extra), line,
    )  # fmt: skip
    sink.add(one, "interval", "vllm")
    return True


def v0_or_early(sink: Sink, line: int, text: str) -> None:
    """The V0 line (counters since the server started) and V1 shape a (one interval), which share their marker."""
    if found := _V0.search(text):
        rate, efficiency, depth, accepted, drafted, emitted = found.groups()
        deep, tokens, out = (
            whole("speculative tokens", depth),
            whole("draft tokens", drafted),
            whole("emitted tokens", emitted),
        )
        if tokens == 0:
            run(sink, line, "lifetime", "vllm", drafted=0, accepted=whole("accepted", accepted), scope="lifetime")
            return
        rounds = tokens // deep if deep and tokens % deep == 0 else None
        if rounds and out > rounds * (deep + 1):
            raise Refused("impossible", f"{out} tokens emitted in {rounds} rounds of at most {deep + 1}")
        run(
            sink,
            line,
            "lifetime",
            "vllm",
            rounds=rounds,
            drafted=tokens,
            accepted=whole("accepted tokens", accepted),
            emitted=out,
            rate=fraction("draft acceptance rate", rate),
            length=out / rounds if rounds else None,
            depth=deep or None,
            scope="lifetime",
            independent=True,
            extra={"system_efficiency": fraction("system efficiency", efficiency), "depth": deep},
        )
    elif found := _A.search(text):
        rate, accepted, drafted = found.groups()
        tokens = whole("draft tokens", drafted)
        run(
            sink,
            line,
            "interval",
            "vllm",
            drafted=tokens,
            accepted=whole("accepted tokens", accepted),
            rate=fraction("draft acceptance rate", rate) if tokens else None,
            scope="interval",
        )
    else:
        raise Refused(
            "unknown-shape", "a 'Speculative metrics' line of a shape that is not known; nothing is read from it"
        )


def request_metrics(sink: Sink, line: int, one: Mapping[str, Any]) -> None:
    """`metrics.speculative_decoding` of one response; the histogram counts rounds by drafts kept."""
    drafted, accepted, rounds = (
        _count(one, key) for key in ("num_draft_tokens", "num_accepted_draft_tokens", "num_spec_steps")
    )
    histogram = one.get("acceptance_histogram")
    places = None
    if isinstance(histogram, list) and histogram:
        counts = [whole("acceptance_histogram", item) for item in histogram]
        if rounds is not None and sum(counts) != rounds:
            sink.problem(line, "inconsistent", f"the histogram holds {sum(counts)} rounds, {rounds} are stated")
        elif rounds:
            places = survival_from_histogram(counts)
    run(
        sink,
        line,
        "request",
        "vllm",
        rounds=rounds,
        drafted=drafted,
        accepted=accepted,
        rate=_maybe(one, "draft_acceptance_rate", fraction) if drafted else None,
        rate_slack=5e-5,
        length=_maybe(one, "mean_acceptance_length", real) if drafted else None,
        length_slack=5e-5,
        per_position=places,
        depth=_count(one, "num_spec_tokens") or None,
        bonus=True,
    )


def bench_result(sink: Sink, line: int, one: Mapping[str, Any]) -> None:
    """The object of `vllm bench serve --save-result`. Without drafts its six spec_decode_ keys are missing."""
    drafted, accepted, rounds = (
        _count(one, f"spec_decode_{key}") for key in ("draft_tokens", "accepted_tokens", "num_drafts")
    )
    speculative = any(key.startswith("spec_decode_") for key in one)
    if not speculative:
        sink.problem(line, "missing", "no spec_decode_ keys: nothing was drafted, or this version does not write them")
    places = one.get("spec_decode_per_position_acceptance_rates")
    shares = [real("per-position rate", item) for item in places] if isinstance(places, list) and places else None
    rate = one.get("spec_decode_acceptance_rate")
    run(
        sink,
        line,
        "bench",
        "vllm",
        rounds=rounds,
        drafted=drafted,
        accepted=accepted,
        rate=None if rate is None or drafted == 0 else fraction("spec_decode_acceptance_rate", rate, percent=True),
        length=_maybe(one, "spec_decode_acceptance_length", real) if drafted != 0 else None,
        per_position=shares,
        bonus=True if "spec_decode_acceptance_length" in one else None,
        extra=serving(sink, line, one, speculative),
    )


_KEPT = (
    "backend",
    "model_id",
    "dataset_name",
    "date",
    "max_concurrency",
    "request_rate",
    "num_prompts",
    "duration",
    "completed",
    "failed",
    "total_input_tokens",
    "total_output_tokens",
    "mean_ttft_ms",
    "median_ttft_ms",
    "mean_tpot_ms",
    "median_tpot_ms",
    "p99_tpot_ms",
    "mean_itl_ms",
    "concurrency",
    "random_input_len",
    "random_output_len",
    "sharegpt_output_len",
    "request_throughput",
    "total_token_throughput",
)


def serving(sink: Sink, line: int, one: Mapping[str, Any], speculative: bool) -> dict[str, Any]:
    """What a serving benchmark states besides acceptance, named by what it means.

    Output throughput spans prefill, so it is output tokens per wall second; decode speed comes from TPOT. The peak is
    left out of speculative runs: it counts chunks, and a chunk then holds several tokens.
    """
    kept = {key: one[key] for key in _KEPT if isinstance(one.get(key), str | int | float) and one[key] != ""}
    if kept.get("request_rate") in ("inf", "Infinity"):
        kept["request_rate"] = "unbounded"
    for key, value in list(kept.items()):
        if key.endswith(("_ms", "throughput")) or key in ("duration", "concurrency"):
            kept[key] = real(key, value)
            if kept[key] < 0:
                raise Refused("impossible", f"{key} is {value}, below 0")
        elif key.startswith("total_") or key in ("completed", "failed", "num_prompts"):
            kept[key] = whole(key, value)
    if "output_throughput" in one:
        kept["output_tokens_per_wall_second"] = real("output_throughput", one["output_throughput"])
    if kept.get("mean_tpot_ms", 0) > 1e-6:
        kept["decode_tokens_per_second"] = 1000 / kept["mean_tpot_ms"]
    peak = one.get("max_output_tokens_per_s")
    if peak is not None:
        top, mean = real("max_output_tokens_per_s", peak), kept.get("output_tokens_per_wall_second", 0.0)
        if top < mean:
            sink.problem(
                line,
                "inconsistent",
                f"the peak {top:g} tokens/s is below the mean {mean:g}: this peak counts "
                "chunks, not tokens, and is left out",
            )
        elif not speculative:
            kept["peak_output_tokens_per_second"] = top
    return kept


_POSITION = re.compile(r"acceptance at token (\d+):\s*(\S+)")
OFFLINE = ("total_num_output_tokens", "num_drafts", "num_draft_tokens", "num_accepted_tokens", "mean acceptance length")


def offline(sink: Sink, line: int, values: Mapping[str, str], positions: Mapping[int, str]) -> None:
    """The block printed by the offline example script; its positions count from 0.

    A block whose positions begin at 1 is shifted; one that has both a token 0 of 1.00 and a sum one too large counts
    rounds as token 0, which is dropped.
    """
    shares = [fraction(f"acceptance at token {key}", positions[key]) for key in sorted(positions)]
    length = (
        real("mean acceptance length", values["mean acceptance length"]) if "mean acceptance length" in values else None
    )
    first = min(positions, default=0)
    if sorted(positions) != list(range(first, first + len(positions))) or first > 1:
        sink.problem(line, "inconsistent", "the positions are not numbered in a row: they are left out")
        shares = []
    elif first == 1:
        sink.problem(line, "inconsistent", "positions are numbered from 1 here; they are stored from 0")
    elif shares and shares[0] == 1 and length is not None:
        if abs(math.fsum(shares) - length) <= 5e-3 * (1 + len(shares)):
            shares = shares[1:]
    drafted = _count(values, "num_draft_tokens")
    run(
        sink,
        line,
        "bench",
        "vllm",
        rounds=_count(values, "num_drafts"),
        drafted=drafted,
        accepted=_count(values, "num_accepted_tokens"),
        length=length if drafted != 0 else None,
        per_position=shares or None,
        position_slack=5e-3,
        extra={"output_tokens": whole("total_num_output_tokens", values["total_num_output_tokens"])}
        if "total_num_output_tokens" in values
        else None,
    )


def offline_line(text: str) -> tuple[str, str] | tuple[int, str] | None:
    """One line of that block as (label, value), or None."""
    if found := _POSITION.search(text):
        return int(found[1][:9]), found[2]
    for label in OFFLINE:
        before, mark, after = text.partition(label + ":")
        if mark and (not before or not (before[-1].isalnum() or before[-1] == "_")) and after.strip():
            return label, after.split()[0]
    return None


def _count(one: Mapping[str, Any], key: str) -> int | None:
    return None if one.get(key) is None else whole(key, one[key])


def _maybe(one: Mapping[str, Any], key: str, read: Any) -> float | None:
    return None if one.get(key) is None else read(key, one[key])
