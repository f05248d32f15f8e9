"""The accept/reject rule, its exact law, and every rule that is not it. (Over 400 lines: one test a rule and fault.)"""

import itertools
import math
from dataclasses import FrozenInstanceError
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim import (
    RULES,
    Round,
    acceptance,
    draw_rounds,
    one_hot,
    output_law,
    overlap,
    pick_token,
    replacement_row,
    residual,
    verify_round,
)
from sim.sampling import position
from tests.sim.strategies import below_one, distance, pairs, rows, unit

P, Q = (0.5, 0.3, 0.2), (0.6, 0.1, 0.3)
LOSSLESS = [name for name, rule in RULES.items() if rule.lossless]
NOT_LOSSLESS = [name for name, rule in RULES.items() if not rule.lossless]


# One position


def test_the_example_of_the_lesson():
    assert overlap(P, Q) == pytest.approx(0.8)
    assert residual(P, Q) == pytest.approx((0, 1, 0))
    assert acceptance(P, Q) == pytest.approx(0.80)
    assert acceptance(P, Q, "match") == pytest.approx(0.39)
    assert output_law(P, Q) == pytest.approx(P, abs=1e-15)
    assert output_law(P, Q, "redraw_from_p") == pytest.approx((0.60, 0.16, 0.24))


@given(pairs())
def test_overlap_is_one_minus_total_variation_and_symmetric(pair):
    p, q = pair
    assert overlap(p, q) == pytest.approx(1 - distance(p, q), abs=1e-12)
    assert overlap(p, q) == overlap(q, p)


@given(pairs())
def test_residual_is_a_distribution_over_what_p_has_more_of(pair):
    p, q = pair
    if distance(p, q) <= 1e-12:
        return
    again = residual(p, q)
    assert math.fsum(again) == pytest.approx(1.0, abs=1e-12)
    for a, b, weight in zip(p, q, again, strict=True):
        assert (weight > 0) == (a > b)
        assert weight * (1 - overlap(p, q)) == pytest.approx(max(0.0, a - b), abs=1e-12)


def test_residual_of_equal_rows_says_that_nothing_is_ever_rejected():
    with pytest.raises(ValueError, match="nothing is ever rejected"):
        residual(P, P)
    assert replacement_row(P, P) == P
    assert residual((1, 0), (0, 1)) == (1, 0)
    assert residual((0.5 + 2e-15, 0.5 - 2e-15), (0.5, 0.5)) == (1, 0)  # above rounding, however little


@pytest.mark.parametrize(
    ("pick", "token"),
    [(0.0, 1), (0.249999, 1), (0.25, 3), (0.999999999, 3), (1 - 2**-53, 3)],
)
def test_pick_token_is_the_inverse_cumulative_sum(pick, token):
    assert pick_token((0, 0.25, 0, 0.75, 0), pick) == token


@given(st.integers(1, 6).flatmap(rows), below_one)
def test_pick_token_never_picks_what_has_no_probability(weights, pick):
    assert weights[pick_token(weights, pick)] > 0


@pytest.mark.parametrize("size", [3, 1025, 8193, 151_936])
def test_picked_tokens_stay_inside_the_vocabulary_with_a_zero_tail(size):
    # vLLM E.1(e): vocabularies just past a block size, an all-zero tail.
    weights = (0.1,) * 3 + (0.35, 0.35) if size > 4 else (0.1, 0.9)
    weights += (0.0,) * (size - len(weights))
    assert pick_token(weights, 1 - 2**-53) < 5


def test_a_pick_past_a_running_sum_that_rounded_down_takes_the_last_token_that_can_be():
    # Ten tenths add up to 0.9999999999999999, and so does the largest pick: no running sum is above it.
    assert pick_token((0.1,) * 10 + (0.0,), 1 - 2**-53) == 9


def test_a_row_that_sums_to_one_within_1e6_is_taken_as_it_is():
    assert pick_token((0.5, 0.4999995), 1 - 2**-53) == 1
    assert pick_token((0.5, 0.5000005), 0.4999999) == 1  # pick is a share of what the row sums to
    assert overlap((0.5, 0.4999995), (0, 1)) == 0.4999995


# One round


P_ROWS = ((0.5, 0.3, 0.2), (0.1, 0.6, 0.3), (0.25, 0.25, 0.5))
Q_ROWS = ((0.2, 0.3, 0.5), (0.6, 0.2, 0.2))

