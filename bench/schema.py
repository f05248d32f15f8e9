"""docs/data/schema.json from the dataclasses of sim.records, so that the two cannot drift apart.

Why it exists: people who write data elsewhere want a JSON Schema; the reader of the data is the one truth about it.
`python -m bench schema` writes the file; a test fails when it is out of date. It must not know: single data files.
"""

from __future__ import annotations

import json
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from sim import records as data

__all__ = ["PATH", "build", "main", "text"]

PATH = Path("docs/data/schema.json")
_MEANT = {
    "id": "unique; cited as `#!data id.field`",
    "quantity": "what was measured, in words",
    "unit": "unit of value, min, q1, q3 and max",
    "value": "median of n repeats; for acceptance the mean over all rounds",
    "n": "number of repeats, or of intervals for an imported log",
    "hardware": "normalised name, see sim.devices",
    "shared": "whether other work ran on the device",
    "software": "names and versions",
    "commit": "commit of the code that measured",
    "warmup": "repeats made before and thrown away",
    "weights": "number format of the weights",
    "arithmetic": "number format of the arithmetic",
    "layers_run": "layers that really ran; fewer than layers means a part of the model",
    "gamma": "drafted tokens a round",
    "alpha": "acceptance per draft token",
    "c": "time of a draft step over time of a target pass",
    "draft_sampling": "greedy, or sampled at a temperature",
    "ignore_eos": "whether generation went on after the end token; then the text is not representative",
    "counts_bonus": "whether the printed length counted the correction or bonus token; tokens_per_pass always does",
    "acceptance_rule": "which rule accepted (lossless, match, threshold, ...; independent for vLLM V0 counters)",
    "synthetic": "how the acceptance was made up, where it was",
    "extrapolated": "true when the value was not measured as it stands",
    "predicted": "what the model of sim says for this cell, in the same unit",
    "standard_error": "of value, in its unit",
    "alpha_error": "standard error of alpha",
    "goal": "the bound that the project set itself, in the same unit",
    "weight_bytes": "weights that a pass reads",
    "kv_bytes": "cache that a pass reads",
    "operations": "floating-point operations of a pass",
    "verify_ratio": "time of the verifying pass over time of a pass of one position",
    "tested": "drafts before which all others of their round were kept; alpha is accepted / tested",
    "rate": "accepted / drafted",
    "prompt": "the text that was continued",
    "steps": "the rounds with their tokens and chances",
    "per_position": "share of rounds that kept draft position i, from 0",
    "verification": "how the value was read",
    "no_formula": "why no formula can give this row",
    "slip": "what the source's own numbers give instead",
    "caution": "read this before using the row",
    "baseline": "what speedup is relative to, when that is not plain decoding",
    "lossless": "false: the method changes the output's distribution",
}
_TYPES: dict[str, dict[str, Any]] = {
    "str": {"type": "string", "minLength": 1},
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "bool": {"type": "boolean"},
    "tuple[int, ...]": {"type": "array", "items": {"type": "integer", "minimum": 0}},
    "tuple[float, ...]": {"type": "array", "items": {"type": "number"}},
    "tuple[Mapping[str, Any], ...]": {"type": "array", "items": {"$ref": "#/$defs/Step"}},
    "Mapping[str, str]": {"type": "object", "additionalProperties": {"type": "string"}},
}


_SHARE = {"type": "number", "minimum": 0, "maximum": 1}
_STEP: dict[str, Any] = {
    "draft": {"type": "array", "items": {"type": "string"}, "description": "drafted tokens, as text"},
    "accepted": {"type": "integer", "minimum": 0},
    "token": {"type": "string", "description": "the correction, or the bonus when accepted is the number of drafts"},
    "p": {"type": "array", "items": _SHARE, "description": "the target's, of each draft, last of token"},
    "q": {"type": "array", "items": _SHARE, "description": "the draft's, likewise; 0 for a bonus"},
    "coins": {"type": "array", "items": _SHARE, "description": "kept if coin * q < p; the last one chose token"},
    "top": {
        "type": "array",
        "description": "the target's likeliest tokens at each position up to that of token: text, p, q",
        "items": {"type": "array", "items": {"type": "array", "minItems": 3, "maxItems": 3}},
    },
}


def _field(name: str, annotation: str, required: bool) -> dict[str, Any]:
    kind = annotation.removesuffix(" | None")
    made = dict(_TYPES[kind])
    if name == "verification":
        made = {"enum": list(data.MARKS)}
    if name == "id":
        made["pattern"] = f"^{data.ID.pattern}$"
    if kind in ("int", "float"):
        if name in data.AT_LEAST:
            made["minimum"] = data.AT_LEAST[name]
        if name in data.FRACTIONS:
            made["maximum"] = 1
    if not required:
        made = {"anyOf": [made, {"type": "null"}]}
    words = [_MEANT[name]] if name in _MEANT else []
    if name in data.UNITS and kind in ("int", "float"):
        words.append(f"unit: {data.UNITS[name]}")
    return made | ({"description": "; ".join(words)} if words else {})


def _object(cls: type[Any], all_optional: bool = False) -> dict[str, Any]:
    known = [item for item in fields(cls) if item.name != "extra"]
    required = [] if all_optional else [item.name for item in known if item.default is MISSING]
    return {
        "type": "object",
        "properties": {f.name: _field(f.name, str(f.type), f.name in required) for f in known},
        "required": required,
    }


def build() -> dict[str, Any]:
    """The schema as a JSON value. Unknown keys are allowed: they are kept, and `bench check` names them."""
    kinds = {"published": data.PublishedRow, "measured": data.Measurement, "trace": data.Trace}
    provenance = _object(data.Provenance, all_optional=True)
    wholes = {}
    for kind, cls in kinds.items():
        properties: dict[str, Any] = {
            "version": {"type": "integer", "minimum": 0, "maximum": data.VERSION},
            "kind": {"const": kind},
            "title": {"type": "string"},
            "note": {"type": "string"},
            "rows": {"type": "array", "items": {"$ref": f"#/$defs/{cls.__name__}"}},
        }
        if kind == "published":
            properties["marks"] = {"type": "object", "additionalProperties": {"type": "string"}}
        else:
            properties["provenance"] = {"$ref": "#/$defs/Provenance"}
        if kind == "measured":
            properties["suite"] = {"type": "string"}
        wholes[kind] = {"type": "object", "properties": properties, "required": ["version", "kind", "rows"]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Data of the speculative decoding lessons",
        "description": "Missing or null means unknown. Numbers are finite. A measured or trace row takes every field "
        "of the file's provenance that it does not state itself. Version 0 of published is a bare list of rows.",
        "oneOf": [{"$ref": f"#/$defs/{kind}"} for kind in kinds],
        "$defs": {
            **wholes,
            "Step": {
                "type": "object",
                "properties": _STEP,
                "required": list(_STEP),
                "additionalProperties": False,
                "description": "one round of a real run",
            },
            "Provenance": provenance,
            **{cls.__name__: _object(cls) for cls in kinds.values()},
        },
    }


def text() -> str:
    """The file, one property a line where it stays readable."""
    return json.dumps(build(), ensure_ascii=False, indent=1) + "\n"


def main(arguments: list[str]) -> int:
    """Write docs/data/schema.json, or the path that is given."""
    path = Path(arguments[0]) if arguments else PATH
    path.write_text(text(), encoding="utf-8", newline="\n")
    print(f"wrote {path}")
    return 0
