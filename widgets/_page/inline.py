"""Numbers in prose: `#!sim expected_tokens(alpha=0.8, gamma=4):.2f` and `#!data <row id>.<field>:.2f`.

Why parsed and not evaluated: a page may come from a stranger, and building it must run nothing but the functions of
`sim` with plain values. The text is read with `ast`; everything that is not one call to a public function of `sim` with
literal keyword arguments is refused. It must not know Markdown, MkDocs or HTML.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
import math
import re
import typing
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from widgets._kit.text import number
from widgets._page.problems import hint

__all__ = ["Refused", "data_value", "load_data", "sim_value", "split_spec", "value"]

_SPEC = re.compile(r"\+?,?(?:\.[0-9]{1,2})?[defg%]?")
_ROW = re.compile(r"(?P<row>[A-Za-z0-9][A-Za-z0-9_-]*)\.(?P<field>[A-Za-z_][A-Za-z0-9_]*)")
_MOST_CHARACTERS, _MOST_ITEMS, _LARGEST = 400, 64, 10_000_000
_EXAMPLE = "expected_tokens(alpha=0.8, gamma=4):.2f"


class Refused(ValueError):
    """This inline value cannot be computed; the message says why, and what is near."""


def value(kind: str, text: str, docs: Path) -> tuple[str, str]:
    """What the reader sees, and where it comes from (for the title), of `#!<kind> <text>`."""
    return sim_value(text) if kind == "sim" else data_value(text, docs)


def split_spec(text: str) -> tuple[str, str]:
    """Expression and format spec: split at the last colon that stands outside brackets and quotes."""
    depth, quote, place = 0, "", -1
    for at, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif letter == ":" and depth <= 0:
            place = at
    return (text, "") if place < 0 else (text[:place], text[place + 1 :])


def sim_value(text: str) -> tuple[str, str]:
    """`name(key=literal, …)[.field][:spec]` as text; Refused says what is wrong with it."""
    import sim

    source, spec = _checked(text)
    name, arguments, field = _call(source)
    functions = {item: getattr(sim, item) for item in sim.__all__ if inspect.isfunction(getattr(sim, item, None))}
    if name not in functions:
        if name in sim.__all__:
            raise Refused(f"sim.{name} is not a function")
        raise Refused(f"sim has no function {name!r}{hint(name, functions)}")
    function = functions[name]
    _check_arguments(name, function, arguments)
    try:
        result = function(**arguments)
    except Exception as error:
        raise Refused(f"sim.{name}: {error}") from None
    if field:
        result = _field(f"sim.{name}(…)", result, field)
    return _shown(result, spec, f"sim.{name}(…)"), f"sim.{source}"


def data_value(text: str, docs: Path) -> tuple[str, str]:
    """`<row id>.<field>[:spec]` of the files below docs/data; Refused says what is wrong with it."""
    source, spec = _checked(text)
    match = _ROW.fullmatch(source)
    if not match:
        raise Refused(f"{source!r} is not '<row id>.<field>'")
    row, field = match["row"], match["field"]
    rows = _rows(docs)
    if row not in rows:
        raise Refused(f"no row {row!r} in docs/data{hint(row, rows)}")
    file, found = rows[row]
    result = _field(f"row {row!r}", found, field)
    if result is None:
        raise Refused(f"row {row!r}: {field} is unknown (null in {file})")
    return _shown(result, spec, f"{row}.{field}"), f"{file}: {row}.{field}"


def _checked(text: str) -> tuple[str, str]:
    """Expression and spec, both short and plain."""
    text = " ".join(text.split())
    if len(text) > _MOST_CHARACTERS:
        raise Refused(f"{len(text)} characters are too many for a number in a sentence (at most {_MOST_CHARACTERS})")
    source, spec = split_spec(text)
    if not _SPEC.fullmatch(spec):
        raise Refused(f"{spec!r} is not a format; use for example .2f, ,.0f or .1%")
    return source.strip(), spec


def _call(source: str) -> tuple[str, dict[str, Any], str]:
    """Function name, arguments and field of the one call that `source` may be."""
    try:
        tree = ast.parse(source, mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise Refused(f"{source!r} cannot be read; write it like {_EXAMPLE}") from None
    node, field = tree.body, ""
    if isinstance(node, ast.Attribute):
        field, node = node.attr, node.value
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
        raise Refused(f"{source!r} is not one call to a function of sim, like {_EXAMPLE}")
    name = node.func.id
    if node.args:
        raise Refused(f"name every argument of {name}, like {_EXAMPLE}")
    arguments: dict[str, Any] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise Refused(f"name every argument of {name}; ** is not used here")
        if keyword.arg in arguments:
            raise Refused(f"{keyword.arg} stands twice")
        arguments[keyword.arg] = _literal(keyword.arg, keyword.value)
    return name, arguments, field


def _literal(name: str, node: ast.expr) -> Any:
    """A number, a word, true, false or None, or a tuple or list of these."""
    match node:
        case ast.Constant(value=bool() | None as plain):
            return plain
        case ast.Constant(value=str() as plain):
            return plain
        case ast.Constant(value=int() | float() as plain):
            return _finite(name, plain)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as plain)) if plain is not True:
            return -_finite(name, plain)
        case ast.Tuple(elts=items) | ast.List(elts=items) if len(items) <= _MOST_ITEMS:
            return tuple(_literal(name, item) for item in items)
    raise Refused(f"{name} must be a plain number, word or tuple of these, not {ast.unparse(node)!r}")


def _finite(name: str, plain: float) -> float:
    if not math.isfinite(plain) or (abs(plain) > _LARGEST and isinstance(plain, int)):
        raise Refused(f"{name} is too large a number for a page ({_LARGEST:,} is the limit)")
    return plain


def _check_arguments(name: str, function: Callable[..., Any], arguments: Mapping[str, Any]) -> None:
    known = inspect.signature(function).parameters
    open_ended = any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values())
    for key in arguments:
        if key not in known and not open_ended:
            raise Refused(f"sim.{name} has no argument {key!r}{hint(key, known)}")
    for key, parameter in known.items():
        named = parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        if named and parameter.default is parameter.empty and key not in arguments:
            raise Refused(f"sim.{name} needs {key}")
    # Refused before it runs: such a function may be asked for millions of rounds, and no sentence can show them.
    try:
        result = typing.get_type_hints(function).get("return")
    except NameError:  # a name that is imported for type checkers only
        result = None
    if typing.get_origin(result) in (tuple, list, dict) or result in (tuple, list, dict):
        raise Refused(f"sim.{name} gives many numbers; a sentence can show one")


def _field(what: str, owner: Any, field: str) -> Any:
    """A public field or property of a dataclass; nothing else can be reached."""
    if not dataclasses.is_dataclass(owner) or isinstance(owner, type):
        raise Refused(f"{what} is one value and has no field {field!r}")
    names = [item.name for item in dataclasses.fields(owner)]
    names += [key for key, item in inspect.getmembers(type(owner)) if isinstance(item, property)]
    names = [key for key in names if not key.startswith("_")]
    extra = getattr(owner, "extra", None)
    if field in names:
        return getattr(owner, field)
    if isinstance(extra, Mapping) and field in extra:
        return extra[field]
    raise Refused(f"{what} has no field {field!r}{hint(field, names)}")


def _shown(result: Any, spec: str, what: str) -> str:
    """One value as text. Unknown, infinite and composed values are refused rather than shown oddly."""
    if isinstance(result, bool):
        if spec:
            raise Refused(f"{what} is yes or no, which has no format {spec!r}")
        return "yes" if result else "no"
    if isinstance(result, str):
        if spec:
            raise Refused(f"{what} is a word, which has no format {spec!r}")
        return result
    if isinstance(result, (int, float)):
        try:
            return number(result, spec)
        except (ValueError, OverflowError) as error:
            raise Refused(f"{what}: {error}") from None
    if result is None:
        raise Refused(f"{what} is unknown")
    fields = [item.name for item in dataclasses.fields(result)] if dataclasses.is_dataclass(result) else []
    wanted = f"; name one of its fields: {', '.join(fields)}" if fields else ""
    raise Refused(f"{what} is not one value{wanted}")


_CACHE: dict[Path, tuple[tuple[tuple[str, int, int], ...], dict[str, tuple[str, Any]]]] = {}


def _rows(docs: Path) -> dict[str, tuple[str, Any]]:
    """Every row of every data file by its id, with the file's name. Read again only when a file has changed."""
    folder = docs / "data"
    paths = [path for path in sorted(folder.rglob("*.json")) if path.name != "schema.json"]
    stamp = tuple((str(path), path.stat().st_mtime_ns, path.stat().st_size) for path in paths)
    if folder in _CACHE and _CACHE[folder][0] == stamp:
        return _CACHE[folder][1]
    from sim import data

    rows: dict[str, tuple[str, Any]] = {}
    for path in paths:
        name = f"docs/data/{path.relative_to(folder).as_posix()}"
        try:
            parsed = data.parse(path.read_text(encoding="utf-8"), name)
        except (ValueError, OSError) as error:
            raise Refused(f"the data cannot be read: {error}") from None
        for key, row in parsed.rows.items():
            rows.setdefault(key, (name, row))
    _CACHE[folder] = (stamp, rows)
    return rows


def load_data(docs: Path, name: str) -> Any:
    """One data file, parsed, for a widget that names it. ValueError or OSError where it cannot be used."""
    from sim import data

    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_/-]*", name):
        raise ValueError(f"{json.dumps(name)} is not the name of a data file")
    path = docs / "data" / f"{name}.json"
    return data.parse(path.read_text(encoding="utf-8"), f"docs/data/{name}.json")
