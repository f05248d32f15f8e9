"""Temperature, top-k, top-p, penalties and bans: the same steps for target and draft."""

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sim import distribution, greedy_token, one_hot, reshaped, translated, truncated
from tests.sim.strategies import rows

logits = st.lists(st.floats(-50, 50), min_size=1, max_size=8)


def test_softmax_by_hand():
    assert distribution([0, math.log(3)]) == pytest.approx((0.25, 0.75))
    assert distribution([0, math.log(3)], 0.5) == pytest.approx((0.1, 0.9))
    assert distribution([5, -math.inf]) == (1, 0)
    assert distribution([1000, 1000]) == (0.5, 0.5)  # no overflow


@given(logits, st.floats(1e-45, 100))
def test_rows_are_distributions_at_every_temperature(scores, temperature):
    row = distribution(scores, temperature)
    assert math.fsum(row) == pytest.approx(1.0, abs=1e-12)
    assert all(math.isfinite(weight) and weight >= 0 for weight in row)


@given(logits, st.sampled_from([0, 1e-45, 1e-12, 1e-9]))
def test_tiny_temperatures_are_greedy(scores, temperature):
    assert distribution(scores, temperature) == one_hot(greedy_token(scores), len(scores))


@given(logits)
def test_a_small_temperature_tends_to_greedy(scores):
    best, *rest = sorted(scores, reverse=True)
    assume(not rest or best - rest[0] > 1e-3)
    assert distribution(scores, 1e-6) == pytest.approx(one_hot(greedy_token(scores), len(scores)), abs=1e-12)


def test_ties_go_to_the_smaller_token():
    assert greedy_token([1, 1, 0]) == 0
    assert greedy_token([1, 1 + 9e-10, 0]) == 0
    assert greedy_token([1, 1 + 1.1e-9, 0]) == 1
    assert truncated((0.3, 0.3, 0.4), top_k=2) == pytest.approx((3 / 7, 0, 4 / 7))
    assert truncated((0.25,) * 4, top_p=0.5) == (0.5, 0.5, 0, 0)


@pytest.mark.parametrize(
    ("top_k", "top_p", "kept"),
    [
        (None, None, (0.4, 0.3, 0.2, 0.1)),
        (1, None, (1, 0, 0, 0)),
        (2, None, (4 / 7, 3 / 7, 0, 0)),
        (99, None, (0.4, 0.3, 0.2, 0.1)),
        (None, 1.0, (0.4, 0.3, 0.2, 0.1)),
        (None, 0.4, (1, 0, 0, 0)),  # .4 holds .4: the tolerance keeps rounding from adding a token
        (None, 0.41, (4 / 7, 3 / 7, 0, 0)),
        (None, 0.9, (4 / 9, 3 / 9, 2 / 9, 0)),
        (None, 1e-6, (1, 0, 0, 0)),
        (3, 0.5, (4 / 7, 3 / 7, 0, 0)),  # top-p is of what top-k left
        (2, 0.57, (1, 0, 0, 0)),
    ],
)
def test_top_k_and_top_p_by_hand(top_k, top_p, kept):
    assert truncated((0.4, 0.3, 0.2, 0.1), top_k, top_p) == pytest.approx(kept)
    assert truncated((0.1, 0.2, 0.3, 0.4), top_k, top_p) == pytest.approx(kept[::-1])


@given(st.integers(1, 8).flatmap(rows), st.integers(1, 9), st.floats(0.01, 1))
def test_truncation_keeps_the_likeliest_in_proportion(row, top_k, top_p):
    cut = truncated(row, top_k, top_p)
    assert math.fsum(cut) == pytest.approx(1.0, abs=1e-12)
    inside = [i for i, weight in enumerate(cut) if weight > 0]
    assert 1 <= len(inside) <= top_k
    dropped = [row[i] for i in range(len(row)) if i not in inside]
    assert min(row[i] for i in inside) >= max(dropped, default=0)
    for i in inside:
        assert cut[i] * row[inside[0]] == pytest.approx(cut[inside[0]] * row[i])


@given(st.integers(1, 6).flatmap(rows), st.floats(0.1, 4))
def test_reshaping_a_row_is_softmax_of_its_logarithms(row, temperature):
    powers = [weight ** (1 / temperature) for weight in row]
    assume(math.fsum(powers) > 1e-200)
    expected = [power / math.fsum(powers) for power in powers]
    assert reshaped(row, temperature) == pytest.approx(expected, abs=1e-12)


def test_reshaping_at_its_ends():
    assert reshaped((0.2, 0.5, 0.3)) == (0.2, 0.5, 0.3)
    assert reshaped((0.2, 0.5, 0.3), 0) == (0, 1, 0)
    assert reshaped((0.2, 0.5, 0.3), top_k=2) == pytest.approx((0, 0.625, 0.375))
    assert reshaped((0.2, 0.5, 0.3), 0.5, top_k=1) == (0, 1, 0)
    assert reshaped((0, 1), 1e-3) == (0, 1)


