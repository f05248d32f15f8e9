"""SGLang: scheduler lines, `meta_info` of a response, the JSON Lines file of its benchmark, server info.

Why it exists: until April 2026 SGLang printed an accept rate that counts the extra token on both sides,
(accepted + rounds) / (rounds * (k + 1)), so that nothing accepted shows as 1 / (k + 1); since then accepted / proposed
(https://github.com/sgl-project/sglang/pull/23530). The line does not say which, so the numbers of the whole text are
asked: a rule stays possible while one whole draft length k explains every line.

It must not know: other engines, and what a serving benchmark says besides acceptance (vllm.serving reads that).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from sim.logs.checks import fraction, real, run, whole
from sim.logs.record import Measured, Refused, Sink
from sim.logs.vllm import serving
from sim.metrics import survival_from_histogram

__all__ = ["COUNTS", "RateRule", "bench_result", "gauge", "meta_info", "scheduler", "server_info"]

_NUM = r"([-+]?(?:[\d.]+(?:[eE][-+]?\d+)?|nan|inf))"
_LINE = re.compile(rf"Decode batch[.,] .*?accept len: {_NUM}, accept rate: {_NUM}(?:,|\s*$)")
_SPEED = re.compile(rf"gen throughput \(token/s\): {_NUM}")
_RUNNING = re.compile(r"#running-req: (\d+)")
_COMMON = re.compile(
    r"#running-req: (\d{1,9}), .*?accept len: (\d{1,4}\.\d\d), accept rate: ([01]\.\d\d), "
    r"(?:.*?gen throughput \(token/s\): (\d{1,9}\.\d\d))?"
)
_DEPTH = re.compile(r"speculative[_-]num[_-]draft[_-]tokens['\"]?[=: ]+(\d{1,4})\b")
LONGEST = 256
"""No engine drafts more tokens a round; a rate that needs more speaks against its rule."""


class RateRule:
    """Which of the two rates a text prints: the draft lengths that each rule still allows, as a range."""

    def __init__(self) -> None:
        self.old = (1.0, float(LONGEST))
        self.new = (1.0, float(LONGEST))
        self.seen = 0

    def look(self, length: float, rate: float) -> None:
        """One line, both values rounded to two decimals."""
        self.seen += 1
        low, high = max(rate - 0.005, 0.0), rate + 0.005
        most = (length + 0.005) / low - 1 if low > 0 else math.inf
        self.old = max(self.old[0], (length - 0.005) / high - 1), min(self.old[1], most)
        most = (length - 1 + 0.005) / low if low > 0 else math.inf
        self.new = max(self.new[0], (length - 1 - 0.005) / high), min(self.new[1], most)

    def settings(self, text: str) -> None:
        """The server's own settings: num_draft_tokens counts the current token too."""
        if found := _DEPTH.search(text):
            depth = int(found[1]) - 1
            if depth >= 1:
                self.old = max(self.old[0], depth), min(self.old[1], depth)
                self.new = max(self.new[0], depth), min(self.new[1], depth)

    def depth(self, which: tuple[float, float]) -> int | None:
        """The only whole draft length a rule allows; 0 when it allows none; None when there are several."""
        first, last = math.ceil(which[0] - 1e-9), math.floor(which[1] + 1e-9)
        return first if first == last else 0 if first > last else None

    def close(self, sink: Sink) -> None:
        """Turn the rates of all listed lines into accepted / drafted, or leave them unknown and say why."""
        if not self.seen:
            return
        old, new = self.depth(self.old), self.depth(self.new)
        if old != 0 and new != 0:
            sink.problem(
                0,
                "ambiguous",
                "accept rate: these lines fit accepted / proposed (SGLang since 2026-04) and also "
                "the older (accepted + rounds) / (rounds * (k + 1)); the rate is left unknown",
            )
        elif old == 0 and new == 0:
            sink.problem(
                0,
                "ambiguous",
                "accept rate: no single draft length explains these lines under either rule of "
                "SGLang; the rate is left unknown",
            )
        elif old != 0:
            sink.problem(
                0,
                "biased",
                "accept rate: printed by SGLang before 2026-04, which counts the extra token on both "
                + (f"sides; converted with k = {old}" if old else "sides; k is not certain, the rate is left unknown"),
            )
        for place, one in enumerate(sink.runs):
            if "printed_accept_rate" not in one.extra or one.length is None:
                continue
            rate = None
            if new != 0 and old == 0:
                rate = one.extra["printed_accept_rate"]
            elif old and new == 0:
                rate = min(1.0, max(0.0, (one.length - 1) / old))
            sink.runs[place] = replace(one, rate=rate)
        for part in sink.sums.values():
            if part.count == 1 and part.last is not None and "printed_accept_rate" in part.last.extra:
                part.last = next((one for one in sink.runs if one.line == part.last.line), part.last)


def scheduler(sink: Sink, rule: RateRule, line: int, text: str) -> None:
    """A `Decode batch` line with the two accept fields; it carries means of one interval and no counts."""
    common = _COMMON.search(text)
    if common and "Decode batch" in text:
        running, size, share, speed = common.groups()
        length, rate = float(size), float(share)
        if length >= 1 and rate <= 1:
            rule.look(length, rate)
            if sink.counted("sglang", "interval", None, None, None, None):
                return
            known: dict[str, Any] = {"printed_accept_rate": rate, "running_requests": int(running)}
            if speed is not None:
                known["tokens_per_second"] = float(speed)
            one = Measured(length=length, scope="interval", counts_bonus=True, extra=MappingProxyType(known), line=line)
            sink.add(one, "interval", "sglang")
            return
    found = _LINE.search(text)
    if not found:
        raise Refused("unknown-shape", "a line with 'accept len' of a shape that is not known; nothing is read from it")
    length, rate = real("accept len", found[1]), fraction("accept rate", found[2])
    extra: dict[str, Any] = {"printed_accept_rate": rate}
    if shown := _SPEED.search(text):
        extra["tokens_per_second"] = real("gen throughput", shown[1])
    if shown := _RUNNING.search(text):
        extra["running_requests"] = whole("running requests", shown[1])
    if length < 1 - 0.005:
        raise Refused("impossible", f"accept len {length:g}: a round emits at least 1 token")
    rule.look(length, rate)
    run(sink, line, "interval", "sglang", length=length, scope="interval", bonus=True, extra=extra)


