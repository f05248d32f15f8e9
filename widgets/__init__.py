"""Every figure of the site: one Python file a widget, and the machinery in the underscore folders.

This module finds the files and checks that each keeps the contract (`TITLE`, `PARAMS`, `NEEDS`, `DATA`, `FILES`,
`SOURCE`, and `view` or `steps`), so that a broken widget is named with its file before anything is drawn. It runs in
the builder and in the reader's browser, and must import nothing heavy.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from ._kit.params import Bars, Choice, File, Param, Slider, Step, Text, Toggle, closest
from ._kit.view import Progress, View

__all__ = ["BadValue", "ContractError", "UnknownWidget", "Widget", "load", "names"]

_RESERVED = ("use", "id", "data")
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_FILE = re.compile(r"(?:[a-z0-9-]+/)*[a-z0-9-]+\.[a-z0-9]+")


class ContractError(Exception):
    """A widget file that does not keep the contract; the message names the file and what is wrong."""


class UnknownWidget(KeyError):
    """No widget of this name; `suggestion` is the nearest name or None."""

    def __init__(self, name: str, suggestion: str | None) -> None:
        self.name, self.suggestion = name, suggestion
        super().__init__(name)

    def __str__(self) -> str:
        hint = f" (did you mean {self.suggestion!r}?)" if self.suggestion else ""
        return f"unknown widget {self.name!r}{hint}"


class BadValue(ValueError):
    """A parameter that does not exist or cannot have this value; `param` names it."""

    def __init__(self, param: str, message: str, suggestion: str | None = None) -> None:
        self.param, self.suggestion = param, suggestion
        super().__init__(message)


@dataclass(frozen=True)
class Widget:
    """A checked widget. Exactly one of `view` and `steps` is there."""

    name: str
    title: str
    params: Mapping[str, Param]
    needs: tuple[str, ...]
    data: tuple[str, ...]
    source: str
    view: Callable[..., View] | None
    steps: Callable[..., Iterator[Progress | View]] | None
    table_open: str = ""
    """The words over the table where it is the answer itself and stands open; else it is folded away as the data."""
    baked: tuple[str, ...] = ()
    """The parameters a reader moves first, alone and two together: their answers are drawn when the site is built."""
    measures: str = ""
    """The switch that starts a measurement: with it on no two answers are the same. Off at first."""
    files: tuple[str, ...] = ()
    """Files under docs/data that are no JSON. They and `needs` are fetched once `measures` is on, and not before."""

    def values(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Every parameter in normal form, in the order of `params`: what was given, else the default.

        BadValue names the parameter that is unknown or has a value it cannot have.
        """
        for key in given:
            if key not in self.params:
                near = closest(key, list(self.params))
                hint = f" (did you mean {near!r}?)" if near else ""
                raise BadValue(key, f"unknown parameter {key!r}{hint}", near)
        found: dict[str, Any] = {}
        for key, param in self.params.items():
            try:
                found[key] = param.check(given[key]) if key in given else param.default
            except ValueError as error:
                raise BadValue(key, f"{key}: {error}") from None
        return found


def names(folder: Path | None = None) -> tuple[str, ...]:
    """The public widgets, sorted. `folder` is another place to look, for tests."""
    places = [str(folder)] if folder is not None else list(__path__)
    found = [module.name for module in pkgutil.iter_modules(places) if not module.ispkg]
    return tuple(sorted(name for name in found if not name.startswith("_")))


def load(name: str, folder: Path | None = None) -> Widget:
    """The widget `name`, checked. UnknownWidget without such a file, ContractError when it breaks the contract."""
    known = names(folder)
    if name not in known:
        raise UnknownWidget(name, closest(name, known))
    where = f"widgets/{name}.py" if folder is None else str(folder / f"{name}.py")
    try:
        module = _module(name, folder)
    except ContractError:
        raise
    except Exception as error:
        raise ContractError(f"{where}: cannot be imported: {type(error).__name__}: {error}") from error
    return _checked(name, where, module)


