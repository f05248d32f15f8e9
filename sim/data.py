"""The data files under docs/data: JSON text in, frozen dataclasses out.

Why it exists: charts, prose (`#!data <row id>.<field>`) and `python -m bench check` must read the same numbers in the
same way, in the page build and in the reader's browser. Reading is strict: NaN, Infinity, numbers too large for a
float and keys that stand twice are refused with the file and the key, because whatever lies in docs/data is served.
A field that is missing or null is None, which means "unknown"; nothing is ever filled in.

It must not know: files and addresses (it gets text), Markdown, widgets, and how anything is drawn.

Kinds and versions: `published` (what others printed), `measured` (our own runs), `trace` (accepted tokens round by
round). Version 1 is an object {version, kind, rows, ...}; version 0, a bare list of published rows, keeps loading.
docs/data/schema.json says the same, made from the dataclasses in sim.records.
"""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from types import MappingProxyType
from typing import Any

from sim._nesting import deeper_than
from sim.records import (
    AT_LEAST,
    FRACTIONS,
    ID,
    MARKS,
    UNITS,
    VERSION,
    DataError,
    Dataset,
    Measurement,
    Measurements,
    Provenance,
    Published,
    PublishedRow,
    Trace,
    Traces,
)

__all__ = [
    "UNITS",
    "VERSION",
    "DataError",
    "Dataset",
    "Measurement",
    "Measurements",
    "Provenance",
    "Published",
    "PublishedRow",
    "Trace",
    "Traces",
    "lookup",
    "parse",
    "read_json",
]


DEEPEST = 32
"""Levels of a data file."""


def read_json(text: str, name: str = "data") -> Any:
    """Strict JSON. DataError names the file (`name`) and the key of what is wrong; no other exception leaves."""
    if not text.strip():
        raise DataError(f"{name}: the file is empty")
    if text.lstrip().startswith("<"):
        raise DataError(f"{name}: this is HTML, not JSON (was the file not found?)")

    if deeper_than(text, DEEPEST):
        raise DataError(f"{name}: nested more than {DEEPEST} levels deep")

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) < len(items):
            seen: list[str] = []
            for key, _ in items:
                if key in seen:
                    where = f" in {found['id']!r}" if isinstance(found.get("id"), str) else ""
                    raise DataError(f"{name}: key {key!r} stands twice{where}")
                seen.append(key)
        return found

    try:
        value = json.loads(text, object_pairs_hook=pairs)
    except DataError:
        raise
    except json.JSONDecodeError as error:
        raise DataError(f"{name}: line {error.lineno}, column {error.colno}: not JSON: {error.msg}") from None
    except ValueError as error:
        raise DataError(f"{name}: not JSON: {error}") from None
    for path, number in _not_finite(value, ""):
        raise DataError(f"{name}: {path or 'value'} is {number}, which is refused; unknown is null")
    return value


