"""Every landed run can be found: in the list of devices, in the figures' data, on the page Measurements."""

from pathlib import Path

import pytest

import widgets
from bench.suites import NAMES
from sim.data import parse
from widgets._kit.landed import LANDED, file_name

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "docs" / "data" / "measured").glob("*.json"))
PAGE = (ROOT / "docs" / "reference" / "measurements.md").read_text(encoding="utf-8")
SUITES = [path for path in FILES if parse(path.read_text(encoding="utf-8"), path.name).suite in NAMES]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_can_be_downloaded_from_the_page(path):
    assert f"(../data/measured/{path.name})" in PAGE


@pytest.mark.parametrize("path", SUITES, ids=lambda path: path.stem)
def test_a_file_of_the_benchmark_is_of_a_device_that_figures_know(path):
    names = {file_name(suite, device) for suite in NAMES for device in LANDED}
    assert f"measured/{path.stem}" in names, "name the device in widgets/_kit/landed.py"
    assert f"measured/{path.stem}" in widgets.load("measured_runs").data
    if path.stem.startswith("pass-cost"):
        assert f"measured/{path.stem}" in widgets.load("measured_passes").data


@pytest.mark.parametrize("device", LANDED)
def test_a_device_that_is_named_has_all_suites(device):
    for suite in NAMES:
        whole = parse((ROOT / "docs" / "data" / f"{file_name(suite, device)}.json").read_text(encoding="utf-8"))
        first = next(iter(whole.rows.values()))
        assert first.hardware.startswith("CPU ") is not LANDED[device].gpu
        assert first.weights in (None, LANDED[device].wide)


def test_a_cell_of_a_cpu_has_five_repeats_at_least():
    for suite in NAMES:
        whole = parse((ROOT / "docs" / "data" / f"{file_name(suite, 'cpu')}.json").read_text(encoding="utf-8"))
        assert min(row.n for row in whole.rows.values()) >= 5