# Hand-computable vectors (literature E.7): draft, uniforms, accepted, row that the next token is drawn from.
BY_HAND = (
    ((2, 0), (0.39, 0.00), 2, (0.25, 0.25, 0.5)),
    ((2, 0), (0.41, 0.00), 0, (1, 0, 0)),
    ((2, 0), (0.39, 0.17), 1, (0, 0.8, 0.2)),
    ((1, 2), (0.9999, 0.9999), 2, (0.25, 0.25, 0.5)),
)


@pytest.mark.parametrize(("draft", "uniforms", "accepted", "source"), BY_HAND)
@pytest.mark.parametrize("pick", [0.0, 0.2, 0.3, 0.79, 0.81, 0.999])
def test_rounds_computed_by_hand(draft, uniforms, accepted, source, pick):
    kind = "bonus" if accepted == len(draft) else "correction"
    assert verify_round(P_ROWS, Q_ROWS, draft, uniforms, pick) == Round(accepted, pick_token(source, pick), kind)


def test_a_token_the_target_never_emits_is_rejected_even_at_zero():
    # Why the < is strict: u = 0 gives u·q = 0 < 0 false.
    rejected = verify_round([(0, 0.5, 0.5), P], [(1, 0, 0)], [0], [0.0], 0.0)
    assert rejected == Round(0, 1, "correction")


def grid(n: int) -> list[float]:
    """The middles of n equal parts of [0, 1): counting over them integrates a step function exactly."""
    return [(i + 0.5) / n for i in range(n)]


def test_the_law_of_a_round_by_counting_is_p_at_every_position():
    # Over every draft, uniform and pick: P(0, 1, 2 kept) = .30, .35, .35; 2.05 tokens; each token follows its row of p.
    kept = [0.0, 0.0, 0.0]
    first = [0.0, 0.0, 0.0]
    second = [0.0, 0.0, 0.0]
    coarse, fine, picks = grid(5), grid(6), grid(20)  # the tests change at 2/5 and 1/6, the picks at 1/4, 1/2, 4/5
    for a, b in itertools.product(range(3), repeat=2):
        chance = Q_ROWS[0][a] * Q_ROWS[1][b] / (len(coarse) * len(fine) * len(picks))
        for u, v, pick in itertools.product(coarse, fine, picks):
            done = verify_round(P_ROWS, Q_ROWS, (a, b), (u, v), pick)
            emitted = (*(a, b)[: done.accepted], done.token)
            kept[done.accepted] += chance
            first[emitted[0]] += chance
            if len(emitted) > 1:
                second[emitted[1]] += chance
    assert kept == pytest.approx([0.30, 0.35, 0.35])
    assert 1 + kept[1] + 2 * kept[2] == pytest.approx(2.05)
    assert first == pytest.approx(P_ROWS[0])
    assert [weight / 0.7 for weight in second] == pytest.approx(P_ROWS[1])


@given(st.integers(1, 4).flatmap(lambda n: st.tuples(st.lists(rows(n), min_size=4, max_size=4), st.data())))
def test_the_same_rows_on_both_sides_accept_everything(case):
    p_rows, data = case
    picks = data.draw(st.lists(below_one, min_size=7, max_size=7))
    draft = [pick_token(row, pick) for row, pick in zip(p_rows[:3], picks[:3], strict=True)]
    done = verify_round(p_rows, p_rows[:3], draft, picks[3:6], picks[6])
    assert done == Round(3, pick_token(p_rows[3], picks[6]), "bonus")


@given(pairs(), st.data())
def test_what_follows_a_rejection_is_never_the_rejected_token(pair, data):
    p, q = pair
    token = pick_token(q, data.draw(below_one))
    done = verify_round([p, p], [q], [token], [data.draw(below_one)], data.draw(below_one))
    if done.kind == "correction" and distance(p, q) > 1e-12:
        assert done.token != token
        assert p[done.token] > q[done.token]


