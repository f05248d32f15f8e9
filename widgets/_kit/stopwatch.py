"""Times of a few tasks, taken in turns on a coarse clock, in batches long enough to be told from its ticks.

Why it exists: a browser's clock ticks in steps of up to a millisecond, a pass takes a few, and other work on the
machine comes and goes. So each task is repeated for a batch of at least 50 ms, the tasks take turns so that a busy
moment hits all of them, and the middle one of several batches counts. It must not know what is timed, nor what clock
it is.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["BATCH_S", "Round", "Times", "spread", "take_turns"]

BATCH_S = 0.05

Times: TypeAlias = Mapping[int, tuple[float, ...]]
"""Milliseconds of one repeat, by task: one number for each batch."""


@dataclass(frozen=True)
class Round:
    """Where the taking of turns stands: the share done (of rounds or of time), the times, whether a round is full."""

    done: float
    times: Times
    full: bool


def take_turns(
    tasks: Mapping[int, Callable[[], object]],
    *,
    clock: Callable[[], float],
    rounds: int,
    limit_s: float,
    batch_s: float = BATCH_S,
) -> Iterator[Round]:
    """Time each task in batches, `rounds` times over, back and forth; says where it stands after each batch.

    `clock` gives seconds. No batch begins once `limit_s` have passed, so on a slow machine the last tasks may have
    none. What the caller does between two batches counts for the limit, not for a time.
    """
    began = clock()
    found: dict[int, list[float]] = {}
    order = list(tasks)
    for turn in range(rounds):
        for place, name in enumerate(order if turn % 2 == 0 else order[::-1]):
            if clock() - began >= limit_s:
                return
            found.setdefault(name, []).append(_batch(tasks[name], clock, batch_s))
            share = (turn + (place + 1) / len(order)) / rounds
            done = min(1.0, max(share, (clock() - began) / limit_s))
            yield Round(done, {key: tuple(times) for key, times in found.items()}, place + 1 == len(order))


def _batch(task: Callable[[], object], clock: Callable[[], float], batch_s: float) -> float:
    """Milliseconds of one repeat, over as many as fill the batch."""
    repeats = 0
    start = clock()
    while True:
        task()
        repeats += 1
        spent = clock() - start
        if spent >= batch_s:
            return 1e3 * spent / repeats


def spread(times: tuple[float, ...]) -> dict[str, float]:
    """Median and, from two on, the ends and quartiles: the fields of a row of docs/data. ValueError without any."""
    if not times:
        raise ValueError("no times; at least one is needed")
    found = {"value": statistics.median(times)}
    if len(times) > 1:
        low, _, high = statistics.quantiles(times, n=4, method="inclusive")
        found |= {"min": min(times), "q1": low, "q3": high, "max": max(times)}
    return found
