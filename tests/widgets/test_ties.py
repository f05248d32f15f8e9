"""`ties`: near ties turn by rounding alone, exact ties by the rule, and a bug is told from both by the gap."""

import math
from random import Random

import pytest

import widgets
from sim import spacing, summed
from tests.widgets.states import draw
from widgets import ties

WIDGET = widgets.load("ties")


def view(**given):
    return draw(WIDGET, WIDGET.values(given))


def value(shown, key):
    return next(row.value for row in shown.readout if row.key == key)


def texts(shown):
    """Both texts, as the table gives them."""
    rows = shown.table.rows[: ties.LENGTH]
    return [row[1] for row in rows], [row[2] for row in rows]


def test_it_opens_on_a_flip_by_rounding_alone():
    shown = view()
    plain, verify = texts(shown)
    assert (plain[2], verify[2]) == ("trees", "stars")
    assert plain[:2] == verify[:2]
    assert plain[3:] != verify[3:]
    assert value(shown, "parted") == 3
    assert value(shown, "gap") <= value(shown, "step") * (ties.TERMS - 1)
    assert shown.verdict.kind == "care"
    assert "Rounding, not a bug" in shown.verdict.text


def test_the_flip_is_computed_from_the_sums():
    """The logits drawn are sums of the very terms, in both orders; nothing else decides."""
    for word, below in (("trees", 0.0), ("stars", 0.02)):
        parts = ties._terms(word, "under", 2)
        assert math.fsum(parts) == pytest.approx(0, abs=1e-15)
        terms = [(8 - below) / 16 + 0.75 * part for part in parts]
        assert math.fsum(terms) == pytest.approx(8 - below, abs=1e-12)
        for order in ("forward", "blocks"):
            assert ties._adder(0.02, 8, "bf16", order, 2)("under")[word] == summed(terms, "bf16", order)


def test_the_same_order_in_both_passes_gives_the_same_bits():
    for seed in range(1, ties.SAMPLES + 1):
        shown = view(verify="forward", seed=seed, gap=0)
        assert value(shown, "parted") is None
        assert value(shown, "differ") == 0
        assert "same bits" in shown.verdict.text


def test_a_wide_gap_keeps_the_text_though_the_bits_differ():
    for seed in range(1, ties.SAMPLES + 1):
        shown = view(gap=1, seed=seed)
        assert value(shown, "parted") is None
        assert value(shown, "differ") > 0
        assert shown.verdict.text.startswith("Same tokens, not the same bits")


def test_the_finer_the_format_the_smaller_the_gap_that_turns():
    def turned(format, gap):
        return value(view(format=format, gap=gap), "turned")

    assert turned("bf16", 0.02) > 0
    assert turned("float32", 0.02) == turned("float32", 1e-5) == 0
    assert turned("float32", 1e-7) > 0
    assert value(view(size=32), "step") == spacing(32.0, "bf16") == 4 * spacing(8.0, "bf16")


@pytest.mark.parametrize("rule", ["first", "last"])
def test_an_exact_tie_is_broken_by_the_rule_alone(rule):
    """Reports of two paths, one ranking by > and one by >=: logits equal to the bit, texts that differ."""
    shown = view(format="mixed", gap=0.01, ties=rule)
    plain, verify = texts(shown)
    assert (plain == verify) == (rule == "first")
    assert value(shown, "differ") == 0
    if rule == "last":
        assert value(shown, "gap") == 0
        assert "break the tie differently" in shown.verdict.text


def test_a_tie_rule_is_one_rule():
    logits = {"a": 1.0, "b": 1.0, "c": 0.0}
    assert ties._choose(logits, last=False) == "a"
    assert ties._choose(logits, last=True) == "b"


def test_a_bug_is_told_from_rounding_by_the_gap():
    for seed in range(1, ties.SAMPLES + 1):
        for format in ("bf16", "mixed", "float32"):
            shown = view(bug=True, seed=seed, format=format)
            assert shown.verdict.kind == "loss"
            assert "A bug, not rounding" in shown.verdict.text
            assert value(shown, "gap") > 20 * value(shown, "step")


def test_without_the_bug_no_state_is_called_one():
    """Whatever is set, a text that parts does so within what rounding reaches, or on a tie."""
    chance = Random(4)
    for _ in range(150):
        given = {name: param.all_stops[int(chance.random() * len(param.all_stops))]
                 for name, param in WIDGET.params.items() if name in ("gap", "size", "seed")}  # fmt: skip
        for name in ("format", "plain", "verify", "ties"):
            keys = list(WIDGET.params[name].options)
            given[name] = keys[int(chance.random() * len(keys))]
        assert view(**given).verdict.kind != "loss", given


def test_no_word_of_it_is_called_identical():
    for given in ({}, {"gap": 1}, {"bug": True}, {"format": "mixed", "gap": 0.01, "ties": "last"}):
        shown = view(**given)
        assert "identical" not in " ".join((shown.summary, shown.verdict.text, shown.title)).lower()
