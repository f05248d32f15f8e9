"""JSON in logs: finds the objects that state acceptance, wherever they are nested, and hands each to its engine.

Why it exists: benchmarks write one object a file or one a line, servers answer with nested ones, log collectors wrap
whole lines into JSON. SGLang writes the bare word Infinity; it and every other number JSON does not have is kept as a
word here, so that no infinite or not-a-number float ever enters.

It must not know: what the fields mean (vllm.py, sglang.py, llamacpp.py).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from sim._nesting import deeper_than
from sim.logs import llamacpp, sglang, vllm
from sim.logs.record import Refused, Sink

__all__ = ["JsonText", "decode", "read_object"]

DEEPEST = 8
"""Levels that are searched for known objects."""
PARSED = 64
"""Levels that are parsed at all."""
LONGEST = 64_000_000
"""Characters of one JSON text that is spread over lines; a longer one is given up, so memory stays bounded."""


_PART = re.compile(
    r"""["{}\],]|\[(?!\w[^\]"]*\]\s*\w)|-?\d[\d.eE+-]*[\s,\]}]*$|(?:true|false|null|NaN|-?Infinity)\b[\s,\]}]*$"""
)
"""How a line inside a JSON text can begin; "[2025-01-01 10:00:00] Decode batch" and "INFO" cannot."""


def _float(text: str) -> Any:
    number = float(text)
    return number if math.isfinite(number) else text


def _integer(text: str) -> Any:
    return int(text) if len(text) < 30 else text


_DECODER = json.JSONDecoder(parse_float=_float, parse_int=_integer, parse_constant=str)


def decode(text: str) -> Any:
    """The first JSON value in text; None when there is none. Whatever follows it is ignored."""
    if deeper_than(text, PARSED):
        return None
    try:
        return _DECODER.raw_decode(text)[0]
    except ValueError:
        return None


class JsonText:
    """A JSON text spread over lines: collects until its brackets are closed. Takes only lines that can continue it."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.parts: list[str] = []
        self.size = 0
        self.depth = 0

    def feed(self, text: str) -> bool:
        """Take one line; False when it cannot belong to a JSON text, or when the text has become too long."""
        bare = text.strip()
        if bare and not _PART.match(bare):
            return False
        self.parts.append(bare)
        self.size += len(bare)
        self.depth += _balance(bare)
        return self.size <= LONGEST

    @property
    def closed(self) -> bool:
        return self.depth <= 0

    def value(self) -> Any:
        return decode("\n".join(self.parts))


def _balance(text: str) -> int:
    """Opened minus closed brackets outside strings."""
    if '"' in text:
        outside = text.replace("\\\\", "").replace('\\"', "").split('"')[::2]
        text = "".join(outside)
    return text.count("{") + text.count("[") - text.count("}") - text.count("]")


def read_object(sink: Sink, line: int, value: Any, plain: Callable[[str], None]) -> bool:
    """Read every known object inside `value`; `plain` gets texts that hold a log line. True when one was found."""
    return _walk(sink, line, value, plain, 0, None)


def _walk(sink: Sink, line: int, value: Any, plain: Callable[[str], None], depth: int, completion: Any) -> bool:
    if depth > DEEPEST:
        return False
    if isinstance(value, list):
        found = False
        for item in value[:100_000]:
            if isinstance(item, dict | list):
                found = _walk(sink, line, item, plain, depth + 1, completion) or found
        return found
    if not isinstance(value, dict):
        return False
    usage = value.get("usage")
    if isinstance(usage, dict) and usage.get("completion_tokens") is not None:
        completion = usage["completion_tokens"]
    try:
        if _known(sink, line, value, completion):
            return True
    except Refused as refused:
        sink.problem(line, refused.kind, refused.message)
        return True
    found = False
    for item in value.values():
        if isinstance(item, dict | list):
            found = _walk(sink, line, item, plain, depth + 1, completion) or found
        elif isinstance(item, str) and (
            "SpecDecoding metrics:" in item or "accept len:" in item or "Speculative metrics:" in item
        ):
            plain(item)
            found = True
    return found


def _known(sink: Sink, line: int, one: Mapping[str, Any], completion: Any) -> bool:
    if isinstance(one.get("speculative_decoding"), dict):
        vllm.request_metrics(sink, line, one["speculative_decoding"])
    elif "predicted_n" in one or "draft_n" in one or "draft_n_accepted" in one:
        llamacpp.timings(sink, line, one)
    elif "spec_verify_ct" in one or "spec_accept_rate" in one or any(key in one for key in sglang.COUNTS):
        sglang.meta_info(sink, line, one, completion)
    elif isinstance(one.get("internal_states"), list):
        sglang.server_info(sink, line, one["internal_states"])
    elif "duration" in one and ("output_throughput" in one or "total_output_tokens" in one or "accept_length" in one):
        if "accept_length" in one or "total_output_tokens_retokenized" in one or "sharegpt_output_len" in one:
            sglang.bench_result(sink, line, one)
        else:
            vllm.bench_result(sink, line, one)
    elif any(key.startswith("spec_decode_") for key in one):
        vllm.bench_result(sink, line, one)
    elif "avg_ts" in one and "n_gen" in one:
        llamacpp.llama_bench(sink, line, one)
    else:
        return False
    return True
