"""Numbers typed by hand where `sim` or the data should speak: a warning of ``make check``, never an error.

Why it exists: a typed number stays when the model behind it changes. Few false alarms are the aim, so only numbers with
a unit count, in the sentences of lessons, labs and reference pages. Numbers that a claim of `tests/site/claims.toml`
holds are watched there; the few that have no source in this repository stand in `typed.toml`, each with its reason. It
must not know what a number means.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from widgets._page import fences
from widgets._page.problems import Problem

__all__ = ["LISTED", "listed", "typed_numbers", "warnings"]

FOLDERS = ("lessons/", "labs/", "reference/")
LISTED = Path(__file__).with_name("typed.toml")
_UNITS = r"(?:ms|µs|ns|GB/s|TB/s|GB|TB|MB|kB|tokens/s|tokens per (?:pass|round|second))\b"
# Not the threshold 1×, nor a product: 0.8 × 0.8.
_NUMBER = re.compile(rf"(?<![\w.,#/-])(?!1\s?×)[0-9][0-9,]*(?:\.[0-9]+)?\s?(?:%|×(?!\s?[0-9`])|{_UNITS})")
_CODE = re.compile(r"(`+)(?:(?!\n[ \t]*\n).)+?\1", re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\([^)]*\)")
_ADVICE = (
    "take it from sim (`#!sim …`) or from the data (`#!data …`), or list it: with its source in tests/site/claims.toml "
    "or with its reason in widgets/_page/typed.toml"
)
_FRONT = re.compile(r"\A---[ \t]*\n.*?^(?:---|\.\.\.)[ \t]*\n", re.DOTALL | re.MULTILINE)
_SHOWN = re.compile(r"\s*(?:#|\||>|\{|<)")  # a heading, a table, a quotation, attributes, HTML


def typed_numbers(text: str) -> Iterator[tuple[int, str]]:
    """Line (from 1) and number of each one typed in the sentences of a page."""
    lines = _FRONT.sub(lambda front: "\n" * front[0].count("\n"), text).split("\n")
    _, inside = fences.scan(lines)
    prose = "\n".join("" if shown else line for line, shown in zip(lines, inside, strict=True))
    prose = _CODE.sub(lambda code: "`" + "\n" * code[0].count("\n"), prose)
    for number, line in enumerate(prose.split("\n"), 1):
        if not _SHOWN.match(line):
            for match in _NUMBER.finditer(_LINK.sub("", line)):
                yield number, match[0]


def listed(file: Path = LISTED) -> dict[str, dict[str, str]]:
    """Page → number → the reason why it is typed."""
    found: dict[str, dict[str, str]] = {}
    for entry in tomllib.loads(file.read_text(encoding="utf-8"))["number"]:
        for number in entry["numbers"]:
            found.setdefault(entry["page"], {})[number] = entry["why"]
    return found


def warnings(page: str, text: str, claims: Path) -> Iterator[Problem]:
    """A warning for each number of the page `docs/…` that is neither claimed nor listed. `text`: the whole file."""
    if not page.partition("/")[2].startswith(FOLDERS):
        return
    entries = tomllib.loads(claims.read_text(encoding="utf-8"))["claim"] if claims.is_file() else []
    claimed = " ".join(entry["sentence"] for entry in entries if entry["page"] == page)
    known = listed().get(page, {})
    for line, number in typed_numbers(text):
        if number not in known and number not in claimed:
            yield Problem(page, line, f"warning: number {number!r} is typed by hand; {_ADVICE}")