# vLLM v1 rejection sampler, greedy (tests/v1/sample/test_rejection_sampler.py @ 004fce2d): draft, target argmax,
# bonus, out. Each row of its batches is a round of its own here; -1 (unused) is dropped.
VLLM_GREEDY = (
    ("perfect", (1, 2, 3), (1, 2, 3), 4, (1, 2, 3, 4)),
    ("early-mismatch", (1, 2, 3), (1, 5, 3), 4, (1, 5)),
    ("ragged-batch-0", (1, 2), (1, 2), 5, (1, 2, 5)),
    ("ragged-batch-1", (3,), (3,), 4, (3, 4)),
    ("single", (1,), (1,), 2, (1, 2)),
    ("no-draft", (), (), 5, (5,)),
    ("two-mismatches-0", (1, 2, 3), (1, 2, 7), 6, (1, 2, 7)),
    ("two-mismatches-1", (4, 5, 6), (4, 8, 6), 9, (4, 8)),
    ("first-mismatch", (1,), (2,), 3, (2,)),
    ("mixed-0", (1, 2), (1, 5), 6, (1, 5)),
    ("mixed-1", (3, 4), (3, 4), 7, (3, 4, 7)),
    ("fly-strict", (1, 2, 3, 4), (9, 2, 3, 4), 5, (9,)),  # its lossy window rule gives 1 2 3 4 5: not offered here
)


@pytest.mark.parametrize(("case", "draft", "argmax", "bonus", "out"), VLLM_GREEDY)
@pytest.mark.parametrize("uniform", [0.0, 0.5, 1 - 2**-53])
def test_vllm_greedy_vectors(case, draft, argmax, bonus, out, uniform):
    p_rows = [one_hot(token, 16) for token in (*argmax, bonus)]
    q_rows = [one_hot(token, 16) for token in draft]
    done = verify_round(p_rows, q_rows, draft, [uniform] * len(draft), uniform)
    assert (*draft[: done.accepted], done.token) == out


def test_transformers_vector():
    # tests/generation/test_utils.py: drafts 1, 4, 5; the target agrees on 1 and 4 and allows only 8 at the third place.
    target = [one_hot(token, 10) for token in (1, 4, 8, 0)]
    assert verify_round(target, [one_hot(t, 10) for t in (1, 4, 5)], (1, 4, 5), (0.5,) * 3, 0.5) == Round(
        2, 8, "correction"
    )


def test_acceptance_after_a_rejection_is_ignored():
    # vLLM v0 assembly: everything after the first rejection is dropped, whatever the later tests say.
    p_rows = [one_hot(t, 4) for t in (0, 3, 2, 1)]
    done = verify_round(p_rows, [one_hot(t, 4) for t in (0, 1, 2)], (0, 1, 2), (0.1,) * 3, 0.1)
    assert done == Round(1, 3, "correction")


BAD_ROUNDS = (
    ({"uniforms": (0.1,) * 3}, r"uniforms has 3 entries; it must have 2"),
    ({"p_rows": (P, P, (0.5, 0.5))}, r"p_rows\[2\] has 2 entries; it must have 3"),
    ({"p_rows": (*P_ROWS, P)}, r"p_rows has 4 rows; it must have 3"),
    ({"p_rows": P_ROWS[:2]}, r"p_rows has 2 rows; it must have 3"),
    ({"q_rows": Q_ROWS[:1]}, r"q_rows has 1 entries; it must have 2"),
    ({"uniforms": (0.1,)}, r"uniforms has 1 entries; it must have 2"),
    ({"uniforms": (0.1, 1.0)}, r"uniforms\[1\] is 1\.0; it must be a finite number from 0\.0 to below 1\.0"),
    ({"uniforms": (-0.1, 0.5)}, r"uniforms\[0\] is -0\.1"),
    ({"pick": 1.0}, r"pick is 1\.0"),
    ({"draft": (0, 3)}, r"draft\[1\] is 3; it must be a whole number from 0 to 2"),
    ({"draft": (-1, 0)}, r"draft\[0\] is -1"),  # vLLM E.1(f): a placeholder is refused, not used as an index
    ({"draft": (0.5, 0)}, r"draft\[0\] is 0\.5"),
    ({"draft": (True, 0)}, r"draft\[0\] is True"),
    ({"q_rows": ((0.2, 0.8), (0.6, 0.4))}, r"q_rows\[0\] has 2 entries; it must have 3"),
    ({"p_rows": (P, (0.5, 0.5), P)}, r"p_rows\[1\] has 2 entries; it must have 3"),
    ({"p_rows": (P, P, (0.5, 0.3, 0.3))}, r"p_rows\[2\] sums to 1\.1.*; it must sum to 1 within 1e-06"),
    ({"p_rows": (P, P, (0.5, 0.7, -0.2))}, r"p_rows\[2\]\[2\] is -0\.2; it must be a finite number, 0\.0 or more"),
    ({"q_rows": (Q, (math.nan,) * 3)}, r"q_rows\[1\]\[0\] is nan"),
)


