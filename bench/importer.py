"""`python -m bench import FILE… --tool … --hardware … --out DIR`: an engine's log becomes a data file.

Why it exists: most measurements are made with a real engine, and its log says how many tokens were accepted but not on
what, with which model, or how the draft was sampled. The command asks for all of that by name; a value nobody knows is
given as `unknown` and stays unknown. Nothing is filled in from habit.

It must not know: the shapes of logs (sim.logs), what makes a data file right (bench.check, which it runs last).
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.check import check
from sim.devices import device
from sim.logs import Log, Measured, parse_log

__all__ = ["ASKED", "document", "main"]

TOOLS = ("vllm", "sglang", "llama.cpp")
ASKED = {
    "hardware": "the device, for example 'NVIDIA H100 SXM'",
    "devices": "how many of them",
    "model": "the target model",
    "draft": "the draft model, head or look-up",
    "method": "for example draft model, EAGLE-3, n-gram",
    "gamma": "drafted tokens a round",
    "weights": "number format of the target's weights",
    "temperature": "sampling temperature of the target",
    "draft-sampling": "greedy, or sampled",
    "dataset": "what was generated; random tokens are called random",
    "ignore-eos": "yes or no",
    "concurrency": "requests at a time",
    "software": "NAME=VERSION, comma-separated",
    "command": "the command that ran the server",
    "commit": "commit or version of the tool's code",
    "date": "day of the run, YYYY-MM-DD",
    "warmup": "requests or runs made before and not counted",
}
"""What no log states. Every one must be given; `unknown` is an answer."""
_WHOLE = ("devices", "gamma", "concurrency", "warmup")
_NEVER_UNKNOWN = ("hardware", "software", "command", "date", "warmup")


def main(arguments: list[str]) -> int:
    """Import and write; 2 when options are missing (named one by one), 1 when the log gives no single run."""
    parser = argparse.ArgumentParser(prog="python -m bench import", description=(__doc__ or "").split("\n\n")[1])
    parser.add_argument("files", nargs="*", metavar="FILE", help="log files of one run; counter snapshots in order")
    parser.add_argument("--tool", help=" | ".join(TOOLS))
    parser.add_argument("--out", help="folder for the data file")
    parser.add_argument("--id", help="id of the row and name of the file (default: from tool, method and date)")
    parser.add_argument("--note", help="answers a question of `bench check`")
    for name, words in ASKED.items():
        parser.add_argument(f"--{name}", help=words)
    given = parser.parse_args(arguments)
    answers = {name: getattr(given, name.replace("-", "_")) for name in ASKED}
    missing = [f"--{name}: {words}" for name, words in ASKED.items() if answers[name] is None]
    missing += [f"--tool: {' | '.join(TOOLS)}"] * (given.tool is None) + ["--out: a folder"] * (given.out is None)
    missing += ["FILE: at least one log"] * (not given.files)
    if missing:
        print("the file does not say this, and nothing is filled in (an answer may be `unknown`):", file=sys.stderr)
        print("\n".join(f"  {line}" for line in missing), file=sys.stderr)
        return 2
    if given.tool not in TOOLS:
        print(f"--tool {given.tool!r} is not one of {', '.join(TOOLS)}", file=sys.stderr)
        return 2
    try:
        log = parse_log(_lines(given.files))
    except (OSError, UnicodeDecodeError) as error:
        print(f"cannot read: {error}", file=sys.stderr)
        return 2
    for problem in log.problems:
        print(f"line {problem.line}: {problem.kind}: {problem.message}" if problem.line else
              f"{problem.kind}: {problem.message}", file=sys.stderr)  # fmt: skip
    try:
        whole = document(log, given.tool, answers, given.id, given.note)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    target = Path(given.out) / f"{whole['rows'][0]['id']}.json"
    text = json.dumps(whole, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
    open_points = [finding for finding in check(text, str(target)) if finding.level != "remark"]
    for level, where, message in open_points:
        print(f"{level}: {where}: {message}", file=sys.stderr)
    if any(level == "error" for level, _, _ in open_points):
        print("nothing was written", file=sys.stderr)
        return 1
    if target.exists():
        print(f"{target} is there already; choose another --id", file=sys.stderr)
        return 1
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8", newline="\n")
    print(f"wrote {target}")
    return 0


def _lines(names: Sequence[str]) -> Iterator[str]:
    for name in names:
        with Path(name).open(encoding="utf-8") as lines:
            yield from lines
        yield "\n"


def document(log: Log, tool: str, answers: dict[str, str], ident: str | None, note: str | None) -> dict[str, Any]:
    """The data file of one run. ValueError when the log holds no single run, or an answer is not usable."""
    total = log.total
    if log.tool not in (None, tool):
        raise ValueError(f"--tool says {tool}, the log was written by {log.tool}")
    if total is None:
        raise ValueError("no total: this log holds no run, or several that do not add up; give the lines of one run")
    if total.length is None and total.rate is None:
        raise ValueError("the log states neither tokens per round nor an acceptance rate")
    known = {name: _answer(name, text) for name, text in answers.items()}
    real = device(str(known["hardware"]))
    if real.count is not None and known["devices"] not in (None, real.count):
        raise ValueError(f"--hardware says {real.count} devices, --devices says {known['devices']}")
    provenance = {name.replace("-", "_"): value for name, value in known.items()} | {
        "hardware": real.name, "tool": tool, "acceptance_rule": "independent" if total.rule == "independent" else None,
    }  # fmt: skip
    name = ident or re.sub(r"[^a-z0-9]+", "-", f"acceptance {tool} {known['method']} {known['date']}".lower()).strip(
        "-"
    )
    row = _row(log, total, name)
    remarks = [note] if note else []
    if total.estimated:
        remarks.append(f"{' and '.join(total.estimated)} estimated from rounded figures")
    if row["n"] == 1 and remarks == []:
        remarks.append("one run without repeats: the log states no spread")
    if remarks:
        row["note"] = "; ".join(remarks)
    return {
        "version": 1,
        "kind": "measured",
        "suite": "acceptance" if "acceptance" in name else name,
        "title": f"Acceptance of {known['method'] or 'a drafter'} in {tool}, imported from its log",
        "provenance": provenance,
        "rows": [row],
    }


def _row(log: Log, total: Measured, name: str) -> dict[str, Any]:
    by_length = total.length is not None
    parts = [one.length if by_length else one.rate for one in log.runs if one.scope != "lifetime"]
    values = [value for value in parts if value is not None]
    row: dict[str, Any] = {
        "id": name,
        "quantity": "tokens per pass of the target, with the extra token" if by_length else "acceptance rate",
        "unit": "tokens" if by_length else "fraction",
        "value": _short(total.length if by_length else total.rate),
        "n": max(1, len(values)),
    }
    if len(values) > 1:
        low, _, high = statistics.quantiles(values, n=4, method="inclusive")
        row |= {"min": _short(min(values)), "q1": _short(low), "q3": _short(high), "max": _short(max(values))}
    row |= {
        "rounds": total.rounds, "drafted": total.drafted, "accepted": total.accepted, "emitted": total.emitted,
        "rate": _short(total.rate), "tokens_per_pass": _short(total.length), "counts_bonus": total.counts_bonus,
        "per_position": None if total.per_position is None else [_short(share) for share in total.per_position],
    }  # fmt: skip
    return row


def _answer(name: str, text: str) -> Any:
    """An answer in its type; None for `unknown`."""
    if text.strip().lower() == "unknown":
        if name in _NEVER_UNKNOWN:
            raise ValueError(f"--{name} cannot be unknown: without it the measurement is of no use")
        return None
    if name in _WHOLE:
        if not text.isdecimal():
            raise ValueError(f"--{name} is {text!r}; a whole number is wanted")
        return int(text)
    if name == "temperature":
        try:
            return float(text)
        except ValueError:
            raise ValueError(f"--temperature is {text!r}; a number is wanted") from None
    if name == "ignore-eos":
        if text.lower() not in ("yes", "no"):
            raise ValueError(f"--ignore-eos is {text!r}; yes or no is wanted")
        return text.lower() == "yes"
    if name == "software":
        pairs = [part.partition("=") for part in text.split(",")]
        if not all(key.strip() and value.strip() for key, _, value in pairs):
            raise ValueError(f"--software is {text!r}; NAME=VERSION is wanted, for example vllm=0.11.0")
        return {key.strip(): value.strip() for key, _, value in pairs}
    if name == "date" and not re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        raise ValueError(f"--date is {text!r}; YYYY-MM-DD is wanted")
    return text


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")
