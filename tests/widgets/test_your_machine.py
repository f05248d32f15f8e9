"""The measuring figure: turns on a clock of the test's own, then what it says about runs that are made up."""

import json
import time
import xml.etree.ElementTree as ET
from itertools import pairwise

import jsonschema
import pytest

import widgets
from sim.data import parse
from tests.widgets.states import ROOT
from widgets import your_machine
from widgets._kit.passes import COUNTS, Passes, as_file, landed, measure
from widgets._kit.render import parts
from widgets._kit.stopwatch import spread, take_turns
from widgets._kit.view import Download, Progress, View
from widgets.your_machine import measured, resting, steps

WIDGET = widgets.load("your_machine")


class Clock:
    """Seconds that pass only when a task takes them, in ticks as coarse as a browser's."""

    def __init__(self, tick=0.0):
        self.now, self.tick = 0.0, tick

    def __call__(self):
        return self.now if not self.tick else int(self.now / self.tick + 1e-9) * self.tick

    def task(self, seconds):
        def work():
            self.now += seconds

        return work


def run(times, by="kernel", machine="", copies=(5.0, 5.2, 5.1)):
    """A run over 64 MB; `times` gives the milliseconds of each number of positions."""
    return Passes(by, 64_000_000, {n: (times(n),) for n in COUNTS}, copies, machine)


WAITS = run(lambda n: 6.0 if n <= 8 else 6.0 * n / 8)
BENDS = run(lambda n: max(6.0, 1.8 * n))
WORKS = run(lambda n: 24.0 * n, "numpy")
WILD = run(lambda n: 6.0 * (1 + n * 7 % 5))
RUNS = {"waits": WAITS, "bends": BENDS, "works": WORKS, "wild": WILD}


# ------------------------------------------------------------------------------------------------------- the stopwatch


def test_tasks_take_turns_and_each_batch_fills_its_time():
    clock = Clock()
    tasks = {1: clock.task(0.004), 2: clock.task(0.2)}
    rounds = list(take_turns(tasks, clock=clock, rounds=3, limit_s=100, batch_s=0.05))
    assert len(rounds) == 6
    assert [stand.full for stand in rounds] == [False, True] * 3
    assert rounds[-1].times[1] == pytest.approx((4.0,) * 3)
    assert rounds[-1].times[2] == pytest.approx((200.0,) * 3)
    assert all(a.done < b.done for a, b in pairwise(rounds))
    assert rounds[-1].done == 1.0
    assert clock.now == pytest.approx(3 * (13 * 0.004 + 0.2))


def test_a_clock_with_ticks_of_a_millisecond_is_read_to_two_percent():
    clock = Clock(tick=0.001)
    *_, last = take_turns({1: clock.task(0.0037)}, clock=clock, rounds=1, limit_s=10, batch_s=0.05)
    assert last.times[1][0] == pytest.approx(3.7, rel=0.02)


def test_no_batch_begins_after_the_limit():
    clock = Clock()
    tasks = {n: clock.task(1.0) for n in range(10)}
    rounds = list(take_turns(tasks, clock=clock, rounds=5, limit_s=4.4))
    assert len(rounds) == 5
    assert list(rounds[-1].times) == [0, 1, 2, 3, 4]
    assert rounds[-1].done == 1.0


def test_the_spread_is_that_of_a_row_of_data():
    assert spread((3.0,)) == {"value": 3.0}
    assert spread((4.0, 1.0, 2.0, 3.0, 5.0)) == {"value": 3.0, "min": 1.0, "q1": 2.0, "q3": 4.0, "max": 5.0}
    with pytest.raises(ValueError, match="no times"):
        spread(())


# ---------------------------------------------------------------------------------------------------------- a real run


def test_a_run_here_has_times_for_every_number_of_positions():
    """Small and short, on the real clock: NumPy does the work in CPython."""
    pytest.importorskip("numpy")
    stands = list(measure(1, "kernel", clock=time.perf_counter, rounds=2, limit_s=20, batch_s=0.001))
    done, found, full = stands[-1]
    assert (done, full) == (1.0, True)
    assert found.counts == COUNTS
    assert {len(times) for times in found.times.values()} == {2}
    assert found.size == 244 * 1024 * 4
    assert found.bandwidth > 0
    assert found.copy_bandwidth > 0
    assert stands[0] == (0.0, None, False)


def test_the_figure_goes_from_progress_to_a_verdict(monkeypatch):
    pytest.importorskip("numpy")

    def small(megabytes, by, *, clock):
        assert megabytes == 64
        return measure(1, by, clock=clock, rounds=2, limit_s=20, batch_s=0.001)

    monkeypatch.setattr(your_machine, "measure", small)
    said = list(steps(data={}, run=True, size="64", kernel=True))
    assert isinstance(said[0], Progress)
    views = [item for item in said if isinstance(item, View)]
    assert len(views) == 3  # after each round, and the end
    assert views[0].verdict is None
    assert views[0].links == ()
    assert views[-1].verdict is not None
    assert "does not run the kernel" in views[-1].note  # CPython has none


# ------------------------------------------------------------------------------------------------------- what it says


def test_at_rest_it_says_that_nothing_is_measured():
    (view,) = steps(data={}, run=False, size="64", kernel=True)
    assert view.summary.startswith("Nothing has been measured here yet.")
    assert view.readout == ()
    assert view.table.rows[-1] == ("16", "1.00×", "0.06×")


