"""The built site with pages of odd widgets: ones that loop, print, fill the memory. They are never shipped.

Made from the built site itself, so that everything but the widgets is what readers get: a lesson's page with its
figures replaced, and the widgets of `tests/site/widgets/` added to `site.zip`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

import widgets
from sim import data as sim_data
from widgets._page.figure import figure, view_of

__all__ = ["BUILT", "FOLDER", "KINDS", "add_odd_pages", "broken", "linked_copy", "live_folder"]

FOLDER = Path(__file__).parent / "widgets"
BLOB = "odd/blob.bin"
"""The file that one of the widgets has, below data/."""
BYTES = bytes(range(256)) * 4000
#: What the figure `kinds` says as it was built, and once its share is a stop higher.
BUILT = "share 0.5, length 4, round 0, card a, on True, words hello"
KINDS = BUILT.replace("0.5", "0.6")
LESSON = "lessons/01-why-decode-is-slow/index.html"
PAGES: dict[str, Sequence[tuple[str, str]]] = {
    # page -> (widget, id) of its figures
    "kinds": [("kinds", "kinds")],
    "loop": [("loop", "loop"), ("kinds", "kinds")],
    "hog": [("hog", "hog"), ("kinds", "kinds")],
    "flood": [("flood", "flood")],
    "library": [("library", "library")],
    "long": [("long", "long"), ("kinds", "kinds")],
    "rows": [("rows", "rows"), ("kinds", "kinds")],
    "vector": [("vector", "vector"), ("kinds", "kinds")],
    "filed": [("filed", "filed"), ("kinds", "kinds")],
    "calls": [("calls", "calls")],
    # every widget of the site that needs Python and nothing else, under its own name
    "every": [(name, name) for name in widgets.names() if not (widgets.load(name).needs or widgets.load(name).files)],
    "five": [("kinds", "one"), ("kinds", "two"), ("long", "three"), ("loop", "four"), ("kinds", "five")],
}


def live_folder(site: Path) -> Path:
    """The hashed folder of a built site."""
    return next(path.parent for path in (site / "assets" / "live").glob("*/assets.json"))


def linked_copy(site: Path, target: Path) -> Path:
    """A copy of the built site that shares its files; write a changed file anew, never in place."""
    for folder, _, files in os.walk(site):
        to = target / Path(folder).relative_to(site)
        to.mkdir(parents=True, exist_ok=True)
        for name in files:
            try:
                os.link(Path(folder) / name, to / name)
            except OSError:  # another file system
                shutil.copyfile(Path(folder) / name, to / name)
    return target


@contextmanager
def broken(file: Path, content: bytes | None) -> Iterator[None]:
    """`file` replaced or taken away; the original is the same file as in the shared site and is not written to."""
    aside = file.with_suffix(file.suffix + ".aside")
    file.rename(aside)
    if content is not None:
        file.write_bytes(content)
    yield
    file.unlink(missing_ok=True)
    aside.rename(file)


def add_odd_pages(site: Path) -> None:
    """Write the odd pages into `site/lessons/odd-…/` and the widgets into its `site.zip`."""
    live = live_folder(site)
    archive = live / "site.zip"
    with zipfile.ZipFile(archive) as old:
        contents = {name: old.read(name) for name in old.namelist()}
    archive.unlink()
    with zipfile.ZipFile(archive, "w") as new:
        for name, content in contents.items():
            new.writestr(name, content)
        for path in sorted(FOLDER.glob("*.py")):
            new.write(path, f"widgets/{path.name}")
    (live / "data").mkdir(exist_ok=True)
    published = (site / "data" / "published.json").read_text(encoding="utf-8")
    data = live / "data" / "published.json"
    data.unlink(missing_ok=True)
    data.write_text(published, encoding="utf-8")
    needed = {name for figures in PAGES.values() for widget, _ in figures for name in _load(widget).data}
    known = {name: sim_data.parse((site / "data" / f"{name}.json").read_text(encoding="utf-8")) for name in needed}
    (live / "data" / "odd").mkdir(exist_ok=True)
    (live / "data" / BLOB).write_bytes(BYTES)
    listing = live / "assets.json"
    rows = json.loads(listing.read_text(encoding="utf-8"))
    listing.unlink()
    rows.append({"name": f"data/{BLOB}", "bytes": len(BYTES), "sha256": hashlib.sha256(BYTES).hexdigest()})
    listing.write_text(json.dumps(rows), encoding="utf-8")
    lesson = (site / LESSON).read_text(encoding="utf-8")
    for page, figures in PAGES.items():
        drawn = "".join(_figure(widget, id, live.name, known) for widget, id in figures)
        first, rest = re.split(r"<sd-widget.*?</sd-widget>", lesson, maxsplit=1, flags=re.DOTALL)
        rest = re.sub(r"<sd-widget.*?</sd-widget>", "", rest, flags=re.DOTALL)
        target = site / "lessons" / f"odd-{page}" / "index.html"
        target.parent.mkdir(parents=True)
        target.write_text(first + drawn + rest, encoding="utf-8")  # beside the lesson: its links stay right


def _load(name: str) -> widgets.Widget:
    """An odd widget, or one of the site."""
    return widgets.load(name, FOLDER if (FOLDER / f"{name}.py").is_file() else None)


def _figure(widget: str, id: str, live: str, data: Mapping[str, object]) -> str:
    loaded = _load(widget)
    values = loaded.values({})
    given = {name: data[name] for name in loaded.data}
    with open(os.devnull, "w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):  # one of them prints without end
        view = view_of(loaded, given, values)
    return figure(loaded, view, values, id, live)
