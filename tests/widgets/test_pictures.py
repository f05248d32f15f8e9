"""Pictures are what was reviewed. A wanted change: `python -m tests.widgets.pictures --update`, look, commit."""

import pytest

import widgets
from tests.widgets.pictures import FOLDER, STATES, picture, side_by_side, stored
from tests.widgets.states import draw


@pytest.mark.parametrize("name", STATES)
def test_a_picture_is_the_one_that_was_reviewed(name):
    assert picture(name) == stored(name), "renew with: python -m tests.widgets.pictures --update"


def test_no_picture_is_left_over():
    assert sorted(path.stem for path in FOLDER.glob("*.svg")) == sorted(STATES)


def test_the_page_shows_before_and_after():
    page = side_by_side({"new": ("", "<svg></svg>"), "old": ("<svg></svg>", "<svg></svg>")})
    assert "new: changed" in page
    assert "old: same" in page


def test_every_widget_that_draws_has_a_stored_picture_of_its_opening_state():
    drawing = [name for name in widgets.names() if draw(widgets.load(name), widgets.load(name).values({})).svg]
    assert [name for name in drawing if STATES.get(name) != (name, {})] == []
