"""Waiting for a quiet machine: a CPU's pass is as slow as its slowest thread, and neighbours make threads slow.

It must not know what is measured. On a system without /proc/stat nothing is waited for.
"""

from __future__ import annotations

import time
from pathlib import Path

__all__ = ["busy_share", "wait"]

_STAT = Path("/proc/stat")
ENOUGH = 0.15
"""Others may use this share of the cores."""


def _ticks() -> tuple[int, int]:
    """Idle and all ticks of all cores so far."""
    fields = [int(word) for word in _STAT.read_text(encoding="ascii").splitlines()[0].split()[1:9]]
    return fields[3] + fields[4], sum(fields)


def busy_share(seconds: float = 0.7) -> float | None:
    """Share of the cores in use while this process sleeps; None where that cannot be read."""
    try:
        idle, every = _ticks()
        time.sleep(seconds)
        idle, every = _ticks()[0] - idle, _ticks()[1] - every
    except (OSError, ValueError, IndexError):
        return None
    return 1.0 - idle / every if every > 0 else 0.0


def wait(most: float) -> float:
    """Wait until two looks in a row find the machine quiet, at most `most` seconds; the seconds waited."""
    begun, quiet = time.monotonic(), 0
    while time.monotonic() - begun < most:
        share = busy_share()
        if share is None:
            break
        quiet = quiet + 1 if share <= ENOUGH else 0
        if quiet == 2:
            break
    return time.monotonic() - begun