@pytest.mark.parametrize(
    ("name", "kind", "title", "sentence"),
    [
        ("waits", "gain", "Here, four positions cost what one costs", "Up to about 8 positions"),
        ("bends", "gain", "Here, four positions cost 1.20× what one costs", "Up to about 3 positions"),
        ("works", "loss", "Here, four positions cost 4.00× what one costs", "from the first position on"),
        ("wild", "care", "Here, four positions cost 1.33× what one costs", "cannot be told from this run"),
    ],
)
def test_words_follow_the_numbers(name, kind, title, sentence):
    view = measured(RUNS[name], wanted=RUNS[name].by == "kernel", finished=True)
    assert view.title == title
    assert sentence in view.summary
    assert view.verdict.kind == kind
    assert "does not run the kernel" not in view.note
    assert "A browser does not tell" in view.note


def test_a_run_that_contradicts_itself_gets_no_verdict():
    """Seen on a busy machine: four positions at 18 passes, and eight quicker than four."""
    assert [run.disturbed for run in RUNS.values()] == [False, False, False, True]
    assert run(lambda n: 65.0 if n == 1 else 1100.0).disturbed
    view = measured(WILD, wanted=True, finished=True)
    assert view.verdict.text.startswith("Something else was at work")


def test_the_readout_is_in_the_table_and_adds_up():
    view = measured(BENDS, wanted=True, finished=True)
    rows = {row.key: row for row in view.readout}
    assert rows["one"].value == 6.0
    assert rows["bandwidth"].value == pytest.approx(64e6 / 6e-3 / 1e9)
    assert rows["copy"].value == pytest.approx(5.1 / 6.0)
    assert rows["four"].value == pytest.approx(7.2 / 6.0)
    assert rows["ridge"].value == pytest.approx(6.0 / 1.8)
    cells = {cell for row in view.table.rows for cell in row}
    assert {rows["one"].text, rows["four"].text} <= cells


def test_a_slow_machine_that_did_not_get_far_is_told_as_far_as_it_got():
    short = Passes("numpy", 64_000_000, {1: (900.0,), 2: (1700.0,)}, (50.0,))
    view = measured(short, wanted=True, finished=True)
    assert view.title == "Here, two positions cost 1.89× what one costs"
    assert len(view.table.rows) == 2


@pytest.mark.parametrize("name", RUNS)
def test_every_part_of_a_run_is_well_formed(name):
    for view in (measured(RUNS[name], wanted=True, finished=True), resting(run(WORKS.ms, machine="<b>A & B</b>"))):
        for fragment in parts(WIDGET, view).values():
            ET.fromstring(f"<part>{fragment}</part>")


# ------------------------------------------------------------------------------------------------------------ the file


def test_the_file_is_in_our_schema_and_can_be_landed():
    text = as_file(BENDS, {"numpy": "2.4.3"})
    jsonschema.validate(json.loads(text), json.loads((ROOT / "docs/data/schema.json").read_text(encoding="utf-8")))
    assert landed(parse(text), "kernel") is None, "nobody has said which machine it was"
    named = json.loads(text)
    named["provenance"]["hardware"] = "Intel Core i5-8250U"
    found = landed(parse(json.dumps(named)), "kernel")
    assert found.machine == "Intel Core i5-8250U"
    assert [found.ms(n) for n in COUNTS] == pytest.approx([BENDS.ms(n) for n in COUNTS])
    assert found.copy_bandwidth == pytest.approx(BENDS.copy_bandwidth)
    assert landed(parse(json.dumps(named)), "numpy") is None


def test_a_landed_run_is_shown_at_rest_and_named():
    named = json.loads(as_file(BENDS, {}))
    named["provenance"]["hardware"] = "Intel Core i5-8250U"
    data = {your_machine.LANDED: parse(json.dumps(named))}
    (view,) = steps(data=data, run=False, size="64", kernel=True)
    assert view.title == "Intel Core i5-8250U: four positions cost 1.20× what one costs. And here?"
    assert view.summary.startswith("Nothing has been measured here yet. The points are a run on another machine")
    assert view.table.caption.endswith("measured on Intel Core i5-8250U (the kernel; medians)")
    (other,) = steps(data=data, run=False, size="64", kernel=False)
    assert other.readout == ()


def test_wide_quartiles_are_said_in_the_row():
    uneven = Passes("kernel", 64_000_000, {1: (5.0, 5.1, 5.2, 9.0, 9.5), 2: (6.0,) * 5}, (5.0,) * 5)
    first, second, _ = json.loads(as_file(uneven, {}))["rows"]
    assert first["note"].startswith("quartiles lie 75 % of the median apart")
    assert "note" not in second


def test_the_link_holds_the_file_itself():
    view = measured(BENDS, wanted=True, finished=True)
    (link,) = view.links
    assert isinstance(link, Download)
    assert json.loads(link.content)["suite"] == "your-machine"
    html = parts(WIDGET, view)["links"]
    assert html.startswith('<a class="sd-onward" download="your-machine-kernel.json" href="data:application/json')
    assert "http" not in html
    with pytest.raises(ValueError, match="plain name"):
        Download("Keep", "../x.json", "{}")
