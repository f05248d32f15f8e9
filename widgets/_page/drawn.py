"""Drawing a figure's state for a page: once for each content, kept between builds.

Why it exists: most of a build is drawing, and after an edit of Markdown nearly every figure is what it was. The key of
a kept drawing is everything it rests on: the sources of `sim`, `widgets` and this folder, the data, the values. So
there is nothing to invalidate, and a folder that is deleted costs time only.

Whoever builds a site calls `collect` before and `write` after; the baked answers of its figures come out then. Where
nobody does (another generator, the checker), figures are drawn without them. It must not know Markdown or MkDocs.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from inspect import getsourcefile
from pathlib import Path
from typing import Any

from widgets import Widget
from widgets._kit.render import parts
from widgets._page import inline
from widgets._page.baked import bake
from widgets._page.figure import view_of

__all__ = ["FOLDER", "KEPT", "Collected", "Drawn", "UnusableData", "collect", "drawn", "forget"]

ROOT = Path(__file__).resolve().parents[2]
KEPT = Path(os.environ.get("DRAWINGS") or ROOT / "build" / "cache" / "figures")
"""Where a build of the site keeps its drawings; a benchmark names a folder of its own."""
FOLDER = "assets/baked"
"""Below the top of the site; the browser's files find it from their own place."""
_DAYS = 14
"""A drawing nobody asked for so long is thrown away."""


class UnusableData(Exception):
    """A data file that the widget names is missing or malformed."""


@dataclass(frozen=True)
class Drawn:
    """The parts of a state, and the name of the file with its baked answers ("" for none)."""

    parts: Mapping[str, str]
    baked: str = ""


@dataclass
class Collected:
    """What a build keeps: `kept` is a folder for drawings (None: do not keep), `files` the baked answers by name."""

    kept: Path | None
    files: dict[str, bytes] = field(default_factory=dict)
    made: int = 0

    def write(self, site: Path) -> None:
        """Put the baked answers into the finished site and forget drawings that have not been used for long."""
        folder = site / FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("*.json"):
            if old.stem not in self.files:
                old.unlink()
        for name, content in sorted(self.files.items()):
            if not (folder / f"{name}.json").is_file():
                (folder / f"{name}.json").write_bytes(content)
        if self.kept is not None and self.kept.is_dir():
            for old in self.kept.glob("*.json"):
                if time.time() - old.stat().st_mtime > _DAYS * 86400:
                    old.unlink(missing_ok=True)


_COLLECTED: ContextVar[Collected | None] = ContextVar("collected", default=None)


def collect(kept: Path | None) -> Collected:
    """From now on, drawings are kept in this folder and baked answers gathered."""
    collected = Collected(kept)
    _COLLECTED.set(collected)
    return collected


def forget() -> None:
    """From now on, nothing is kept or gathered."""
    _COLLECTED.set(None)


def drawn(widget: Widget, docs: Path, values: Mapping[str, Any]) -> Drawn:
    """The parts of `widget` at `values`, with its data from `docs`. UnusableData, or whatever the widget raises."""
    collected = _COLLECTED.get()
    if collected is None:
        return Drawn(parts(widget, view_of(widget, _data(widget, docs), values)))
    path = collected.kept / f"{_key(widget, docs, values)}.json" if collected.kept is not None else None
    found = _read(path)
    if found is None:
        data = _data(widget, docs)
        own = parts(widget, view_of(widget, data, values))
        content = bake(widget, values, own, lambda other: parts(widget, view_of(widget, data, other)))
        found = {"parts": own, "baked": content.decode() if content else ""}
        collected.made += 1
        _keep(path, found)
    if not found["baked"]:
        return Drawn(found["parts"])
    content = found["baked"].encode()
    name = hashlib.sha256(content).hexdigest()[:12]
    collected.files[name] = content
    return Drawn(found["parts"], name)


def _data(widget: Widget, docs: Path) -> dict[str, Any]:
    try:
        return {name: inline.load_data(docs, name) for name in widget.data}
    except (ValueError, OSError) as error:
        raise UnusableData(str(error)) from error


def _key(widget: Widget, docs: Path, values: Mapping[str, Any]) -> str:
    """A name for all that the drawing rests on."""
    own = getsourcefile(widget.view or widget.steps or _key)
    rest = [path for path in [Path(own)] if path.is_file()] if own else []
    rest += [docs / "data" / f"{name}.json" for name in widget.data]
    total = hashlib.sha256(f"{_sources()} {sys.version} {widget.name} {list(values.items())!r}".encode())
    for path in rest:
        total.update(hashlib.sha256(path.read_bytes() if path.is_file() else b"").digest())
    return total.hexdigest()[:32]


@cache
def _sources() -> str:
    """One name for the code that is loaded: all of `sim` and `widgets`. A server starts itself anew when it changes."""
    total = hashlib.sha256()
    for package in ("sim", "widgets"):
        for path in sorted((ROOT / package).rglob("*.py")):
            total.update(f"{path.relative_to(ROOT).as_posix()}\0".encode() + path.read_bytes())
    return total.hexdigest()


def _read(path: Path | None) -> dict[str, Any] | None:
    """What was kept, or None; a file that is broken counts as none."""
    if path is None:
        return None
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        os.utime(path)
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and found.keys() == {"parts", "baked"} else None


def _keep(path: Path | None, found: Mapping[str, Any]) -> None:
    """Written beside and renamed: two builds at once do each other no harm."""
    if path is None:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(f".{os.getpid()}")
    partial.write_text(json.dumps(found, ensure_ascii=False, allow_nan=False), encoding="utf-8")
    partial.replace(path)
