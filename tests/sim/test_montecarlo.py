"""NumPy draws against the closed forms they illustrate, within four standard errors."""

import math

import pytest

from sim import (
    RULES,
    Burst,
    acceptance,
    burst_survival,
    burst_tokens,
    expected_tokens,
    output_law,
    survival_from_rates,
)

np = pytest.importorskip("numpy")
montecarlo = pytest.importorskip("sim.montecarlo")

P, Q = (0.5, 0.3, 0.2), (0.6, 0.1, 0.3)


def near(share, chance, runs):
    return abs(share - chance) <= 4 * math.sqrt(chance * (1 - chance) / runs) + 1e-12


@pytest.mark.parametrize(("alpha", "gamma"), [(0.8, 4), (0.3, 2), (0.95, 16), (0.0, 3), (1.0, 3), (0.5, 0)])
def test_mean_tokens_of_a_million_rounds(alpha, gamma):
    counts = montecarlo.accepted_counts(survival_from_rates([alpha] * gamma), 1_000_000, seed=gamma)
    assert counts.shape == (1_000_000,)
    assert counts.dtype == np.uint8
    mean, error = montecarlo.mean_tokens(counts)
    assert abs(mean - expected_tokens(alpha, gamma)) <= 4 * error + 1e-12


def test_every_count_has_its_chance():
    survival = survival_from_rates([0.9, 0.5, 0.8])
    counts = montecarlo.accepted_counts(survival, 200_000, seed=1)
    levels = (1.0, *survival, 0.0)
    for kept in range(4):
        assert near(float((counts == kept).mean()), levels[kept] - levels[kept + 1], 200_000)


def test_bursts_through_the_same_door():
    burst = Burst(0.1, 0.1, 0.9, 0.1)
    mean, error = montecarlo.mean_tokens(montecarlo.accepted_counts(burst_survival(burst, 5), 300_000, seed=3))
    assert abs(mean - burst_tokens(burst, 5)) <= 4 * error


def test_draws_repeat_and_do_not_depend_on_how_many_follow():
    survival = survival_from_rates([0.8] * 4)
    short, long = (montecarlo.accepted_counts(survival, rounds, seed=9) for rounds in (70_000, 140_000))
    assert (long[:70_000] == short).all()
    assert short[:12].tolist() == [0, 4, 2, 1, 1, 0, 0, 0, 4, 3, 3, 4]
    assert montecarlo.accepted_counts((), 3, 0).tolist() == [0, 0, 0]
    assert montecarlo.accepted_counts(survival, 0, 0).size == 0


@pytest.mark.parametrize("rule", RULES)
def test_drawn_positions_follow_the_exact_law_of_every_rule(rule):
    p, q = RULES[rule].example or (P, Q)
    runs = 100_000
    draws = montecarlo.draw_positions(p, q, runs, seed=5, rule=rule)
    assert all(type(count) is int for count in (*draws.emitted, draws.accepted))
    assert sum(draws.drafted) == sum(draws.emitted) == runs
    assert sum(draws.kept) == draws.accepted
    assert near(draws.accepted / runs, acceptance(p, q, rule), runs)
    for count, chance in zip(draws.emitted, output_law(p, q, rule), strict=True):
        assert near(count / runs, chance, runs)


def test_whole_rounds_by_rows():
    # The hand-computable rows of literature E.7: P(0, 1, 2 kept) = .30, .35, .35.
    p_rows = ((0.5, 0.3, 0.2), (0.1, 0.6, 0.3), (0.25, 0.25, 0.5))
    runs = 100_000
    accepted, tokens = montecarlo.draw_vocabulary_rounds(p_rows, ((0.2, 0.3, 0.5), (0.6, 0.2, 0.2)), runs, seed=2)
    for kept, chance in enumerate((0.30, 0.35, 0.35)):
        assert near(float((accepted == kept).mean()), chance, runs)
    for place, row in enumerate(p_rows):
        emitted = tokens[accepted >= place, place]
        for token, chance in enumerate(row):
            assert near(float((emitted == token).mean()), chance, emitted.size)
    assert ((tokens == -1).sum(axis=1) == 2 - accepted).all()


@pytest.mark.parametrize("k", [1, 3, 5])
def test_distance_to_the_target_shrinks_with_the_sample(k):
    # vLLM E.1(b): the distance to the target falls far faster than the distance to anything else.
    p = tuple(v / 55 for v in range(1, 11))
    q = p[k:] + p[:k]
    far, near_ = (
        math.dist([count / runs for count in montecarlo.draw_positions(p, q, runs, seed=k).emitted], p)
        for runs in (100, 100_000)
    )
    assert far > 10 * near_


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"survival\[0\] is 1\.5"):
        montecarlo.accepted_counts((1.5,), 3, 0)
    with pytest.raises(ValueError, match=r"len\(survival\) is 256; it must be a whole number from 0 to 255"):
        montecarlo.accepted_counts((0.5,) * 256, 3, 0)
    with pytest.raises(ValueError, match="rounds is -1"):
        montecarlo.accepted_counts((0.5,), -1, 0)
    with pytest.raises(ValueError, match=r"len\(counts\) is 1; it must be a whole number, 2 or more"):
        montecarlo.mean_tokens(montecarlo.accepted_counts((0.5,), 1, 0))
    with pytest.raises(ValueError, match=r"len\(q_rows\) is 1; it must be a whole number from 0 to 0"):
        montecarlo.draw_vocabulary_rounds((P,), (Q,), 3, 0)
