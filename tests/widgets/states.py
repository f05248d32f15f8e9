"""States of a widget to try, the same every time: the default, each parameter at its ends and middle, and mixtures.

Also run as a program: it prints one digest of everything every widget draws over these states, for comparing two
Pythons or two hash seeds.
"""

from __future__ import annotations

import hashlib
import json
import sys
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import widgets
from sim.data import parse
from widgets import Widget
from widgets._kit.params import Bars, Choice, File, Param, Slider, Step, Text, Toggle
from widgets._kit.render import parts
from widgets._kit.upload import Upload
from widgets._kit.view import View

ROOT = Path(__file__).parents[2]
MIXTURES = 30


def ends(param: Param) -> list[Any]:
    """Values at the ends and in the middle; every option of a choice."""
    if isinstance(param, (Slider, Step)):
        stops = param.all_stops
        return [stops[0], stops[len(stops) // 2], stops[len(param.stops) - 1], stops[-1]]
    if isinstance(param, Choice):
        return list(param.options)
    if isinstance(param, Toggle):
        return [False, True]
    if isinstance(param, File):
        return [None, *(_upload(content) for content in FILES)]
    if isinstance(param, Bars):
        rest = [0.0] * (len(param.names) - 2)
        return [param.default, (1.0, 0.0, *rest), (*rest, 0.5, 0.5)]
    assert isinstance(param, Text)
    return ["", "Because memory is the limit.", "<b>&\"' \u2028 \U0001f600", "word " * (param.max_length // 5)]


FILES = (
    b"",
    b"hello\n",
    b"\xff\xfe\x00<b>&\"'</b>\x1b[31m SpecDecoding metrics: Draft acceptance rate: <script>%\r\n",
    b"SpecDecoding metrics: Draft acceptance rate: 38.8%, Mean acceptance length: 2.16, Accepted: 150 tokens, "
    b"Drafted: 387 tokens, Per-position acceptance rate: 0.543, 0.357, 0.264\n" * 3,
)


def _upload(content: bytes) -> Upload:
    return Upload("log.txt", len(content), lambda start, stop: content[start:stop])


def starter(widget: Widget) -> str:
    """The switch that starts a measurement, whose result is never the same twice; "" for a widget that computes."""
    return str(getattr(sys.modules[f"widgets.{widget.name}"], "MEASURES", ""))


def states(widget: Widget) -> list[dict[str, Any]]:
    """Values for `widget.view`, default first. A widget that measures is at rest in all of them."""
    found = [widget.values({})]
    switch = starter(widget)
    params = {name: param for name, param in widget.params.items() if name != switch}
    for name, param in params.items():
        found.extend(widget.values({name: value}) for value in ends(param))
    chance = Random(7)
    for _ in range(MIXTURES if params else 0):
        found.append(widget.values({name: _pick(ends(param), chance) for name, param in params.items()}))
    return found


def _pick(values: list[Any], chance: Random) -> Any:
    return values[int(chance.random() * len(values))]


@cache
def _file(name: str) -> Any:
    return parse((ROOT / "docs" / "data" / f"{name}.json").read_text(encoding="utf-8"))


def draw(widget: Widget, values: dict[str, Any]) -> View:
    """The view of this state; of a widget that works in steps, the last one."""
    data = {name: _file(name) for name in widget.data}
    if widget.view is not None:
        return widget.view(data=data, **values)
    assert widget.steps is not None
    views = [item for item in widget.steps(data=data, **values) if isinstance(item, View)]
    return views[-1]


def digest() -> str:
    """One line for each widget: its name and a hash of all parts over all states."""
    lines = []
    for name in widgets.names():
        widget = widgets.load(name)
        drawn = [parts(widget, draw(widget, values)) for values in states(widget)]
        lines.append(f"{name} {hashlib.sha256(json.dumps(drawn).encode()).hexdigest()}")
    return "\n".join(lines)


if __name__ == "__main__":
    print(digest())
