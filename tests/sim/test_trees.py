"""Trees: shapes, expected tokens, the best tree of a size, several candidates for one position."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim import (
    Round,
    Tree,
    best_first_tree,
    candidates_law,
    chain_tree,
    expected_tokens,
    k_ary_tree,
    one_hot,
    overlap,
    speedup,
    tree_from_paths,
    tree_speedup,
    tree_tokens,
    verify_candidates,
    verify_round,
    verify_tree,
)
from tests.sim.strategies import below_one, pairs, rows, unit

MEDUSA_7B_TOP_1 = (0.560, 0.316, 0.201, 0.147, 0.118)  # medusa_acc.csv, heads 1 to 5


def falling(size: int) -> st.SearchStrategy[tuple[float, ...]]:
    """Rates by rank: non-increasing, at most 1 in sum."""
    return st.lists(st.floats(0, 1 / size), min_size=size, max_size=size).map(lambda v: tuple(sorted(v, reverse=True)))


tables = st.lists(falling(3), min_size=1, max_size=3)


def test_shapes():
    assert chain_tree(3) == Tree((-1, 0, 1))
    assert (chain_tree(3).depths, chain_tree(3).ranks, chain_tree(3).positions) == ((1, 2, 3), (0, 0, 0), 4)
    assert k_ary_tree(2, 2) == Tree((-1, -1, 0, 0, 1, 1))
    assert k_ary_tree(2, 2).ranks == (0, 1, 0, 1, 0, 1)
    assert k_ary_tree(1, 4) == chain_tree(4)
    assert k_ary_tree(3, 0) == chain_tree(0) == tree_from_paths([]) == Tree(())
    assert (Tree(()).depth, Tree(()).positions) == (0, 1)
    assert k_ary_tree(2, 2).children(0) == (2, 3)
    assert k_ary_tree(2, 2).children(-1) == (0, 1)
    with pytest.raises(ValueError, match=r"parents\[1\] is 1; it must be a whole number from -1 to 0"):
        Tree((-1, 1))


def test_medusa_choice_lists():
    tree = tree_from_paths([[0], [0, 0], [1], [0, 1], [2], [0, 0, 0]])
    assert tree == Tree((-1, -1, -1, 0, 0, 3))
    assert tree.ranks == (0, 1, 2, 0, 1, 0)
    for bad in ([[0], [0, 1]], [[1]], [[0], [0]], [[]], [[0, 0]]):
        with pytest.raises(ValueError, match="it must be new, and its prefixes and smaller ranks must be listed too"):
            tree_from_paths(bad)
    with pytest.raises(ValueError, match=r"paths\[0\]\[0\] is -1"):
        tree_from_paths([[-1]])


@given(unit, st.integers(0, 12))
def test_a_chain_is_plain_speculative_decoding(alpha, gamma):
    rates = [(alpha,)] * gamma
    assert tree_tokens(chain_tree(gamma), rates) == pytest.approx(expected_tokens(alpha, gamma))
    assert tree_speedup(chain_tree(gamma), rates, 0.1) == pytest.approx(speedup(alpha, gamma, 0.1))


@given(tables, st.integers(1, 3))
def test_tokens_by_enumerating_which_rank_is_right_at_each_depth(table, branches):
    # At every depth one rank is right, or none: walk down as long as the tree has that child.
    tree = k_ary_tree(branches, len(table))
    total = 0.0
    for right in itertools.product(range(4), repeat=len(table)):
        chance, node, kept = 1.0, -1, 0
        for d, rank in enumerate(right):
            chance *= table[d][rank] if rank < 3 else 1 - math.fsum(table[d])
        for rank in right:
            below = tree.children(node)
            if rank >= len(below):
                break
            node, kept = below[rank], kept + 1
        total += chance * (1 + kept)
    assert tree_tokens(tree, table) == pytest.approx(total)


def test_tokens_beyond_the_table_are_never_kept():
    assert tree_tokens(chain_tree(5), [(0.5,)]) == 1.5
    assert tree_tokens(k_ary_tree(4, 1), [(0.5, 0.25)]) == 1.75


@given(tables, st.integers(0, 6))
def test_best_first_is_the_best_tree_of_its_size(table, nodes):
    best = tree_tokens(best_first_tree(table, nodes), table)
    paths = [path for depth in range(1, len(table) + 1) for path in itertools.product(range(3), repeat=depth)]
    chances = [math.prod(table[d][rank] for d, rank in enumerate(path)) for path in paths]
    # Chances fall along a path and with the rank, so the most likely nodes are a tree: none of that size beats them.
    assert best == pytest.approx(1 + math.fsum(sorted(chances, reverse=True)[:nodes]), abs=1e-9)


def test_best_first_by_hand():
    table = [(0.6, 0.2, 0.1), (0.5, 0.3)]
    assert best_first_tree(table, 5) == Tree((-1, 0, -1, 0, -1))  # .6, .30, .2, .18, then .1 twice: the shallower
    assert best_first_tree(table, 99).positions == 1 + 3 + 6
    assert best_first_tree([(0.5, 0.0)], 9) == Tree((-1,))
    assert best_first_tree([(0.25,) * 4], 2) == Tree((-1, -1))
    assert best_first_tree(table, 0) == Tree(())


def test_a_tree_beats_a_chain_in_tokens_and_can_lose_in_time():
    rates = [(top, top / 4, top / 8) for top in MEDUSA_7B_TOP_1]
    chain, tree = chain_tree(5), best_first_tree(rates, 20)
    assert tree_tokens(tree, rates) > tree_tokens(chain, rates)

    def verify(positions: int) -> float:
        return 1 + 0.05 * (positions - 1)

    assert tree_speedup(tree, rates, 0) > tree_speedup(chain, rates, 0)
    assert tree_speedup(tree, rates, 0, verify) < tree_speedup(chain, rates, 0, verify)


@pytest.mark.parametrize(
    ("rates", "message"),
    [
        ([(0.6, 0.5)], r"rates\[0\] sums to 1\.1; it must be at most 1"),
        ([(0.5,), (1.5,)], r"rates\[1\]\[0\] is 1\.5"),
        ([(0.2, 0.3)], r"rates\[0\] is \(0\.2, 0\.3\); it must not increase"),
    ],
)
def test_bad_rates_are_named(rates, message):
    with pytest.raises(ValueError, match=message):
        best_first_tree(rates, 3)


# Several candidates for one position


@given(pairs(4), st.integers(0, 3), st.booleans())
def test_candidates_keep_the_law_when_the_residual_is_updated(pair, count, replacement):
    p, q = pair
    law, kept = candidates_law(p, q, count, replacement=replacement)
    assert law == pytest.approx(p, abs=1e-9)
    assert kept >= (overlap(p, q) if count else 0.0) - 1e-9


@given(pairs(4))
def test_one_candidate_is_the_plain_rule(pair):
    p, q = pair
    assert candidates_law(p, q, 1)[1] == pytest.approx(overlap(p, q), abs=1e-12)
    assert candidates_law(p, q, 0) == (p, 0.0)


def test_without_the_update_the_law_is_lost():
    law, _ = candidates_law((0.5, 0.3, 0.2), (0.6, 0.1, 0.3), 2, update=False)
    assert law == pytest.approx((0.62, 0.132, 0.248))


def test_without_repeats_enough_candidates_always_hold_the_token():
    law, kept = candidates_law((0.5, 0.3, 0.2), (0.6, 0.1, 0.3), 3, replacement=False)
    assert law == pytest.approx((0.5, 0.3, 0.2))
    assert kept == pytest.approx(1.0)
    assert candidates_law((0.5, 0.3, 0.2), (0.6, 0.1, 0.3), 9, replacement=False)[1] == pytest.approx(1.0)


@given(pairs(), st.data())
def test_verify_candidates_with_one_is_verify_round_with_one(pair, data):
    p, q = pair
    token, u, pick = data.draw(st.integers(0, len(p) - 1)), data.draw(below_one), data.draw(below_one)
    one, plain = verify_candidates(p, [q], [token], [u], pick), verify_round([p, p], [q], [token], [u], pick)
    assert one.accepted == 1 - plain.accepted
    if plain.kind == "correction":
        assert one == Round(1, plain.token, "correction")
    else:
        assert one == Round(0, token, "accepted")


def test_deterministic_candidates_by_counting_keep_the_law():
    # The two likeliest tokens of q, tried in turn: kept with p(x), then with p(y)/(1 - p(x)). Counted over a grid.
    p, n = (0.5, 0.3, 0.2), 10
    law = [0.0] * 3
    middles = [(i + 0.5) / n for i in range(n)]
    for u, v, pick in itertools.product(middles, repeat=3):
        law[verify_candidates(p, [one_hot(0, 3), one_hot(2, 3)], (0, 2), (u, v), pick).token] += 1 / n**3
    assert law == pytest.approx(p)


@pytest.mark.parametrize(
    ("spoilt", "message"),
    [
        ({"q_rows": []}, r"q_rows has 0 entries; it must have 1"),
        ({"uniforms": []}, r"uniforms has 0 entries; it must have 1"),
        ({"uniforms": [1.0]}, r"uniforms\[0\] is 1\.0"),
        ({"candidates": [2]}, r"candidates\[0\] is 2"),
    ],
)
def test_candidates_that_do_not_fit_are_named(spoilt, message):
    with pytest.raises(ValueError, match=message):
        verify_candidates(
            **{"p": (1, 0), "q_rows": [(0, 1)], "candidates": [1], "uniforms": [0.5], "pick": 0.5, **spoilt}
        )


# SGLang (sgl-kernel/tests/speculative/test_speculative_sampling.py @ 120affb9), greedy: first-child / next-sibling
# trees whose node 0 is the last committed token. Its lossy mode (both thresholds 0: the first child always) is not
# offered here; it emits 1 2 18 and 11 12 18.
SGLANG = (
    (
        (0, 1, 2, 3, 4, 5),
        (1, 2, -1, 4, 5, -1),
        (-1, 3, -1, -1, -1, -1),
        {0: 3, 3: 4, 4: 5},
        (0, 3, 4, 5),
        (3, 4, 5, 18),
    ),
    ((7, 8, 9, 10, 11, 12), (4, 2, 3, -1, 5, -1), (-1, -1, -1, -1, 1, -1), {0: 11, 4: 12}, (0, 4, 5), (11, 12, 18)),
)


@pytest.mark.parametrize(("tokens", "first_child", "next_sibling", "argmax", "nodes", "emitted"), SGLANG)
def test_sglang_trees(tokens, first_child, next_sibling, argmax, nodes, emitted):
    order, above = [0], {0: -1}
    for node in order:  # breadth first, so that every parent comes before its children and siblings keep their order
        child = first_child[node]
        while child >= 0:
            above[child] = node
            order.append(child)
            child = next_sibling[child]
    place = {node: i - 1 for i, node in enumerate(order)}  # our numbers: -1 is the root
    found = verify_tree(
        Tree(tuple(place[above[node]] for node in order[1:])),
        [tokens[node] for node in order[1:]],
        {place[node]: one_hot(argmax.get(node, 18), 20) for node in order},
        {place[node]: one_hot(tokens[node], 20) for node in order[1:]},
        [0.5] * (len(order) - 1),
        0.5,
    )
    path, end = found
    assert [order[i + 1] for i in path] == list(nodes[1:])
    assert (*(tokens[order[i + 1]] for i in path), end.token) == emitted
    assert end.kind == ("bonus" if first_child[nodes[-1]] < 0 else "correction")


@given(st.lists(rows(3), min_size=7, max_size=7), st.lists(below_one, min_size=6, max_size=6), below_one)
def test_a_chain_walks_as_verify_round_does(given_rows, uniforms, pick):
    p_rows, q_rows, draft = given_rows[:4], given_rows[4:], (0, 1, 2)
    path, end = verify_tree(
        chain_tree(3), draft, {k - 1: row for k, row in enumerate(p_rows)}, dict(enumerate(q_rows)), uniforms[:3], pick
    )
    assert end == verify_round(p_rows, q_rows, draft, uniforms[:3], pick)
    assert path == tuple(range(end.accepted))


def test_a_tree_needs_a_token_for_each_node():
    with pytest.raises(ValueError, match=r"tokens has 1 entries; it must have 2"):
        verify_tree(chain_tree(2), (0,), {}, {}, (), 0.5)
