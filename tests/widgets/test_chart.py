"""Charts: round ticks, places in percent and pixels, and kinds of number that never look alike."""

import re
import xml.etree.ElementTree as ET

import pytest

from tests.widgets.states import ROOT
from widgets._kit.chart import Curve, Level, Now, Points, Wall, linear, logarithmic, plot
from widgets._kit.drawing import PADS, frame
from widgets._kit.lanes import Lane, Segment, lanes


def drawn(svg):
    return ET.fromstring(svg)


def words(svg):
    return [text.text for text in drawn(svg).iter("text")]


@pytest.mark.parametrize(
    ("hi", "ticks"),
    [
        (41.8, (0, 10, 20, 30, 40, 50)),
        (2.24, (0, 0.5, 1, 1.5, 2, 2.5)),
        (1.0, (0, 0.2, 0.4, 0.6, 0.8, 1.0)),
        (50.0, (0, 10, 20, 30, 40, 50)),
        (0.003, (0, 0.001, 0.002, 0.003)),
    ],
)
def test_an_even_axis_ends_on_a_round_number(hi, ticks):
    axis = linear(hi)
    assert axis.ticks == ticks
    assert axis.hi == ticks[-1]
    assert (axis.at(0), axis.at(axis.hi), axis.at(2 * axis.hi)) == (0, 1, 1)


def test_a_logarithmic_axis_runs_over_decades():
    axis = logarithmic(0.14, 72.5)
    assert axis.ticks == (0.1, 1, 10, 100)
    assert axis.at(10) == pytest.approx(2 / 3)
    assert axis.at(0.001) == 0
    assert logarithmic(1, 1).ticks == (1, 10)
    assert logarithmic(1, 512, ticks=(1, 8, 64, 512)).at(8) == pytest.approx(1 / 3)


def test_a_plot_fits_any_width_without_scaling_its_text():
    svg = plot("Speed", linear(16, "length"), linear(2, "speed-up"), [Curve(((0, 1), (8, 2), (16, 1)), text="model")])
    chart = drawn(svg)
    assert chart.get("viewBox") is None
    assert chart.get("width") == "100%"
    assert chart.get("aria-label") == "Speed"
    assert {text.get("x") for text in chart.iter("text")} >= {"0%", "50%", "100%"}
    nested = chart.find("svg")
    assert nested is not None
    assert nested.get("preserveAspectRatio") == "none"
    assert nested.find("path").get("vector-effect") == "non-scaling-stroke"


def test_measured_published_and_computed_look_different():
    def circles(mark):
        svg = plot("P", linear(1), linear(1), [mark])
        return [(c.get("r"), c.get("fill"), c.get("stroke")) for c in drawn(svg).iter("circle")]

    measured = circles(Points(((0.5, 0.5),), "measured"))
    published = circles(Points(((0.5, 0.5),), "published"))
    assert len(measured) == 2, "a dot and its ring"
    assert published[0][1] == "var(--sd-ground)", "open"
    assert circles(Curve(((0, 0), (1, 1)))) == []
    with pytest.raises(ValueError, match="measured or published"):
        circles(Points(((0.5, 0.5),), "guessed"))


def test_the_state_is_a_point_with_its_value_beside_it():
    svg = plot("P", linear(16), linear(2), [Now(4, 2, "2.0×")])
    assert "2.0×" in words(svg)
    assert [c.get("cx") for c in drawn(svg).iter("circle")] == ["20%"], "16 ends at 20, so 4 is a fifth"


def test_a_level_is_named_once():
    level = Level(1, "1×")
    on_a_tick = words(plot("P", linear(1), linear(2, show=lambda v: f"{v:g}×"), [level]))
    between = words(plot("P", linear(1), linear(20, show=lambda v: f"{v:g}×"), [level]))
    assert on_a_tick.count("1×") == between.count("1×") == 1


def test_a_wall_in_the_right_half_writes_to_the_left():
    svg = plot("P", linear(10), linear(1), [Wall(8, "ridge at 8"), Wall(2, "early")])
    anchors = {text.text: text.get("text-anchor") for text in drawn(svg).iter("text")}
    assert (anchors["ridge at 8"], anchors["early"]) == ("end", None)


def test_widths_in_a_lane_are_values_on_the_axis():
    row = Lane("Speculation", (Segment(0, 2, "draft", "low"), Segment(2, 5, "target")), aside="7")
    bars = list(drawn(lanes("L", linear(10, "ms"), (row,))).iter("rect"))
    assert [(bar.get("x"), bar.get("width")) for bar in bars] == [("0%", "20%"), ("20%", "50%")]
    assert float(bars[0].get("height")) == float(bars[1].get("height")) / 2


def test_a_value_stands_behind_a_short_bar_and_inside_a_long_one():
    def place(width):
        svg = lanes("L", linear(10, "ms"), (Lane("Memory", (Segment(0, width, "memory"),), "41.8 ms"),))
        (text,) = [t for t in drawn(svg).iter("text") if t.text == "41.8 ms"]
        return text.get("text-anchor"), text.get("fill") == "var(--sd-ground)"

    assert place(2) == (None, False)
    assert place(9) == ("end", True)


def test_text_is_escaped_and_tones_are_known():
    svg = lanes("a < b & c", linear(1, "ms"), (Lane("<b>", ()),))
    assert drawn(svg).get("aria-label") == "a < b & c"
    assert "<b>" in words(svg)
    with pytest.raises(ValueError, match="tone 'blue'"):
        lanes("L", linear(1), (Lane("x", (Segment(0, 1, "blue"),)),))


def test_every_text_is_at_least_twelve_pixels():
    """Sizes come from one rule of the style sheet; only a figure narrower than a phone of 390 px has smaller ones."""
    css = (ROOT / "widgets" / "_browser" / "widget.css").read_text(encoding="utf-8")
    narrow = r"(?:@container figure \(max-width: (\d+)px\) \{\s*)?"
    sizes = re.findall(narrow + r"\.sd-chart text \{[^}]*font-size: ([0-9.]+)px", css)
    assert [float(size) >= 12 for width, size in sizes if not width] == [True]
    assert all(int(width) <= 350 and float(size) >= 10 for width, size in sizes if width)
    assert "font-size" not in plot("P", linear(1, "x"), linear(1, "y"), [Now(1, 1, "1")])


def test_a_size_has_a_class_for_every_digit_and_a_wrong_one_is_refused():
    css = (ROOT / "widgets" / "_browser" / "widget.css").read_text(encoding="utf-8")
    for hundreds, tens, ones in ((1, 2, 3), (9, 0, 0), (4, 5, 6), (7, 8, 9)):
        svg = frame("F", 100 * hundreds + 10 * tens + ones, (0, 2, 4, 34), [])
        assert f"{{ --h1: {hundreds}00px; }}" in css
        assert f"sd-h{hundreds}xx" in svg
        assert ("sd-hx0x" in svg, "sd-hxx0" in svg) == (False, False)
        assert not tens or f".sd-hx{tens}x {{ --h2: {tens}0px; }}" in css
        assert not ones or f".sd-hxx{ones} {{ --h3: {ones}px; }}" in css
    for side, name, known in zip("trbl", ("top", "right", "bottom", "left"), PADS, strict=True):
        for pad in known:
            assert re.search(rf"\.sd-{side}{pad} \{{ padding-{name}: {pad}(px)?; \}}", css)
    with pytest.raises(ValueError, match="no class for a padding of 5"):
        frame("F", 100, (0, 5, 4, 34), [])
    with pytest.raises(ValueError, match="1 to 999"):
        frame("F", 1000, (0, 2, 4, 34), [])
