"""Put together what a reader's browser needs to run the widgets: ``python -m widgets assets``.

Why it exists: the site hosts everything itself. The interpreter, the code of ``sim`` and ``widgets``, the data and
NumPy go into one folder whose name is a hash of the contents, so a browser may keep it for ever and never mixes two
versions. Files keep their names inside, because ES modules and Pyodide find each other by name. It runs *before* the
site generator (never from inside a build: writing below ``docs/`` during ``mkdocs serve`` rebuilds for ever).

Must not know: MkDocs, Markdown, or what any widget computes. Widgets are read here as text, not imported, so that a
broken one is reported by the page builder with its line and not by this command.
"""

from __future__ import annotations

import ast
import hashlib
import io
import json
import os
import re
import shutil
import sys
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from widgets._page import kernel, snapshot, wheels
from widgets._page import node as nodejs

__all__ = ["AssetError", "build", "declared", "live_folder", "main", "site_zip", "spoken"]

ROOT = Path(__file__).resolve().parents[2]
PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
#: Named by mkdocs.yml, or by start.js on pages without a figure: they lie beside the hashed folder under fixed names.
ENTRIES = ("start.js", "progress.js", "widget.css")
LIST = "assets.json"
_COMMENT = re.compile(rb"^[ \t]*/\*(?:(?!\*/).)*\*/[ \t]*$|^[ \t]*//[^\n]*$", re.MULTILINE | re.DOTALL)
#: Material prints a banner about its successor before every build; the choice is stated in the contributing pages.
QUIET = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}


class AssetError(Exception):
    """Something needed is missing; the message says what, and which command brings it."""


def live_folder(docs: Path) -> str | None:
    """The name (12 hex digits) of the folder under ``docs/assets/live``, or None where nothing has been built."""
    found = [path.parent for path in (docs / "assets" / "live").glob(f"*/{LIST}")]
    return max(found, key=lambda path: path.stat().st_mtime_ns).name if found else None


def build(root: Path = ROOT, *, cache: Path | None = None, node: list[str] | None = None) -> str:
    """Bring ``docs/assets/live`` up to date and return the folder's name. Writes only what changed.

    ``node`` starts Node (`_page.node.command`), which writes the memory that browsers start from and compiles the
    kernel. Without it they start plainly, and NumPy multiplies.
    """
    made = {kernel.NAME: kernel.make(node, root)} if node and (root / kernel.SOURCE).is_file() else {}
    contents = dict(sorted({**_contents(root, cache), **made}.items()))
    sums = {name: _sha256(content) for name, content in contents.items()}
    named = sums | {path.name: _sha256(path.read_bytes()) for path in snapshot.SCRIPTS if node}
    folder = hashlib.sha256("".join(f"{name}\0{value}\n" for name, value in named.items()).encode()).hexdigest()[:12]
    live = root / "docs" / "assets" / "live"
    if not (live / folder / LIST).is_file():
        # Written elsewhere and renamed into place: a server that watches docs/ never sees half a folder.
        partial = root / "build" / f"assets-{os.getpid()}"
        shutil.rmtree(partial, ignore_errors=True)
        for name, content in contents.items():
            target = partial / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        listing = [{"name": name, "bytes": len(contents[name]), "sha256": sums[name]} for name in contents]
        if node:
            for path in snapshot.make(node, partial):
                content = path.read_bytes()
                listing.append({"name": path.name, "bytes": len(content), "sha256": _sha256(content)})
        (partial / LIST).write_text(json.dumps(listing, indent=1) + "\n", encoding="utf-8")
        live.mkdir(parents=True, exist_ok=True)
        try:
            partial.rename(live / folder)
        except OSError:  # another build was faster, with the same contents
            shutil.rmtree(partial)
    for name in ENTRIES:
        source = root / "widgets" / "_browser" / name
        if source.is_file() and _read(live / name) != spoken(source.read_bytes()):
            (live / name).write_bytes(spoken(source.read_bytes()))
    for old in live.iterdir():
        if old.is_dir() and old.name != folder:
            shutil.rmtree(old)
    return folder


