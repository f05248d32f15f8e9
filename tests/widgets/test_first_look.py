"""`first_look`: the home page's figure opens on the lesson's numbers, says no where guessing loses, and leads on."""

import pytest

import widgets
from sim import draw_rounds, expected_tokens, speedup
from tests.widgets.states import draw

WIDGET = widgets.load("first_look")


def view(**given):
    return draw(WIDGET, WIDGET.values(given))


def test_it_opens_on_the_numbers_of_the_lesson():
    assert [(row.key, row.text) for row in view().readout] == [("tokens", "3.36"), ("speedup", "2.0×")]


def test_the_title_counts_the_tokens_of_the_strip():
    shown = view()
    kept = sum(token.kind in ("accepted", "correction", "bonus") for token in shown.tokens)
    assert kept == sum(draw_rounds(0.8, 4, 4, 17)) + 4
    assert f"write {kept} tokens here" in shown.title


@pytest.mark.parametrize(
    ("alpha", "c", "kind"),
    [(0.8, 0.17, "gain"), (0.3, 0.4, "loss"), (0.0, 0.01, "loss"), (0.0, 0.0, "info"), (1.0, 0.0, "gain")],
)
def test_the_verdict_follows_the_formula(alpha, c, kind):
    shown = view(alpha=alpha, c=c)
    assert shown.verdict.kind == kind
    assert {row.key: row.value for row in shown.readout} == {
        "tokens": expected_tokens(alpha, 4),
        "speedup": speedup(alpha, 4, c),
    }


def test_the_link_carries_the_state_to_node_two():
    (link,) = view(alpha=0.65, c=0.3).links
    assert (link.page, link.figure) == ("lessons/02-draft-and-verify/", "draft_verify")
    assert dict(link.values) == {"alpha": "0.65", "c": "0.3"}
