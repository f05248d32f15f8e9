"""The measuring figure in a real browser: the kernel at work in Python's memory, and every way it can be missing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from sim.data import Measurement, Measurements, parse
from tests.site.conftest import Seen
from tests.site.figures import READY_MS, Figure
from tests.tools.server import Host

Open = Callable[..., Page]
PAGE = "labs/your-machine/"
RUN_MS = READY_MS + 30_000  # NumPy has to be loaded, and the machine may be busy


def opened(open_page: Open, query: str = "", **options: Any) -> Figure:
    return Figure(open_page(PAGE + query, **options), "your_machine")


def kept(figure: Figure) -> Measurements:
    """The file behind the link, as a reader gets it."""
    link = figure.part("links").locator("a[download]")
    expect(link).to_be_visible(timeout=RUN_MS)
    with figure.page.expect_download() as download:
        link.click()
    assert download.value.suggested_filename.startswith("your-machine-")
    found = parse(Path(download.value.path()).read_text(encoding="utf-8"))
    assert isinstance(found, Measurements)
    assert json.dumps(found.notes) == "[]"
    return found


def passes(found: Measurements) -> dict[int, Measurement]:
    return {row.positions: row for row in found.rows.values() if row.positions is not None}


def test_at_rest_it_is_whole_and_measures_nothing(open_page: Open) -> None:
    figure = opened(open_page, javascript=False)
    expect(figure.part("summary")).to_contain_text("Nothing has been measured here yet.")
    expect(figure.part("picture").locator("svg.sd-chart")).to_have_count(2)
    expect(figure.root.locator("[data-part=links] a")).to_have_count(0)


def test_it_stands_in_node_1_too(open_page: Open) -> None:
    page = open_page("lessons/01-why-decode-is-slow/", size="phone")
    expect(Figure(page, "your_machine").part("title")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_switch_measures_with_the_kernel_and_then_without(open_page: Open, host: Host) -> None:
    """64 MB are more than Python has at first: its memory grows after the kernel was plugged in."""
    figure = opened(open_page)
    figure.control("run").locator("label").click()
    with_kernel = kept(figure)
    asked = len(host.asked)
    assert {row.method for row in with_kernel.rows.values()} == {"kernel"}
    fast = passes(with_kernel)
    assert sorted(fast) == [1, 2, 3, 4, 5, 6, 8, 12, 16]
    assert fast[1].weight_bytes == 64_000_000
    expect(figure.part("note")).not_to_contain_text("does not run the kernel")
    value = figure.part("readout").locator("[data-key=one]").get_attribute("data-value")
    assert float(value or "nan") == pytest.approx(fast[1].value)

    figure.control("kernel").locator("label").click()
    expect(figure.root.locator("a[download='your-machine-numpy.json']")).to_be_visible(timeout=RUN_MS)
    without = kept(figure)
    assert {row.method for row in without.rows.values()} == {"numpy"}
    assert sorted(passes(without))[0] == 1
    after = [name for name, _ in host.asked[asked:] if "favicon" not in name]  # asked for anew with each new address
    assert after == [], "nothing was fetched or sent while it measured"
    # How fast either is, bench/kernel_speed.py says; the words on given times are tested in tests/widgets.
    expect(figure.part("verdict")).not_to_be_empty()


def test_without_the_kernels_file_numpy_does_the_work(open_page: Open, own_host: Host, seen: Seen) -> None:
    seen.expected.append(r"kernel\.wasm")
    own_host.broken[r"kernel\.wasm"] = 404
    figure = opened(open_page, "?your_machine.run=on&your_machine.size=16", on=own_host)
    assert {row.method for row in kept(figure).rows.values()} == {"numpy"}
    expect(figure.part("note")).to_contain_text("This browser does not run the kernel, so NumPy did the work.")


TAKE = """const plain = WebAssembly.instantiate;
WebAssembly.instantiate = (source, imports) => source.byteLength < 20000 ? ({}) : plain(source, imports);
"""
"""JavaScript that changes what becomes of the kernel, a file of a few kilobytes, and of nothing else."""


@pytest.mark.parametrize(
    "missing",
    [
        "Promise.reject(new WebAssembly.CompileError('no SIMD'))",  # as an engine that does not know it says
        "plain(source, {env: {memory: undefined}})",  # as with another private name in a later Pyodide
    ],
)
def test_without_simd_or_the_shared_memory_numpy_does_the_work(open_page: Open, own_host: Host, missing: str) -> None:
    figure = opened(open_page, on=own_host)
    figure.page.route(
        "**/kernel.js",
        lambda route: route.fulfill(
            body=TAKE.replace("{}", missing) + route.fetch().text(), content_type="text/javascript; charset=utf-8"
        ),
    )
    figure.page.goto(own_host.url + PAGE + "?your_machine.run=on&your_machine.size=16")
    assert {row.method for row in kept(figure).rows.values()} == {"numpy"}


def test_stop_ends_a_run_within_a_second(open_page: Open) -> None:
    figure = opened(open_page, "?your_machine.run=on")
    stop = figure.button("stop")
    expect(stop).to_be_visible(timeout=RUN_MS)
    expect(figure.root).to_contain_text("Measuring", timeout=RUN_MS)
    assert figure.stop() < 1000
    expect(figure.root.locator("a[download]")).to_have_count(0)
