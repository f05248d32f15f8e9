"""The table of faults: what goes wrong between a host and a reader, and what the page must do about it.

Why it exists: one place that says which faults are tried, on which file or at which moment, and what is right. In every
row the lesson stays readable, nothing waits for ever without a word, no promise is left to fail unheard, and what the
figure tells stands here. `test_faults.py` runs the table in Chromium; `tests/engines` runs a few rows in all engines.

It must not know how a row is run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.tools.server import Spoiled

__all__ = [
    "ABSENT",
    "BASES",
    "FILES",
    "MALFORMED",
    "MOMENTS",
    "REPORTS",
    "SLOW",
    "SPOILED",
    "TABLE",
    "TYPE",
    "Row",
    "place",
    "told",
]

MISSING = "missing"
HTML = "a web page in its place"
TRUNCATED = "truncated"
TYPE = "wrong type"
CUT = "cut off on its way"
SLOW = "slow"

WEB_PAGE = b"<!doctype html><title>Not found</title><p>There is nothing here.</p>"
#: What a host sends for the file. A slow one is held back by whoever runs the row.
SPOILED = {
    MISSING: Spoiled(404, WEB_PAGE, "text/html"),
    HTML: Spoiled(200, WEB_PAGE, "text/html"),
    TRUNCATED: Spoiled(keep=0.5),
    TYPE: Spoiled(kind="application/octet-stream"),
    CUT: Spoiled(until=0.5),
}

#: The browser's own reports of a fault made on purpose; an exception in the page is none of them.
REPORTS = r"^console (error|warning)|^status \d+|^request failed"

RETRY = "Retry"  # the button in the figure
RELOAD = "loaded anew"  # the reader loads the page once more
ITSELF = "by itself"


@dataclass(frozen=True)
class Row:
    """One fault."""

    kind: str
    #: the file it befalls, or the moment it happens at
    at: str
    #: what the figure says; "": nobody is to notice. {name}, {half} and {whole} are the file's name and bytes
    tells: str = ""
    #: how the figure comes alive once the fault is gone
    back: str = RETRY
    #: the test that runs it; "" for files, which `test_faults.py` runs in groups
    test: str = ""

    def __str__(self) -> str:
        return f"{self.kind}: {self.at}"


#: NumPy's two files: the pack, and the wheel that is taken without it.
_PLACES = {"numpy": r"/numpy[^/]*\.(?:bin|whl)$", "baked answers": r"assets/baked/"}


def place(at: str) -> str:
    """Where a host finds the file of a row, as an expression over addresses."""
    return _PLACES.get(at, rf"/{re.escape(at)}$")


_FILE = {
    MISSING: "{name} came back as 404",
    HTML: "{name} came back as a web page (text/html) in place of the file",
    TRUNCATED: "{name} has {half} bytes in place of {whole}",
    CUT: "{name} was cut off on its way",
    TYPE: "",
    SLOW: "Python is still being loaded; the connection may be slow.",
}
#: A browser runs a module only under a JavaScript type; other files are read whatever they are called.
_SCRIPT = _FILE | {TYPE: "{name} came as application/octet-stream, not as JavaScript"}
#: What the page itself runs: without it there is nobody to tell more than the browser does.
_PAGE = dict.fromkeys((MISSING, HTML, TRUNCATED, TYPE, CUT), "sd-widget.js could not be loaded")
_ONE_FIGURE = _FILE | {SLOW: "Python is still working on this picture."}
_NOBODY = dict.fromkeys((MISSING, HTML, TRUNCATED, TYPE, CUT), "")

_CELLS: dict[str, dict[str, str]] = {
    "start.js": dict.fromkeys((MISSING, TRUNCATED, TYPE, SLOW), "Its controls wait for a script"),
    "sd-widget.js": _PAGE | {SLOW: "Its controls wait for a script"},
    "python.js": _PAGE,
    "worker.js": _SCRIPT,
    "boot.js": _SCRIPT,
    "files.js": _SCRIPT,
    "kernel.js": _SCRIPT,
    "pyodide.mjs": _SCRIPT,
    "pyodide.asm.mjs": _SCRIPT,
    "pyodide.asm.wasm": _FILE,
    "pyodide-lock.json": _FILE,
    "site.zip": _FILE,
    "snapshot.bin": _NOBODY,
    "baked answers": {MISSING: "", HTML: "", TRUNCATED: ""},
    "numpy.bin": {MISSING: "", TRUNCATED: ""},
    "kernel.wasm": {MISSING: "", TRUNCATED: ""},
    "assets.json": {MISSING: "", TRUNCATED: ""},
    "progress.js": {MISSING: "", TRUNCATED: ""},
    "widget.css": {MISSING: "", CUT: ""},
    "numpy": _ONE_FIGURE,
    "data/published.json": _ONE_FIGURE | {TRUNCATED: "data/published.json is malformed"},
}
_BACK = {"start.js": RELOAD}
FILES = tuple(
    Row(kind, at, tells, _BACK.get(at, RETRY) if tells and kind != SLOW else ITSELF)
    for at, cells in _CELLS.items()
    for kind, tells in cells.items()
)

_DATA = "test_faults.py::test_malformed_data_fails_the_figure_and_retry_reads_it_anew"
#: Data that came whole and is not what it should be, and what is told of it.
MALFORMED = {
    "empty": (b"", "the file is empty"),
    "no JSON": (b"{'rows': []}", "not JSON"),
    "null": (b"null", "an object with version, kind and rows is wanted, not null"),
    "NaN": (b'{"version": 1, "rows": [{"value": NaN}]}', "is NaN, which is refused"),
    "nested without end": (b"[" * 200_000, "nested more than 32 levels deep"),
    "not UTF-8, and no rows": (b'{"schema": "\xff\xfe"}', "required key 'version' is missing"),
}
_MALFORMED = tuple(
    Row("malformed data", f"data/published.json: {what}", told, RETRY, _DATA) for what, (_, told) in MALFORMED.items()
)

#: What a browser has not, or refuses: how a page's script takes it away, how it comes back, what is told.
ABSENT = {
    "WebAssembly absent": (
        "window.kept = WebAssembly; delete window.WebAssembly",
        "window.WebAssembly = kept",
        "This browser has no WebAssembly",
    ),
    "workers refused": (
        "window.kept = Worker; window.Worker = class { constructor() { throw new Error('workers are refused') } }",
        "window.Worker = kept",
        "Workers are refused",
    ),
    "no workers": ("window.kept = Worker; delete window.Worker", "window.Worker = kept", "Worker is not defined"),
}
_ABSENT = tuple(
    Row(
        "WebAssembly absent" if "Web" in at else "workers refused",
        at,
        tells,
        RETRY,
        "test_faults.py::test_a_browser_that_cannot",
    )
    for at, (_, _, tells) in ABSENT.items()
)

#: Where a site may stand: at the top, as a project page, as the preview of a pull request, as a version.
BASES = ("/", "/name/", "/name/pr-12/", "/name/v1.2/")


def _moments() -> Iterator[Row]:
    def row(kind: str, at: str, test: str, tells: str = "", back: str = ITSELF) -> Row:
        return Row(kind, at, tells, back, test if "::" in test else f"test_live_faults.py::{test}")

    def memory(at: str) -> Row:
        return row("snapshot not restored", at, "test_without_a_usable_memory_it_starts_plainly")

    yield row(
        "workers refused",
        "by a policy",
        "test_a_policy_that_refuses_workers_is_told",
        "content security policy",
        RELOAD,
    )
    yield row(
        "WebAssembly absent",
        "by a policy",
        "test_live.py::test_a_policy_without_webassembly_leaves_the_lesson_and_says_why",
        "WebAssembly",
        RELOAD,
    )
    weights = "a figure's large file"
    refused = "test_files.py::test_a_file_that_is_not_the_one_is_refused_and_retry_works"
    page = "test_files.py::test_a_web_page_in_its_place_is_told_as_one"
    slow = "test_files.py::test_on_a_slow_line_it_says_how_far_it_is_and_stop_is_heard"
    yield row(MISSING, weights, refused, "came back as 404", RETRY)
    yield row(TRUNCATED, weights, refused, "bytes in place of", RETRY)
    yield row("damaged", weights, refused, "it has the right size and not the right checksum", RETRY)
    yield row(HTML, weights, page, "came back as a web page", RETRY)
    yield row(SLOW, weights, slow, "of 1.0 MB")
    pair = "test_real_pair.py::test_a_broken_model_is_told_and_retry_works"
    yield row(TRUNCATED, "target.safetensors", pair, "has 1000 bytes in place of", RETRY)
    yield row(MISSING, "drafts.safetensors", pair, "came back as 404", RETRY)
    gone = "Python gave no sign of life and was started again."
    yield row("worker killed", "in the middle of an answer", "test_a_worker_that_died_in_the_middle_of_an_answer", gone)
    yield row("worker killed", "before a question", "test_a_worker_that_died_unseen", gone)
    yield row(
        "worker killed",
        "while it starts",
        "test_a_worker_killed_while_it_starts",
        "Python could not start: killed.",
        RETRY,
    )
    yield row(
        "worker killed",
        "twenty times in a row",
        "test_a_worker_killed_twenty_times_in_a_row",
        "Python could not start",
        RETRY,
    )
    looped = "Stopped. Python did not stop in time and was started again."
    yield row(
        "endless loop",
        "in a view, among five figures",
        "test_an_endless_loop_is_stopped_and_everything_lives_on",
        looped,
    )
    yield row(
        "endless loop",
        "long work that yields",
        "test_a_newer_question_ends_long_work_with_the_worker_alive",
        "Stopped.",
    )
    yield row(
        "memory hog", "in a view", "test_memory_used_up_is_told_and_given_back", "There is not enough memory for this."
    )
    yield row("output flood", "in a view", "test_a_flood_of_output_is_capped", "It printed more than 20000 bytes")
    yield row("page hidden and shown", "frozen while Python starts", "test_a_page_frozen_while_python_starts")
    yield row(
        "page hidden and shown",
        "while it plays",
        "test_live_controls.py::test_nothing_plays_while_the_tab_is_hidden_and_nothing_bursts_after",
    )
    yield row("back/forward cache", "Python alive in it", "test_a_page_back_from_the_cache")
    yield row(
        "back/forward cache",
        "Python gone in it",
        "test_a_page_back_from_the_cache",
        "Python was started again.",
    )
    yield row(
        "back/forward cache",
        "the page thrown out of it",
        "test_live.py::test_after_the_back_button_from_another_site_it_is_alive_again",
    )
    yield row(
        "instant navigation", "while Python starts", "test_leaving_in_the_middle_of_the_start_keeps_the_one_worker"
    )
    yield row(
        "instant navigation",
        "ten page changes",
        "test_live.py::test_ten_page_changes_leave_one_worker_and_one_set_of_listeners",
    )
    yield row("five widgets on one page", "one Python", "test_cases.py::test_C25_five_figures_share_one_python")
    yield row("two tabs", "one of them loses its Python", "test_two_tabs_have_two_pythons")
    yield row("two tabs", "progress marked in one", "test_progress.py::test_another_tab_follows")
    kept = "test_progress.py::test_a_browser_that_keeps_nothing_costs_nothing_else"
    yield row("storage", "blocked", kept)
    yield row("storage", "full", kept)
    yield row("strict policy", "every page and live figures", "test_live.py::test_a_strict_policy_is_enough")
    for base in BASES:
        yield row("hosting", base, "test_cases.py::test_C24_nothing_is_asked_for_outside_the_prefix")
    yield row("hosting", "a page that is not there", "test_cases.py::test_D07_the_error_page_is_whole_at_any_depth")
    old, new = "an old page, new assets", "a new page, old assets"
    yield row("deploy", f"{old}: the next page", "test_a_deploy_during_the_visit_loads_the_next_page_as_a_whole")
    yield row(
        "deploy",
        f"{old}: Python not started yet",
        "test_a_deploy_before_python_starts",
        "worker.js came back as 404",
        RETRY,
    )
    yield row("deploy", f"{old}: NumPy not fetched yet", "test_a_deploy_before_numpy_comes", "came back as 404", RETRY)
    yield row(
        "deploy",
        f"{new}: its folder comes later",
        "test_a_page_deployed_before_its_folder",
        "sd-widget.js could not be loaded",
        RETRY,
    )
    yield memory("another program's memory")
    yield memory("the memory of another interpreter")
    yield memory("no way to unpack it")
    yield row(
        "snapshot not restored",
        "and Python's library missing",
        "test_without_a_memory_a_broken_library_is_named",
        "python_stdlib.zip came back as 404",
        RETRY,
    )


def told(row: Row, site: Path) -> str:
    """What a row tells, with the file's name, the half of its bytes, and the bytes that the build lists."""
    file = next(path for path in sorted(site.rglob("*")) if re.search(place(row.at), path.as_posix()))
    (listing,) = site.glob("assets/live/*/assets.json")
    listed = {each["name"]: each["bytes"] for each in json.loads(listing.read_bytes())}
    name = row.at if "/" in row.at else file.name
    return row.tells.format(name=name, half=file.stat().st_size // 2, whole=listed.get(name))


MOMENTS = tuple(_moments())
TABLE = (*FILES, *_MALFORMED, *_ABSENT, *MOMENTS)
