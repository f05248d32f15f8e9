"""`draft_sources`: one verifying pass for all, sizes and times from `sim`, published rows as they stand in the data."""

import xml.etree.ElementTree as ET

import pytest

import widgets
from sim import draft_cost, expected_tokens, round_time
from tests.widgets.states import ROOT, draw
from widgets.draft_sources import SOURCES

WIDGET = widgets.load("draft_sources")
EVERY = tuple(SOURCES)


def view(**given):
    return draw(WIDGET, WIDGET.values(given))


def values(shown):
    return {row.key: row.value for row in shown.readout}


def test_the_published_surprise_same_tokens_other_speed():
    model, heads = values(view(source="model")), values(view(source="medusa"))
    assert (model["tokens"], heads["tokens"]) == (2.28, 2.31)
    assert (model["speedup"], heads["speedup"]) == (1.52, 1.71)


def test_what_a_round_comes_to_by_the_published_rows_is_what_node_3_says():
    """Tokens per pass over speed-up: cheaper than the separate model's for Medusa, dearer for EAGLE."""
    text = (ROOT / "docs" / "lessons" / "03-drafting-with-heads.md").read_text(encoding="utf-8")
    rounds = {key: values(view(source=key)) for key in ("model", "medusa", "eagle")}
    model, medusa, eagle = (f"{shown['tokens'] / shown['speedup']:.2f}" for shown in rounds.values())
    assert f"about {medusa} plain passes against {model}." in text
    assert f"its round comes to about {eagle} plain passes, dearer than the separate model’s" in text


@pytest.mark.parametrize("gamma", [1, 4, 7])
def test_the_verifying_pass_is_as_wide_in_every_lane(gamma):
    rounds = ET.fromstring(f"<p>{view(gamma=gamma).svg}</p>").findall("svg")[1]
    checks = [bar for bar in rounds.iter("rect") if bar.get("height") == "16" and "target" in bar.get("fill")]
    assert len(checks) == len(EVERY)
    assert len({bar.get("width") for bar in checks}) == 1


def test_a_separate_model_runs_once_a_draft_and_heads_run_once():
    one, seven = values(view(source="model", gamma=1))["round"], values(view(source="model", gamma=7))["round"]
    c = draft_cost("8b", "70b", "h100-sxm", devices=2)
    assert (one, seven) == (round_time(1, c), round_time(7, c))
    assert values(view(source="medusa", gamma=1))["round"] == values(view(source="medusa", gamma=7))["round"]
    assert values(view(source="lookup", gamma=7))["round"] == 1


def test_what_is_loaded_leaves_less_room():
    loaded = {key: values(view(source=key)) for key in EVERY}
    assert loaded["lookup"]["beside"] == 0
    assert all(row["beside"] + row["room"] == pytest.approx(loaded["lookup"]["room"]) for row in loaded.values())
    assert loaded["model"]["beside"] > loaded["medusa"]["beside"] > loaded["eagle"]["beside"] > 0


@pytest.mark.parametrize("source", EVERY)
def test_a_published_result_names_its_conditions_and_source(source):
    shown = view(source=source)
    assert "batch 1" in shown.summary
    assert any(card in shown.summary for card in ("A100", "B300"))
    assert shown.note.startswith("Published result: ")


def test_where_only_an_accept_rate_was_printed_tokens_follow_from_it():
    assert values(view(source="mtp"))["tokens"] == expected_tokens(0.9, 1)


def test_lossy_rules_are_called_lossy():
    assert view(source="medusa").verdict.text.startswith("Lossy: typical acceptance")
    assert "Medusa-2" in view(source="medusa").verdict.text
    assert "Relaxed acceptance" in view(source="mtp").verdict.text
    assert all("keep" in view(source=key).verdict.text for key in EVERY)


def test_published_acceptance_is_drawn_open():
    plot = ET.fromstring(f"<p>{view(source='medusa').svg}</p>").findall("svg")[2]
    circles = [c for c in plot.iter("circle") if "draft" in c.get("stroke", c.get("fill"))]
    assert len(circles) == 5
    assert all(c.get("fill") == "var(--sd-ground)" for c in circles)


def test_a_derived_length_does_not_pass_for_a_printed_one():
    labels = {row.key: row.label for row in view(source="mtp").readout}
    assert labels["tokens"] == "tokens per pass, from the published accept rate"
    assert "counted by us" in view(source="lookup").note
    assert "second-hand" in view(source="eagle").note


def test_five_heads_reach_five_places():
    assert "Beyond five places" in view(source="medusa", gamma=6).summary
    assert "Beyond five places" not in view(source="medusa", gamma=5).summary
