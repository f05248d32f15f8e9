"""llama.cpp: the block of `llama-speculative`, the lines of `llama-server`, `timings` objects, `llama-bench -o json`.

Why it exists: the block and the timings hold no number of rounds; it follows only if every round ends in one token of
the target (rounds = predicted - accepted), so rounds and length are marked as estimates there. Sources:
https://github.com/ggml-org/llama.cpp/pull/10455, /2926, /24536, /12603, /27676.

It must not know: other engines, counters (prometheus.py).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sim.logs.checks import fraction, real, run, whole
from sim.logs.record import Refused, Sink

__all__ = ["BLOCK", "block", "block_line", "llama_bench", "server", "statistics", "timings"]

BLOCK = ("n_draft", "n_predict", "n_drafted", "n_accept", "accept")
_BLOCK = re.compile(r"\s*(n_draft|n_predict|n_drafted|n_accept|accept)\s*=\s*([-+\w.]+)\s*%?\s*$")
_NUM = r"([-+\w.]+)"
_SERVER = re.compile(
    rf"draft acceptance(?: rate)? = {_NUM} \(\s*{_NUM} accepted /\s*{_NUM} generated\)"
    rf"(?:, mean acceptance length =\s*{_NUM}, acceptance rate per position = \(([^)]*)\))?\s*$"
)
_STATISTICS = re.compile(
    rf"statistics\s+(\S+): #calls\(b,g,a\) =.*?#gen drafts =\s*{_NUM}, #acc drafts =\s*{_NUM}, #gen tokens =\s*{_NUM}, "
    rf"#acc tokens =\s*{_NUM}(?:, #mean acc len =\s*{_NUM}, #acc rate/pos = \(([^)]*)\))?(?:,.*)?$"
)


def block_line(text: str) -> tuple[str, str] | None:
    """`n_drafted = 912` as (name, value), or None."""
    found = _BLOCK.search(text) if "=" in text else None
    return (found[1], found[2]) if found else None


def block(sink: Sink, line: int, values: Mapping[str, str]) -> None:
    """The block at the end of a run. n_draft is the largest draft length, in some builds only the last one."""
    missing = [name for name in ("n_drafted", "n_accept") if name not in values]
    if missing:
        raise Refused("missing", f"a llama.cpp block without {' and '.join(missing)}")
    drafted, accepted = whole("n_drafted", values["n_drafted"]), whole("n_accept", values["n_accept"])
    predicted = whole("n_predict", values["n_predict"]) if "n_predict" in values else None
    rate = fraction("accept", values["accept"], percent=True) if drafted and "accept" in values else None
    extra = {} if "n_draft" not in values else {"n_draft": whole("n_draft", values["n_draft"])}
    _without_rounds(sink, line, "block", drafted, accepted, predicted, extra, rate, 5e-6)


def timings(sink: Sink, line: int, one: Mapping[str, Any]) -> None:
    """`timings` of a response. Its draft keys are missing when no drafter ran: that is unknown, not 0."""
    drafted, accepted, predicted = (
        None if one.get(key) is None else whole(key, one[key]) for key in ("draft_n", "draft_n_accepted", "predicted_n")
    )
    extra = {
        key: real(key, one[key])
        for key in ("prompt_ms", "predicted_ms", "predicted_per_second")
        if one.get(key) is not None
    }
    if drafted is None and accepted is None:
        sink.problem(
            line, "missing", "no draft_n and draft_n_accepted: no drafter ran, or this build does not report it"
        )
    if one.get("draft_rounds") is not None:  # mlx-vlm writes the same object and does count its rounds
        run(
            sink,
            line,
            "request",
            "mlx-vlm",
            rounds=whole("draft_rounds", one["draft_rounds"]),
            drafted=drafted,
            accepted=accepted,
            extra=extra,
        )
        return
    _without_rounds(sink, line, "request", drafted, accepted, predicted, extra, None, 0)


def _without_rounds(
    sink: Sink,
    line: int,
    group: str,
    drafted: int | None,
    accepted: int | None,
    predicted: int | None,
    extra: dict[str, Any],
    rate: float | None,
    slack: float,
) -> None:
    rounds = None
    if predicted is not None:
        extra["predicted_tokens"] = predicted
        if drafted and accepted is not None:
            if accepted > drafted:
                raise Refused("impossible", f"{accepted} tokens accepted of {drafted} drafted")
            if accepted >= predicted:
                raise Refused("impossible", f"{accepted} tokens accepted, but only {predicted} predicted")
            rounds = predicted - accepted
    if rounds is not None:
        sink.problem(
            line,
            "estimate",
            f"rounds are not reported: {rounds} follow if every round ends in one token of the "
            "target; rounds and length are estimates",
        )
    run(
        sink,
        line,
        group,
        "llama.cpp",
        rounds=rounds,
        drafted=drafted,
        accepted=accepted,
        rate=rate,
        rate_slack=slack,
        estimated=("rounds", "length") if rounds is not None else (),
        extra=extra,
    )


def server(sink: Sink, line: int, text: str) -> None:
    """`slot print_timing: ... draft acceptance = ...` of one request."""
    found = _SERVER.search(text)
    if not found:
        raise Refused(
            "unknown-shape", "a 'draft acceptance' line of a shape that is not known; nothing is read from it"
        )
    rate, accepted, drafted, length, places = found.groups()
    tokens = whole("generated", drafted)
    if tokens == 0:
        run(sink, line, "request", "llama.cpp", drafted=0, accepted=whole("accepted", accepted))
        return
    run(
        sink,
        line,
        "request",
        "llama.cpp",
        drafted=tokens,
        accepted=whole("accepted", accepted),
        rate=fraction("draft acceptance", rate),
        rate_slack=5e-6,
        length=None if length is None else real("mean acceptance length", length),
        per_position=_places(places),
    )


def statistics(sink: Sink, line: int, text: str) -> None:
    """`statistics <drafter>: ...`: counters of the drafter since the server started."""
    found = _STATISTICS.search(text)
    if not found:
        raise Refused("unknown-shape", "a 'statistics' line of a shape that is not known; nothing is read from it")
    name, drafts, hit, drafted, accepted, length, places = found.groups()
    tokens = whole("gen tokens", drafted)
    extra = {"drafter": name, "rounds_with_a_hit": whole("acc drafts", hit)}
    rounds = whole("gen drafts", drafts)
    run(
        sink,
        line,
        "lifetime",
        "llama.cpp",
        rounds=rounds,
        drafted=tokens,
        accepted=whole("acc tokens", accepted),
        length=real("mean acc len", length) if length and tokens else None,
        per_position=_places(places) if tokens else None,
        scope="lifetime",
        extra=extra,
    )


def _places(text: str | None) -> list[float] | None:
    if text is None or not text.strip():
        return None
    return [real("position", item.strip()) for item in text.split(",")]


_BENCH = (
    "build_commit",
    "build_number",
    "gpu_info",
    "backends",
    "model_type",
    "model_n_params",
    "n_batch",
    "n_ubatch",
    "n_prompt",
    "n_gen",
    "avg_ts",
    "stddev_ts",
    "test_time",
)


def llama_bench(sink: Sink, line: int, one: Mapping[str, Any]) -> None:
    """One entry of `llama-bench -o json`: plain decoding speed. model_filename is a private path and is dropped."""
    extra = {key: one[key] for key in _BENCH if isinstance(one.get(key), str | int | float)}
    for key in ("avg_ts", "stddev_ts"):
        if key in extra:
            extra[key] = real(key, extra[key])
    run(sink, line, "bench", "llama.cpp", extra=extra)
