"""`python -m bench run SUITE --device cuda|cpu --out DIR`: measures on this machine and writes one file a suite.

A run that was stopped goes on where it was; `--shard i/n` takes every n-th group of cells, for launchers that start
many. The last thing printed is a short table. It must not know what a suite measures.
"""

from __future__ import annotations

import argparse
import datetime
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sim.data import DataError, parse

from .quiet import wait
from .report import table
from .rows import WIDE
from .store import SAME_RUN, empty, load, save

__all__ = ["main"]


def main(arguments: list[str]) -> int:
    """0; 1 when a cell failed; 2 when nothing could be measured."""
    given = _arguments(arguments)
    if given.threads:
        for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
            os.environ[name] = str(given.threads)
    from .backend import NoBackend, backend  # after the threads are set
    from .suites import NAMES, suite

    try:
        library = backend(given.device, given.threads)
        facts = {**library.provenance(), "software": library.versions()}
    except (NoBackend, ValueError) as problem:
        print(f"bench: {problem}", file=sys.stderr)
        return 2
    facts |= {
        "command": shlex.join(["python", "-m", "bench", "run", *_without_out(arguments)]),
        "commit": _commit(),
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
        "tool": f"bench ({library.name})",
    }
    note = ". ".join([*(["Size small: shapes for tests, no measurement"] if given.size == "small" else []),
                      "Random weights", *library.notes()]) + "."  # fmt: skip
    failed, written = 0, []
    budget = given.budget if given.budget is not None else 0.15 if library.device == "cuda" else 0.0
    repeats = given.repeats or (7 if library.device == "cuda" else 5)
    for name in NAMES if given.suite == "all" else (given.suite,):
        work = suite(name)(library, given.size == "small", repeats, budget)
        path = given.out / f"{name}-{given.name or _slug(facts['hardware'])}{_part(given.shard)}.json"
        fresh = empty(name, work.title, {**facts, "warmup": work.warmup}, note)
        try:
            failed += _suite(work, path, fresh, given.shard, given.quiet)
        except (DataError, ValueError) as problem:
            print(f"bench: {problem}", file=sys.stderr)
            return 2
        written.append(path)
    for path in written:
        print()
        print(table(load(path)))
    print()
    print("\n".join(f"wrote {path}" for path in written))
    return 1 if failed else 0


def _arguments(arguments: list[str]) -> argparse.Namespace:
    from .suites import NAMES

    parser = argparse.ArgumentParser(prog="python -m bench run", description=__doc__)
    parser.add_argument("suite", choices=[*NAMES, "all"])
    parser.add_argument("--device", required=True, choices=["cpu", "cuda", "torch-cpu"])
    parser.add_argument("--out", required=True, type=Path, help="folder for the JSON files")
    parser.add_argument("--size", choices=["small", "full"], default="full", help="small: seconds, for trying it out")
    parser.add_argument("--shard", type=_shard, default=(1, 1), metavar="i/n", help="the i-th of n parts, from 1")
    parser.add_argument("--repeats", type=int, help="timings a cell at least (7 on a GPU, 5 on a CPU)")
    parser.add_argument("--budget", type=float, help="seconds a cell may take for more timings")
    parser.add_argument("--threads", type=int, help="threads of the CPU (all that are allowed)")
    parser.add_argument(
        "--quiet",
        type=float,
        default=0.0,
        metavar="SECONDS",
        help="before each cell wait up to so long for a quiet machine, and measure cells that spread widely again",
    )
    parser.add_argument("--name", help="short name of the device in file names and ids, such as h200")
    return parser.parse_args(arguments)


def _shard(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d+)/(\d+)", text)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise argparse.ArgumentTypeError(f"{text!r} is not i/n with i from 1 to n")
    return int(found[1]), int(found[2])


def _part(shard: tuple[int, int]) -> str:
    return "" if shard == (1, 1) else f".part-{shard[0]}-of-{shard[1]}"


def _slug(hardware: str) -> str:
    """Short name of a device: "NVIDIA H200" is h200, any CPU is cpu."""
    if hardware.startswith("CPU "):
        return "cpu"
    return re.sub(r"[^a-z0-9]+", "-", hardware.lower().removeprefix("nvidia ").removeprefix("amd instinct ")).strip("-")