def _contents(root: Path, cache: Path | None) -> Mapping[str, bytes]:
    """File name in the folder → bytes."""
    contents = {}
    pyodide = root / "node_modules" / "pyodide"
    for name in PYODIDE:
        content = _read(pyodide / name)
        if content is None:
            raise AssetError(f"{(pyodide / name).relative_to(root)} is missing: run `npm ci` (or `make assets`) first")
        contents[name] = content
    browser = root / "widgets" / "_browser"
    for path in _files(browser):
        name = path.relative_to(browser).as_posix()
        if name not in ENTRIES and not name.endswith((".ts", "tsconfig.json")):
            contents[name] = spoken(path.read_bytes()) if name.endswith(".js") else path.read_bytes()
    contents["site.zip"] = site_zip(root)
    notices = _read(root / "THIRD_PARTY_NOTICES.md")
    if notices is None:
        raise AssetError("THIRD_PARTY_NOTICES.md is missing; a site that serves others' work has to carry it")
    contents["THIRD_PARTY_NOTICES.txt"] = notices
    for name in declared(root, "DATA"):
        data = root / "docs" / "data" / f"{name}.json"
        content = _read(data)
        if content is None:
            raise AssetError(f"{data.relative_to(root)} is missing, and a widget names '{name}' in DATA")
        contents[f"data/{name}.json"] = content
    for name in declared(root, "FILES"):
        file = root / "docs" / "data" / name
        content = _read(file)
        if content is None:
            raise AssetError(f"{file.relative_to(root)} is missing, and a widget names '{name}' in FILES")
        contents[f"data/{name}"] = content
    wheel = wheels.locked("numpy", pyodide)
    try:
        contents[wheel.file] = wheels.fetch(wheel, cache=cache, say=_say).read_bytes()
    except wheels.FetchError as problem:
        if "numpy" in declared(root, "NEEDS"):
            raise AssetError(str(problem)) from problem
        _say(f"warning: {problem}\nNo widget needs it so far, so the site is built without it.")
    return contents


def declared(root: Path, name: str) -> tuple[str, ...]:
    """Every string in the tuples called ``name`` (DATA, FILES, NEEDS) at the top of the widgets' files, sorted."""
    found: dict[str, None] = {}
    for path in sorted((root / "widgets").glob("[!_]*.py")):
        try:
            body = ast.parse(path.read_text(encoding="utf-8")).body
        except SyntaxError:
            continue
        for statement in body:
            match statement:
                case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                    pass
                case ast.AnnAssign(target=ast.Name(id=target), value=ast.expr() as value) if target == name:
                    pass
                case _:
                    continue
            found.update(dict.fromkeys(ast.literal_eval(value)))
    return tuple(sorted(found))


def site_zip(root: Path) -> bytes:
    """``sim`` and ``widgets`` as the worker unpacks them: without the page builder and the browser code.

    Same sources, same bytes: names sorted, one date, one mode. The folder's hash rests on that.
    """
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for package in ("sim", "widgets"):
            for path in _files(root / package):
                name = path.relative_to(root)
                if name.parts[1] in ("_page", "_browser", "__main__.py") or path.suffix != ".py":
                    continue
                entry = zipfile.ZipInfo(name.as_posix(), (1980, 1, 1, 0, 0, 0))
                entry.external_attr = 0o644 << 16
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, path.read_bytes())
    return packed.getvalue()


def spoken(script: bytes) -> bytes:
    """A script or style sheet without the comments that stand on lines of their own; every line keeps its number.

    Readers fetch these scripts on every page with a figure, and a third of them is for authors.
    """
    return _COMMENT.sub(lambda comment: b"\n" * comment[0].count(b"\n"), script)


def _files(folder: Path) -> Iterator[Path]:
    """All files below ``folder``, in name order, without caches and hidden files; nothing where there is no folder."""
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.is_file() and not any(part.startswith(".") or part == "__pycache__" for part in parts):
            yield path


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _read(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main(arguments: list[str]) -> int:
    """``python -m widgets assets``: exit 0 with one line, or 1 with what is missing and what brings it."""
    if arguments:
        _say("usage: python -m widgets assets")
        return 2
    try:
        folder = build(node=nodejs.command())
    except (AssetError, RuntimeError) as problem:
        _say(f"assets: {problem}")
        return 1
    listing = json.loads((ROOT / "docs" / "assets" / "live" / folder / LIST).read_text(encoding="utf-8"))
    size = sum(entry["bytes"] for entry in listing)
    print(f"assets: docs/assets/live/{folder} ({size / 1e6:.1f} MB)")
    return 0
