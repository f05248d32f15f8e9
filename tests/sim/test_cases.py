"""Failures that people reported elsewhere, tried here: one test a report, named after its row of the list of cases.

A01, A03 … are faults of sampling, B01, B21 … of metrics. Each docstring names the report; each test holds the right
value.
"""

import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim import (
    RULES,
    Round,
    acceptance,
    break_even_alpha,
    candidates_law,
    decode,
    distribution,
    draw_rounds,
    engine_acceptance_rate,
    expected_tokens,
    greedy_token,
    one_hot,
    optimal_gamma,
    output_law,
    pass_time,
    pick_token,
    reshaped,
    residual,
    speedup,
    survival_from_rates,
    tokens_from_survival,
    truncated,
    verify_cost,
    verify_round,
)
from tests.sim.strategies import distance, little_model, pairs

P, Q = (0.5, 0.3, 0.2), (0.6, 0.1, 0.3)


def greedy(model, size=5):
    return lambda prefix: one_hot(greedy_token(model(prefix)), size)


@given(pairs())
def test_A01_a_greedy_draft_must_not_be_tested_with_its_softmax(pair):
    """transformers#32867: greedy draft, softmax ratio. The wrong law is (.833, .167, 0); one-hot q is exact."""
    assert output_law(P, Q, "greedy_draft_softmax_ratio") == pytest.approx((5 / 6, 1 / 6, 0))
    assert distance(output_law(P, Q, "greedy_draft_softmax_ratio"), P) == pytest.approx(1 / 3)
    p, q = pair
    assert output_law(p, one_hot(greedy_token(q), len(q))) == pytest.approx(p, abs=1e-12)


@given(st.lists(st.floats(-5, 5), min_size=4, max_size=4), st.lists(st.floats(-5, 5), min_size=4, max_size=4))
def test_A03_temperature_and_top_p_reach_both_sides(target, draft):
    """vllm#9834: only the draft side was transformed. The law must be the transformed p."""
    p, q = (distribution(logits, 0.5, top_p=0.9) for logits in (target, draft))
    for row in (p, q):
        assert math.fsum(row) == pytest.approx(1.0, abs=1e-12)
    assert output_law(p, q) == pytest.approx(p, abs=1e-12)
    assert all(weight == 0.0 for weight, kept in zip(output_law(p, q), p, strict=True) if kept == 0.0)
    assert distance(output_law(*RULES["temperature_on_draft_only"].example, "temperature_on_draft_only"), P) > 1e-3


def test_A05_greedy_speculation_gives_the_greedy_text_for_100_seeds():
    """jaymody/speculative-sampling#3: argmax drafts, softmax in the ratio, so greedy output did not match."""
    target, draft = greedy(little_model(1)), greedy(little_model(2))
    plain = decode(target, draft, (0,), 0, 20).tokens
    assert {decode(target, draft, (0,), 3, 20, seed).tokens for seed in range(100)} == {plain}


def test_A06_p_and_q_are_after_temperature():
    """jaymody/speculative-sampling#9: a draft with p > q that is not the target's argmax is not emitted."""
    p, q = (0.3, 0.5, 0.1, 0.05, 0.05), (0.25, 0.2, 0.2, 0.2, 0.15)
    target = reshaped(p, 0)
    for draft in range(5):
        done = verify_round([target, target], [one_hot(draft, 5)], [draft], [0.0], 0.9)
        assert (draft if done.accepted else done.token) == 1
    assert output_law(target, reshaped(q, 0)) == one_hot(1, 5)


@pytest.mark.parametrize("temperature", [0, 0.0, 1e-45])
def test_A07_temperature_zero_gives_rows_and_drafts(temperature):
    """llama.cpp#5657: at exactly 0 the sampler had no probabilities and drafting failed."""
    assert distribution([1.0, 3.0, 2.0], temperature) == (0, 1, 0)
    trace = decode(
        lambda _: distribution([1, 3, 2], temperature), lambda _: distribution([1, 3, 2], temperature), (), 4, 9
    )
    assert trace.drafted > 0
    assert trace.tokens == (1,) * 9


