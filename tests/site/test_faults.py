"""The table of faults, run against the built site in Chromium: see tests/site/faults.py.

In every row the lesson stays readable, the figure says in words what failed, and it comes alive once the fault is gone.
An error that the page leaves unhandled fails any test of this folder (`Seen`). Where the page waits by a clock, the
test moves that clock. Files are run here, moments by the tests that the table names.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest
from playwright.sync_api import Page, expect

from tests.site.conftest import Seen
from tests.site.faults import ABSENT, FILES, MALFORMED, REPORTS, SLOW, SPOILED, TABLE, TYPE, Row, place, told
from tests.site.figures import Figure
from tests.site.odd import BUILT, KINDS
from tests.tools.server import Host, Spoiled

Open = Callable[..., Page]
STARTED = 'performance.getEntriesByName("python ready").map(mark => mark.detail)'


def test_the_table_is_whole(capsys: pytest.CaptureFixture[str]) -> None:
    """Every row has a test that exists; counted by kind, and printed with `pytest -s`."""
    assert len(set(map(str, TABLE))) == len(TABLE)
    names = {
        f"{path.name}::{node.name}"
        for path in Path(__file__).parent.glob("test_*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
    }
    assert [str(row) for row in TABLE if row.test and row.test not in names] == []
    assert {row.at for row in FILES} == {*LOUD, *ITS_OWN, *PAGE, *(row.at for row in QUIET)}
    counted = Counter(row.kind for row in TABLE)
    assert len(counted) >= 20
    assert len(TABLE) >= 120
    with capsys.disabled():
        print(
            "\n" + "\n".join(f"{number:4} {kind}" for kind, number in counted.items()),
            f"{len(TABLE):4} in all",
            sep="\n",
        )


def test_every_script_of_the_worker_is_looked_at_when_it_does_not_start_and_has_its_rows() -> None:
    """A script that is missing in the list would be blamed on the browser, and kept by its cache for ever."""
    folder = Path(__file__).resolve().parents[2] / "widgets" / "_browser"
    texts = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.js")}
    imported, found = {"worker.js"}, set[str]()
    while imported - found:
        name = (imported - found).pop()
        found.add(name)
        imported |= set(re.findall(r"""from "\./([\w-]+\.js)\"""", texts[name]))
    listed = re.search(r"const SCRIPTS = \[(.*)\]", texts["python.js"])
    assert listed
    assert set(re.findall(r'"([^"]+)"', listed[1])) == found
    assert found - {row.at for row in FILES} == {"fetching.js"}  # as boot.js, which imports it first


@pytest.mark.parametrize(
    "script",
    [
        "setTimeout(() => Promise.reject(new Error('left to fail')))",
        "new Worker(URL.createObjectURL(new Blob(['Promise.reject(new Error(\"left to fail\"))'])))",
    ],
    ids=["in the page", "in a worker"],
)
def test_a_promise_left_to_fail_fails_a_test(open_page: Open, seen: Seen, script: str) -> None:
    """What every row of the table rests on: such a promise would be seen."""
    page = open_page("")
    with page.expect_event("pageerror"):
        page.evaluate(f"() => {{ {script}; }}")
    assert seen.unexpected() == ["exception in the page: left to fail"]
    seen.expected.append("left to fail")


# --- files: one visit a file, one fault after another, and whole at last -------------------------------------------

PAGE = ("start.js", "sd-widget.js", "python.js")  # what the page itself runs
ITS_OWN = {  # what one figure needs: the figure, its words as built and once it has what it needs
    "numpy": ("vector", "the sum is 1,", "the sum is 15,"),
    "data/published.json": ("rows", "n is 1,", "n is 5,"),
}
LOUD = tuple(dict.fromkeys(row.at for row in FILES if row.tells and row.at not in (*PAGE, *ITS_OWN)))
QUIET = tuple(row for row in FILES if not row.tells)


@pytest.mark.parametrize("at", LOUD)
def test_a_spoiled_file_is_named_and_retry_works_once_it_is_whole(
    page_of: Callable[..., Page], odd: Host, seen: Seen, at: str
) -> None:
    """Each Retry meets the next fault, so each shows that the last bad copy was not kept."""
    seen.expected.append(REPORTS)
    page = page_of("kinds", clock=True)
    figure = Figure(page, "kinds")
    held = Event()
    for row in [row for row in FILES if row.at == at and row.tells]:
        odd.broken = {place(at): SPOILED.get(row.kind, Spoiled(held=held))}
        if figure.notice.is_hidden():
            figure.press("share", "ArrowRight")
        else:
            figure.button("retry").click()
        if row.kind == SLOW:
            figure.is_state("starting")
            expect(figure.words).to_have_text("Starting Python…")
            page.clock.fast_forward(20_000)
            figure.tells(told(row, odd.folder))
            expect(figure.button("start-again")).to_be_visible()
            figure.is_readable()
        else:
            figure.fails(told(row, odd.folder))
            expect(figure.words).to_have_text("Python could not start")
            expect(figure.part("summary")).to_have_text(BUILT)
            expect(figure.slider("share")).to_have_attribute("aria-valuetext", "0.6")
    odd.broken = {}
    held.set()
    figure.is_alive(KINDS)


