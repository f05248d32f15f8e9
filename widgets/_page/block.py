"""One widget block: its YAML into a widget, an id, and values in normal form; or what is wrong, with the line.

Why not plain `yaml.safe_load`: it takes the last of two equal keys without a word, reads 1e-3 as text and dates as
dates, and loses the lines. Here every key keeps its line, and aliases, tags and deep nesting are refused, since a page
may come from a stranger. It must not know Markdown or HTML.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

import widgets
from widgets._page.problems import hint

__all__ = ["Block", "Mistakes", "read"]

_ID = re.compile(r"[A-Za-z0-9_-]+")
_MAX_CHARACTERS = 20_000


class Mistakes(Exception):
    """What is wrong with a block: pairs of line (0 is the first line of the body, -1 the opening line) and message."""

    def __init__(self, found: Sequence[tuple[int, str]]) -> None:
        self.found = tuple(found)
        super().__init__("; ".join(message for _, message in found))


@dataclass(frozen=True)
class Block:
    """A checked block. `values` holds every parameter of the widget in normal form."""

    widget: widgets.Widget
    id: str
    values: Mapping[str, Any]
    given_id: bool
    id_line: int


class _Loader(yaml.SafeLoader):
    """YAML as people write it: true/false/on/off/yes/no, whole numbers, decimals (1e-3 too), words, lists."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            event = self.get_event()  # type: ignore[no-untyped-call]
            raise yaml.MarkedYAMLError(problem="aliases (*name) are not used here", problem_mark=event.start_mark)
        return super().compose_node(parent, index)


_PLAIN = (
    ("bool", r"[Tt]rue|TRUE|[Ff]alse|FALSE|[Oo]n|ON|[Oo]ff|OFF|[Yy]es|YES|[Nn]o|NO", "tTfFoOyYnN"),
    ("null", r"~|[Nn]ull|NULL|", "~nN"),
    ("int", r"[-+]?(?:0|[1-9][0-9]{0,30})", "-+0123456789"),
    ("float", r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,4})?", "-+.0123456789"),
    ("float", r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)", "-+."),
)
_Loader.yaml_implicit_resolvers = {}  # its own, not the ones of SafeLoader
for _kind, _pattern, _first in _PLAIN:
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_kind}", re.compile(rf"(?:{_pattern})\Z"), [*_first, ""])


def read(body: Sequence[str], folders: Sequence[Path] = ()) -> Block:
    """The block with these body lines. Mistakes has everything that is wrong, not only the first thing.

    `folders` are further places to look for widgets, after the site's own.
    """
    entries = _entries(body)
    mistakes: list[tuple[int, str]] = []
    given: dict[str, Any] = {}
    lines: dict[str, int] = {}
    for key, value, line in entries:
        if key in given:
            mistakes.append((line, f"{key!r} stands twice in this block (first on line {lines[key] + 1} of it)"))
            continue
        given[key], lines[key] = value, line
    if "use" not in given:
        slip = next((f": did you mean 'use' by {key!r}?" for key in given if hint(key, ["use"])), "")
        raise Mistakes([*mistakes, (-1, f"the block does not say which widget to use (use: <name>){slip}")])
    use = given.pop("use")
    if not isinstance(use, str):
        raise Mistakes([*mistakes, (lines["use"], f"use: {use!r} is not the name of a widget")])
    try:
        widget = _load(use, folders)
    except widgets.UnknownWidget as error:
        raise Mistakes([*mistakes, (lines["use"], str(error))]) from None
    except widgets.ContractError as error:
        raise Mistakes([*mistakes, (lines["use"], f"the widget {use!r} is broken: {error}")]) from None
    name = given.pop("id", None)
    if "id" in lines and not (isinstance(name, (str, int)) and not isinstance(name, bool) and _ID.fullmatch(str(name))):
        mistakes.append((lines["id"], f"id: {name!r} may have letters, digits, '-' and '_' only"))
    values: dict[str, Any] = {key: param.default for key, param in widget.params.items()}
    for key, value in given.items():
        param = widget.params.get(key)
        if param is None:
            mistakes.append((lines[key], f"unknown parameter {key!r}{hint(key, (*widget.params, 'id'))}"))
            continue
        try:
            values[key] = param.check(value)
        except ValueError as error:
            mistakes.append((lines[key], f"{key}: {error}"))
    if mistakes:
        raise Mistakes(sorted(mistakes))
    return Block(widget, str(name) if "id" in lines else use, values, "id" in lines, lines.get("id", -1))


def _load(use: str, folders: Sequence[Path]) -> widgets.Widget:
    """The widget from the site's own folder, else from one of the further ones."""
    for folder in folders:
        if use in widgets.names(folder):
            return widgets.load(use, folder)
    return _own(use)


@cache
def _own(use: str) -> widgets.Widget:
    """The site's own widget, checked once a process: a server that sees its file change starts itself anew."""
    return widgets.load(use)


def _entries(body: Sequence[str]) -> list[tuple[str, Any, int]]:
    """Key, value and line of every entry of the mapping, in order."""
    text = "\n".join(body)
    if not text.strip():
        raise Mistakes([(-1, "the block is empty; it needs at least a line 'use: <name>'")])
    if len(text) > _MAX_CHARACTERS:
        raise Mistakes([(-1, f"the block has {len(text)} characters; at most {_MAX_CHARACTERS} are read")])
    try:
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
            if not isinstance(node, yaml.MappingNode):
                raise Mistakes([(0, "the block is not made of lines 'key: value'")])
            return list(_pairs(loader, node))
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        last = text.rstrip().count("\n")  # an end that comes too soon is told on the last line, not after it
        raise Mistakes([(min(mark.line, last) if mark else 0, f"not YAML: {_words(error)}")]) from None
    except yaml.YAMLError as error:
        raise Mistakes([(0, f"not YAML: {' '.join(str(error).split())}")]) from None
    except RecursionError:
        raise Mistakes([(0, "not YAML: nested too deeply")]) from None


def _pairs(loader: _Loader, node: yaml.MappingNode) -> Iterator[tuple[str, Any, int]]:
    for key, value in node.value:
        line = key.start_mark.line
        name = key.value if isinstance(key, yaml.ScalarNode) else None
        if name is None:
            raise Mistakes([(line, "a key must be one word")])
        try:
            yield name, loader.construct_object(value, deep=True), line
        except yaml.MarkedYAMLError as error:
            raise Mistakes([(line, f"{name}: not YAML: {_words(error)}")]) from None
        except (ValueError, OverflowError, TypeError) as error:
            raise Mistakes([(line, f"{name}: {error}")]) from None


def _words(error: yaml.MarkedYAMLError) -> str:
    parts = [part for part in (error.context, error.problem) if part]
    return " ".join(" ".join(parts).split()) or "unreadable"