@pytest.mark.parametrize("temperature", [-1, -1e-9, None, True, math.nan])
def test_A08_zero_is_greedy_and_negative_is_refused(temperature):
    """vllm#27077: -1 and 0 both meant greedy, in different modules; accepted became -1."""
    for call in (lambda: distribution([1, 2], temperature), lambda: reshaped((0.5, 0.5), temperature)):
        with pytest.raises(ValueError, match="temperature is "):
            call()
    assert distribution([1, 2], 0) == (0, 1)
    assert min(draw_rounds(0.0, 4, 50, 1)) == 0


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_A11_a_bad_row_is_named_at_once(bad):
    """vllm#53029: an all-NaN row became token id == vocabulary size and crashed steps later."""
    with pytest.raises(ValueError, match=r"p_rows\[1\]\[0\] is (nan|inf)"):
        verify_round([(0.2, 0.3, 0.5), (bad, bad, bad)], [(0.2, 0.3, 0.5)], [2], [0.5], 0.5)
    with pytest.raises(ValueError, match=r"target row after 2 tokens\[2\] is (nan|inf)"):
        decode(lambda _: (0.5, 0.5, bad), lambda _: (0.5, 0.5, 0), (1, 1), 2, 5)
    with pytest.raises(ValueError, match=r"logits\[1\] is (nan|inf)"):
        distribution([0, bad, 0])
    assert {pick_token((1 / 3,) * 3, pick / 997) for pick in range(997)} == {0, 1, 2}


def test_A13_residual_keeps_tiny_ratios():
    """vllm#46665: log(1 - ratio) rounds to 0 for q/p about 1e-9, a bias toward target mass."""
    tiny = 1e-9
    p, q = (tiny, 0.4, 0.6 - tiny), (tiny * tiny, 0.6, 0.4 - tiny * tiny)
    mass = (tiny - tiny * tiny) + (0.6 - tiny) - (0.4 - tiny * tiny)
    assert residual(p, q)[0] == pytest.approx((tiny - tiny * tiny) / mass, rel=1e-12)
    assert residual(p, q)[1] == 0.0
    assert output_law(p, q)[0] == pytest.approx(tiny, rel=1e-6)


def test_A14_the_accepted_share_is_the_overlap_and_not_one():
    """vllm-ascend#13730: the uniform was stuck at 0 and every draft was kept."""
    target, draft = (lambda _: P), (lambda _: Q)
    rounds = [done for seed in range(100) for done in decode(target, draft, (), 1, 250, seed).rounds]
    firsts = [done.emitted[0] for done in rounds]
    kept = [done for done in rounds if done.accepted]
    assert len(kept) / len(rounds) == pytest.approx(0.80, abs=0.014)
    expected = [weight * len(firsts) for weight in P]
    chi_square = math.fsum((firsts.count(token) - e) ** 2 / e for token, e in enumerate(expected))
    assert chi_square < 13.8  # 2 degrees of freedom, one in a thousand
    always = [weight * len(firsts) for weight in output_law(P, Q, "accept_always")]
    assert (
        math.fsum((a - e) ** 2 / e for a, e in zip(always, expected, strict=True)) > 1000
    )  # what the fault would give


def test_A17_the_same_seed_gives_the_same_trace_whatever_the_neighbours():
    """vllm#6038: the per-request seed was ignored in mixed batches."""
    target, draft = little_model(1), little_model(2)
    alone = [decode(target, draft, (n,), 3, 15, seed=n) for n in range(3)]
    mixed = [decode(target, draft, (n,), 3, 15, seed=seed) for n, seed in product(range(3), (77, 0, 1, 2))]
    for n in range(3):
        assert mixed[4 * n + 1 + n] == alone[n]


def test_A18_a_trace_does_not_depend_on_how_many_steps_ran_before():
    """TensorRT-LLM#17599: one generator for the whole engine."""
    first = draw_rounds(0.8, 4, 10, seed=5)
    draw_rounds(0.3, 2, 1000, seed=6)
    assert draw_rounds(0.8, 4, 10, seed=5) == first
    assert draw_rounds(0.8, 4, 3, seed=5) == first[:3]


def test_A19_at_temperature_zero_the_seed_has_no_effect():
    """vllm#13196: the seed seemed ignored; ratios were all 0 or 1."""
    target, draft = greedy(little_model(1)), greedy(little_model(2))
    assert len({decode(target, draft, (2,), 4, 20, seed) for seed in range(0, 100, 10)}) == 1


def test_A20_rejected_drafts_do_not_stay_in_the_text():
    """lucidrains/speculative-decoding#3: with disjoint rows each round adds exactly one token."""
    trace = decode(lambda _: (0.5, 0.5, 0, 0), lambda _: (0, 0, 0.5, 0.5), (0,), 5, 12, seed=1)
    assert trace.target_passes == len(trace.tokens) == 12
    assert trace.accepted == 0
    assert all(done.emitted == (done.token,) and done.token < 2 for done in trace.rounds)


