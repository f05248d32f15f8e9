"""The short table at the end of a run: what a suite found, in a few lines. It must not measure anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["table"]

_COLUMNS = ("model", "draft", "weights", "batch", "context", "positions", "alpha", "gamma", "routing")
_MOST = 24


def table(whole: Mapping[str, Any]) -> str:
    """The file's rows as text, at most `_MOST` of them: even steps through the file, the shares always."""
    rows = list(whole["rows"])
    head = f"{whole.get('suite')}: {len(rows)} rows on {whole['provenance'].get('hardware', 'unknown hardware')}"
    if not rows:
        return head + " (nothing was measured)"
    shares = [row for row in rows if row["unit"] == "fraction"]
    others = [row for row in rows if row["unit"] != "fraction"]
    step = max(1, -(-len(others) // _MOST))
    shown = [*shares, *others[::step]]
    used = [name for name in _COLUMNS if any(name in row for row in shown)]
    lines = [["quantity", *used, "median", "unit", "quartiles", "n"]]
    for row in shown:
        quartiles = f"{row['q1']:.4g} to {row['q3']:.4g}"
        lines.append(
            [row["quantity"], *(_text(row.get(name)) for name in used), f"{row['value']:.4g}", row["unit"], quartiles,
             str(row["n"])]
        )  # fmt: skip
    goals = [f"{row['id']}: {row['value']:.3g}, goal {row['goal']:g}: {_met(row)}" for row in rows if "goal" in row]
    return "\n".join([head, _aligned(lines), *goals])


def _met(row: Mapping[str, Any]) -> str:
    return "reached" if row["value"] >= row["goal"] else "MISSED"


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _aligned(lines: Sequence[Sequence[str]]) -> str:
    widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
                     for line in lines)  # fmt: skip
