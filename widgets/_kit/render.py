"""A view as HTML fragments, one for each place in a figure.

The builder writes these strings into the page and the worker sends the same strings to it: they are what must be equal
byte for byte. It must not know the figure around them, nor which of the two is asking.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from .text import esc, number
from .tokens import strip
from .view import Download, Link, Row, Table, Value, Verdict, View

if TYPE_CHECKING:
    from widgets import Widget

__all__ = ["PARTS", "parts"]

PARTS = ("title", "verdict", "picture", "tokens", "readout", "summary", "note", "table", "links")

_SIGNS = {"gain": "▲", "loss": "▼", "care": "!", "info": "→"}


def parts(widget: Widget, view: View) -> dict[str, str]:
    """`PARTS` of this view; a part that the view does not have is ""."""
    return {
        "title": esc(view.title or widget.title),
        "verdict": _verdict(view.verdict),
        "picture": view.svg or "",
        "tokens": strip(view.tokens),
        "readout": "".join(_row(row) for row in view.readout),
        "summary": esc(view.summary),
        "note": esc(view.note or ""),
        "table": _table(view.table),
        "links": "".join(_link(link) for link in view.links),
    }


def _verdict(verdict: Verdict | None) -> str:
    if verdict is None:
        return ""
    sign = f'<span class="sd-sign" aria-hidden="true">{_SIGNS[verdict.kind]}</span>'
    return f'<p class="sd-verdict-text" data-kind="{verdict.kind}">{sign}<span>{esc(verdict.text)}</span></p>'


def _row(row: Row) -> str:
    unit = f' <span class="sd-unit">{esc(row.unit)}</span>' if row.unit else ""
    return (
        f'<div class="sd-row" data-key="{esc(row.key)}" data-value="{esc(_value(row.value))}">'
        f'<dt>{esc(row.label)}</dt><dd class="sd-value">{esc(row.text)}{unit}</dd></div>'
    )


def _link(link: Link | Download) -> str:
    """Relative to where figures stand: two folders below the top (a lesson, a lab, an embedded figure)."""
    if isinstance(link, Download):
        address = f"data:application/json;charset=utf-8,{quote(link.content, safe='')}"
        return f'<a class="sd-onward" download="{esc(link.name)}" href="{esc(address)}">{esc(link.text)}</a>'
    given = "&".join(f"{link.figure}.{name}={value}" for name, value in link.values)
    address = f"../../{link.page}{'?' if given else ''}{given}#{link.figure}"
    return f'<a class="sd-onward" href="{esc(address)}">{esc(link.text)}</a>'


def _value(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else number(value)


def _table(table: Table | None) -> str:
    if table is None:
        return ""
    head = "".join(f'<th scope="col">{esc(name)}</th>' for name in table.columns)
    body = "".join(
        f'<tr><th scope="row">{esc(row[0])}</th>' + "".join(f"<td>{esc(cell)}</td>" for cell in row[1:]) + "</tr>"
        for row in table.rows
    )
    return (
        f'<div class="sd-scroll" tabindex="0" role="group" aria-label="{esc(table.caption)}">'
        f'<table class="sd-table"><caption>{esc(table.caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )
