"""What every log parser produces: `Measured`, `Problem`, `Log`, and the sink that lists and adds them up.

Why it exists: each engine names, rounds and counts differently; all of it becomes one normal form here (rates as
fractions, lengths with the correction or bonus token, positions from 0), and one place decides what may be added up.

It must not know: the text shapes of any engine, and what makes a record impossible (checks.py).

Nothing is guessed. A value the text does not give is None. A value worked out by a rule that may miss by a round (the
engine printed a rounded mean instead of the count) is named in `Measured.estimated`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

__all__ = ["LARGEST", "MAX_PROBLEMS", "MAX_RUNS", "Log", "Measured", "Problem", "Refused", "Scope", "Sink"]

MAX_RUNS = 5_000
"""Runs listed one by one; further ones still enter the total. Keeps memory flat for a log of any length."""
MAX_PROBLEMS = 1_000
LARGEST = 2**53
Scope = Literal["interval", "lifetime", "run"]


class Problem(NamedTuple):
    """Something the reader must know. `line` counts from 1 (0: the whole text).

    kind: unknown-shape, impossible and not-json (nothing was read), inconsistent (two figures contradict each other),
    missing, no-drafts, estimate, biased and ambiguous (SGLang's rate), restart and mixed (no total), cut, nothing.
    """

    line: int
    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class Measured:
    """One interval, request or run in the normal form. None is "the text does not say", never 0.

    rounds, drafted, accepted, emitted are counts; `accepted` leaves the correction or bonus token out. `rate` is
    accepted / drafted as a fraction, `length` tokens per round including the correction or bonus token,
    `per_position[i]` the share of rounds that kept draft position i, from 0. `counts_bonus` says whether the printed
    length counted that token (None: no length was printed, or it cannot be told); `length` here always does.
    `rule` is "independent" for vLLM V0, which also counts agreement after a rejection: never mix it with "prefix".
    `estimated` names fields worked out from rounded figures. `engine` is the engine's label in data parallel runs.
    `extra` holds what else the text states, with the unit in the name; `line` is where the record begins.
    """

    engine: str | None = None
    rounds: int | None = None
    drafted: int | None = None
    accepted: int | None = None
    emitted: int | None = None
    rate: float | None = None
    length: float | None = None
    per_position: tuple[float, ...] | None = None
    scope: Scope = "run"
    counts_bonus: bool | None = None
    rule: Literal["prefix", "independent"] = "prefix"
    estimated: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    line: int = 0


@dataclass(frozen=True, slots=True)
class Log:
    """All that a text says. `total` is None when its runs cannot be added up; `problems` then says why."""

    tool: str | None
    runs: tuple[Measured, ...]
    total: Measured | None
    problems: tuple[Problem, ...]


class Refused(Exception):
    """A record that cannot be used; becomes a Problem. Never leaves this package."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


class Sink:
    """Collects runs, problems and totals while a text streams by; holds at most MAX_RUNS and MAX_PROBLEMS of them."""

    def __init__(self) -> None:
        self.runs: list[Measured] = []
        self.problems: list[Problem] = []
        self.tools: dict[str, None] = {}
        self.sums: dict[tuple[str, str], _Sum] = {}
        self._left_out = 0
        self._more_problems = 0

    def problem(self, line: int, kind: str, message: str) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(line, kind, message))
        else:
            self._more_problems += 1

    def add(self, one: Measured, group: str, tool: str) -> None:
        """`group` says how runs of this kind combine: interval and request add up, the others do not."""
        self.tools[tool] = None
        key = (tool, group)
        if key not in self.sums:
            self.sums[key] = _Sum()
        self.sums[key].add(one)
        if len(self.runs) < MAX_RUNS:
            self.runs.append(one)
        else:
            self._left_out += 1

    def counted(
        self,
        tool: str,
        group: str,
        drafted: int | None,
        accepted: int | None,
        rounds: int | None,
        places: Sequence[float] | None,
    ) -> bool:
        """Count one checked record without listing it, once the list is full: the way of a very long log."""
        if len(self.runs) < MAX_RUNS or (tool, group) not in self.sums:
            return False
        part = self.sums[tool, group]
        part.count += 1
        part.collect(drafted, accepted, rounds, places)
        self._left_out += 1
        return True

    def close(self) -> Log:
        if self._left_out:
            self.problem(0, "cut", f"{len(self.runs)} runs are listed; {self._left_out} more are only in the total")
        total = self._total()
        if self._more_problems:
            self.problems.append(Problem(0, "cut", f"{self._more_problems} more problems are not listed"))
        tool = next(iter(self.tools)) if len(self.tools) == 1 else "mixed" if self.tools else None
        return Log(tool, tuple(self.runs), total, tuple(self.problems))

    def _total(self) -> Measured | None:
        keys = list(self.sums)
        adding = [key for key in keys if key[1] in ("interval", "request", "snapshot")]
        if not keys:
            return None
        if len({tool for tool, _ in keys}) > 1:
            self.problem(0, "mixed", "lines of several tools: their runs are not added up")
            return None
        if len(adding) == 1 and all(key in adding or key[1] == "lifetime" for key in keys):
            return self.sums[adding[0]].total(self)
        if len(keys) > 1:
            self.problem(0, "mixed", "records of several kinds may describe the same rounds: they are not added up")
            return None
        only = self.sums[keys[0]]
        if keys[0][1] == "lifetime":
            return only.latest(self)
        if only.count > 1:
            self.problem(0, "mixed", f"{only.count} separate runs: they are listed, not added up")
            return None
        return only.last


