"""Passes over one large matrix: measured on the machine this runs on, kept, and written as a file of docs/data.

Why it exists: the reader's run, the run that is landed in docs/data and the benchmark must be one measurement. A pass
here is one product x · Wᵀ in float32 with a W that no cache holds: what a language model does with each of its
matrices. It must not know a picture or a browser; NumPy is imported when a run begins.
"""

from __future__ import annotations

import datetime
import json
import platform
import statistics
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from sim.data import Measurements
from sim.fitting import Sample, fit_pass_time, typical_error

from .stopwatch import BATCH_S, Times, spread, take_turns
from .text import exact, number

__all__ = ["COUNTS", "Passes", "as_file", "landed", "measure"]

COUNTS = (1, 2, 3, 4, 5, 6, 8, 12, 16)
INNER = 1024
LIMIT_S = 4.4
ROUNDS = 5
UNCLEAR = 0.2
WIDE = 0.15
"""Quartiles farther apart than this share of the median are said in the row's note, as everywhere in docs/data."""
MODEL = "one float32 matrix"
_ORDER = (1, 4, 2, 8, 5, 3, 6, 16, 12)
"""What matters first: a slow machine may not get to the end."""
_COPY = 0
"""The task beside them: half of the matrix copied over the other half."""


@dataclass(frozen=True)
class Passes:
    """A run. `by` is "kernel" or "numpy"; `size` the matrix in bytes; `times` milliseconds of a pass by positions,
    `copies` of a copy of half the matrix; `machine` is its name where somebody has told it.
    """

    by: str
    size: int
    times: Times
    copies: tuple[float, ...]
    machine: str = ""

    def ms(self, positions: int) -> float:
        """Median of a pass that scores so many positions."""
        return float(statistics.median(self.times[positions]))

    def over_one(self, positions: int) -> float:
        """The same in passes that score one."""
        return self.ms(positions) / self.ms(1)

    @property
    def counts(self) -> tuple[int, ...]:
        """The measured numbers of positions, rising."""
        return tuple(sorted(self.times))

    @property
    def bandwidth(self) -> float:
        """Bytes of weights read in a second by a pass that scores one position."""
        return 1e3 * self.size / self.ms(1)

    @property
    def copy_bandwidth(self) -> float:
        """Bytes read and written in a second by a plain copy: half the matrix is read, half is written."""
        return 1e3 * self.size / float(statistics.median(self.copies))

    @property
    def disturbed(self) -> bool:
        """Whether something else was at work: more positions much quicker than fewer, or dearer than passes of their
        own. Neither is how a machine multiplies.
        """
        known = self.counts
        falls = [n for m, n in pairwise(known) if self.ms(n) < 0.8 * self.ms(m)]
        return bool(falls) or any(self.over_one(n) > 1.4 * n for n in known)

    @property
    def ridge(self) -> float | None:
        """Positions at which arithmetic takes as long as reading, by a roofline fitted to the run.

        None where it is not in sight: a roofline through these passes leaves the rate of arithmetic open, bends
        beyond the last of them, or is far from them.
        """
        found = [
            Sample(n, 1, 0, self.ms(n), self.size, 0.0, 2.0 * self.size / 4.0 * n, str(n)) for n in self.counts
        ]  # fmt: skip
        try:
            fit = fit_pass_time(found, "max")
        except ValueError:
            return None
        bend = fit.ridge(found[0])
        return bend if bend <= self.counts[-1] and typical_error(fit, found) <= UNCLEAR else None


