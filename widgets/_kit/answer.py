"""The Python end of the conversation between page and Python: JSON text in, JSON text out.

    {"id", "widget", "params"}  ->  {"id", "view"}              the answer
                                    {"id", "progress", "view"}   long work has yielded: `proceed(id)` or `stop(id)`
                                    {"id", "error"}              {"kind", "message", "param"?}

Strict both ways: NaN and Infinity are not JSON. Nothing here raises on what comes from outside; an exception of a
widget becomes an answer too. It must not know that it runs in a browser: the tests run it as it is.
"""

from __future__ import annotations

import hashlib
import json
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

from widgets import BadValue, ContractError, UnknownWidget, Widget, load

from .params import File
from .render import parts
from .upload import Upload
from .view import Progress, View

__all__ = ["begin", "needs", "proceed", "set_data", "set_file", "stop", "unfinished"]


@dataclass
class _Work:
    """Long work between two yields: what it is, and the last it has said."""

    widget: Widget
    rest: Iterator[Progress | View]
    progress: dict[str, Any]
    view: dict[str, str] | None = None


class _Fault(Exception):
    """Something to be told as an error of this kind."""

    def __init__(self, kind: str, message: str) -> None:
        self.kind = kind
        super().__init__(message)


_work: dict[int, _Work] = {}
_data: dict[str, Any] = {}
_files: dict[str, bytes] = {}
_uploads: dict[tuple[str, str], Upload] = {}  # the last file of each widget's parameter, with what was made of it


def begin(text: str, read: Callable[[str, int, int], Any] | None = None) -> str:
    """Answer a request. `text` is the JSON of {"id", "widget", "params"}; parameters left out have their defaults.

    A file stands in `params` as {"name", "size", "stamp"}; `read(parameter, start, stop)` gives bytes of it.
    """
    number = 0
    try:
        number, name, params = _read(text)
        widget = load(name)
        values = widget.values(_with_files(widget, params, read))
        data = {key: _known(key) for key in widget.data}
        data |= {key: _files[key] for key in widget.files if key in _files}
        if widget.files and values[widget.measures]:
            for key in widget.files:
                if key not in data:
                    raise _Fault("data", f"data/{key} has not been loaded")
        if widget.view is not None:
            return _write({"id": number, "view": _parts(widget, widget.view(data=data, **values))})
        assert widget.steps is not None  # `load` has checked that exactly one of the two is there
        _work[number] = _Work(widget, iter(widget.steps(data=data, **values)), {"done": None, "text": ""})
        return proceed(number)
    except BaseException as error:  # even SystemExit: the worker must live on
        return _error(number, error)


def proceed(number: int) -> str:
    """Let long work go on to its next yield; at its end the last view is the answer."""
    work = _work.get(number)
    if work is None:
        return _error(number, _Fault("request", f"no work with the id {number}"))
    try:
        said = next(work.rest)
        if isinstance(said, Progress):
            work.progress = {"done": said.done, "text": said.text}
            return _write({"id": number, "progress": work.progress, "view": None})
        work.view = _parts(work.widget, said)
        return _write({"id": number, "progress": work.progress, "view": work.view})
    except StopIteration:
        del _work[number]
        if work.view is None:
            return _error(number, _Fault("view", f"{work.widget.name} ended without a view"))
        return _write({"id": number, "view": work.view})
    except BaseException as error:
        _work.pop(number, None)
        return _error(number, error)


def unfinished(number: int) -> bool:
    """Whether `number` has yielded and waits for `proceed`."""
    return number in _work


def stop(number: int) -> str:
    """End long work between two yields; the answer is an error of kind "stopped"."""
    work = _work.pop(number, None)
    try:
        if work is not None:
            getattr(work.rest, "close", lambda: None)()  # a generator's `finally` runs
    except BaseException as error:
        return _error(number, error)
    return _error(number, _Fault("stopped", "Stopped."))


def needs(name: str) -> str:
    """What must be there before the first view: {"packages", "data"}; data already given are left out.

    A widget with files has {"later": {"switch", "packages", "files"}} as well: what must be there once its switch is
    on. An unknown widget needs nothing: `begin` says what is wrong with it.
    """
    try:
        widget = load(name)
    except (UnknownWidget, ContractError):
        return _write({"packages": [], "data": []})
    data = [key for key in widget.data if key not in _data]
    if not widget.files:
        return _write({"packages": list(widget.needs), "data": data})
    later = {"switch": widget.measures, "packages": list(widget.needs), "files": list(widget.files)}
    return _write({"packages": [], "data": data, "later": later})