# vLLM v1 (test_rejection_sampler.py @ 004fce2d), greedy, logit 100 for token 1 and 99 for token 15: penalty, what
# comes out.
@pytest.mark.parametrize(("penalty", "out"), [(1.5, (1, 15)), (0.7, (1, 1, 15))])
def test_penalties_count_the_drafts_accepted_earlier_in_the_round(penalty, out):
    scores = [0.0] * 16
    scores[1], scores[15] = 100, 99
    emitted: list[int] = []
    for draft in (1, 1, 1):
        emitted.append(distribution(scores, 0, seen=emitted, frequency=penalty).index(1.0))
        if emitted[-1] != draft:
            break
    assert tuple(emitted) == out


def test_frequency_counts_and_presence_does_not():
    assert distribution([3, 3, 3], seen=(0, 0, 1), frequency=1) == pytest.approx(distribution([1, 2, 3]))
    assert distribution([3, 3, 3], seen=(0, 0, 1), presence=1) == pytest.approx(distribution([2, 2, 3]))
    assert distribution([3, 3, 3], seen=(0, 0, 1), frequency=0.5, presence=1) == pytest.approx(
        distribution([1, 1.5, 3])
    )


def test_banned_tokens_are_never_left():
    # vLLM bad words: token 2 banned, 15 the next best.
    scores = [0.0] * 16
    scores[2], scores[15] = 100, 99
    assert distribution(scores, 0, banned=(2,)) == one_hot(15, 16)
    assert distribution(scores, 1.0, banned=(2,))[2] == 0.0


def test_a_draft_with_another_vocabulary_is_translated():
    # transformers, tests/generation/test_candidate_generator.py @ 14dc3bc6: target hello world foo bar, assistant hello
    # world foo baz and one more: ids 0, 1, 2 map to themselves, 3 and 4 are suppressed.
    ids = (0, 1, 2, None, None)
    assert translated((0.1, 0.2, 0.2, 0.3, 0.2), ids, 4) == pytest.approx((0.2, 0.4, 0.4, 0))
    assert translated((0.25, 0.75), (3, 0), 4) == (0.75, 0, 0, 0.25)
    with pytest.raises(ValueError, match=r"ids leave no probability"):
        translated((0, 0, 0, 0.5, 0.5), ids, 4)
    with pytest.raises(ValueError, match=r"ids\[1\] is 0; it must be named once"):
        translated((0.5, 0.5), (0, 0), 4)
    with pytest.raises(ValueError, match=r"ids\[0\] is 4; it must be a whole number from 0 to 3"):
        translated((1,), (4,), 4)
    with pytest.raises(ValueError, match=r"probabilities has 1 entries; it must have 2"):
        translated((1,), (0, 1), 4)


def test_one_hot():
    assert one_hot(1, 3) == (0, 1, 0)
    assert one_hot(0, 1) == (1,)
    for bad, size in ((3, 3), (-1, 3)):
        with pytest.raises(ValueError, match=rf"token is {bad}; it must be a whole number from 0 to 2"):
            one_hot(bad, size)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"temperature": -1}, r"temperature is -1; it must be a finite number, 0\.0 or more"),
        ({"temperature": None}, r"temperature is None"),
        ({"temperature": math.inf}, r"temperature is inf"),
        ({"top_k": 0}, r"top_k is 0; it must be a whole number, 1 or more"),
        ({"top_k": 1.5}, r"top_k is 1\.5"),
        ({"top_p": 0}, r"top_p is 0; it must be a finite number above 0\.0 to 1\.0"),
        ({"top_p": 1.1}, r"top_p is 1\.1"),
        ({"seen": (3,)}, r"seen\[0\] is 3; it must be a whole number from 0 to 2"),
        ({"banned": (-1,)}, r"banned\[0\] is -1"),
        ({"banned": (0, 1, 2)}, r"logits leave no token"),
        ({"frequency": math.nan}, r"frequency is nan"),
        ({"presence": math.nan}, r"presence is nan"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        distribution([1, 2, 3], **settings)


@pytest.mark.parametrize(
    ("bad", "name"), [((1, math.nan), "logits\\[1\\]"), ((math.inf, 1), "logits\\[0\\]"), ((True, 1), "logits\\[0\\]")]
)
def test_bad_logits_are_named(bad, name):
    with pytest.raises(ValueError, match=rf"^{name} is "):
        distribution(bad)


def test_logits_that_leave_nothing():
    for nothing in ((), (-math.inf, -math.inf)):
        with pytest.raises(ValueError, match="logits leave no token; at least one must be finite"):
            distribution(nothing)