@pytest.mark.parametrize("at", ITS_OWN)
def test_what_one_figure_needs_fails_that_figure_only(
    page_of: Callable[..., Page], odd: Host, seen: Seen, at: str
) -> None:
    seen.expected.append(REPORTS)
    name, before, after = ITS_OWN[at]
    page = page_of(name, clock=True)
    figure, kinds = Figure(page, name), Figure(page, "kinds")
    held = Event()
    for row in [row for row in FILES if row.at == at and row.tells]:
        odd.broken = {place(at): SPOILED.get(row.kind, Spoiled(held=held))}
        if figure.notice.is_hidden():
            figure.press("n", "End")
        else:
            figure.button("retry").click()
        if row.kind == SLOW:
            page.clock.fast_forward(1000)
            figure.tells(told(row, odd.folder))
            expect(figure.button("stop")).to_be_visible()
        else:
            figure.fails(told(row, odd.folder))
            expect(figure.words).to_have_text("This figure could not be computed")
            expect(figure.part("summary")).to_contain_text(before)
    kinds.press("share", "ArrowRight")
    kinds.is_alive(KINDS)
    odd.broken = {}
    held.set()
    figure.is_state("live")
    expect(figure.part("summary")).to_contain_text(after)
    expect(figure.notice).to_be_hidden()


@pytest.mark.parametrize("at", PAGE)
def test_a_page_whose_live_part_does_not_come(open_page: Open, odd: Host, seen: Seen, at: str) -> None:
    """The page's own script cannot tell that it is missing: the style sheet does, after a while."""
    seen.expected.append(REPORTS)
    if at == "start.js":
        seen.expected.append(r"exception in the page: (Unexpected|Invalid)")  # the browser's own, for half a script
    rows = [row for row in FILES if row.at == at]
    odd.broken = {place(at): SPOILED[rows[0].kind]}  # before a whole copy is in the browser's cache
    page = open_page("lessons/odd-kinds/", on=odd)
    figure = Figure(page, "kinds")
    for row in rows:
        held = Event()
        odd.broken = {place(at): SPOILED.get(row.kind, Spoiled(held=held))}
        by_style = row.kind == SLOW or at == "start.js"
        if by_style:
            page.goto(f"{odd.url}lessons/odd-kinds/", wait_until="commit")
            figure.root.wait_for()
        elif row is not rows[0]:
            figure.load_anew()
        if by_style:
            expect(figure.words).to_have_text("Drawn when this page was built")
            late = figure.words.evaluate(LATE)
            assert row.tells in late["told"]
            assert (late["before"], late["size"] > 8) == ("0px", True)
            figure.is_readable()
        else:
            figure.fails(told(row, odd.folder))
        held.set()
    if not by_style:
        odd.broken = {}
        figure.load_anew()
    elif row.kind != SLOW:
        odd.broken = {}
        page.reload()
    page.locator("sd-widget#kinds:defined").wait_for()
    figure.press("share", "ArrowRight")
    figure.is_alive(KINDS)


#: What the style sheet says to whoever waits for a script: nothing at first, then its words.
LATE = """async (words) => {
  const style = () => getComputedStyle(words, "::after");
  const before = style().fontSize;
  for (const film of document.getAnimations()) if (film.animationName === "sd-late") film.finish();
  return { before, size: parseFloat(style().fontSize), told: style().content };
}"""


@pytest.mark.parametrize("row", QUIET, ids=str)
def test_a_spoiled_file_that_nobody_misses(open_page: Open, odd: Host, seen: Seen, row: Row) -> None:
    seen.expected.append(REPORTS)
    odd.broken = {place(row.at): SPOILED[row.kind]}
    if row.at in (*ITS_OWN, "kernel.wasm", "numpy.bin"):
        name, _, after = ITS_OWN.get(row.at, ITS_OWN["numpy"])
        figure = Figure(open_page(f"lessons/odd-{name}/", on=odd), name)
        figure.press("n", "End")
        figure.is_state("live")
        expect(figure.part("summary")).to_contain_text(after)
    elif row.at == "baked answers":
        figure = Figure(open_page("lessons/02-draft-and-verify/", on=odd), "draft_verify")
        figure.press("gamma", "ArrowRight")
        figure.is_state("live")
        expect(figure.root.locator(".sd-row[data-key=tokens]")).to_contain_text("3.69")
    else:
        figure = Figure(open_page("lessons/odd-kinds/", on=odd), "kinds")
        figure.press("share", "ArrowRight")
        figure.is_alive(KINDS)
    figure.is_readable()
    expect(figure.notice).to_be_hidden()
    if row.at == "snapshot.bin":
        assert figure.page.evaluate(STARTED) == (["snapshot"] if row.kind == TYPE else ["plain"])


def test_malformed_data_fails_the_figure_and_retry_reads_it_anew(open_page: Open, odd: Host) -> None:
    at = "data/published.json"
    rows = Figure(open_page("lessons/odd-rows/", on=odd), "rows")
    for content, words in MALFORMED.values():
        odd.broken = {place(at): Spoiled(body=content)}
        if rows.notice.is_hidden():
            rows.press("n", "End")
        else:
            rows.button("retry").click()
        rows.tells(words)
        rows.fails(f"{at} is malformed")
    odd.broken = {}
    rows.button("retry").click()
    rows.is_state("live")
    expect(rows.part("summary")).to_contain_text("n is 5,")


# --- what a browser lacks or refuses ------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ABSENT)
def test_a_browser_that_cannot(open_page: Open, odd: Host, what: str) -> None:
    gone, back, words = ABSENT[what]
    page = open_page("", on=odd)
    page.add_init_script(gone)
    page.goto(f"{odd.url}lessons/odd-kinds/")
    figure = Figure(page, "kinds")
    figure.press("share", "ArrowRight")
    figure.fails(words)
    expect(figure.slider("share")).to_have_attribute("aria-valuetext", "0.6")
    page.evaluate(f"() => {{ {back}; }}")
    figure.button("retry").click()
    figure.is_alive(KINDS)
