"""Speculation with a real pair: the tokens of `sim.decode`, the law of the target, the acceptance that theory says.

Weights are random here, so that every draft is wrong often. `test_lm_real.py` asks the same of the files of the site.
"""

import itertools
import json
import math
import sys
from random import Random

import pytest

from sim import chi_square, decode, overlap
from sim.data import parse

np = pytest.importorskip("numpy")
lm = pytest.importorskip("sim.lm")
kernel = pytest.importorskip("sim.kernel")
tiny = pytest.importorskip("tests.sim.tiny")
stand_in = pytest.importorskip("tests.sim.stand_in")

from sim.lm.drafts import Draft, Target  # noqa: E402
from sim.lm.rounds import _rounds as rounds  # noqa: E402
from sim.lm.rows import Sampler  # noqa: E402

PAIR = tiny.pair()
PROMPT = (*PAIR.encode("the thing in the end "), 222, 222, 208, 208, 208, 208, 263, 222, 125, 132, 230, 222, 208)
"""Ends as these models like to go on, so that copying from it is right at times."""
CUTS = [(0.0, 0, 1.0), (0.7, 0, 1.0), (1.0, 0, 1.0), (1.0, 8, 1.0), (1.3, 0, 0.8), (0.8, 20, 0.9)]


@pytest.fixture(autouse=True)
def same_bits():
    """A kernel that adds in a fixed order, so that one pass over five positions gives the rows of five passes."""
    with stand_in.fixed_order():
        yield


def text_of(steps, count=None):
    return tuple(itertools.chain.from_iterable(step.emitted for step in steps))[:count]


def rounds_of(steps):
    return [(step.draft, step.accepted, step.token, step.kind) for step in steps]


def run(name, gamma=3, count=24, cut=(1.0, 0, 1.0), seed=0, prompt=PROMPT, **more):
    temperature, top_k, top_p = cut
    chosen = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed}
    return list(lm.generate(PAIR, name, prompt, gamma, count, **chosen, **more))


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("name", lm.DRAFTS)
def test_the_rounds_are_those_of_decode(name, cut):
    for seed, gamma in ((1, 3), (2, 5)) if cut == CUTS[1] else ((1, 3),):
        steps = run(name, gamma, 14, cut, seed)
        # A look-up drafts nothing where it finds nothing; decode is told so by the row's largest entry.
        confidence = 0.5 if name == "look-up" else 0.0
        target, draft = PAIR.target(*cut), PAIR.draft(name, None, *cut)
        trace = decode(target, draft, PROMPT, gamma, 14, seed, confidence=confidence)
        assert text_of(steps, 14) == trace.tokens
        assert rounds_of(steps) == [(done.draft, done.accepted, done.token, done.kind) for done in trace.rounds]


def test_the_cases_above_accept_some_and_reject_some():
    for name in lm.DRAFTS:
        steps = [step for cut in CUTS for step in run(name, 3, 14, cut, 1)]
        kept, drafted = (sum(map(count, steps)) for count in (lambda s: s.accepted, lambda s: len(s.draft)))
        assert 0.02 < kept / drafted < 0.98, (name, kept, drafted)


@pytest.mark.parametrize("name", lm.DRAFTS)
@pytest.mark.parametrize("prompt", [PROMPT, (10,), PAIR.encode("aaaa aaaa aaaa")])
def test_greedy_speculation_is_greedy_decoding(name, prompt):
    plain = text_of(run(None, 0, 40, CUTS[0], prompt=prompt))
    assert len(plain) == 40
    for gamma in (1, 4, 8):
        assert text_of(run(name, gamma, 40, CUTS[0], seed=gamma, prompt=prompt), 40) == plain


@pytest.mark.parametrize("name", lm.DRAFTS)
def test_a_step_says_what_happened(name):
    target, draft = PAIR.target(0.7), PAIR.draft(name, None, 0.7)
    text = list(PROMPT)
    for step in run(name, 3, 30, (0.7, 0, 1.0), 5):
        count = len(step.draft)
        assert len(step.p) == len(step.q) == len(step.coins) == count + 1
        assert (step.kind == "bonus") == (step.accepted == count)
        for k in range(count):
            before = (*text, *step.draft[:k])
            assert step.p[k] == pytest.approx(target(before)[step.draft[k]], abs=1e-5)
            assert step.q[k] == pytest.approx(draft(before)[step.draft[k]], abs=1e-5)
        kept = [coin * q < p for coin, p, q in zip(step.coins[:-1], step.p, step.q, strict=False)]
        assert kept[: step.accepted] == [True] * step.accepted
        assert step.accepted == count or not kept[step.accepted]
        here = (*text, *step.draft[: step.accepted])
        assert step.p[-1] == pytest.approx(target(here)[step.token], abs=1e-5)
        assert step.q[-1] == (0.0 if step.kind == "bonus" else pytest.approx(draft(here)[step.token], abs=1e-5))
        assert len(step.top) == step.accepted + 1
        for k, shown in enumerate(step.top):
            row = target((*text, *step.draft[:k]))
            likeliest = sorted(range(PAIR.vocab), key=lambda token, row=row: (-row[token], token))[:3]
            assert [token for token, _, _ in shown] == likeliest
            assert [p for _, p, _ in shown] == pytest.approx([row[token] for token in likeliest], abs=1e-5)
            assert all((q is None) == (k == count) for _, _, q in shown)
        assert (step.draft_ms, step.pass_ms, step.other_ms) == (0.0, 0.0, 0.0)
        text += step.emitted