def _not_finite(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, float):
        if not math.isfinite(value):
            yield path, "NaN" if math.isnan(value) else "Infinity (or a number too large)"
    elif isinstance(value, int) and abs(value) > 2**63:
        yield path, "a whole number beyond 64 bits"
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _not_finite(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for place, item in enumerate(value):
            label = item["id"] if isinstance(item, dict) and isinstance(item.get("id"), str) else place
            yield from _not_finite(item, f"{path}[{label}]")


def parse(text: str, name: str = "data") -> Dataset:
    """Text of a file under docs/data to its dataclass; `name` is only used in messages.

    DataError (a ValueError) names file, row and key. Unknown keys are kept in `extra` and said in `notes`.
    """
    whole = read_json(text, name)
    if isinstance(whole, list):
        whole = {"version": 0, "kind": "published", "rows": whole}
    if not isinstance(whole, dict):
        raise DataError(f"{name}: an object with version, kind and rows is wanted, not {_called(whole)}")
    for key in ("version", "kind", "rows"):
        if key not in whole:
            raise DataError(f"{name}: required key {key!r} is missing")
    version, kind, rows = whole["version"], whole["kind"], whole["rows"]
    if isinstance(version, bool) or not isinstance(version, int) or version < 0:
        raise DataError(f"{name}: version is {version!r}, a whole number is wanted")
    if version > VERSION:
        raise DataError(f"{name}: version {version} is newer than this reader, which knows versions up to {VERSION}")
    if kind not in TOP:
        raise DataError(f"{name}: kind is {kind!r}, not one of {', '.join(TOP)}")
    for key, wanted in TOP[kind].items():
        if key in whole and not isinstance(whole[key], wanted):
            raise DataError(f"{name}: {key} is {_called(whole[key])}, {wanted.__name__} is wanted")
    notes: list[str] = []
    extra = {key: item for key, item in whole.items() if key not in TOP[kind]}
    for key in extra:
        notes.append(f"{name}: unknown key {key!r} at the top is kept but not used{_meant(key, TOP[kind])}")
    common = whole.get("provenance", {})
    title = whole.get("title")
    shared = (version, title, whole.get("note"))
    if kind == "published":
        published = _rows(PublishedRow, rows, {}, name, notes)
        marks = MappingProxyType(dict(whole.get("marks", {})))
        return Published(*shared, tuple(notes), MappingProxyType(extra), rows=published, marks=marks)
    if kind == "measured":
        measured = _rows(Measurement, rows, common, name, notes)
        return Measurements(*shared, tuple(notes), MappingProxyType(extra), suite=whole.get("suite"), rows=measured)
    return Traces(*shared, tuple(notes), MappingProxyType(extra), rows=_rows(Trace, rows, common, name, notes))


_EVERY: Mapping[str, type] = {"version": int, "kind": str, "title": str, "note": str, "rows": list}
TOP: Mapping[str, Mapping[str, type]] = MappingProxyType(
    {
        "published": {**_EVERY, "marks": dict},
        "measured": {**_EVERY, "suite": str, "provenance": dict},
        "trace": {**_EVERY, "provenance": dict},
    }
)
"""Keys of the object around the rows, by kind."""


def _rows(cls: type[Any], rows: Sequence[Any], common: Mapping[str, Any], name: str, notes: list[str]) -> Any:
    known = {item.name: item for item in fields(cls) if item.name != "extra"}
    required = [key for key, item in known.items() if item.default is MISSING]
    for key, item in common.items():
        if key not in known:
            notes.append(f"{name}: unknown key {key!r} in provenance is kept in every row{_meant(key, known)}")
        elif item is not None:
            _checked(item, known[key], f"{name}: provenance: {key}")
    found: dict[str, Any] = {}
    unknown: dict[str, int] = {}
    for place, row in enumerate(rows, 1):
        where = f"{name}: row {place}"
        if not isinstance(row, dict):
            raise DataError(f"{where}: an object is wanted, not {_called(row)}")
        ident = row.get("id")
        if not isinstance(ident, str) or not ID.fullmatch(ident):
            raise DataError(f"{where}: id is {ident!r}; letters, digits, '-' and '_' are wanted")
        where = f"{name}: {ident}"
        if ident in found:
            raise DataError(f"{where}: this id stands twice")
        for want in required:
            if row.get(want) is None:
                raise DataError(f"{where}: required field {want!r} is missing")
        values: dict[str, Any] = {}
        extra: dict[str, Any] = {}
        for label, item in {**common, **row}.items():
            if label not in known:
                extra[label] = item
                if label in row:
                    unknown[label] = unknown.get(label, 0) + 1
            elif item is not None:
                values[label] = _checked(item, known[label], f"{where}: {label}")
        found[ident] = cls(**values, extra=MappingProxyType(extra))
    for label, count in unknown.items():
        notes.append(f"{name}: unknown field {label!r} in {count} row{'s' * (count > 1)} is kept{_meant(label, known)}")
    return MappingProxyType(found)


def _checked(value: Any, spec: Field[Any], where: str) -> Any:
    """The value in the type of its field, or DataError. `spec.type` is the annotation as text."""
    wanted = str(spec.type).removesuffix(" | None")
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if wanted == "str" and isinstance(value, str):
        if not value.strip():
            raise DataError(f"{where} is empty; unknown is null")
        if spec.name == "verification" and value not in MARKS:
            raise DataError(f"{where} is {value!r}, not one of {', '.join(MARKS)}")
        return value
    if wanted == "bool" and isinstance(value, bool):
        return value
    if (wanted == "float" and number) or (wanted == "int" and number and value == int(value)):
        if value < AT_LEAST.get(spec.name, -math.inf):
            raise DataError(f"{where} is {value!r}, at least {AT_LEAST[spec.name]:g} is wanted")
        if spec.name in FRACTIONS and value > 1:
            raise DataError(f"{where} is {value!r}; it is a fraction from 0 to 1 (is this a percentage?)")
        return int(value) if wanted == "int" else value
    if wanted == "tuple[int, ...]" and isinstance(value, list):
        if all(isinstance(item, int) and not isinstance(item, bool) and item >= 0 for item in value):
            return tuple(value)
    if wanted == "tuple[float, ...]" and isinstance(value, list):
        if all(isinstance(item, int | float) and not isinstance(item, bool) for item in value):
            return tuple(value)
    if wanted == "tuple[Mapping[str, Any], ...]" and isinstance(value, list):
        return tuple(_step(item, f"{where}[{place}]") for place, item in enumerate(value))
    if wanted == "Mapping[str, str]" and isinstance(value, dict) and all(isinstance(v, str) for v in value.values()):
        return MappingProxyType(dict(value))
    said = {
        "float": "a number",
        "int": "a whole number",
        "str": "text",
        "bool": "true or false",
        "tuple[int, ...]": "a list of whole numbers",
        "tuple[float, ...]": "a list of numbers",
        "Mapping[str, str]": "an object of texts",
        "tuple[Mapping[str, Any], ...]": "a list of rounds",
    }[wanted]
    raise DataError(f"{where} is {_called(value)}, {said} is wanted")


STEP = ("draft", "accepted", "token", "p", "q", "coins", "top")
"""Keys of a recorded round, see `sim.records.Trace`."""


def _step(value: Any, where: str) -> Mapping[str, Any]:
    """One recorded round, or DataError that names what is wrong in it."""
    if not isinstance(value, dict) or tuple(sorted(value)) != tuple(sorted(STEP)):
        raise DataError(f"{where} is {_called(value)}, an object with {', '.join(STEP)} is wanted")
    draft, top = value["draft"], value["top"]
    if not isinstance(draft, list) or not all(isinstance(item, str) for item in (*draft, value["token"])):
        raise DataError(f"{where}: draft and token are texts")
    kept = value["accepted"]
    if isinstance(kept, bool) or not isinstance(kept, int) or not 0 <= kept <= len(draft):
        raise DataError(f"{where}: accepted is {kept!r} of {len(draft)} drafts")
    for label in ("p", "q", "coins"):
        shares = value[label]
        if not isinstance(shares, list) or len(shares) != len(draft) + 1 or not all(map(_share, shares)):
            raise DataError(f"{where}: {label} is {shares!r}; {len(draft) + 1} numbers from 0 to 1 are wanted")
    if not isinstance(top, list) or len(top) not in (0, kept + 1):
        raise DataError(f"{where}: top has no list for each of {kept + 1} positions")
    for position in top:
        if not isinstance(position, list) or not all(map(_candidate, position)):
            raise DataError(f"{where}: a candidate of top is not [text, p, q or null]")
    return MappingProxyType(dict(value))


def _share(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _candidate(value: Any) -> bool:
    if not isinstance(value, list) or len(value) != 3 or not isinstance(value[0], str):
        return False
    return _share(value[1]) and (value[2] is None or _share(value[2]))


def lookup(data: Dataset | Mapping[str, Dataset], address: str) -> Any:
    """The value at `<row id>.<field>`; None means the record does not say (unknown).

    `data` is one dataset or several by file name; an id found in two of them, an unknown id and an unknown field are
    a DataError with the nearest name. The field is what follows the last dot; ids hold no dot.
    """
    sets = list(data.values()) if isinstance(data, Mapping) else [data]
    key, dot, name = address.rpartition(".")
    if not dot or not key or not name:
        raise DataError(f"{address!r}: <row id>.<field> is wanted")
    hits = [rows for rows in (item.rows for item in sets) if key in rows]
    if not hits:
        near = difflib.get_close_matches(key, [row for item in sets for row in item.rows], 1)
        raise DataError(f"unknown row {key!r}" + (f" (did you mean {near[0]!r}?)" if near else ""))
    if len(hits) > 1:
        raise DataError(f"row {key!r} stands in {len(hits)} files; ids must differ")
    row = hits[0][key]
    known = [item.name for item in fields(row) if item.name != "extra"]
    if name in known:
        return getattr(row, name)
    if name in row.extra:
        return row.extra[name]
    raise DataError(f"row {key!r} has no field {name!r}{_meant(name, known)}")


def _meant(key: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(key, list(known), 1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def _called(value: Any) -> str:
    """What a JSON value is, in words for a message."""
    names = {dict: "an object", list: "a list", str: f"the text {value!r}", type(None): "null"}
    return names.get(type(value), repr(value))