class _Sum:
    """Running sums of one kind of run. A count that one run lacks is unknown for all of them."""

    def __init__(self) -> None:
        self.count = 0
        self.last: Measured | None = None
        self.fell: int | None = None
        self.drafted: int | None = 0
        self.accepted: int | None = 0
        self.rounds: int | None = 0
        self.emitted: int | None = 0
        self.kept: list[float] | None = []
        self.estimated: dict[str, None] = {}
        self.rules: dict[str, None] = {}
        self.bonus: dict[bool | None, None] = {}
        self.scopes: dict[Scope, None] = {}

    def add(self, one: Measured) -> None:
        last = self.last
        if last is not None and self.fell is None and one.drafted is not None and last.drafted is not None:
            self.fell = one.line if one.drafted < last.drafted else None
        self.count += 1
        self.last = one
        self.scopes[one.scope] = None
        if one.drafted == 0:
            return
        self.collect(one.drafted, one.accepted, one.rounds, one.per_position)
        self.emitted = None if self.emitted is None or one.emitted is None else self.emitted + one.emitted
        for name in one.estimated:
            self.estimated[name] = None
        self.rules[one.rule] = None
        self.bonus[one.counts_bonus] = None

    def collect(
        self, drafted: int | None, accepted: int | None, rounds: int | None, places: Sequence[float] | None
    ) -> None:
        self.drafted = None if self.drafted is None or drafted is None else self.drafted + drafted
        self.accepted = None if self.accepted is None or accepted is None else self.accepted + accepted
        self.rounds = None if self.rounds is None or rounds is None else self.rounds + rounds
        kept = self.kept
        if kept is not None:
            if places is None or rounds is None or (kept and len(kept) != len(places)):
                self.kept = None
            elif kept:
                for place, share in enumerate(places):
                    kept[place] += share * rounds
            else:
                self.kept = [share * rounds for share in places]

    def total(self, sink: Sink) -> Measured | None:
        if len(self.rules) > 1:
            sink.problem(0, "mixed", "two acceptance rules in one text: they are not added up")
            return None
        scope: Scope = "lifetime" if list(self.scopes) == ["lifetime"] else "run"
        if self.count == 1 and self.last is not None:
            return replace(self.last, scope=scope)
        if self.drafted is None and self.accepted is None and self.rounds is None:
            sink.problem(0, "missing", f"{self.count} records carry no counts: means cannot be added up")
            return None
        rate = self.accepted / self.drafted if self.accepted is not None and self.drafted else None
        length = 1 + self.accepted / self.rounds if self.accepted is not None and self.rounds else None
        places = tuple(min(1.0, kept / self.rounds) for kept in self.kept) if self.kept and self.rounds else None
        estimated = dict(self.estimated)
        if "rounds" in estimated:
            estimated["length"] = None
        return Measured(
            None,
            self.rounds,
            self.drafted,
            self.accepted,
            self.emitted,
            rate,
            length,
            places,
            scope,
            next(iter(self.bonus)) if len(self.bonus) == 1 else None,
            "independent" if "independent" in self.rules else "prefix",
            tuple(estimated),
        )

    def latest(self, sink: Sink) -> Measured | None:
        """Of counters that only grow the last reading is the total, unless the server restarted in between."""
        if self.fell is not None:
            sink.problem(self.fell, "restart", "counters fell: the server restarted, so there is no total")
            return None
        return self.last