@pytest.mark.parametrize(("spoilt", "message"), BAD_ROUNDS)
def test_a_round_that_does_not_fit_is_refused_by_name(spoilt, message):
    good = {"p_rows": P_ROWS, "q_rows": Q_ROWS, "draft": (2, 0), "uniforms": (0.1, 0.1), "pick": 0.5}
    with pytest.raises(ValueError, match=message):
        verify_round(**{**good, **spoilt})


@pytest.mark.parametrize("call", [overlap, residual, output_law, acceptance])
@pytest.mark.parametrize(
    ("p", "q", "message"),
    [
        ((0.5, 0.5), (0.5, 0.25, 0.25), r"q has 3 entries; it must have 2"),
        ((), (), r"p is empty"),
        (0.5, Q, r"p is 0\.5; it must be a row"),
        (P, "abc", r"q is 'abc'; it must be a row"),
        ((0.5, 0.5 + 2e-6), (0.5, 0.5), r"p sums to 1\.000001999.*; it must sum to 1 within 1e-06"),
        ((0.5, math.inf), (0.5, 0.5), r"p\[1\] is inf"),
        (P, (0.6, True, 0), r"q\[1\] is True"),
    ],
)
def test_rows_that_are_not_distributions_are_refused_by_name(call, p, q, message):
    with pytest.raises(ValueError, match=message):
        call(p, q)


# Drawn rounds


def test_draw_rounds_repeats_and_has_these_limits():
    assert draw_rounds(0.8, 4, 8, seed=1) == draw_rounds(0.8, 4, 8, seed=1)
    assert draw_rounds(0.8, 4, 8, seed=1) != draw_rounds(0.8, 4, 8, seed=2)
    assert draw_rounds(1, 4, 5, 0) == (4,) * 5
    assert draw_rounds(0, 4, 5, 0) == (0,) * 5
    assert draw_rounds(0.5, 0, 5, 0) == (0,) * 5
    assert draw_rounds(0.5, 4, 0, 0) == ()
    assert draw_rounds(Random(7).random(), 1, 1, 7) == (0,)  # a number equal to alpha does not keep
    assert draw_rounds(0.8, 4, 12, 7) == (4, 4, 4, 1, 1, 0, 3, 4, 4, 4, 4, 3)


@given(unit, unit, st.integers(0, 8), st.integers(0, 50), st.integers(0, 999))
def test_with_one_seed_more_acceptance_never_keeps_fewer(a, b, gamma, rounds, seed):
    low, high = (draw_rounds(alpha, gamma, rounds, seed) for alpha in sorted((a, b)))
    assert len(low) == rounds
    assert all(0 <= x <= y <= gamma for x, y in zip(low, high, strict=True))


def test_drawn_rounds_follow_the_geometric_law():
    counts = draw_rounds(0.7, 3, 20_000, seed=11)
    for kept, chance in enumerate((0.3, 0.21, 0.147, 0.343)):
        share = counts.count(kept) / len(counts)
        assert abs(share - chance) < 4 * math.sqrt(chance * (1 - chance) / len(counts))


@pytest.mark.parametrize("name", ["gamma", "rounds", "seed"])
@pytest.mark.parametrize("bad", [-1, 1.5, True, None])
def test_draw_rounds_refuses_bad_counts(name, bad):
    with pytest.raises(ValueError, match=rf"^{name} is {bad!r}; it must be a whole number, 0 or more"):
        draw_rounds(**{"alpha": 0.5, "gamma": 2, "rounds": 3, "seed": 0, name: bad})


# Rules


@given(pairs())
@pytest.mark.parametrize("rule", LOSSLESS)
def test_lossless_rules_emit_the_target(rule, pair):
    p, q = pair
    assert output_law(p, q, rule) == pytest.approx(p, abs=1e-12)


@given(pairs())
@pytest.mark.parametrize("rule", RULES)
def test_every_rule_has_a_law_that_is_a_distribution(rule, pair):
    p, q = pair
    law = output_law(p, q, rule)
    assert math.fsum(law) == pytest.approx(1.0, abs=1e-9)
    assert all(0.0 <= weight <= 1.0 + 1e-12 for weight in law)
    assert -1e-12 <= acceptance(p, q, rule) <= 1.0 + 1e-12


@given(st.integers(1, 6).flatmap(rows))
def test_equal_rows_are_emitted_as_they_are_by_the_rules_that_test(row):
    assert acceptance(row, row) == pytest.approx(1.0)
    for rule in ("lossless", "lenient", "redraw_from_p", "redraw_greedy", "absolute_residual", "swapped_ratio"):
        assert output_law(row, row, rule) == pytest.approx(row, abs=1e-12)