def gauge(sink: Sink, line: int, name: str, value: float) -> None:
    """`sglang:spec_accept_length`, `sglang:spec_accept_rate`: the server's latest means."""
    if name == "spec_accept_length":
        run(sink, line, "gauge", "sglang", length=value, scope="interval", bonus=True)
    elif name == "spec_accept_rate":
        share = fraction(name, value)
        sink.problem(
            line, "ambiguous", "sglang:spec_accept_rate does not say by which rule it counts; it is left unknown"
        )
        sink.add(Measured(scope="interval", extra={"printed_accept_rate": share}, line=line), "gauge", "sglang")


_ACCEPTED = ("spec_num_correct_drafts", "spec_accepted_drafts", "spec_accept_token_num")
_DRAFTED = ("spec_num_proposed_drafts", "spec_proposed_drafts", "spec_draft_token_num")
COUNTS = _ACCEPTED + _DRAFTED
_HISTOGRAM = ("spec_correct_drafts_histogram", "spec_accept_histogram")


def meta_info(sink: Sink, line: int, one: Mapping[str, Any], completion: object = None) -> None:
    """`meta_info` of /generate or `spec_tokens_details`, in all three generations of key names.

    completion tokens = rounds + accepted, or one more (the token of the prefill); a larger gap is a problem.
    """
    accepted, drafted = (_first(one, keys) for keys in (_ACCEPTED, _DRAFTED))
    rounds = None if one.get("spec_verify_ct") is None else whole("spec_verify_ct", one["spec_verify_ct"])
    total = one.get("completion_tokens", completion)
    tokens = None if total is None else whole("completion_tokens", total)
    extra: dict[str, Any] = {} if tokens is None else {"completion_tokens": tokens}
    if "e2e_latency" in one and one["e2e_latency"] is not None:
        extra["e2e_latency_s"] = real("e2e_latency", one["e2e_latency"])
    printed = one.get("spec_accept_length")
    length = None if printed is None else real("spec_accept_length", printed)
    if length is not None:
        extra["printed_accept_length"] = length
    if rounds == 0:
        drafted = 0 if drafted is None else drafted
    emitted = None
    if rounds and accepted is not None:
        if tokens is not None:
            gap = tokens - rounds - accepted
            if gap in (0, 1):
                emitted = rounds + accepted
            else:
                sink.problem(
                    line,
                    "inconsistent",
                    f"{tokens} completion tokens from {rounds} rounds and {accepted} accepted "
                    f"drafts: {rounds + accepted} or one more were expected",
                )
        length = None  # completion / verify counts the prefill's token too; the counts are exact
    elif rounds and tokens is not None and length is None:
        length = tokens / rounds
    histogram = next((one[key] for key in _HISTOGRAM if isinstance(one.get(key), list) and one[key]), None)
    places = None
    if histogram:
        counts = [whole("histogram", item) for item in histogram]
        held = sum(place * count for place, count in enumerate(counts))
        if (rounds is not None and sum(counts) != rounds) or (accepted is not None and held != accepted):
            sink.problem(
                line,
                "inconsistent",
                f"the histogram holds {sum(counts)} rounds and {held} accepted drafts, "
                f"{rounds} and {accepted} are stated",
            )
        elif sum(counts):
            places = survival_from_histogram(counts)
    rate = one.get("spec_accept_rate")
    run(
        sink,
        line,
        "request",
        "sglang",
        rounds=rounds,
        drafted=drafted,
        accepted=accepted,
        emitted=emitted,
        rate=fraction("spec_accept_rate", rate) if rate is not None and drafted and accepted is not None else None,
        length=length,
        per_position=places,
        bonus=True,
        extra=extra,
        estimated=("length",) if rounds and accepted is None and printed is None and length is not None else (),
    )


def bench_result(sink: Sink, line: int, one: Mapping[str, Any]) -> None:
    """One line of the benchmark's JSON Lines file: a length of the server's whole life, no rate and no counts."""
    printed = one.get("accept_length")
    length = None if printed is None else real("accept_length", printed)
    if length is None:
        sink.problem(line, "missing", "accept_length is missing or null: nothing about acceptance in this run")
    run(
        sink,
        line,
        "bench",
        "sglang",
        length=length,
        scope="lifetime",
        bonus=True if length is not None else None,
        extra=serving(sink, line, one, length is not None),
    )


def server_info(sink: Sink, line: int, states: list[Any]) -> None:
    """`internal_states[n].avg_spec_accept_length` of /get_server_info: one entry a scheduler, server's whole life."""
    for place, state in enumerate(states):
        if isinstance(state, dict) and state.get("avg_spec_accept_length") is not None:
            run(
                sink,
                line,
                "gauge",
                "sglang",
                engine=str(place),
                scope="lifetime",
                bonus=True,
                length=real("avg_spec_accept_length", state["avg_spec_accept_length"]),
            )


def _first(one: Mapping[str, Any], keys: tuple[str, ...]) -> int | None:
    return next((whole(key, one[key]) for key in keys if one.get(key) is not None), None)
