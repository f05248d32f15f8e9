"""The part of the page Measurements that shows docs/data/measured/site.json: `make bench-site` writes it with the file.

Why written by the benchmark: a page may cite only rows that are there, and which goals were missed is known after the
run. Every number in it is an inline `#!data`, so that file and page cannot differ. It must not know how anything is
measured.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["PAGE", "land", "landed", "section"]

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "measurements.md"
TITLE = "## How fast this site is {#site-speed}"
_SECTION = re.compile(re.escape(TITLE) + r"\n.*?(?=^## )", re.MULTILINE | re.DOTALL)
_BEFORE = "## A published fit"
_FORMATS = {"×": ".2f", "ms": ".1f", "MB": ".3f", "fraction": ".3f"}
INTRO = """\
Pages that run Python in a browser are known for making people wait. `make bench-site` measures this one: in one run,
side by side with a page that boots plain Pyodide as its documentation says, with the same lesson without its figures,
and with the same text built by MkDocs alone. A ratio above 1 is slower than that. Lines are slowed to the named speed
and round trip. The file, with rows for scale and every spread: [`site.json`](../data/measured/site.json).
"""


def section(rows: Sequence[Mapping[str, Any]]) -> str:
    """Markdown of the section: a table of the rows with a goal, then the reasons where one was missed."""
    with_goal = [row for row in rows if "goal" in row]
    lines = ["| What | Median | From, to | Goal, at most | Reached |", "| --- | ---: | ---: | ---: | --- |"]
    lines += [_line(row) for row in with_goal]
    missed = [row for row in with_goal if not row["met"]]
    if missed:
        lines += ["", "Not reached, with what the profile says:", ""]
        lines += [f"- `#!data {row['id']}.quantity`: `#!data {row['id']}.note`" for row in missed if row.get("note")]
    return "\n".join([TITLE, "", INTRO, *lines, ""])


def _line(row: Mapping[str, Any]) -> str:
    ident, unit = row["id"], row["unit"]
    shown = {key: f"`#!data {ident}.{key}:{_FORMATS.get(unit, 'g')}`" for key in ("value", "min", "max", "goal")}
    spread = f"{shown['min']}, {shown['max']}" if "min" in row else "–"
    sign = "×" if unit == "×" else "" if unit == "fraction" else f" {unit}"
    reached = f"`#!data {ident}.met`"
    return f"| `#!data {ident}.quantity` | {shown['value']}{sign} | {spread} | {shown['goal']}{sign} | {reached} |"


def landed(page: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """The page with the section: in place of the old one, else before the next."""
    made = section(rows) + "\n"
    if _SECTION.search(page):
        return _SECTION.sub(lambda _: made, page, count=1)
    if _BEFORE not in page:
        raise ValueError(f"{PAGE.name} has neither {TITLE!r} nor {_BEFORE!r}: where should the section stand?")
    return page.replace(_BEFORE, made + _BEFORE, 1)


def land(rows: Sequence[Mapping[str, Any]]) -> None:
    """Write the section into the page."""
    PAGE.write_text(landed(PAGE.read_text(encoding="utf-8"), rows), encoding="utf-8")