@given(pairs())
def test_no_rule_keeps_more_without_losing_the_law_than_the_overlap(pair):
    p, q = pair
    assert acceptance(p, q, "match") <= acceptance(p, q) + 1e-12
    assert acceptance(p, q) == pytest.approx(overlap(p, q), abs=1e-12)


@pytest.mark.parametrize("rule", NOT_LOSSLESS)
def test_rules_that_are_not_lossless_miss_the_target_at_their_own_example(rule):
    p, q = RULES[rule].example
    assert distance(output_law(p, q, rule), p) >= 1e-3


# The laws by hand at (.5 .3 .2), (.6 .1 .3) and, for shared_uniform, at its own example.
LAWS = {
    "lenient": (0.6, 0.1, 0.3),  # p/(q/2) is above 1 everywhere: all is kept
    "typical": (0.6, 0.1, 0.3),  # least = min(.09, .3·exp(-1.03)): all is kept
    "threshold": (
        0.75,
        0.19,
        0.06,
    ),  # .5 and .3 reach .3; of .3 drafted 2s a fifth stays, the rest goes to 0 and 1 as 5:3
    "greedy_draft_softmax_ratio": (5 / 6, 1 / 6, 0.0),
    "redraw_from_p": (0.60, 0.16, 0.24),
    "redraw_greedy": (0.7, 0.1, 0.2),
    "absolute_residual": (0.55, 0.20, 0.25),
    "swapped_ratio": (0.6, 0.1, 0.3),  # only 1 is ever rejected (min(1, .1/.3)), and the residual is 1 again
    "untruncated_ratio": (5 / 9, 2 / 9, 2 / 9),
    "accept_always": (0.6, 0.1, 0.3),
}


@pytest.mark.parametrize("rule", LAWS)
def test_laws_computed_by_hand(rule):
    assert output_law(P, Q, rule) == pytest.approx(LAWS[rule])


def test_the_shared_uniform_picks_what_rejected_it():
    # Draft 2 is rejected when u >= 1/3; the residual (.75, .25, 0) then gives token 0 only for u in [1/3, .75).
    p, q = RULES["shared_uniform"].example
    assert position(p, q, "shared_uniform").replacement(2) == pytest.approx((0.625, 0.375, 0))
    assert output_law(p, q, "shared_uniform") == pytest.approx((0.45, 0.35, 0.2))


def test_temperature_on_one_side_only():
    # p is the target at T = .5; what is scored is its root, renormalised.
    roots = [math.sqrt(weight) for weight in P]
    assert output_law(P, Q, "temperature_on_draft_only") == pytest.approx([root / sum(roots) for root in roots])
    assert output_law(P, Q, "temperature_on_draft_only", temperature=1.0) == pytest.approx(P)
    powers = [weight**0.4 for weight in P]
    law = output_law(P, Q, "temperature_on_draft_only", temperature=0.4)
    assert law == pytest.approx([power / sum(powers) for power in powers])


@given(pairs(), st.floats(0.01, 1.0))
def test_lenience_never_lifts_a_token_above_its_share(pair, lenience):
    # Leviathan A.5: no token is more than 1/l times as likely as under p; alpha(l) = sum of min(p/l, q).
    p, q = pair
    law = output_law(p, q, "lenient", lenience=lenience)
    assert all(weight <= a / lenience + 1e-12 for weight, a in zip(law, p, strict=True))
    expected = math.fsum(min(a / lenience, b) for a, b in zip(p, q, strict=True))
    assert acceptance(p, q, "lenient", lenience=lenience) == pytest.approx(expected)


@given(pairs())
def test_lossy_rules_become_lossless_at_the_end_of_their_range(pair):
    p, q = pair
    assert output_law(p, q, "lenient", lenience=1.0) == pytest.approx(p, abs=1e-12)
    assert output_law(p, q, "threshold", single=1.0, accumulated=1.0) == pytest.approx(p, abs=1e-12)
    assert acceptance(p, q, "threshold", single=0.0, accumulated=0.0) == pytest.approx(1.0)


