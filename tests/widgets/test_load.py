"""Finding and checking widget files: a broken one is named with its file and what is wrong."""

from textwrap import dedent

import pytest

import widgets
from widgets import BadValue, ContractError, UnknownWidget

GOOD = """
    from widgets._kit.params import Slider
    from widgets._kit.view import View
    TITLE = "Good"
    PARAMS = {"gamma": Slider("Length", 1, 8, 1, 4)}
    def view(*, data, gamma):
        return View(f"Length {gamma}.")
"""


def write(folder, text, name="good"):
    (folder / f"{name}.py").write_text(dedent(text), encoding="utf-8")
    return folder


def test_a_folder_of_ones_own(tmp_path):
    write(tmp_path, GOOD)
    write(tmp_path, GOOD, "_hidden")
    assert widgets.names(tmp_path) == ("good",)
    widget = widgets.load("good", folder=tmp_path)
    assert (widget.title, widget.needs, widget.data, widget.source, widget.steps) == ("Good", (), (), "", None)
    assert widget.view is not None
    assert widget.view(data={}, **widget.values({"gamma": 2.0})).summary == "Length 2."


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (('TITLE = "Good"', 'TITLE = ""'), "TITLE must be a sentence"),
        (('TITLE = "Good"', ""), "TITLE must be a sentence"),
        (('{"gamma":', '{"use":'), "'use' cannot be a parameter's name"),
        (('Slider("Length", 1, 8, 1, 4)', "4"), "is a int, not a parameter"),
        (("(*, data, gamma)", "(data, gamma)"), "keyword arguments only"),
        (("(*, data, gamma)", "(*, data, gamma, c)"), "not in PARAMS: c"),
        (("(*, data, gamma)", "(*, data, c)"), "missing: gamma"),
        (("def view", "def draw"), "exactly one of view and steps"),
        (('TITLE = "Good"', 'TITLE = "Good"\n    NEEDS = ("torch",)'), "NEEDS may name numpy only"),
        (('TITLE = "Good"', 'TITLE = "Good"\n    DATA = "published"'), "DATA must be a tuple"),
        (('TITLE = "Good"', 'TITLE = "Good"\n    MEASURES = "gamma"'), "MEASURES must name a toggle that is off"),
        (('TITLE = "Good"', 'TITLE = "Good"\n    FILES = ("a.bin",)'), "MEASURES must name it"),
        (('TITLE = "Good"', "TITLE = undefined"), "cannot be imported: NameError"),
        (('TITLE = "Good"', "TITLE = ("), "cannot be imported: SyntaxError"),
        (("1, 8, 1, 4", "1, 8, 1, 9"), "9 is outside 1 to 8"),
    ],
)
def test_what_is_wrong_is_said_with_the_file(tmp_path, change, words):
    write(tmp_path, GOOD.replace(*change))
    with pytest.raises(ContractError) as caught:
        widgets.load("good", folder=tmp_path)
    assert str(tmp_path / "good.py") in str(caught.value)
    assert words in str(caught.value)


def test_an_unknown_name_gets_a_suggestion():
    with pytest.raises(UnknownWidget, match=r"unknown widget 'pas_cost'.*did you mean 'pass_cost'") as caught:
        widgets.load("pas_cost")
    assert caught.value.suggestion == "pass_cost"


@pytest.mark.parametrize("name", ["_kit", "__main__", "_page", "os", "", "../sim"])
def test_machinery_is_not_a_widget(name):
    with pytest.raises(UnknownWidget):
        widgets.load(name)


def test_values_fill_in_defaults_and_name_the_bad_one():
    widget = widgets.load("draft_verify")
    assert widget.values({"gamma": 8})["gamma"] == 8
    assert list(widget.values({})) == list(widget.params)
    with pytest.raises(BadValue, match=r"unknown parameter 'alhpa' .did you mean 'alpha'") as caught:
        widget.values({"alhpa": 0.8})
    assert (caught.value.param, caught.value.suggestion) == ("alhpa", "alpha")
    with pytest.raises(BadValue, match=r"alpha: 1\.5 is outside 0 to 1"):
        widget.values({"alpha": 1.5})