# The law


class Remembered:
    """A model whose rows are kept by prefix, so that tens of thousands of real rounds take seconds."""

    def __init__(self, model):
        self.model, self.sampler, self.known = model, model.sampler, {}

    def row(self, text):
        key = tuple(text)
        if key not in self.known:
            self.known[key] = self.model.row(key)
        return self.known[key]

    def rows(self, text, count):
        key = (tuple(text), count)
        if key not in self.known:
            self.known[key] = self.model.rows(text, count).copy()
        return self.known[key]


RUNS = 20_000 if sys.platform != "emscripten" else 4_000  # a quarter of a minute there
CUT = (1.0, 6, 1.0)
"""Six tokens at every position, on both sides."""


def many(name, runs=RUNS):
    """The steps of many runs after PROMPT until two tokens are there, two drafts a round, one stream of numbers."""
    target, draft = Remembered(PAIR.target(*CUT)), Remembered(PAIR.draft(name, None, *CUT))
    uniform = Random(1).random
    return target, draft, [list(rounds(target, draft, list(PROMPT), 2, 2, uniform, float, 0)) for _ in range(runs)]


def pairs_of_tokens(target):
    """The exact chance of every text of two tokens."""
    first = target.model.rows(PROMPT, 1)[0].copy()
    law = {}
    for a in np.flatnonzero(first).tolist():
        second = target.model.rows((*PROMPT, a), 1)[0]
        for b in np.flatnonzero(second).tolist():
            law[a, b] = float(first[a] * second[b])
    return law


def p_value(law, texts):
    """Chi-square over all texts of two tokens; one that cannot be makes it 0."""
    counts = dict.fromkeys(law, 0)
    for text in texts:
        if text not in counts:
            return 0.0
        counts[text] += 1
    return chi_square(list(counts.values()), list(law.values())).p_value


@pytest.fixture(scope="module")
def drawn():
    """20,000 runs of each draft, with the fixed-order products that `same_bits` plugs in for each test."""
    with stand_in.fixed_order():
        yield {name: many(name) for name in lm.DRAFTS}


@pytest.mark.parametrize("name", lm.DRAFTS)
def test_the_first_two_tokens_follow_the_target(name, drawn):
    target, _, runs = drawn[name]
    law = pairs_of_tokens(target)
    assert len(law) == 36
    assert p_value(law, [text_of(steps, 2) for steps in runs]) > 0.001


@pytest.mark.parametrize("name", ["one-layer", "bigram"])
def test_the_test_of_the_law_notices_a_famous_fault(name, monkeypatch):
    """A rejected token redrawn from p and not from the residual."""
    monkeypatch.setattr("sim.lm.rounds.replacement", lambda p, q: p)
    target, _, runs = many(name, runs=5_000)
    assert p_value(pairs_of_tokens(target), [text_of(steps, 2) for steps in runs]) < 1e-6


@pytest.mark.parametrize("name", lm.DRAFTS)
def test_acceptance_by_position_is_the_sum_of_the_smaller_chances(name, drawn):
    target, draft, runs = drawn[name]
    first = [steps[0] for steps in runs]
    p = target.model.rows(PROMPT, 1)[0].copy()
    q = draft.model.row(PROMPT).copy()
    chance = overlap(p.tolist(), q.tolist())
    both = 0.0  # kept twice: summed over what was kept first
    for token in np.flatnonzero(np.minimum(p, q)).tolist():
        p_next, q_next = target.model.rows((*PROMPT, token), 1)[0].copy(), draft.model.row((*PROMPT, token))
        if q_next is not None:
            both += min(p[token], q[token]) * overlap(p_next.tolist(), q_next.tolist())
    assert 0.01 < chance < 0.99
    for least, wanted in ((1, chance), (2, both)):
        share = sum(step.accepted >= least for step in first) / RUNS
        assert abs(share - wanted) < 4 * math.sqrt(wanted * (1 - wanted) / RUNS) + 1e-9


# Budgets, arguments, clocks


@pytest.mark.parametrize("name", [None, *lm.DRAFTS])
@pytest.mark.parametrize("budget", [0, 1, 2, 9])
def test_rounds_end_when_the_budget_is_met(name, budget):
    steps = run(name, 3, budget)
    emitted = [len(step.emitted) for step in steps]
    assert sum(emitted[:-1]) < budget <= sum(emitted) if steps else budget == 0
    assert text_of(steps, budget) == text_of(run(name, 3, 12), budget)