@pytest.mark.parametrize("gamma", range(1, 9))
def test_A22_the_same_model_accepts_everything_for_50_rounds(gamma):
    """vllm#4212: after a full round the draft lacked the bonus token, and acceptance fell for gamma > 1."""
    contexts = []

    def draft(prefix):
        contexts.append(prefix)
        return little_model(7)(prefix)

    trace = decode(little_model(7), draft, (1, 2, 3), gamma, 50 * (gamma + 1), seed=gamma)
    assert trace.accepted == trace.drafted == 50 * gamma
    text = (1, 2, 3, *trace.tokens)
    assert all(context == text[: len(context)] for context in contexts)
    assert [len(context) for context in contexts[::gamma]] == [3 + k * (gamma + 1) for k in range(50)]


@pytest.mark.parametrize("budget", [1, 4, 5, 10])
def test_A23_never_more_than_max_tokens(budget):
    """ai-engineering-from-scratch#185, lattice#245: the accepted run or the bonus overshot."""
    trace = decode(little_model(7), little_model(7), (1,), 4, budget)
    assert len(trace.tokens) == budget
    assert trace.accepted == 4 * len(trace.rounds)  # counters count what was verified


def test_A24_the_stop_is_looked_for_before_the_cap():
    """sglang#31599: the length cap came first: wrong reason, leaked tokens."""
    stop = 9
    model = lambda prefix: one_hot((10, 11, stop, 20, 21, 22, 0, 0, 0)[len(prefix)], 32)  # noqa: E731
    for ends in ({"eos": stop}, {"stop": [(stop,)]}):
        trace = decode(model, model, (), 5, 5, **ends)
        assert trace.tokens == (10, 11, stop)
        assert trace.finish == next(iter(ends))
        assert decode(model, model, (), 5, 2, **ends).finish == "length"


def test_A27_exact_ties_are_broken_the_same_way_on_both_paths():
    """mlx-lm#1470 and others: bit-equal logits ranked by > in one path and >= in the other."""
    tie = distribution([1, 1, 0], 0)
    assert tie == reshaped((0.4, 0.4, 0.2), 0) == truncated((0.4, 0.4, 0.2), 1) == (1, 0, 0)
    assert (
        decode(lambda _: tie, lambda _: tie, (), 0, 6).tokens == decode(lambda _: tie, lambda _: tie, (), 3, 6).tokens
    )


def test_A28_another_vocabulary_is_refused_before_any_sampling():
    """llama.cpp#3812: it ran anyway, with NaN candidates and acceptance near 0."""
    with pytest.raises(ValueError, match="q has 4 entries; it must have 5"):
        output_law((0.2,) * 5, (0.25,) * 4)
    with pytest.raises(ValueError, match="draft row after 0 tokens has 4 entries; it must have 5"):
        decode(lambda _: (0.2,) * 5, lambda _: (0.25,) * 4, (), 3, 5)


def test_A30_the_row_in_the_ratio_is_the_row_that_was_sampled():
    """DeepSpec#31: drafts from a bf16 softmax, ratio from float32."""
    asked = []

    def draft(prefix):
        asked.append(prefix)
        return Q

    trace = decode(lambda _: P, draft, (), 3, 40, seed=2)
    assert len(asked) == trace.drafted  # one row a draft: there is no second one to divide by
    np = pytest.importorskip("numpy")
    montecarlo = pytest.importorskip("sim.montecarlo")
    single = montecarlo.draw_positions(np.array(P, dtype=np.float32), np.array(Q, dtype=np.float32), 1000, 4)
    exact = tuple(float(v) for v in np.array(Q, dtype=np.float32))
    assert single == montecarlo.draw_positions(tuple(float(v) for v in np.array(P, dtype=np.float32)), exact, 1000, 4)


def test_A31_three_accept_rules_give_three_rates():
    """vllm#40149, sglang#9877, mlxcel#992: all three are called acceptance rate."""
    assert acceptance(P, Q, "lossless") == pytest.approx(0.80)
    assert acceptance(P, one_hot(greedy_token(Q), 3), "lossless") == pytest.approx(0.50)
    assert acceptance(P, Q, "match") == pytest.approx(0.39)


