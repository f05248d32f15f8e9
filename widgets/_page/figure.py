"""The HTML of one figure: the widget's controls, and around them the places where a view goes.

Why Python and not a template: the builder draws the default state into the same places (`data-part`) that the browser
fills later, so a page is complete without JavaScript. It must not know Markdown, YAML, or what a widget computes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from widgets import Widget
from widgets._kit.params import Bars, Choice, File, Param, Slider, Step, Text, Toggle
from widgets._kit.render import parts
from widgets._kit.text import esc
from widgets._kit.view import View

__all__ = ["controls", "figure", "framed", "linked", "view_of"]

BUILT = "Drawn when this page was built"
_MOST_YIELDS = 100_000


def view_of(widget: Widget, data: Mapping[str, Any], values: Mapping[str, Any]) -> View:
    """The state of these values; for long work (`steps`) its last view. Whatever the widget raises comes out."""
    if widget.view is not None:
        found: Any = widget.view(data=data, **values)
    else:
        assert widget.steps is not None
        found = None
        for count, item in enumerate(widget.steps(data=data, **values)):
            if isinstance(item, View):
                found = item
            if count >= _MOST_YIELDS:
                raise RuntimeError(f"steps has not ended after {_MOST_YIELDS} yields")
    if not isinstance(found, View):
        raise TypeError(f"the widget returned {type(found).__name__}, not a View")
    return found


def figure(widget: Widget, view: View, values: Mapping[str, Any], id: str, live: str) -> str:
    """`view` in its figure. `live` names the folder of the browser's files, "" where there is none."""
    return framed(widget, parts(widget, view), values, id, live)


def framed(
    widget: Widget, part: Mapping[str, str], values: Mapping[str, Any], id: str, live: str, baked: str = ""
) -> str:
    """The parts of a view in their figure. `baked` names the file with its answers before Python, "" for none."""
    plain = {key: _plain(widget.params[key], value) for key, value in values.items()}
    chosen = json.dumps(plain, ensure_ascii=False, allow_nan=False)
    form = controls(widget, values, id)
    answers = f' data-baked="{esc(baked)}"' if baked else ""
    fold = 'class="sd-data sd-answer" open' if widget.table_open else 'class="sd-data"'
    return f"""<sd-widget id="{esc(id)}" class="sd" data-widget="{esc(widget.name)}" data-state="static" \
data-live="{esc(live)}"{answers} data-values="{esc(chosen)}" data-search-exclude>
<figure class="sd-figure" aria-labelledby="{esc(id)}-title">
<header class="sd-head">
<p class="sd-eyebrow">{esc(widget.title)}</p>
<div class="sd-tools">{_share(widget)}<button type="button" data-do="reset">Reset</button></div>
<p class="sd-title" id="{esc(id)}-title" data-part="title">{part["title"]}</p>
</header>
<div class="sd-body">
{form}<div class="sd-show"><div class="sd-picture" data-part="picture">{part["picture"]}</div>\
<div class="sd-tokens" data-part="tokens">{part["tokens"]}</div></div>
</div>
<div class="sd-verdict" data-part="verdict">{part["verdict"]}</div>
<dl class="sd-readout" data-part="readout">{part["readout"]}</dl>
<p class="sd-summary" data-part="summary" aria-live="polite">{part["summary"]}</p>
<p class="sd-links" data-part="links">{part["links"]}</p>
<details {fold}><summary>{esc(widget.table_open or "Show the data")}</summary>\
<div data-part="table">{part["table"]}</div></details>
<footer class="sd-foot"><span class="sd-source">{linked(widget.source)}</span> \
<span data-part="note">{part["note"]}</span> <span class="sd-state">{BUILT}</span></footer>
<div class="sd-notice" role="alert" hidden></div>
</figure>
</sd-widget>"""


def _share(widget: Widget) -> str:
    """The buttons that carry a state elsewhere; none where every parameter is private and no state may leave."""
    if widget.params and all(param.private for param in widget.params.values()):
        return ""
    return (
        '<button type="button" data-do="copy-link">Copy link</button>'
        '<button type="button" data-do="copy-embed" hidden>Copy embed code</button>'
    )


def _plain(param: Param, value: Any) -> Any:
    """A value as the browser holds it: shares are one text there, so that two values can be compared."""
    return param.address(value) if isinstance(param, Bars) else value


def linked(sentence: str) -> str:
    """`sentence` with its bare https:// addresses as links."""
    pieces = re.split(r"(https://[^\s<>\"']+[^\s<>\"'.,;:!?)\]])", sentence)
    return "".join(
        f'<a href="{esc(piece)}">{esc(piece.removeprefix("https://"))}</a>' if place % 2 else esc(piece)
        for place, piece in enumerate(pieces)
    )


def controls(widget: Widget, values: Mapping[str, Any], id: str) -> str:
    """The form, or nothing for a widget without parameters."""
    if not widget.params:
        return ""
    fields = "\n".join(_control(f"{id}-{key}", key, param, values[key]) for key, param in widget.params.items())
    return f'<form class="sd-controls" aria-label="Controls of {esc(widget.title)}">\n{fields}\n</form>\n'


