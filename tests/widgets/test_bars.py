"""`Bars`: a distribution as a parameter. Whole hundredths that add up to 1, in YAML, JSON and an address alike."""

import json
import re

import pytest

from widgets import Widget
from widgets._kit.params import Bars
from widgets._kit.view import View
from widgets._page.figure import controls, figure

ROW = Bars("Target p", {"mat": 0.5, "floor": 0.3, "roof": 0.2}, tone="target", help="Drag or type.")
WIDGET = Widget("row", "Row", {"p": ROW}, (), (), "", lambda **_: View("A row."), None)


def test_shares_come_back_as_a_tuple_whatever_they_came_as():
    for given in ([0.5, 0.3, 0.2], (0.5, 0.3, 0.2), "0.5,0.3,0.2", " .5, 0.30 , 2e-1"):
        assert ROW.check(given) == (0.5, 0.3, 0.2)
    assert ROW.check([1, 0, 0]) == (1.0, 0.0, 0.0)


def test_every_share_survives_the_way_through_the_address():
    for part in range(101):
        value = ROW.check([part / 100, (100 - part) / 100, 0])
        assert ROW.read(ROW.address(value)) == value
    assert ROW.address(ROW.default) == "0.5,0.3,0.2"
    assert ROW.show(ROW.default) == "mat 0.5, floor 0.3, roof 0.2"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([0.5, 0.3, 0.3], "0.5, 0.3, 0.3 add up to 1.1, not to 1"),
        ([0, 0, 0], "add up to 0, not to 1"),
        ([0.5, 0.5], "not a list of 3 shares (mat, floor, roof)"),
        ([1.2, -0.2, 0], "1.2 is not a share from 0 to 1"),
        ([float("nan"), 0.5, 0.5], "nan is not a share from 0 to 1"),
        ([True, 0, 0], "True is not a share from 0 to 1"),
        ([0.333, 0.333, 0.334], "0.333 is not a whole number of hundredths"),
        ("0.5;0.5;0", "is not a number"),
        (None, "None is not a list of 3 shares"),
    ],
)
def test_what_is_no_distribution_is_refused_with_the_reason(given, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        ROW.check(given)


def test_a_bars_needs_names_and_a_meaning():
    with pytest.raises(ValueError, match="two or more shares by name"):
        Bars("p", {"mat": 1.0})
    with pytest.raises(ValueError, match="tone 'pink'"):
        Bars("p", {"a": 0.5, "b": 0.5}, tone="pink")


def test_each_bar_is_a_native_range_with_a_name_a_value_and_a_field():
    html = controls(WIDGET, {"p": ROW.default}, "row")
    assert html.count('type="range"') == html.count('inputmode="decimal"') == 3
    assert 'aria-label="Target p, floor" aria-orientation="vertical" aria-valuetext="0.3"' in html
    assert 'role="group" aria-labelledby="row-p-label" aria-describedby="row-p-help"' in html
    assert 'data-default="0.5,0.3,0.2"' in html


def test_the_browser_holds_the_shares_as_one_text():
    html = figure(WIDGET, View("A row."), {"p": ROW.default}, "row", "")
    held = re.search(r'data-values="([^"]*)"', html).group(1).replace("&quot;", '"')
    assert WIDGET.values(json.loads(held)) == {"p": ROW.default}
