"""Counters in Prometheus text: vLLM's and llama.cpp's, for one engine or several, one snapshot or more.

Why it exists: such counters run since the server started, so one snapshot describes the server's life and only the
difference of two describes a run; `_created` lines beside them are times, not counts, and a smaller counter or a newer
`_created` means a restart. Names: https://github.com/vllm-project/vllm/pull/16665, /24049 (several engines),
https://github.com/ggml-org/llama.cpp/pull/26389. A name counts with and without `_total`.

It must not know: log lines. Memory: the first, the previous and the current snapshot.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from sim.logs import sglang
from sim.logs.checks import real, run
from sim.logs.record import Refused, Sink

__all__ = ["PREFIXES", "Counters"]

PREFIXES = ("vllm:spec_decode_", "llamacpp:spec_decode_", "sglang:spec_")
_SERIES = re.compile(r"(vllm|llamacpp|sglang):(spec_\w+)(?:\{(.*)\})?\s+(\S+)(?:\s+\d+)?\s*$")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_NAMES = {
    "spec_decode_num_drafts": "rounds",
    "spec_decode_num_draft_tokens": "drafted",
    "spec_decode_num_accepted_tokens": "accepted",
    "spec_decode_num_accepted_tokens_per_pos": "position",
}
_TOOLS = {"vllm": "vllm", "llamacpp": "llama.cpp", "sglang": "sglang"}
Key = tuple[str, str, str]  # tool, model, engine


@dataclass
class _Engine:
    line: int
    counts: dict[str, int] = field(default_factory=dict)
    positions: dict[int, int] = field(default_factory=dict)
    created: dict[str, float] = field(default_factory=dict)


Snapshot = dict[Key, _Engine]


class Counters:
    """Fed line by line; `close` turns the snapshots into runs."""

    def __init__(self) -> None:
        self.first: Snapshot | None = None
        self.previous: Snapshot | None = None
        self.current: Snapshot = {}
        self.number = 0
        self.seen: dict[tuple[Key, str], None] = {}
        self.broken = False

    def feed(self, sink: Sink, line: int, text: str) -> None:
        found = _SERIES.match(text.strip())
        if not found:
            raise Refused("unknown-shape", "a counter line of a shape that is not known; nothing is read from it")
        tool, name, label_text, value = found.groups()
        labels = dict(_LABEL.findall(label_text or ""))
        if tool == "sglang":
            sglang.gauge(sink, line, name, real(name, value))
            return
        created = name.endswith("_created")
        base = name.removesuffix("_created").removesuffix("_total")
        if base not in _NAMES:
            raise Refused("unknown-shape", f"counter {name!r} is not known; nothing is read from it")
        number = real(name, value)
        if not created and (number < 0 or number != int(number)):
            raise Refused("impossible", f"{name} is {value}, which is not a count")
        what = _NAMES[base]
        if what == "position":
            place = labels.get("position", "")
            if not place.isascii() or not place.isdigit() or len(place) > 4:
                raise Refused("unknown-shape", f"{name} has position {place!r}, which is not a number")
            what = f"position {int(place)}"
        key = (_TOOLS[tool], labels.get("model_name", ""), labels.get("engine", ""))
        series = (key, f"{what} created" if created else what)
        if series in self.seen:
            self._next(sink)
        self.seen[series] = None
        engine = self.current.setdefault(key, _Engine(line))
        if created:
            engine.created[what] = number
        elif what.startswith("position "):
            engine.positions[int(what[9:])] = int(number)
        else:
            engine.counts[what] = int(number)

    def _next(self, sink: Sink) -> None:
        """The current snapshot is complete: a series came a second time."""
        self.number += 1
        if self.first is None:
            self.first = self.current
        elif self.previous is not None:
            self._difference(sink, self.previous, self.current, "interval")
        self.previous = self.current
        self.current = {}
        self.seen = {}

    def close(self, sink: Sink) -> None:
        if not self.current:
            return
        if self.first is None or self.previous is None:
            for key, engine in self.current.items():
                self._guarded(sink, key, engine, "lifetime")
        else:
            self._difference(sink, self.previous, self.current, "run" if self.number == 1 else "interval")
        if self.broken:
            for part in [part for part in sink.sums if part[1] == "snapshot"]:
                del sink.sums[part]

    def _difference(self, sink: Sink, before: Snapshot, after: Snapshot, scope: str) -> None:
        for key in [*before, *(key for key in after if key not in before)]:
            old, new = before.get(key), after.get(key)
            name = f"engine {key[2]}" if key[2] else "the counters"
            if old is None or new is None:
                self.broken = True
                line = (new or old or _Engine(0)).line
                sink.problem(line, "missing", f"{name} stands in only one of two snapshots: no difference, no total")
                continue
            fell = [what for what in old.counts if what in new.counts and new.counts[what] < old.counts[what]]
            fell += [what for what in old.created if what in new.created and new.created[what] != old.created[what]]
            if fell:
                self.broken = True
                sink.problem(
                    new.line,
                    "restart",
                    f"{name}: {fell[0]} fell or began anew: the server restarted between the "
                    "snapshots, so there is no difference and no total",
                )
                continue
            change = _Engine(new.line)
            change.counts = {what: new.counts[what] - old.counts[what] for what in new.counts if what in old.counts}
            change.positions = {
                place: count - old.positions.get(place, 0)
                for place, count in new.positions.items()
                if place in old.positions or not old.positions
            }
            if not old.positions and old.counts.get("rounds", 1) > 0:
                change.positions = {}  # they were not reported before, so the difference is unknown
            self._guarded(sink, key, change, scope)

    def _guarded(self, sink: Sink, key: Key, engine: _Engine, scope: str) -> None:
        try:
            self._run(sink, key, engine, scope)
        except Refused as refused:
            self.broken = True
            sink.problem(engine.line, refused.kind, refused.message)

    def _run(self, sink: Sink, key: Key, engine: _Engine, scope: str) -> None:
        tool, model, label = key
        rounds, drafted, accepted = (engine.counts.get(what) for what in ("rounds", "drafted", "accepted"))
        missing = [what for what, value in (("drafted", drafted), ("accepted", accepted)) if value is None]
        if missing:
            sink.problem(engine.line, "missing", f"no counter for {' and '.join(missing)} tokens")
        shares = None
        if engine.positions and rounds:
            places = sorted(engine.positions)
            if places == list(range(len(places))):
                shares = [engine.positions[place] / rounds for place in places]
            else:
                sink.problem(
                    engine.line, "inconsistent", "the positions are not numbered from 0 in a row: they are left out"
                )
        if shares is not None and accepted is not None and sum(engine.positions.values()) != accepted:
            sink.problem(
                engine.line,
                "inconsistent",
                f"the positions hold {sum(engine.positions.values())} accepted tokens, {accepted} are counted",
            )
        run(
            sink,
            engine.line,
            "snapshot",
            tool,
            engine=label or None,
            rounds=rounds,
            drafted=drafted,
            accepted=accepted,
            per_position=shares,
            scope="lifetime" if scope == "lifetime" else "run" if scope == "run" else "interval",
            extra={"model": model} if model else None,
        )