def _control(id: str, key: str, param: Param, value: Any) -> str:
    attributes = f' data-param="{esc(key)}" data-kind="{param.kind}"'
    if not param.private:
        attributes += f' data-default="{esc(param.address(value))}"'
    described = f' aria-describedby="{esc(id)}-help"' if param.help else ""
    match param:
        case Slider() | Step():
            attributes += f' data-stops="{_stops(param)}" data-short="{len(param.stops)}"'
            inner = _slider(id, param, value, described)
        case Choice():
            inner = _choice(id, param, value, described)
        case Toggle():
            inner = (
                f'<label class="sd-switch"><input type="checkbox" role="switch" id="{esc(id)}"'
                f'{" checked" if value else ""}{described}><span class="sd-track"></span>'
                f'<span class="sd-label">{esc(param.label)}</span></label>'
            )
        case Bars():
            inner = _bars(id, param, value, described)
        case File():
            inner = _file(id, param, described)
        case Text():
            inner = (
                f'{_label(id, param.label)}\n<textarea class="sd-textarea" id="{esc(id)}"'
                f' maxlength="{param.max_length}" rows="{param.rows}"'
                f' placeholder="{esc(param.placeholder)}"{described}>\n{esc(value)}</textarea>'
            )
    if param.kind == "step":
        attributes += f' data-ms="{param.ms}"' if isinstance(param, Step) else ""
    help = f'\n<p class="sd-help" id="{esc(id)}-help">{esc(param.help)}</p>' if param.help else ""
    return f'<div class="sd-control"{attributes}>\n{inner}{help}\n<p class="sd-problem" hidden></p>\n</div>'


@cache
def _stops(param: Slider | Step) -> str:
    """Every stop with its texts, as JSON in an attribute: once a parameter, however many figures have it."""
    stops = [[stop, param.address(stop), param.show(stop)] for stop in param.all_stops]
    return esc(json.dumps(stops, ensure_ascii=False))


def _label(id: str, label: str) -> str:
    return f'<label class="sd-label" for="{esc(id)}">{esc(label)}</label>'


def _slider(id: str, param: Slider | Step, value: Any, described: str) -> str:
    stops: Sequence[Any] = param.all_stops
    place = stops.index(value)
    opened = place >= len(param.stops)
    last = (len(stops) if opened else len(param.stops)) - 1
    unit = f'<span class="sd-unit">{esc(param.unit)}</span>' if param.unit else ""
    html = (
        f"{_label(id, param.label)}\n"
        f'<span class="sd-field"><input class="sd-typed" id="{esc(id)}-typed" type="text" inputmode="decimal" '
        f'autocomplete="off" value="{esc(param.address(value))}" aria-label="{esc(param.label)}, as a number">'
        f"{unit}</span>\n"
        f'<input class="sd-range" type="range" id="{esc(id)}" min="0" max="{last}" step="1" value="{place}" '
        f'aria-valuetext="{esc(param.show(value))}"{described}>'
    )
    if isinstance(param, Step):
        html += (
            '\n<span class="sd-step"><button type="button" data-do="previous">Previous</button>'
            '<button type="button" data-do="play" aria-pressed="false">Play</button>'
            '<button type="button" data-do="next">Next</button></span>'
        )
    elif len(stops) > len(param.stops) and not opened:
        html += f'\n<button class="sd-more" type="button" data-do="extend">up to {esc(param.show(stops[-1]))}</button>'
    return html


def _bars(id: str, param: Bars, value: Sequence[float], described: str) -> str:
    """One upright range a share, its number above and its name below."""
    bars = []
    for place, (name, share) in enumerate(zip(param.names, value, strict=True)):
        text, what = esc(param.address((share,))), esc(f"{param.label}, {name}")
        hundredths = esc(param.address((100 * share,)))
        bars.append(
            f'<div class="sd-bar"><input class="sd-typed" type="text" inputmode="decimal" autocomplete="off" '
            f'value="{text}" aria-label="{what}, as a number">'
            f'<input class="sd-upright" type="range" id="{esc(id)}-{place}" min="0" max="100" step="1" '
            f'value="{hundredths}" aria-label="{what}" aria-orientation="vertical" '
            f'aria-valuetext="{text}"><span class="sd-bar-name" aria-hidden="true">{esc(name)}</span></div>'
        )
    return (
        f'<span class="sd-label" id="{esc(id)}-label">{esc(param.label)}</span>\n'
        f'<div class="sd-bars" role="group" aria-labelledby="{esc(id)}-label"{described} '
        f'data-tone="{param.tone}">{"".join(bars)}</div>'
    )


def _file(id: str, param: File, described: str) -> str:
    """The browser's own file field, and around it the place where a file may be dropped."""
    return (
        f"{_label(id, param.label)}\n"
        f'<div class="sd-drop" data-max="{param.max_bytes}">'
        f'<input class="sd-file" type="file" id="{esc(id)}"{described}>'
        '<p class="sd-file-name">or drop it here</p></div>'
    )


def _choice(id: str, param: Choice, value: Any, described: str) -> str:
    options = "".join(
        f'<option value="{esc(key)}"{" selected" if key == value else ""}>{esc(text)}</option>'
        for key, text in param.options.items()
    )
    return f'{_label(id, param.label)}\n<select class="sd-select" id="{esc(id)}"{described}>{options}</select>'
