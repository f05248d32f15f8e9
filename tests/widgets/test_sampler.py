"""`sampler`: p comes out under the exact rules and under no other, in law and in draws; one round tells its story."""

import math
import time

import pytest

import widgets
from sim import RULES, acceptance, output_law, overlap, residual
from tests.widgets.states import draw
from widgets._kit.view import Progress, View

WIDGET = widgets.load("sampler")
LESSON = {"p": (0.5, 0.3, 0.2, 0, 0), "q": (0.6, 0.1, 0.3, 0, 0)}
SEEDS = (1, 2, 3)


def view(**given):
    return draw(WIDGET, WIDGET.values(given))


def value(shown, key):
    return next(row.value for row in shown.readout if row.key == key)


def column(shown, name):
    """A column of the table over the five words."""
    place = shown.table.columns.index(name)
    return [row[place] for row in shown.table.rows[:5]]


def test_it_opens_on_an_accept_rate_of_080_and_draws_that_agree():
    shown = view()
    assert value(shown, "accepted") == pytest.approx(overlap((0.4, 0.25, 0.2, 0.1, 0.05), (0.5, 0.1, 0.25, 0.05, 0.1)))
    assert shown.title == "80% of drafts are kept, and what comes out is p all the same"
    assert value(shown, "off") == 0
    assert value(shown, "p_value") > 0.001
    assert shown.verdict.kind == "gain"


@pytest.mark.parametrize("rule", sorted(RULES))
def test_every_rule_is_offered_in_its_kind_and_its_draws_follow_its_own_law(rule):
    """The draws are made round by round, the law is summed; they must agree for right and wrong rules alike."""
    settings = {"lenience": 0.8} if rule == "lenient" else {}
    shown = view(rule=rule, seed=2)
    p, q = WIDGET.params["p"].default, WIDGET.params["q"].default
    law = output_law(p, q, rule, **settings)
    assert column(shown, "law") == [f"{share:.3f}" for share in law]
    for share, count in zip(law, column(shown, "drawn"), strict=True):
        drawn = int(count.replace(",", "")) / 100_000
        assert abs(drawn - share) <= 4 * math.sqrt(share * (1 - share) / 100_000) + 1e-12
    assert value(shown, "accepted") == pytest.approx(acceptance(p, q, rule, **settings))
    sign = {"lossless": "✓", "lossy": "≈", "wrong": "✗"}[RULES[rule].kind]
    assert WIDGET.params["rule"].options[rule].startswith(sign)
    assert shown.verdict.kind == {"lossless": "gain", "lossy": "care", "wrong": "loss"}[RULES[rule].kind]


def test_why_the_residual_and_not_p():
    """Readers ask; the counter-example of the lesson gives (.60, .16, .24), a total variation of .14."""
    shown = view(rule="redraw_from_p", **LESSON)
    assert column(shown, "law") == ["0.600", "0.160", "0.240", "0.000", "0.000"]
    assert value(shown, "off") == pytest.approx(0.14)
    assert "mistake" in shown.verdict.text
    assert shown.title == "floor comes out 14.0 points too rarely"


def test_a_greedy_draft_with_a_soft_check():
    shown = view(rule="greedy_draft_softmax_ratio", **LESSON)
    assert column(shown, "law") == ["0.833", "0.167", "0.000", "0.000", "0.000"]
    assert value(shown, "off") == pytest.approx(1 / 3)


def test_a_hundred_rounds_often_cannot_show_a_mistake_and_say_so():
    said = [view(rule="redraw_from_p", draws="100", seed=seed, **LESSON).verdict.text for seed in range(1, 9)]
    assert any("cannot show it yet" in text for text in said)
    assert "100,000 rounds show it" in view(rule="redraw_from_p", **LESSON).verdict.text


def test_temperature_and_cuts_reach_both_rows():
    shown = view(temperature=0.5, top_p=0.9)
    assert column(shown, "p")[-1] == column(shown, "q")[1] == "0.000"
    assert value(shown, "off") == 0
    assert value(shown, "p_value") > 0.0001


def test_temperature_0_is_greedy_and_the_sample_makes_no_difference():
    shown = view(temperature=0)
    assert column(shown, "p") == ["1.000", "0.000", "0.000", "0.000", "0.000"]
    assert "the sample makes no difference" in shown.note
    assert [column(view(temperature=0, seed=seed), "drawn") for seed in SEEDS] == [column(shown, "drawn")] * 3


def test_after_temperature_0_a_draft_the_target_likes_less_than_another_is_rejected():
    """A reader took p and q as before temperature: drafted word 1 has p > q and is not the target's likeliest."""
    given = {"p": (0.3, 0.5, 0.1, 0.05, 0.05), "q": (0.25, 0.2, 0.2, 0.2, 0.15), "temperature": 0}
    shown = view(**given)
    assert column(shown, "drawn") == ["0", "100,000", "0", "0", "0"]
    assert "The draft draws mat" in shown.summary
    assert "The redraw gives floor" in shown.summary


def test_disjoint_rows_keep_nothing_and_still_give_p():
    shown = view(p=(0.5, 0.5, 0, 0, 0), q=(0, 0, 0.5, 0.3, 0.2))
    assert value(shown, "accepted") == 0
    assert value(shown, "off") == 0
    assert shown.verdict.kind == "gain"


def test_equal_rows_keep_everything_and_wrong_rules_do_no_harm_there():
    same = WIDGET.params["p"].default
    assert view(q=same).title == "Everything is kept, and what comes out is p"
    harmless = view(q=same, rule="redraw_from_p").verdict
    assert (harmless.kind, "no harm" in harmless.text) == ("info", True)


def test_one_round_unfolds_step_by_step():
    said = [view(step=step).summary for step in range(4)]
    assert said[0].startswith("Nothing has been drawn yet")
    assert said[1] == "The draft draws mat. Whether it stays is a question of chance: 80% here."
    assert said[2].endswith("The number drawn is 0.97: mat is rejected.")
    assert said[3].endswith("The redraw gives floor.")
    again = residual(WIDGET.params["p"].default, WIDGET.params["q"].default)
    assert again == pytest.approx((0, 0.75, 0, 0.25, 0))
    needles = [view(step=step).svg.count('stroke-width="6"') for step in range(4)]
    assert needles == [0, 1, 2, 3]


def test_the_first_picture_comes_at_once_and_long_work_yields_often():
    """50 ms between yields in the browser, where Python is about six times slower than here."""
    work = WIDGET.steps(data={}, **WIDGET.values({"seed": 11}))
    pauses, said, start = [], [], time.process_time()
    for item in work:
        pauses.append(time.process_time() - start)
        said.append(item)
        start = time.process_time()
    assert isinstance(said[0], View)
    assert "2,500 rounds" in said[0].verdict.text
    assert isinstance(said[-1], View)
    assert all(isinstance(item, Progress) for item in said[1:-1])
    assert len(said) == 41
    assert sorted(pauses)[-4] < 0.008


def test_stepping_through_the_round_draws_nothing_again():
    list(WIDGET.steps(data={}, **WIDGET.values({"seed": 12})))
    again = list(WIDGET.steps(data={}, **WIDGET.values({"seed": 12, "step": 1})))
    assert [type(item) for item in again] == [View, View]


def test_the_same_sample_gives_the_same_words_and_another_sample_others():
    first = column(view(seed=4), "drawn")
    assert column(view(seed=4), "drawn") == first
    assert column(view(seed=6), "drawn") != first