def _module(name: str, folder: Path | None) -> ModuleType:
    if folder is None:
        return importlib.import_module(f"{__name__}.{name}")
    label = f"_widget_{name}"
    spec = importlib.util.spec_from_file_location(label, folder / f"{name}.py")
    if spec is None or spec.loader is None:
        raise ContractError(f"{folder / name}.py: not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[label] = module  # dataclasses in the file look their own module up
    spec.loader.exec_module(module)
    return module


def _checked(name: str, where: str, module: ModuleType) -> Widget:
    def fail(what: str) -> ContractError:
        return ContractError(f"{where}: {what}")

    if not _NAME.fullmatch(name):
        raise fail("a widget's file name is lower-case letters, digits and underscores")
    title = getattr(module, "TITLE", None)
    if not isinstance(title, str) or not title.strip():
        raise fail("TITLE must be a sentence")
    params = getattr(module, "PARAMS", None)
    if not isinstance(params, dict):
        raise fail("PARAMS must be a dict of parameters")
    for key, param in params.items():
        if not isinstance(key, str) or not _NAME.fullmatch(key) or key in _RESERVED:
            raise fail(f"PARAMS: {key!r} cannot be a parameter's name")
        if not isinstance(param, (Slider, Choice, Toggle, Step, Bars, Text, File)):
            raise fail(f"PARAMS[{key!r}] is a {type(param).__name__}, not a parameter of widgets._kit.params")
    needs = _strings(module, "NEEDS", fail)
    if any(need != "numpy" for need in needs):
        raise fail(f"NEEDS may name numpy only, not {', '.join(needs)}")
    source = getattr(module, "SOURCE", "")
    if not isinstance(source, str):
        raise fail("SOURCE must be a sentence")
    table_open = getattr(module, "TABLE_OPEN", "")
    if not isinstance(table_open, str):
        raise fail("TABLE_OPEN must be the words over the open table")
    view, steps = getattr(module, "view", None), getattr(module, "steps", None)
    if (view is None) == (steps is None):
        raise fail("exactly one of view and steps is needed")
    _check_signature(view or steps, tuple(params), fail)
    baked = _strings(module, "BAKED", fail)
    for key in baked:
        if key not in params:
            raise fail(f"BAKED names {key!r}, which is not in PARAMS")
    measures, files = getattr(module, "MEASURES", ""), _strings(module, "FILES", fail)
    switch = params.get(measures)
    if measures and not (isinstance(switch, Toggle) and switch.default is False):
        raise fail(f"MEASURES must name a toggle that is off at first, not {measures!r}")
    if files and not measures:
        raise fail("FILES are fetched when a switch is turned on: MEASURES must name it")
    for file in files:
        if not _FILE.fullmatch(file):
            raise fail(f"FILES: {file!r} is not the name of a file below docs/data")
    data = _strings(module, "DATA", fail)
    return Widget(name, title, params, needs, data, source, view, steps, table_open, baked, measures, files)


def _strings(module: ModuleType, name: str, fail: Callable[[str], ContractError]) -> tuple[str, ...]:
    value = getattr(module, name, ())
    if not isinstance(value, tuple) or not all(isinstance(item, str) for item in value):
        raise fail(f"{name} must be a tuple of names")
    return value


def _check_signature(function: Any, params: tuple[str, ...], fail: Callable[[str], ContractError]) -> None:
    if not callable(function):
        raise fail("view or steps must be a function")
    found = inspect.signature(function).parameters
    if any(item.kind is not inspect.Parameter.KEYWORD_ONLY for item in found.values()):
        raise fail(f"{function.__name__} takes keyword arguments only: {function.__name__}(*, data, …)")
    if tuple(sorted(found)) != tuple(sorted(("data", *params))):
        missing = [key for key in ("data", *params) if key not in found]
        extra = [key for key in found if key not in ("data", *params)]
        lists = (("missing:", missing), ("not in PARAMS:", extra))
        told = [f"{what} {', '.join(keys)}" for what, keys in lists if keys]
        raise fail(f"{function.__name__} must take data and every parameter by name ({'; '.join(told)})")
