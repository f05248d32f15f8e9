"""Whole decodes: the law, the budget, the end, the rewound context, the seed."""

import itertools
import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim import decode, distribution, one_hot, pick_token, truncated
from tests.sim.strategies import little_model

SIZE = 5


def scripted(*tokens):
    """A model that is sure of its text: token k after k tokens, then 0 for ever."""
    return lambda prefix: one_hot(tokens[len(prefix)] if len(prefix) < len(tokens) else 0, 32)


def plain(model, prompt, count, seed=0):
    return decode(model, model, prompt, gamma=0, max_tokens=count, seed=seed)


@pytest.mark.parametrize("gamma", range(9))
def test_the_same_model_on_both_sides_accepts_everything(gamma):
    model = little_model(3)
    trace = decode(model, model, (1, 2), gamma, max_tokens=50 * (gamma + 1), seed=gamma)
    assert trace.target_passes == len(trace.rounds) == 50
    assert trace.accepted == trace.drafted == 50 * gamma
    assert all(done.kind == "bonus" and len(done.emitted) == gamma + 1 for done in trace.rounds)
    assert len(trace.tokens) == 50 * (gamma + 1)


@given(st.integers(0, 6), st.integers(0, 40), st.integers(0, 9))
def test_the_text_is_what_the_rounds_emitted_trimmed_to_the_budget(gamma, budget, seed):
    trace = decode(little_model(1), little_model(2), (4,), gamma, budget, seed)
    emitted = tuple(itertools.chain.from_iterable(done.emitted for done in trace.rounds))
    assert len(trace.tokens) == budget
    assert trace.tokens == emitted[:budget]
    assert len(emitted) - budget < max(1, len(trace.rounds[-1].emitted)) if trace.rounds else budget == 0
    assert trace.finish == "length"
    assert trace.target_passes == len(trace.rounds)
    assert trace.drafted == gamma * len(trace.rounds)
    assert trace.accepted == sum(done.accepted for done in trace.rounds)
    for done in trace.rounds:
        assert done.kind == ("bonus" if done.accepted == gamma else "correction")
        assert done.emitted == (*done.draft[: done.accepted], done.token)


def test_both_models_see_the_committed_text_and_nothing_else():
    seen: dict[str, list[tuple[int, ...]]] = {"target": [], "draft": []}

    def watch(name, model):
        return lambda prefix: (seen[name].append(prefix), model(prefix))[1]

    trace = decode(watch("target", little_model(1)), watch("draft", little_model(2)), (4, 4), 3, 30, seed=5)
    text = (4, 4)
    target, draft = iter(seen["target"]), iter(seen["draft"])
    for done in trace.rounds:
        for k in range(4):
            assert next(target) == text + done.draft[:k]
        for k in range(3):
            assert next(draft) == text + done.draft[:k]
        text += done.emitted
    assert next(target, None) is next(draft, None) is None
    assert 0 < trace.accepted < trace.drafted  # the rewind was exercised


def test_the_emitted_text_follows_the_target():
    # Chance of each two-token text: exact by the chain rule, counted over 10,000 seeds; four standard errors each.
    target, draft = little_model(8, 3), little_model(9, 3)
    runs = 10_000
    counts = dict.fromkeys(itertools.product(range(3), repeat=2), 0)
    for seed in range(runs):
        counts[decode(target, draft, (0,), 2, 2, seed).tokens] += 1
    for (a, b), count in counts.items():
        chance = target((0,))[a] * target((0, a))[b]
        assert abs(count / runs - chance) < 4 * math.sqrt(chance * (1 - chance) / runs)


@given(st.integers(0, 6), st.integers(0, 99))
def test_greedy_models_give_the_plain_greedy_text(gamma, seed):
    def greedy(model):
        return lambda prefix: one_hot(max(range(SIZE), key=model(prefix).__getitem__), SIZE)

    target, draft = greedy(little_model(1)), greedy(little_model(2))
    assert decode(target, draft, (3,), gamma, 25, seed).tokens == plain(target, (3,), 25).tokens


# llama.cpp server (tools/server/tests/unit/test_speculative.py @ 0876d422): the greedy text is the same for every draft
# length, and a run asked for 64 tokens gives exactly 64.
@pytest.mark.parametrize("gamma", [1, 2, 4, 8, 12, 16])
def test_llama_cpp_greedy_text_does_not_depend_on_the_draft_length(gamma):
    def greedy(model):
        return lambda prefix: distribution(model(prefix), 0)

    target, draft = greedy(little_model(21)), greedy(little_model(22))
    trace = decode(target, draft, tuple(range(5)) * 11, gamma, 64)
    assert len(trace.tokens) == 64
    assert trace.tokens == plain(target, tuple(range(5)) * 11, 64).tokens


