"""The kernel's benchmark on a visitor of the test's own: what is pressed, what is read, which goals are met."""

import json

import pytest

from bench import kernel_speed
from bench.check import check
from bench.kernel_speed import GOALS, KINDS, Run, goals, passes, run_once
from sim.data import parse
from widgets._kit.passes import COUNTS, Passes, as_file, landed


def offered(by, megabytes, four, copy=5.0):
    """The file of a run whose passes bend so that four positions cost `four` passes."""
    size = megabytes * 1_000_000
    times = {n: tuple(megabytes / 10 * (1 + (n - 1) * (four - 1) / 3) * wobble for wobble in (1, 1.01)) for n in COUNTS}
    return as_file(Passes(by, size, times, (copy * megabytes / 64,) * 2), {"numpy": "2.4.3"})


class Visitor:
    """Has the figure's file at once."""

    def __init__(self, text):
        self.text, self.opened = text, []

    def open(self, url):
        self.opened.append(url)

    def wait_for(self, expression, what, seconds):
        return self.text


def runs(four, engine="chromium", copy=5.0):
    return [
        Run(engine, by, size, parse(offered(by, size, four if by == "kernel" else 4.0, copy)))
        for by, size in KINDS
        for _ in range(3)
    ]


def test_the_switch_is_pressed_by_the_address():
    visitor = Visitor(offered("kernel", 16, 1.2))
    run = run_once(visitor, "http://host/sub/", "chromium", "kernel", 16)
    state = "your_machine.run=on&your_machine.size=16&your_machine.kernel=on"
    assert visitor.opened == [f"http://host/sub/labs/your-machine/?{state}"]
    assert run.over_one(4) == pytest.approx(1.2)
    assert run.copy_share() == pytest.approx(5.0 * 16 / 64 / (1.6 * 1.005))


def test_an_engine_that_lets_numpy_work_is_not_taken_for_the_kernel():
    with pytest.raises(ValueError, match="firefox: kernel was asked for and numpy did the work"):
        run_once(Visitor(offered("numpy", 16, 4)), "", "firefox", "kernel", 16)


@pytest.mark.parametrize(("four", "met"), [(1.2, [True, True]), (1.4, [True, False]), (1.8, [False, False])])
def test_goals_are_held_against_the_medians(four, met):
    rows = {row["id"]: row for row in goals(runs(four))}
    assert [rows[f"four-over-one-{size}-chromium"]["met"] for size in ("16mb", "64mb")] == met
    assert rows["four-over-one-64mb-chromium"]["value"] == pytest.approx(four)
    assert rows["four-over-one-numpy-chromium"]["value"] == pytest.approx(4.0)
    assert "goal" not in rows["four-over-one-numpy-chromium"]
    assert rows["copy-share-64mb-chromium"]["met"]
    assert not {row["id"]: row for row in goals(runs(four, copy=3.0))}["copy-share-64mb-chromium"]["met"]


def test_a_missed_ratio_says_what_of_it_is_arithmetic():
    """A pass of one takes 6.4 ms; four at the pace of sixteen: 4 / 16 of 6.4 ms · (1 + 15 · 0.8 / 3)."""
    rows = {row["id"]: row for row in goals(runs(1.8))}
    said = "missed: one position takes 6.43 ms and four 11.58 ms, of which arithmetic alone, at the pace of sixteen"
    assert rows["four-over-one-64mb-chromium"]["note"] == f"{said} positions, is 8.04 ms"
    assert "note" not in rows["copy-share-64mb-chromium"]
    assert "note" not in {row["id"]: row for row in goals(runs(1.2))}["four-over-one-64mb-chromium"]


def test_every_engine_has_its_rows():
    rows = goals([*runs(1.2), *runs(1.5, "webkit")])
    assert len(rows) == 2 * (len(GOALS) + 1)
    assert [row["id"] for row in rows if not row.get("met", True)] == ["four-over-one-64mb-webkit"]


def test_what_is_written_is_sound_and_the_figure_can_show_it(monkeypatch):
    monkeypatch.setattr(kernel_speed, "_processor", lambda: "Intel(R) Xeon(R) Processor")
    shape = {"model": "one float32 matrix", "weights": "float32", "arithmetic": "float32", "batch": 1, "context": 0}
    text = kernel_speed._file("your-machine", "Passes", passes(runs(1.2)), {"numpy": "2.4.3"}, **shape)
    assert [finding for finding in check(text, "your-machine.json") if finding.level != "remark"] == []
    shown = landed(parse(text), "kernel")
    assert shown.machine == json.loads(text)["provenance"]["hardware"] == "Intel Xeon Processor CPU"
    assert shown.over_one(4) == pytest.approx(1.2)
    assert landed(parse(text), "numpy").over_one(4) == pytest.approx(4.0)
    speed = kernel_speed._file("kernel-speed", "The kernel", goals(runs(1.2)), {"chromium": "a browser"})
    assert [finding for finding in check(speed, "kernel-speed.json") if finding.level != "remark"] == []


def test_without_a_built_site_it_says_what_to_run(tmp_path, capsys):
    assert kernel_speed.main(["--site", str(tmp_path)]) == 2
    assert "run `make build` first" in capsys.readouterr().err