def test_typical_acceptance_vectors_of_vllm():
    # tests/samplers/test_typical_acceptance_sampler.py @ 055265e0, threshold .03, alpha .9 (our delta).
    flat = (1 / 3000,) * 3000  # there 30,000 tokens; the rule is the same
    assert acceptance(flat, one_hot(17, 3000), "typical", threshold=0.03, delta=0.9) == 1.0
    sure, other = one_hot(4, 10), one_hot(7, 10)
    assert acceptance(sure, other, "typical", threshold=0.03, delta=0.9) == 0.0
    assert output_law(sure, other, "typical", threshold=0.03, delta=0.9) == sure


def test_lossy_rules_keep_what_their_settings_say():
    # exp(-entropy of P) is .357: with nothing else in the way only token 0 is above it. A tie is rejected.
    assert acceptance(P, Q, "typical", threshold=1.0, delta=1.0) == pytest.approx(0.6)
    assert acceptance(P, Q, "typical", threshold=0.3, delta=9.0) == pytest.approx(0.6)
    # Kept with min(1, p/.4): 1, .75, .5 of what is drafted.
    assert acceptance(P, Q, "threshold", single=1.0, accumulated=0.4) == pytest.approx(0.6 + 0.075 + 0.15)


@given(st.integers(2, 6).flatmap(lambda n: st.tuples(rows(n), st.integers(0, n - 1))))
def test_a_deterministic_draft_is_kept_with_chance_p(case):
    p, token = case
    q = one_hot(token, len(p))
    for rule in LOSSLESS:
        assert acceptance(p, q, rule) == pytest.approx(p[token], abs=1e-12)
        assert output_law(p, q, rule) == pytest.approx(p, abs=1e-12)
    if p[token] < 0.999:
        rest = residual(p, q)
        assert rest[token] == 0.0
        assert rest == pytest.approx([0 if i == token else w / (1 - p[token]) for i, w in enumerate(p)], abs=1e-12)


def test_every_rule_says_what_it_is():
    kinds = {"lossless": 2, "lossy": 3, "wrong": 9}
    assert {kind: sum(rule.kind == kind for rule in RULES.values()) for kind in kinds} == kinds
    for name, rule in RULES.items():
        assert rule.name == name
        assert rule.sentence.endswith(".")
        assert rule.lossless == (rule.kind == "lossless") == (rule.example is None)
        for setting, value in rule.settings.items():
            assert output_law(P, Q, name, **{setting: value}) == output_law(P, Q, name)
    with pytest.raises(TypeError):
        RULES["mine"] = RULES["match"]
    with pytest.raises(TypeError):
        RULES["lenient"].settings["lenience"] = 0.1


def test_settings_are_those_of_the_papers_and_engines():
    assert {name: dict(rule.settings) for name, rule in RULES.items() if rule.settings} == {
        "lenient": {"lenience": 0.5},
        "typical": {"threshold": 0.09, "delta": 0.3},  # Medusa's posterior_threshold and posterior_alpha
        "threshold": {"single": 0.3, "accumulated": 1.0},
        "untruncated_ratio": {"top_k": 2},
        "temperature_on_draft_only": {"temperature": 0.5},
    }
    assert output_law(P, Q, "untruncated_ratio", top_k=1) == pytest.approx((5 / 6, 1 / 6, 0))


@pytest.mark.parametrize("value", [Round(1, 2, "bonus"), RULES["match"], position(P, Q)])
def test_results_cannot_be_changed(value):
    with pytest.raises(FrozenInstanceError):
        setattr(value, next(iter(vars(value))), None)


def test_unknown_rules_and_settings_are_refused_with_the_list():
    with pytest.raises(ValueError, match=r"rule is 'lenent'; it must be one of: lossless, match, lenient, typical"):
        output_law(P, Q, "lenent")
    with pytest.raises(ValueError, match=r"lenience is 0\.5; rule 'lossless' has no such setting \(it has: none\)"):
        acceptance(P, Q, lenience=0.5)
    with pytest.raises(ValueError, match=r"rule 'typical' has no such setting \(it has: threshold, delta\)"):
        acceptance(P, Q, "typical", alpha=0.5)
    for rule, name, bad in (
        ("lenient", "lenience", 0),
        ("lenient", "lenience", 1.5),
        ("typical", "threshold", 2),
        ("typical", "delta", -1),
        ("threshold", "single", -0.1),
        ("threshold", "accumulated", 1.1),
        ("untruncated_ratio", "top_k", 0),
        ("temperature_on_draft_only", "temperature", 0),
    ):
        with pytest.raises(ValueError, match=rf"^{name} is {bad}; it must be "):
            output_law(P, Q, rule, **{name: bad})