@given(st.sampled_from([(1, None), (2, None), (99, None), (None, 0.5), (None, 0.9), (None, 0.99)]), st.integers(0, 99))
def test_vllm_no_token_outside_what_truncation_keeps(cut, seed):
    def target(prefix):
        return truncated(little_model(4)(prefix), *cut)

    trace = decode(target, little_model(5), (0,), 3, 12, seed)
    for k, token in enumerate(trace.tokens):
        assert target((0, *trace.tokens[:k]))[token] > 0


@pytest.mark.parametrize(("penalty", "out"), [(1.5, (1, 15)), (0.7, (1, 1, 15))])
def test_vllm_penalties_count_drafts_accepted_in_the_round(penalty, out):
    scores = [0.0] * 16
    scores[1], scores[15] = 100, 99
    trace = decode(
        lambda prefix: distribution(scores, 0, seen=prefix, frequency=penalty), lambda _: one_hot(1, 16), (), 3, 9
    )
    assert trace.rounds[0].emitted == out


def test_random_numbers_are_drawn_in_the_documented_order():
    # Per round: one for each draft, one for each test, one for the next token.
    target, draft = little_model(1), little_model(2)
    trace = decode(target, draft, (0,), 2, 3, seed=13)
    uniform = Random(13).random
    first = pick_token(draft((0,)), uniform())
    second = pick_token(draft((0, first)), uniform())
    assert trace.rounds[0].draft == (first, second)
    tests = [uniform(), uniform()]
    kept = tests[0] * draft((0,))[first] < target((0,))[first]
    assert (trace.rounds[0].accepted > 0) == kept


# The budget, the end and the stop


@pytest.mark.parametrize("budget", [0, 1, 4, 5, 10])
def test_never_more_than_the_budget(budget):
    model = little_model(3)
    trace = decode(model, model, (1,), gamma=4, max_tokens=budget)
    assert len(trace.tokens) == budget
    assert trace.target_passes == math.ceil(budget / 5)
    assert trace.accepted == 4 * trace.target_passes  # what was verified, not what was kept in the text


@pytest.mark.parametrize(
    ("text", "finish", "budget", "tokens"),
    [
        ((10, 11, 9, 20, 21, 22), "eos", 5, (10, 11, 9)),  # among accepted drafts
        ((10, 9), "eos", 5, (10, 9)),
        ((9,), "eos", 5, (9,)),
        ((10, 11, 12, 13, 9), "eos", 5, (10, 11, 12, 13, 9)),  # the last token of the budget is still an end
        ((10, 11, 12, 13, 14, 9), "length", 5, (10, 11, 12, 13, 14)),  # an end past the budget is not
        ((10, 11, 12, 9), "length", 2, (10, 11)),
    ],
)
@pytest.mark.parametrize("gamma", [0, 1, 2, 4, 7])
def test_an_end_token_ends_the_text_wherever_it_stands(text, finish, budget, tokens, gamma):
    model = scripted(*text)
    trace = decode(model, model, (), gamma, budget, eos=9)
    assert (trace.tokens, trace.finish) == (tokens, finish)


@pytest.mark.parametrize("end", [0, 300])
def test_the_first_token_and_a_large_one_can_be_the_end(end):
    def model(prefix):
        return one_hot(end if len(prefix) == 2 else 7, 400)

    trace = decode(model, model, (), 3, 9, eos=end)
    assert (trace.tokens, trace.finish) == ((7, 7, end), "eos")


def test_an_end_token_as_correction_and_as_bonus():
    target = scripted(10, 11, 9, 12)
    as_correction = decode(target, scripted(10, 11, 30), (), 3, 10, eos=9)
    assert as_correction.rounds[-1].token == 9
    assert as_correction.rounds[-1].kind == "correction"
    as_bonus = decode(target, scripted(10, 11, 30), (), 2, 10, eos=9)
    assert as_bonus.rounds[-1].token == 9
    assert as_bonus.rounds[-1].kind == "bonus"
    for trace in (as_correction, as_bonus):
        assert (trace.tokens, trace.finish) == ((10, 11, 9), "eos")


@pytest.mark.parametrize("gamma", [0, 1, 2, 3, 6])
def test_stop_sequences_end_the_text_across_rounds(gamma):
    model = scripted(10, 11, 12, 13, 14, 15)
    assert decode(model, model, (), gamma, 9, stop=[(12, 13)]).tokens == (10, 11, 12, 13)
    assert decode(model, model, (), gamma, 9, stop=[(14,), (12, 13)]).finish == "stop"
    assert decode(model, model, (), gamma, 9, stop=[(13, 12)]).finish == "length"
    assert decode(model, model, (), gamma, 3, stop=[(12, 13)]).finish == "length"
    assert decode(model, model, (), gamma, 4, stop=[(12, 13)]).finish == "stop"
    both = decode(model, model, (), gamma, 9, eos=12, stop=[(12,)])
    assert (both.tokens, both.finish) == ((10, 11, 12), "eos")


