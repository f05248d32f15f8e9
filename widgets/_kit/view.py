"""What a widget returns: numbers, a picture with its text twin, token strips, a sentence.

Plain frozen data that checks itself, so that a wrong view fails where it is made and not in the page. It must not know
HTML: `render` turns it into fragments.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TypeAlias

__all__ = ["KINDS", "Download", "Link", "Progress", "Row", "Table", "Token", "Verdict", "View"]

KINDS = ("drafted", "accepted", "rejected", "correction", "bonus", "target", "given")
VERDICTS = ("gain", "loss", "care", "info")

Value: TypeAlias = float | int | str | bool | None


@dataclass(frozen=True)
class Row:
    """One number of the readout. Tests read `key` and `value`; readers see `text`, a small `unit`, and `label`."""

    key: str
    label: str
    value: Value
    unit: str
    text: str

    def __post_init__(self) -> None:
        if not self.key or not self.key.replace("_", "").isalnum():
            raise ValueError(f"row key {self.key!r} must be letters, digits and underscores")
        if callable(item := getattr(self.value, "item", None)):  # a number of NumPy's becomes a plain one
            object.__setattr__(self, "value", item())
        if isinstance(self.value, float) and not math.isfinite(self.value):
            raise ValueError(f"row {self.key}: {self.value!r} is not a number to show")
        if not self.text or not self.label:
            raise ValueError(f"row {self.key}: a text and a label are needed")


@dataclass(frozen=True)
class Token:
    """One cell of a token strip. `round` counts passes from 1 (0: before the first); `label` replaces what is read out;
    `detail` is shown under the strip when a reader points at the token or goes to it, and stands in the table too.
    """

    text: str
    kind: str
    round: int
    label: str = ""
    detail: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"token kind {self.kind!r} is not one of {', '.join(KINDS)}")


@dataclass(frozen=True)
class Table:
    """The text twin of a picture. The first column names each row; every cell is text."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"table {self.caption!r}: a row has {len(row)} cells, the head {len(self.columns)}")
            if not all(isinstance(cell, str) for cell in row):
                raise ValueError(f"table {self.caption!r}: cells are text, got {row!r}")


@dataclass(frozen=True)
class Verdict:
    """What the state means for the reader, in one or two sentences."""

    kind: str
    text: str

    def __post_init__(self) -> None:
        if self.kind not in VERDICTS:
            raise ValueError(f"verdict kind {self.kind!r} is not one of {', '.join(VERDICTS)}")


@dataclass(frozen=True)
class Link:
    """A way on that carries this state along: `values` are set in the address of `figure` on `page` ("labs/tree/")."""

    text: str
    page: str
    figure: str
    values: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if not self.text or not self.page.endswith("/") or self.page.startswith(("/", ".")) or ":" in self.page:
            raise ValueError(f"link {self.text!r}: a text and a page of this site are needed, not {self.page!r}")
        for word in (self.figure, *(part for pair in self.values for part in pair)):
            if not word or not word.replace("-", "").replace("_", "").replace(".", "").isalnum():
                raise ValueError(f"link {self.text!r}: {word!r} cannot stand in an address as it is")


@dataclass(frozen=True)
class Download:
    """A file made of this state, for the reader to keep: it lies in the link itself, and nothing is fetched or sent."""

    text: str
    name: str
    content: str

    def __post_init__(self) -> None:
        if not self.text or not self.name.removesuffix(".json").replace("-", "").isalnum():
            raise ValueError(f"download {self.text!r}: a text and a plain name (.json) are needed, not {self.name!r}")


@dataclass(frozen=True)
class View:
    """One state of a figure. `title` says what the picture shows now; `note` joins the source line; `links` lead on."""

    summary: str
    readout: tuple[Row, ...] = ()
    svg: str | None = None
    table: Table | None = None
    tokens: tuple[Token, ...] = ()
    verdict: Verdict | None = None
    title: str | None = field(default=None, kw_only=True)
    note: str | None = field(default=None, kw_only=True)
    links: tuple[Link | Download, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        if not self.summary:
            raise ValueError("a view needs a summary: it is what is read aloud when the state changes")
        if self.svg is not None and self.table is None:
            raise ValueError("a view with a picture needs a table: the picture's text twin")
        keys = [row.key for row in self.readout]
        if len(dict.fromkeys(keys)) != len(keys):
            raise ValueError(f"readout keys repeat: {', '.join(keys)}")


@dataclass(frozen=True)
class Progress:
    """How far long work is: `done` from 0 to 1, and a word about it."""

    done: float
    text: str

    def __post_init__(self) -> None:
        if not 0.0 <= self.done <= 1.0:
            raise ValueError(f"progress {self.done!r} is not between 0 and 1")
