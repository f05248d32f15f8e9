"""The result block that a serving benchmark prints: `vllm bench serve` and `sglang.bench_serving` share its shape.

Why it exists: it is what people paste into threads. Labels are padded to 40 columns; the section with the acceptance of
vLLM appears only if draft tokens were counted, the one line of SGLang only if a length is known.

It must not know: how the JSON of the same benchmarks is read, except that both end in the same functions.
"""

from __future__ import annotations

import math
import re
from typing import Any

from sim.logs import sglang, vllm
from sim.logs.record import Sink

__all__ = ["TITLE", "Console"]

TITLE = "Serving Benchmark Result"
LONGEST = 200
"""Lines of one block; whatever comes later belongs to something else."""
_POSITION = re.compile(r"\s*Position (\d{1,4}):\s+(\S+)\s*$")
_LABELS = {
    "Backend": "backend",
    "Traffic request rate": "request_rate",
    "Request rate configured (RPS)": "request_rate",
    "Max request concurrency": "max_concurrency",
    "Maximum request concurrency": "max_concurrency",
    "Successful requests": "completed",
    "Failed requests": "failed",
    "Benchmark duration (s)": "duration",
    "Total input tokens": "total_input_tokens",
    "Total generated tokens": "total_output_tokens",
    "Request throughput (req/s)": "request_throughput",
    "Output token throughput (tok/s)": "output_throughput",
    "Peak output token throughput (tok/s)": "max_output_tokens_per_s",
    "Concurrency": "concurrency",
    "Total token throughput (tok/s)": "total_token_throughput",
    "Total Token throughput (tok/s)": "total_token_throughput",
    "Mean TTFT (ms)": "mean_ttft_ms",
    "Median TTFT (ms)": "median_ttft_ms",
    "Mean TPOT (ms)": "mean_tpot_ms",
    "Median TPOT (ms)": "median_tpot_ms",
    "P99 TPOT (ms)": "p99_tpot_ms",
    "Mean ITL (ms)": "mean_itl_ms",
    "Accept length": "accept_length",
    "Acceptance rate (%)": "spec_decode_acceptance_rate",
    "Acceptance length": "spec_decode_acceptance_length",
    "Drafts": "spec_decode_num_drafts",
    "Draft tokens": "spec_decode_draft_tokens",
    "Accepted tokens": "spec_decode_accepted_tokens",
}
_TEXTS = ("backend", "request_rate", "max_concurrency")


class Console:
    """Collects one block; a title opens it, a line of `=` or the next title closes it."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.lines = 0
        self.values: dict[str, Any] = {}
        self.positions: dict[int, str] = {}

    def feed(self, text: str) -> bool:
        """Take one line; False when the block is over."""
        bare = text.strip()
        self.lines += 1
        if self.lines > LONGEST:
            return False
        if bare.startswith("=====") and bare.strip("=") == "":
            return False
        if found := _POSITION.match(text):
            self.positions[int(found[1])] = found[2]
            return True
        label, mark, value = bare.partition(": ")
        key = _LABELS.get(label.strip())
        if mark and key and value.strip():
            self.values.setdefault(key, value.strip())
        return True

    def close(self, sink: Sink) -> None:
        """Hand the block over in the words of the JSON of the same benchmark. Refused when it is impossible."""
        values: dict[str, Any] = dict(self.values)
        if values.get("max_concurrency") == "not set":
            del values["max_concurrency"]
        if values.get("request_rate") == "inf":
            values["request_rate"] = "unbounded"
        elif "request_rate" in values:
            values["request_rate"] = _number(values["request_rate"])
        for key, value in values.items():
            if key not in _TEXTS or str(value).isdecimal():
                values[key] = _number(value)
        if self.positions:
            places = sorted(self.positions)
            if places == list(range(len(places))):
                values["spec_decode_per_position_acceptance_rates"] = [
                    _share(self.positions[place]) for place in places
                ]
            else:
                sink.problem(
                    self.line, "inconsistent", "the positions are not numbered from 0 in a row: they are left out"
                )
        if "accept_length" in values or str(values.get("backend", "")).startswith("sglang"):
            sglang.bench_result(sink, self.line, values)
        else:
            vllm.bench_result(sink, self.line, values)


def _number(text: str) -> Any:
    """The number a text spells, else the text itself: the reader of the value then refuses it by name."""
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        return number if math.isfinite(number) else text
    return text


def _share(text: str) -> Any:
    number = _number(text)
    return number / 100 if isinstance(number, int | float) else text
