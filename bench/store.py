"""The file of one suite: read, add a cell's rows, write whole, merge with others by id.

Why rows are written after every cell: a run that is stopped goes on where it was. The file is written beside itself and
renamed, so it is never half there. Strict JSON: NaN and Infinity are refused before they are written. It must not know
what was measured.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sim.data import VERSION, DataError, read_json

__all__ = ["Conflict", "SAME_RUN", "dump", "empty", "load", "merge", "save"]

SAME_RUN = ("hardware", "devices", "memory_gb", "driver", "software")
"""What must be equal for a run to go on in a file that is there."""


class Conflict(ValueError):
    """Two files that must not become one; the message says why."""


def empty(suite: str, title: str, provenance: Mapping[str, Any], note: str) -> dict[str, Any]:
    """A file without rows."""
    return {
        "version": VERSION,
        "kind": "measured",
        "title": title,
        "suite": suite,
        "note": note,
        "provenance": dict(provenance),
        "rows": [],
    }


def load(path: Path) -> dict[str, Any]:
    """The file as written; DataError when it is not strict JSON with kind "measured"."""
    whole = read_json(path.read_text(encoding="utf-8"), path.name)
    if not isinstance(whole, dict) or whole.get("kind") != "measured" or not isinstance(whole.get("rows"), list):
        raise DataError(f"{path.name}: not a file of measurements")
    return whole


def dump(whole: Mapping[str, Any]) -> str:
    """One row a line, so that a diff can be read."""
    rows = whole["rows"]
    head = {key: value for key, value in whole.items() if key != "rows"}
    lines = [json.dumps(head, ensure_ascii=False, allow_nan=False, indent=1)[:-2] + ',\n "rows": [']
    lines += [
        "  " + json.dumps(row, ensure_ascii=False, allow_nan=False) + ("," if place < len(rows) else "")
        for place, row in enumerate(rows, 1)
    ]
    return "\n".join(lines) + "\n ]\n}\n"


def save(path: Path, whole: Mapping[str, Any]) -> None:
    """Write beside, then rename."""
    text = dump(whole)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(path.name + ".part")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def merge(parts: Sequence[tuple[str, Mapping[str, Any]]]) -> dict[str, Any]:
    """One file out of several of the same suite. Provenance that differs moves into the rows; rows join by id.

    Conflict when suites differ or one id has two different rows.
    """
    suites = sorted({str(part.get("suite")) for _, part in parts})
    if len(suites) != 1:
        raise Conflict(f"these are different suites: {', '.join(suites)}")
    tables = [dict(part.get("provenance", {})) for _, part in parts]
    common = {key: item for key, item in tables[0].items() if all(table.get(key) == item for table in tables[1:])}
    rows: dict[str, dict[str, Any]] = {}
    source: dict[str, str] = {}
    for (name, part), table in zip(parts, tables, strict=True):
        own = {key: item for key, item in table.items() if key not in common}
        for row in part["rows"]:
            whole = {**row, **{key: item for key, item in own.items() if key not in row}}
            ident = row["id"]
            if ident in rows and rows[ident] != whole:
                raise Conflict(f"{ident} stands in {source[ident]} and in {name} with different values")
            rows[ident], source[ident] = whole, name
    first = parts[0][1]
    notes = list(dict.fromkeys(str(part["note"]) for _, part in parts if part.get("note")))
    made = empty(suites[0], str(first.get("title", "")), common, " ".join(notes))
    made["rows"] = list(rows.values())
    return made