def _suite(work: Any, path: Path, fresh: dict[str, Any], shard: tuple[int, int], quiet: float) -> int:
    """Measure what the file does not hold yet; the number of cells that failed."""
    from .suites.base import Skipped

    whole = _go_on(path, fresh)
    device = path.name.removeprefix(f"{work.name}-").split(".")[0]
    done = {row["id"] for row in whole["rows"]}
    cells = work.cells()
    groups = list(dict.fromkeys(cell.group for cell in cells))
    mine = [cell for cell in cells if groups.index(cell.group) % shard[1] == shard[0] - 1]
    mine = mine if len(groups) >= shard[1] else cells[shard[0] - 1 :: shard[1]]
    begun, failed, measured, group = time.monotonic(), 0, 0, ""
    for place, cell in enumerate(mine, 1):
        ident = f"{work.name}-{device}-{cell.key}".replace(".", "_")
        head = f"[{place}/{len(mine)}] {work.name} {cell.key}"
        if ident in done:
            print(f"{head}: there already", flush=True)
            continue
        if group and cell.group != group:
            work.forget()
        group = cell.group
        try:
            rows = _measured(work, cell, quiet)
        except Skipped as reason:
            print(f"{head}: skipped: {reason}", flush=True)
            continue
        except Exception as error:
            if not _out_of_memory(error):
                failed += 1
            print(f"{head}: failed: {type(error).__name__}: {error}", flush=True)
            work.forget()
            continue
        for row in rows:
            own = {name: fresh["provenance"][name] for name in ("commit", "date") if differs(whole, fresh, name)}
            whole["rows"].append({**row, "id": f"{work.name}-{device}-{row['id']}".replace(".", "_"), **own})
        save(path, whole)
        measured += 1
        left = (time.monotonic() - begun) / measured * (len(mine) - place)
        first = rows[0]
        print(f"{head}: {first['value']:.4g} {first['unit']} (n {first['n']}), about {left:.0f} s left", flush=True)
    work.forget()
    if not whole["rows"]:
        save(path, whole)
    parse(path.read_text(encoding="utf-8"), path.name)
    return failed


def _measured(work: Any, cell: Any, quiet: float) -> list[dict[str, Any]]:
    """Rows of the cell. With `quiet`, after waiting, and again (twice at most) while the quartiles lie far apart: the
    try with the nearest quartiles is kept, whatever its median, and says which it was."""
    if quiet <= 0:
        return list(work.measure(cell))
    tries: list[list[dict[str, Any]]] = []
    while len(tries) < 3:
        wait(quiet)
        tries.append(work.measure(cell))
        if _spread(tries[-1]) <= WIDE:
            break
    best = min(tries, key=_spread)
    if len(tries) > 1:
        said = f"try {tries.index(best) + 1} of {len(tries)} on a busy machine"
        for row in best:
            row["note"] = f"{row['note']}; {said}" if row.get("note") else said
    return best


def _spread(rows: list[dict[str, Any]]) -> float:
    """The widest distance of quartiles in these rows, as a share of the median."""
    return max((row["q3"] - row["q1"]) / row["value"] if row["value"] else 0.0 for row in rows)


def differs(whole: dict[str, Any], fresh: dict[str, Any], name: str) -> bool:
    """Whether a row of this run must say `name` itself, because the file was begun with another."""
    return bool(whole["provenance"].get(name) != fresh["provenance"].get(name))


def _go_on(path: Path, fresh: dict[str, Any]) -> dict[str, Any]:
    """The file that is there, if it is of this device and size; else a new one."""
    if not path.exists():
        return fresh
    whole = load(path)
    for key in SAME_RUN:
        if whole["provenance"].get(key) != fresh["provenance"].get(key):
            raise ValueError(f"{path}: begun with another {key}; choose another --out, or move the file away")
    if whole.get("note") != fresh["note"] or whole.get("suite") != fresh["suite"]:
        raise ValueError(f"{path}: begun with another size or way of measuring; choose another --out")
    return whole


def _out_of_memory(error: BaseException) -> bool:
    return isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"


def _commit() -> str:
    """The commit of this checkout, marked when files differ from it; "unknown" outside one."""
    try:
        where = Path(__file__).parent
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"],
            cwd=where, capture_output=True, text=True, check=True, timeout=20,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return done.stdout.strip() or "unknown"


def _without_out(arguments: Sequence[str]) -> list[str]:
    """The arguments with the folder's last name only: a path of this machine says nothing to others."""
    found = list(arguments)
    for place, word in enumerate(found):
        if word == "--out" and place + 1 < len(found):
            found[place + 1] = Path(found[place + 1]).name or "."
        elif word.startswith("--out="):
            found[place] = "--out=" + (Path(word[6:]).name or ".")
    return found