@given(pairs(4))
def test_A32_deterministic_drafts_and_trees_keep_the_law(pair):
    """ml-recurrent-drafter#6, EAGLE#183: beam and top-k drafts are not samples from q."""
    p, q = pair
    for token in range(len(p)):
        assert acceptance(p, one_hot(token, len(p))) == pytest.approx(p[token], abs=1e-12)
        assert output_law(p, one_hot(token, len(p))) == pytest.approx(p, abs=1e-12)
    assert candidates_law(p, q, 2)[0] == pytest.approx(p, abs=1e-9)


def test_A34_redrawing_from_p_is_wrong():
    """language-model-arithmetic#14: why the residual? Because p gives (.60, .16, .24)."""
    assert output_law(P, Q, "redraw_from_p") == pytest.approx((0.60, 0.16, 0.24))
    assert distance(output_law(P, Q, "redraw_from_p"), P) == pytest.approx(0.14)
    assert RULES["redraw_from_p"].kind == "wrong"
    assert not RULES["redraw_from_p"].lossless


def test_B01_the_paper_s_formula_with_its_arguments_in_place():
    """llama.cpp#3649: alpha mixed up with accepted/drafted, alpha where gamma belongs, verify as one token."""
    assert expected_tokens(alpha=0.8, gamma=5) == pytest.approx(3.689, abs=5e-4)
    assert engine_acceptance_rate(alpha=0.8, gamma=5) == pytest.approx(0.538, abs=5e-4)
    assert speedup(alpha=0.8, gamma=5, c=0.2) == pytest.approx(1.845, abs=5e-4)
    assert speedup(alpha=0.8, gamma=5, c=1) == pytest.approx(0.615, abs=5e-4)
    assert speedup(alpha=0.8, gamma=5, c=0.2, verify=2) == pytest.approx(3.689 / 3, abs=5e-4)
    assert expected_tokens(alpha=1, gamma=5) == 6.0
    with pytest.raises(ValueError, match=r"alpha is 5; it must be a finite number from 0\.0 to 1\.0"):
        expected_tokens(5, 0.8)
    with pytest.raises(ValueError, match=r"gamma is 0\.8; it must be a whole number, 0 or more"):
        expected_tokens(0.5, 0.8)


def test_B21_speculation_can_lose_and_the_model_says_so():
    """vllm#27379 and others: 2.1x at one request, .77x at eight. Nothing is cut off at 1."""
    assert speedup(0.3, 4, 0.5) < 0.5
    assert optimal_gamma(0.3, 0.5) == 0
    assert break_even_alpha(4, 1.5) is None

    def served(batch):
        plain = pass_time("8b", "h100-sxm", batch=batch)
        return speedup(0.6, 7, 2.0 / plain.total_ms / 7, verify_cost("8b", "h100-sxm", 7, batch=batch))

    assert served(1) > 1.5
    assert served(256) < 0.77


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_B26_position_zero_is_the_first_draft(rates):
    """mlc-llm#2789: arrays where index i means i + 1 tokens. Here survival[0] is the first draft."""
    survival = survival_from_rates(rates)
    assert survival[0] == rates[0]
    assert len(survival) == len(rates)
    assert tokens_from_survival(survival[:1]) == 1 + rates[0]


def test_B29_rejecting_everything_shows_in_acceptance_and_not_in_the_law():
    """sglang-jax#1586: accept length fell to 1.0 with every accuracy test green. Acceptance is tested in numbers."""
    traces = [decode(lambda _: P, lambda _: Q, (), 4, 400, seed) for seed in range(30)]
    tau = 1 + sum(trace.accepted for trace in traces) / sum(trace.target_passes for trace in traces)
    assert tau == pytest.approx(expected_tokens(0.8, 4), rel=0.03)
    assert verify_round([P, P], [Q], [1], [1 - 2**-53], 0.0) == Round(1, 0, "bonus")


@pytest.mark.parametrize("gamma", [4, 8, 16])
def test_B31_a_draft_that_stops_early_shows_its_length_beside_its_acceptance(gamma):
    """llama.cpp#3919: a confidence cut-off of .8 gave 100 % acceptance and no speed-up, whatever gamma."""
    rows = {0: (0.9, 0.1), 1: (0.6, 0.4)}
    model = lambda prefix: rows[len(prefix) % 2]  # noqa: E731
    trace = decode(model, model, (), gamma, 60, seed=1, confidence=0.8)
    assert trace.accepted == trace.drafted  # 100 %
    assert trace.drafted / trace.target_passes <= 1.0  # and at most one draft a round, for every gamma
    assert trace.target_passes >= 30