def measure(
    megabytes: int,
    by: str,
    *,
    clock: Callable[[], float],
    rounds: int = ROUNDS,
    limit_s: float = LIMIT_S,
    batch_s: float = BATCH_S,
) -> Iterator[tuple[float, Passes | None, bool]]:
    """Run it: (share done, what is known so far, whether a round is full), after every batch.

    `megabytes` is the size of W, `by` who multiplies ("kernel" where one is plugged in, else "numpy"), `clock` gives
    seconds. MemoryError where W does not fit.
    """
    import numpy as np

    from sim import kernel

    chance = np.random.default_rng(1)
    outer = megabytes * 1_000_000 // (4 * INNER)
    block = chance.random((64, INNER), dtype=np.float32)
    weights = np.empty((outer, INNER), dtype=np.float32)
    for start in range(0, outer, 64):
        weights[start : start + 64] = block[: outer - start]
    yield 0.0, None, False
    multiply = kernel.matmul_t if by == "kernel" else kernel.with_numpy
    inputs = {n: chance.random((n, INNER), dtype=np.float32) for n in COUNTS}
    outputs = {n: np.empty((n, outer), dtype=np.float32) for n in COUNTS}
    half = outer // 2
    tasks: dict[int, Callable[[], object]] = {
        n: lambda n=n: multiply(inputs[n], weights, outputs[n])  # type: ignore[misc]
        for n in _ORDER
    }
    first, *rest = tasks.items()
    tasks = dict([first, (_COPY, lambda: np.copyto(weights[half : 2 * half], weights[:half])), *rest])
    for n in (1, 2, 4):  # engines translate what is used for the first time, and again what is used often
        tasks[n]()
        yield 0.0, None, False
    for stand in take_turns(tasks, clock=clock, rounds=rounds, limit_s=limit_s, batch_s=batch_s):
        times = {n: stand.times[n] for n in COUNTS if n in stand.times}
        copies = stand.times.get(_COPY, ())
        known = Passes(by, weights.nbytes, times, copies) if copies and len(times) > 1 else None
        yield stand.done, known, stand.full


def as_file(found: Passes, software: Mapping[str, str]) -> str:
    """The run as a file of the kind that docs/data holds. Which machine it was stays open: a browser does not say."""
    rows: list[dict[str, Any]] = []
    name = f"{found.by}-{number(found.size / 1e6, '.0f')}mb"
    for n in found.counts:
        rows.append(
            {
                "id": f"pass-{name}-p{n}",
                "quantity": "pass time",
                "unit": "ms",
                "n": len(found.times[n]),
                **_spread(found.times[n]),
                "positions": n,
                "weight_bytes": found.size,
                "kv_bytes": 0,
                "operations": 2 * found.size // 4 * n,
            }
        )
    speeds = tuple(1e-6 * found.size / ms for ms in found.copies)
    rows.append(
        {
            "id": f"copy-{name}",
            "quantity": "copy bandwidth, read and written",
            "unit": "GB/s",
            "n": len(speeds),
            **_spread(speeds),
        }
    )
    whole = {
        "version": 1,
        "kind": "measured",
        "suite": "your-machine",
        "title": "Passes over one matrix, measured in a browser",
        "note": "Medians of batches of 50 ms or more. Write the machine's name into provenance as hardware: a browser"
        " does not tell it.",
        "provenance": {
            "hardware": None,
            "shared": True,
            "command": "the figure your_machine of this site, switched to Measure now",
            "software": {**software, "python": platform.python_version()},
            "date": datetime.date.today().isoformat(),
            "warmup": 1,
            "model": MODEL,
            "method": found.by,
            "weights": "float32",
            "arithmetic": "float32",
            "batch": 1,
            "context": 0,
        },
        "rows": rows,
    }
    return json.dumps(whole, indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def _spread(times: tuple[float, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {key: exact(value) for key, value in spread(times).items()}
    if len(times) > 1 and found["q3"] - found["q1"] > WIDE * found["value"]:
        apart = number(100 * (found["q3"] - found["q1"]) / found["value"], ".0f")
        found["note"] = f"quartiles lie {apart} % of the median apart: other work on the machine"
    return found


def landed(data: Measurements, by: str) -> Passes | None:
    """The run of a landed file made `by` the kernel or NumPy, with the machine's name; None where it has none."""
    times: dict[int, tuple[float, ...]] = {}
    copies: tuple[float, ...] = ()
    size, machine = 0, ""
    for row in data.rows.values():
        if row.model != MODEL or row.method != by or row.hardware is None:
            continue
        if row.unit == "ms" and row.positions is not None and row.weight_bytes is not None:
            times[row.positions] = (row.value,)
            size, machine = int(row.weight_bytes), row.hardware
        elif row.unit == "GB/s" and size:
            copies = (1e-6 * size / row.value,)
    return Passes(by, size, times, copies, machine) if copies and 1 in times and len(times) > 1 else None
