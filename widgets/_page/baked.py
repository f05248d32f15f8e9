"""Answers baked when the site is built: what a slider shows before Python is there.

Why it exists: Python takes a second to arrive, on a slow line half a minute, and a reader moves a slider now. So the
states a reader is likely to ask for first are drawn here, by the same `view`, and travel as one small file a figure:
the parts of the page's own state, and for every other state what differs in them. The browser looks up and cuts
strings; it computes nothing, and the strings are the ones that live Python would send.

Which states: one parameter away from the page's own values, nearest stops first, each parameter in its turn; then, for
the names in the widget's BAKED, two of them away. As many as fit into `LIMIT`. Long work (`steps`) and what a reader
writes or brings are never baked. It must not know Markdown, nor the site generator.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import combinations, islice, product, zip_longest
from typing import Any

from widgets import Widget
from widgets._kit.params import Choice, Param, Slider, Step, Toggle

__all__ = ["LIMIT", "MOST", "Patch", "bake", "cut", "key", "patched", "states"]

LIMIT = 9_500
"""Bytes of a figure's file as a host sends it (gzip)."""
MOST = 96
"""States that are tried for a figure: more take build time and would not fit."""
_CHECKED = 4
"""After so many states it is looked whether they still fit."""
_REACH = 4
"""Stops away from the page's own values, in each of two crossed parameters."""
_TAGS = re.compile(r"<[^>]*>|[^<]+|<")

#: Three entries a change: characters kept, characters left out, text put in. The rest is kept.
Patch = list[int | str]
Drawing = Callable[[Mapping[str, Any]], Mapping[str, str]]


def states(widget: Widget, values: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """What changes from `values`, likeliest first; each state once."""
    names = [name for name in widget.baked if name in widget.params]
    names += [name for name in widget.params if name not in names]
    tracks = [[{name: value} for value in _near(widget.params[name], values[name])] for name in names]
    for turn in zip_longest(*tracks):
        yield from (state for state in turn if state is not None)
    for one, two in combinations(widget.baked, 2):
        near = [list(islice(_near(widget.params[name], values[name]), 2 * _REACH)) for name in (one, two)]
        pairs = sorted(product(range(len(near[0])), range(len(near[1]))), key=lambda at: (at[0] + at[1], at))
        yield from ({one: near[0][i], two: near[1][j]} for i, j in pairs)


def _near(param: Param, own: Any) -> Iterator[Any]:
    """The other values of `param`, nearest first; none where they cannot be counted."""
    match param:
        case Slider() | Step():
            at = param.all_stops.index(own)
            far = sorted(range(len(param.all_stops)), key=lambda place: (abs(place - at), -place))
            yield from (param.all_stops[place] for place in far[1:])
        case Choice():
            yield from (option for option in param.options if option != own)
        case Toggle():
            yield not own


def key(widget: Widget, state: Mapping[str, Any]) -> str:
    """The name of a state in the file: what it changes, as in the page's address, in the order of the parameters."""
    return "&".join(f"{name}={param.address(state[name])}" for name, param in widget.params.items() if name in state)


def bake(
    widget: Widget, values: Mapping[str, Any], own: Mapping[str, str], draw: Drawing, limit: int = LIMIT
) -> bytes | None:
    """The file of one figure, or None where there is nothing to bake. `own` is the parts at `values`.

    `draw` makes the parts of other values; a state in which it fails is left for Python to tell of. Reading the file
    takes one look-up, so it is plain JSON: {"own": parts, "states": {key: {part: patch}}}.
    """
    if widget.view is None:
        return None
    made: dict[str, dict[str, Patch]] = {}
    for state in islice(states(widget, values), MOST):
        try:
            new = draw({**values, **state})
        except Exception:
            continue
        made[key(widget, state)] = {part: cut(own[part], text) for part, text in new.items() if text != own[part]}
        if len(made) % _CHECKED == 0 and _sent(_written(own, made, len(made))) > limit:
            break
    low, high = 0, len(made)
    while low < high:  # the most states, from the first on, that fit
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _sent(_written(own, made, middle)) <= limit else (low, middle - 1)
    return _written(own, made, low) if low else None


def _written(own: Mapping[str, str], made: Mapping[str, dict[str, Patch]], count: int) -> bytes:
    whole = {"own": dict(own), "states": dict(islice(made.items(), count))}
    return json.dumps(whole, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _sent(content: bytes) -> int:
    """Bytes on the wire, with the level that hosts use."""
    return len(gzip.compress(content, 6, mtime=0))


def cut(old: str, new: str) -> Patch:
    """What turns `old` into `new`, tag by tag, and within a tag where that goes. Lengths as in UTF-16."""
    was, now = _TAGS.findall(old), _TAGS.findall(new)
    low, high = _shared(was, now), 0
    while high < min(len(was), len(now)) - low and was[-1 - high] == now[-1 - high]:
        high += 1
    result: Patch = []
    kept = _units("".join(was[:low]))

    def change(a: str, b: str) -> None:
        nonlocal kept
        first = _shared(a, b)
        last = _shared(a[first:][::-1], b[first:][::-1])
        result.extend((kept + _units(a[:first]), _units(a[first : len(a) - last]), b[first : len(b) - last]))
        kept = _units(a[len(a) - last :])

    was, now = was[low : len(was) - high], now[low : len(now) - high]
    for what, i, j, k, m in SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        if what == "equal":
            kept += _units("".join(was[i:j]))
        elif j - i == m - k:
            for a, b in zip(was[i:j], now[k:m], strict=True):
                change(a, b)
        else:
            change("".join(was[i:j]), "".join(now[k:m]))
    return result


def patched(old: str, patch: Patch) -> str:
    """What `cut` was given as `new`: as baked.js does it."""
    units, at, pieces = old.encode("utf-16-le"), 0, []
    for kept, left, text in zip(patch[::3], patch[1::3], patch[2::3], strict=True):
        assert isinstance(kept, int)
        assert isinstance(left, int)
        pieces += [units[2 * at : 2 * (at + kept)].decode("utf-16-le"), str(text)]
        at += kept + left
    return "".join([*pieces, units[2 * at :].decode("utf-16-le")])


def _shared(one: Sequence[str], two: Sequence[str]) -> int:
    """How many entries they have in common at their start."""
    return next((at for at, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))


def _units(text: str) -> int:
    """The length JavaScript sees."""
    return len(text) + sum(letter > "\uffff" for letter in text)