def test_plain_decoding_is_a_token_a_round():
    for name, gamma in ((None, 0), (None, 4), ("bigram", 0)):
        steps = run(name, gamma, 12, seed=4)
        assert [(step.draft, step.accepted, step.kind) for step in steps] == [((), 0, "bonus")] * 12
        assert text_of(steps) == text_of(run(None, 0, 12, seed=4))


def test_the_context_can_be_filled_to_its_end():
    room = 20 + 3
    prompt, left_out = PAIR.fit(PAIR.encode("the end of all things " * 50), room)
    assert left_out > 0
    assert len(prompt) == PAIR.context - room
    for name in lm.DRAFTS:
        assert len(text_of(run(name, 3, 20, prompt=prompt))) >= 20
    with pytest.raises(ValueError, match=r"prompt has 73 tokens; it must have at most 72: the context of 96 less"):
        run("bigram", 3, 21, prompt=prompt)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"prompt": ()}, r"prompt is empty; it must have at least one token \(Pair\.fit starts a text with a new line"),
        ({"prompt": (1, 274)}, r"prompt\[1\] is 274; it must be a whole number from 0 to 273"),
        ({"prompt": "the"}, "prompt is 'the'; it must be a sequence of token ids"),
        ({"gamma": -1}, "gamma is -1; it must be a whole number from 0 to 16"),
        ({"gamma": 17}, "gamma is 17"),
        ({"max_tokens": -1}, "max_tokens is -1"),
        ({"seed": 0.5}, r"seed is 0\.5"),
        ({"temperature": -1}, "temperature is -1"),
        ({"top_k": -1}, "top_k is -1"),
        ({"top_p": 0}, "top_p is 0"),
        ({"top": 17}, "top is 17"),
        ({"draft": "medusa"}, "draft is 'medusa'; it must be one of: one-layer"),
        (
            {"draft": PAIR.draft("bigram", None, 0.5)},
            r"draft was made with Sampler\(temperature=0\.5.*temperature=1\.0",
        ),
        ({"target": PAIR.target(1.0, 5)}, "target was made with Sampler"),
    ],
)
def test_bad_arguments_are_named_at_the_call(wrong, words):
    good = {"pair": PAIR, "draft": "bigram", "prompt": PROMPT, "gamma": 2, "max_tokens": 5}
    with pytest.raises(ValueError, match=words):
        lm.generate(**{**good, **wrong})


def test_a_run_depends_on_its_seed_and_nothing_else():
    alone = run("one-layer", seed=4)
    again = [run("one-layer", seed=seed) for seed in (9, 4)]
    assert alone == again[1] != again[0]
    target, draft = PAIR.target(), PAIR.draft("one-layer")
    for prompt in (PROMPT[:7], PROMPT, PROMPT):
        list(target.read(prompt[:-1]))
        last = run(draft, seed=4, prompt=prompt, target=target)
    assert last == alone


def test_times_are_those_of_the_clock():
    ticks = itertools.count()
    step = run("bigram", clock=lambda: next(ticks) / 1000)[0]
    assert (step.draft_ms, step.pass_ms, step.other_ms) == pytest.approx((1, 1, 1))


# What is kept of a step


@pytest.mark.parametrize("name", [None, *lm.DRAFTS])
def test_a_recorded_step_is_what_a_trace_holds(name):
    steps = run(name, 4, 40, (0.7, 0, 1.0), 3)
    kept = [lm.recorded(PAIR, step) for step in steps]
    row = {
        "id": "run",
        "drafted": [len(step.draft) for step in steps],
        "accepted": [step.accepted for step in steps],
        "steps": kept,
    }
    read = parse(json.dumps({"version": 1, "kind": "trace", "rows": [row]})).rows["run"]
    assert [dict(step) for step in read.steps] == kept
    for step, whole in zip(kept, steps, strict=True):
        assert step["draft"] == [PAIR.text((token,)) for token in whole.draft]
        assert step["token"] == PAIR.text((whole.token,))
        assert step["p"] == pytest.approx(whole.p, rel=1e-3)
        assert [text for text, _, _ in step["top"][0]] == [PAIR.text((token,)) for token, _, _ in whole.top[0]]
        tests = [coin * q < p for coin, p, q in zip(step["coins"], step["p"], step["q"], strict=True)][:-1]
        assert [*tests, False].index(False) == step["accepted"]


def test_rounding_never_turns_a_test_around():
    close = lm.Step((5,), 1, 6, "bonus", p=(0.500004, 0.1), q=(1.0, 0.0), coins=(0.500003, 0.5))
    kept = lm.recorded(PAIR, close)
    assert (kept["p"][0], kept["q"][0], kept["coins"][0]) == (0.500004, 1.0, 0.500003)
    assert lm.recorded(PAIR, close, digits=6)["p"] == [0.500004, 0.1]


def test_the_interface_of_a_draft_is_what_every_draft_has():
    for name in lm.DRAFTS:
        model: Draft = PAIR.draft(name, PAIR.target())
        assert model.sampler == Sampler()
        assert callable(model.row)
        assert callable(model.read)
    assert isinstance(PAIR.target(), Target)
