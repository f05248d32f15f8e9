"""`draft_verify`: the opening numbers, the sample beside the expectation, lanes whose widths are times, the loss."""

import xml.etree.ElementTree as ET

import pytest

import widgets
from sim import draw_rounds, expected_tokens, optimal_gamma, round_time, speedup
from tests.widgets.states import draw

WIDGET = widgets.load("draft_verify")


def view(**given):
    return draw(WIDGET, WIDGET.values(given))


def texts(shown):
    return {row.key: row.text for row in shown.readout}


def lane_widths(shown):
    """Percent of the axis covered by each lane: plain, speculation (its bars lie lower in the picture)."""
    chart = ET.fromstring(f"<p>{shown.svg}</p>").find("svg")
    ends = {"plain": 0.0, "speculation": 0.0}
    for bar in (rect for rect in chart.iter("rect") if rect.get("width").endswith("%")):
        lane = "plain" if float(bar.get("y")) < 54 else "speculation"
        end = float(bar.get("x").rstrip("%")) + float(bar.get("width").rstrip("%"))
        ends[lane] = max(ends[lane], end)
    return ends["plain"], ends["speculation"]


def test_it_opens_on_the_numbers_of_the_lesson():
    shown = texts(view())
    assert (shown["tokens"], shown["passes"], shown["speedup"], shown["best"]) == ("3.36", "30", "2.0×", "4")
    assert (shown["discarded"], shown["engine_rate"]) == ("41%", "0.59")


def test_a_longer_draft_shows_what_sim_says():
    values = {row.key: row.value for row in view(gamma=8).readout}
    assert values["tokens"] == expected_tokens(0.8, 8)
    assert values["speedup"] == speedup(0.8, 8, 0.17)


@pytest.mark.parametrize("seed", [1, 7, 17])
def test_the_strip_is_the_drawn_sample(seed):
    shown = view(seed=seed)
    for index, kept in enumerate(draw_rounds(0.8, 4, 6, seed), start=1):
        kinds = [token.kind for token in shown.tokens if token.round == index]
        last = "bonus" if kept == 4 else "correction"
        assert kinds == ["accepted"] * kept + ["rejected"] * (4 - kept) + [last]


def test_the_sample_mean_stands_beside_the_expectation_and_differs():
    shown = view()
    mean = next(row.value for row in shown.readout if row.key == "mean")
    drawn = draw_rounds(0.8, 4, 6, WIDGET.params["seed"].default)
    assert mean == (len(drawn) + sum(drawn)) / 6
    assert texts(shown)["mean"] != texts(shown)["tokens"]


def test_accepted_and_target_words_make_one_text_whatever_the_sample():
    def text(**given):
        shown = view(alpha=0.5, **given)
        return [token.text for token in shown.tokens if token.kind in ("accepted", "correction", "bonus")]

    plain = [token.text for token in view(on=False).tokens]
    for seed in (1, 2, 3):
        length = min(len(plain), len(text(seed=seed)))
        assert text(seed=seed)[:length] == plain[:length]


def test_a_rejected_word_is_never_the_right_one():
    for seed in range(1, 21):
        shown = view(alpha=0.3, gamma=8, seed=seed)
        right = iter([t.text for t in view(alpha=1, gamma=16, seed=1).tokens])
        for index in range(1, 7):
            cells = [token for token in shown.tokens if token.round == index]
            first = next((token for token in cells if token.kind == "rejected"), None)
            written = [next(right) for token in cells if token.kind != "rejected"]
            assert first is None or first.text != written[-1]


def test_each_round_has_two_stops_drafts_hollow_then_the_verdict():
    assert view(step=0).tokens == ()
    hollow, judged = view(step=1).tokens, view(step=2).tokens
    assert {token.kind for token in hollow} == {"drafted"}
    assert [token.text for token in judged[:4]] == [token.text for token in hollow]
    assert len(judged) == 5
    assert view(step=3).tokens[:5] == judged


def test_lane_widths_are_times_of_sim():
    plain, speculation = lane_widths(view())
    tokens = 6 + sum(draw_rounds(0.8, 4, 6, WIDGET.params["seed"].default))
    assert plain / speculation == pytest.approx(tokens / (6 * round_time(4, 0.17)), rel=0.01)


def test_a_costly_bad_draft_makes_the_lower_lane_the_longer_one():
    shown = view(c=0.5, alpha=0.1)
    plain, speculation = lane_widths(shown)
    assert speculation > plain
    assert shown.verdict.kind == "loss"
    assert shown.verdict.text.startswith("Do not use it here")


def test_the_table_has_every_length_and_the_best_is_sims():
    shown = view(alpha=0.9, c=0.1)
    assert [row[0] for row in shown.table.rows] == [str(length) for length in range(17)]
    assert texts(shown)["best"] == str(optimal_gamma(0.9, 0.1, max_gamma=16))


def test_switched_off_it_is_plain_decoding():
    shown = view(on=False)
    assert shown.title == "One pass, one token"
    assert (texts(shown)["tokens"], texts(shown)["passes"], texts(shown)["speedup"]) == ("1.00", "100", "1.0×")
    assert {token.kind for token in shown.tokens} == {"target"}
    assert lane_widths(shown)[1] == 0


def test_break_even_is_said_to_be_nothing_gained():
    shown = view(alpha=0.3, c=0.3, gamma=1)
    assert shown.verdict.text.startswith("Nothing gained, nothing lost")


def test_words_hold_at_the_ends_of_every_slider():
    assert view(c=0, gamma=1).title.startswith("A round costs 1 pass and")
    assert "above 0" in view(c=0).verdict.text
    assert "sample" not in view(alpha=1).summary
    assert texts(view(alpha=0.1, c=0.5))["best"] == "none"
    assert texts(view(alpha=0.1, c=0.5))["speedup"] == "0.37×"
    assert "less than half a percent slower" in view(alpha=0.53, gamma=3, c=0.32).verdict.text


def test_published_speedups_near_the_setting_are_open_squares_and_the_error_is_told():
    shown = view(alpha=0.75, c=0.02, gamma=7)
    assert shown.svg.count("M-4-4H4V4H-4Z") == 2
    assert "they had 3.4×; the model is off by 7%, too low." in shown.note


def test_no_published_row_is_shown_far_from_its_own_accept_rate_and_cost():
    shown = view(alpha=0.3, c=0.4)
    assert "M-4-4H4V4H-4Z" not in shown.svg
    assert shown.note is None