def test_the_prompt_does_not_count_for_ends_and_stops():
    model = scripted(1, 1, 2, 3, 4)
    trace = decode(model, model, (9, 5), 2, 3, eos=9, stop=[(5, 2)])
    assert (trace.tokens, trace.finish) == ((2, 3, 4), "length")


def test_the_tokens_after_an_end_are_verified_but_not_in_the_text():
    model = scripted(10, 9, 12, 13, 14)
    trace = decode(model, model, (), 4, 10, eos=9)
    assert trace.tokens == (10, 9)
    assert (trace.drafted, trace.accepted, trace.target_passes) == (4, 4, 1)
    assert trace.rounds[0].emitted == (10, 9, 12, 13, 14)


# A draft that stops early


def test_confidence_ends_the_draft_early_and_keeps_the_law():
    target, draft = little_model(8, 3), little_model(9, 3)
    runs = 5_000
    counts = dict.fromkeys(itertools.product(range(3), repeat=2), 0)
    lengths = set()
    for seed in range(runs):
        trace = decode(target, draft, (0,), 2, 2, seed, confidence=0.5)
        counts[trace.tokens] += 1
        lengths |= {len(done.draft) for done in trace.rounds}
        assert trace.drafted == sum(len(done.draft) for done in trace.rounds)
    assert len(lengths) > 1
    for (a, b), count in counts.items():
        chance = target((0,))[a] * target((0, a))[b]
        assert abs(count / runs - chance) < 4 * math.sqrt(chance * (1 - chance) / runs)


def test_confidence_at_its_ends():
    sure, unsure = scripted(1, 2, 3), lambda prefix: (0.5, 0.5, *(0,) * 30)
    assert decode(sure, sure, (), 2, 3, confidence=1.0).drafted == 2
    assert decode(sure, unsure, (), 2, 3, confidence=0.5).drafted == 4
    assert decode(sure, unsure, (), 2, 3, confidence=0.51).drafted == 0


# The seed


def test_a_trace_depends_on_its_seed_and_nothing_else():
    target, draft = little_model(1), little_model(2)
    alone = decode(target, draft, (1,), 3, 20, seed=4)
    interleaved = [decode(target, draft, (1,), 3, 20, seed=seed) for seed in (9, 4, 9, 4)]
    assert interleaved[1] == interleaved[3] == alone
    assert interleaved[0] == interleaved[2] != alone


def test_the_first_tokens_do_not_depend_on_the_budget():
    target, draft = little_model(1), little_model(2)
    assert decode(target, draft, (1,), 3, 7, seed=4).tokens == decode(target, draft, (1,), 3, 40, seed=4).tokens[:7]


# Bad input


@pytest.mark.parametrize(
    ("spoilt", "message"),
    [
        ({"gamma": -1}, r"gamma is -1; it must be a whole number, 0 or more"),
        ({"gamma": 1.5}, r"gamma is 1\.5"),
        ({"max_tokens": -1}, r"max_tokens is -1"),
        ({"max_tokens": True}, r"max_tokens is True"),
        ({"seed": -1}, r"seed is -1"),
        ({"seed": 0.5}, r"seed is 0\.5"),
        ({"eos": -1}, r"eos is -1"),
        ({"prompt": (1, -2)}, r"prompt\[1\] is -2"),
        ({"prompt": "ab"}, r"prompt is 'ab'; it must be a sequence of token ids"),
        ({"stop": [(1,), ()]}, r"stop\[1\] is empty; it must hold at least one token"),
        ({"stop": [(1, None)]}, r"stop\[0\]\[1\] is None"),
        ({"confidence": 1.5}, r"confidence is 1\.5"),
        ({"target": lambda prefix: (0.5, 0.6)}, r"target row after 2 tokens sums to 1\.1"),
        ({"target": lambda prefix: (math.nan,) * SIZE}, r"target row after 2 tokens\[0\] is nan"),
        ({"draft": lambda prefix: (0.5, 0.5)}, r"draft row after 2 tokens has 2 entries; it must have 5"),
        ({"draft": lambda prefix: (0.5,) * SIZE}, r"draft row after 2 tokens sums to 2\.5"),
    ],
)
def test_bad_input_is_named(spoilt, message):
    good = {"target": little_model(1), "draft": little_model(2), "prompt": (1, 2), "gamma": 2, "max_tokens": 5}
    with pytest.raises(ValueError, match=message):
        decode(**{**good, **spoilt})


def test_a_vocabulary_that_changes_on_the_way_is_named():
    def target(prefix):
        return (0.5, 0.5) if len(prefix) == 3 else (1 / SIZE,) * SIZE

    with pytest.raises(ValueError, match=r"target row after 3 tokens has 2 entries; it must have 5"):
        decode(target, little_model(2), (1, 2), 2, 5)