def set_data(name: str, text: str) -> str:
    """Give the text of `docs/data/<name>.json`. Answers {} or {"error"}, for a file that is malformed."""
    from sim.data import parse  # most widgets have no data and need not wait for its import

    try:
        _data[name] = parse(text)
    except Exception as error:
        return _write({"error": {"kind": "data", "message": f"data/{name}.json is malformed: {_brief(error)}"}})
    return _write({})


def set_file(name: str, content: Any, size: int, sha256: str) -> str:
    """Give the bytes of `docs/data/<name>`, with the size and checksum they had when the site was built.

    `content` may be an array of JavaScript's. Answers {} or {"error"}, for bytes that are not the ones.
    """
    found = content if isinstance(content, bytes) else bytes(content.to_bytes())
    if len(found) != size:
        said = f"data/{name} has {len(found)} bytes in place of {size}"
    elif hashlib.sha256(found).hexdigest() != sha256:
        said = f"data/{name} is damaged: it has the right size and not the right checksum"
    else:
        _files[name] = found
        return _write({})
    return _write({"error": {"kind": "data", "message": said}})


def _read(text: str) -> tuple[int, str, dict[str, Any]]:
    try:
        request = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise _Fault("request", f"the request is not JSON: {_brief(error)}") from None
    if not isinstance(request, dict):
        raise _Fault("request", "the request is not an object")
    number, name, params = request.get("id"), request.get("widget"), request.get("params")
    if not isinstance(number, int) or isinstance(number, bool):
        raise _Fault("request", "the request has no whole number as its id")
    if not isinstance(name, str) or not isinstance(params, dict):
        raise _Fault("request", 'the request needs "widget" (text) and "params" (an object)')
    return number, name, params


def _with_files(
    widget: Widget, params: Mapping[str, Any], read: Callable[[str, int, int], Any] | None
) -> dict[str, Any]:
    """The parameters, with an `Upload` for each file. The same file again is the same `Upload`."""
    found = dict(params)
    for key, param in widget.params.items():
        note = found.get(key)
        if not isinstance(param, File) or note is None:
            continue
        if read is None or not isinstance(note, dict) or not isinstance(note.get("size"), int):
            raise BadValue(key, f"{key}: {type(note).__name__} is not a file")
        new = Upload(str(note.get("name")), note["size"], partial(read, key), note.get("stamp"))
        old = _uploads.get((widget.name, key))
        if old is None or (old.name, old.size, old.stamp) != (new.name, new.size, new.stamp):
            _uploads[widget.name, key] = old = new
        old.read = new.read
        found[key] = old
    return found


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


def _known(name: str) -> Any:
    if name not in _data:
        raise _Fault("data", f"data/{name}.json has not been loaded")
    return _data[name]


def _parts(widget: Widget, view: object) -> dict[str, str]:
    if not isinstance(view, View):
        raise TypeError(f"{widget.name} returned {type(view).__name__}, not a View")
    return parts(widget, view)


def _error(number: int, error: BaseException) -> str:
    fault = {"kind": "view", "message": f"{type(error).__name__}: {_brief(error)}"}
    if isinstance(error, _Fault):
        fault = {"kind": error.kind, "message": _brief(error)}
    elif isinstance(error, BadValue):
        fault = {"kind": "param", "message": _brief(error), "param": error.param}
    elif isinstance(error, (UnknownWidget, ContractError)):
        fault = {"kind": "widget", "message": _brief(error)}
    elif isinstance(error, MemoryError):
        fault = {"kind": "memory", "message": "there is not enough memory for this"}
    else:
        traceback.print_exception(error, limit=-5, file=sys.stderr)  # for the widget's author
    return _write({"id": number, "error": fault})


def _brief(error: BaseException) -> str:
    text = str(error)
    return text if len(text) <= 300 else text[:300] + "…"


def _write(message: dict[str, Any]) -> str:
    return json.dumps(message, allow_nan=False, separators=(",", ":"))
