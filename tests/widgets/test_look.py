"""The style sheet of figures, as far as numbers can say whether it is right: contrast, and no name of a palette."""

import re

import pytest

from tests.widgets.states import ROOT
from widgets._kit.drawing import TONES

BROWSER = ROOT / "widgets" / "_browser"
CSS = (BROWSER / "widget.css").read_text(encoding="utf-8")
COLOURS = {
    name: (light, dark)
    for name, light, dark in re.findall(r"--sd-(\w+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", CSS)
}


def luminance(colour: str) -> float:
    """Relative luminance (WCAG 2.2)."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_computed_as_the_standard_says():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize("palette", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("tone", [tone for tone in TONES if tone != "ground"])
def test_D04_every_colour_of_every_chart_stands_out_in_both_palettes(tone, palette):
    """3 to 1 is asked of marks and 4.5 to 1 of text; every tone writes text somewhere."""
    for ground in ("ground", "page"):
        assert contrast(COLOURS[tone][palette], COLOURS[ground][palette]) >= 4.5


def test_print_and_old_browsers_get_the_light_colours():
    plain = dict(re.findall(r"^  --sd-(\w+): (#[0-9a-f]{6});", CSS, re.M))
    assert {name: light for name, (light, _) in COLOURS.items()} == plain


def test_D06_no_name_of_a_palette_is_known():
    for path in (*BROWSER.glob("*.js"), BROWSER / "widget.css"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"color-scheme=|\bslate\b|__palette", text), path.name


SHEETS = ("widgets/_browser/widget.css", "docs/assets/css/site.css", "docs/assets/css/embed.css")


@pytest.mark.parametrize("sheet", SHEETS)
def test_no_rule_is_for_everything_called_sd(sheet):
    """The highlighter calls docstrings in code `sd` too: what is meant is `sd-widget.sd`, or something inside."""
    alone = r"(?:^|[\s,(])\.sd(?:\[[^\]]*\]|:[\w-]+(?:\([^)]*\))?)*\s*[{,]"
    assert re.findall(alone, (ROOT / sheet).read_text(encoding="utf-8")) == []
