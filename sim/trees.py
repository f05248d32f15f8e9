"""Token trees: several guesses for the same position, verified in one pass.

Why it exists: heads and EAGLE-style drafters gain by trees, at the price of more verified positions. A tree here
is a shape; what it yields follows from the chance of each rank at each depth ("position-wise acceptance", Medusa
arXiv 2401.10774 section 2.3.3, Sequoia arXiv 2402.12374). It must not know about models or hardware: the cost of a
pass is handed in as a function.
"""

import heapq
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sim._numbers import number, probability, row, tokens_of, whole
from sim.sampling import Round, pick_token, replacement_row

__all__ = [
    "Tree",
    "best_first_tree",
    "candidates_law",
    "chain_tree",
    "k_ary_tree",
    "tree_from_paths",
    "tree_speedup",
    "tree_tokens",
    "verify_candidates",
    "verify_tree",
]

TIE = 1e-9


@dataclass(frozen=True)
class Tree:
    """Drafted nodes below the last committed token. `parents[i]` is the node above i, smaller than i; -1 is the root.

    A node's rank is its place among its parent's children, in order of number. The verifying pass scores `positions`.
    """

    parents: tuple[int, ...]

    def __post_init__(self) -> None:
        for node, parent in enumerate(self.parents):
            whole(f"parents[{node}]", parent, -1, node - 1)

    @property
    def positions(self) -> int:
        """Positions that a verifying pass scores: every node and the root."""
        return len(self.parents) + 1

    @property
    def depths(self) -> tuple[int, ...]:
        """Each node's depth; 1 below the root."""
        found: list[int] = []
        for parent in self.parents:
            found.append(1 if parent < 0 else found[parent] + 1)
        return tuple(found)

    @property
    def depth(self) -> int:
        """The longest path, the number of draft steps; 0 for an empty tree."""
        return max(self.depths, default=0)

    @property
    def ranks(self) -> tuple[int, ...]:
        """Each node's rank among its siblings, from 0."""
        seen: dict[int, int] = {}
        found = []
        for parent in self.parents:
            found.append(seen.get(parent, 0))
            seen[parent] = found[-1] + 1
        return tuple(found)

    def children(self, node: int) -> tuple[int, ...]:
        """The nodes right below a node (-1: below the root), by rank."""
        return tuple(child for child, parent in enumerate(self.parents) if parent == node)


def chain_tree(length: int) -> Tree:
    """One guess a position: plain speculative decoding with gamma = length."""
    return Tree(tuple(range(-1, whole("length", length, 0) - 1)))


def k_ary_tree(branches: int, depth: int) -> Tree:
    """Every node has `branches` children down to `depth`."""
    width, levels = whole("branches", branches, 1), whole("depth", depth, 0)
    parents: list[int] = []
    level = [-1]
    for _ in range(levels):
        start = len(parents)
        parents += [node for node in level for _ in range(width)]
        level = list(range(start, len(parents)))
    return Tree(tuple(parents))


def tree_from_paths(paths: Sequence[Sequence[int]]) -> Tree:
    """The tree of Medusa's choice lists: each path gives the ranks from the root down, as in [[0], [1], [0, 0]].

    Every prefix of a path must be listed, and so must every smaller rank beside it; the order of the list does not
    matter.
    """
    parents: list[int] = []
    ordered = sorted(
        (tokens_of(f"paths[{i}]", path) for i, path in enumerate(paths)), key=lambda path: (len(path), path)
    )
    numbers: dict[tuple[int, ...], int] = {(): -1}
    for path in ordered:
        above, elder = path[:-1], (*path[:-1], path[-1] - 1) if path and path[-1] else None
        if not path or path in numbers or above not in numbers or (elder is not None and elder not in numbers):
            raise ValueError(
                f"paths has {list(path)!r}; it must be new, and its prefixes and smaller ranks must be listed too"
            )
        numbers[path] = len(parents)
        parents.append(numbers[above])
    return Tree(tuple(parents))


def best_first_tree(rates: Sequence[Sequence[float]], nodes: int) -> Tree:
    """The `nodes` nodes most likely to be kept: the best tree of that size under position-wise acceptance.

    rates[d][r] is the chance that rank r is kept at depth d + 1, given its parent was; a row sums to at most 1 and
    does not increase. Equal chances (within 1e-9 relative): the shallower node, then the smaller rank. Fewer nodes when
    the rates run out.
    """
    table = _rates(rates)
    for d, level in enumerate(table):
        if any(b > a for a, b in itertools.pairwise(level)):
            raise ValueError(f"rates[{d}] is {level!r}; it must not increase with the rank")
    count = whole("nodes", nodes, 0)
    parents: list[int] = []
    heap: list[tuple[float, tuple[int, ...], int, float]] = []

    def offer(path: tuple[int, ...], parent: int, reach: float) -> None:
        if len(path) <= len(table) and path[-1] < len(table[len(path) - 1]):
            chance = reach * table[len(path) - 1][path[-1]]
            if chance > 0.0:
                heapq.heappush(heap, (-_grid(chance), (len(path), *path), parent, reach))

    offer((0,), -1, 1.0)
    while heap and len(parents) < count:
        _, (_, *path), parent, reach = heapq.heappop(heap)
        node = len(parents)
        parents.append(parent)
        offer((*path[:-1], path[-1] + 1), parent, reach)
        offer((*path, 0), node, reach * table[len(path) - 1][path[-1]])
    return Tree(tuple(parents))


def tree_tokens(tree: Tree, rates: Sequence[Sequence[float]]) -> float:
    """Tokens per verifying pass: 1 + the sum over nodes of the chance that the whole path is kept (exact recursion).

    rates[d][r]: see `best_first_tree`; depths or ranks beyond the table are never kept.
    """
    table = _rates(rates)
    kept: list[float] = []
    for parent, depth, rank in zip(tree.parents, tree.depths, tree.ranks, strict=True):
        level = table[depth - 1] if depth <= len(table) else ()
        above = 1.0 if parent < 0 else kept[parent]
        kept.append(above * (level[rank] if rank < len(level) else 0.0))
    return math.fsum((1.0, *kept))


def tree_speedup(
    tree: Tree, rates: Sequence[Sequence[float]], c: float, verify: Callable[[int], float] | None = None
) -> float:
    """Speed-up of a tree, tokens / (depth·c + verify(positions)): Sequoia's objective G(n, d) / (t(n) + d·c).

    `verify(positions)` is the verifying pass in plain passes (None: 1), where positions counts the root; c ≥ 0.
    """
    check = 1.0 if verify is None else number("verify(positions)", verify(tree.positions), 0.0, open_low=True)
    return tree_tokens(tree, rates) / (tree.depth * number("c", c, 0.0) + check)


def verify_candidates(
    p: Sequence[float],
    q_rows: Sequence[Sequence[float]],
    candidates: Sequence[int],
    uniforms: Sequence[float],
    pick: float,
) -> Round:
    """Try several guesses for one position in turn; keeps the law of p (SpecInfer arXiv 2305.09781 Algorithm 2).

    Candidate i was drawn from q_rows[i] (one-hot for a deterministic drafter) and is kept iff u·q(x) < p(x); after each
    rejection p becomes the residual. `accepted` is the index of the kept candidate and `token` that candidate, kind
    "accepted"; or len(candidates) and a token from the last residual, kind "correction".
    """
    left = row("p", p)
    for name, values in (("q_rows", q_rows), ("uniforms", uniforms)):
        if len(values) != len(candidates):
            raise ValueError(
                f"{name} has {len(values)} entries; it must have {len(candidates)}, one for each candidate"
            )
    for i, token in enumerate(tokens_of("candidates", candidates, len(left))):
        draft = row(f"q_rows[{i}]", q_rows[i], len(left))
        if number(f"uniforms[{i}]", uniforms[i], 0.0, 1.0, open_high=True) * draft[token] < left[token]:
            return Round(i, token, "accepted")
        left = replacement_row(left, draft)
    return Round(len(candidates), pick_token(left, pick), "correction")


def candidates_law(
    p: Sequence[float], q: Sequence[float], count: int, *, replacement: bool = True, update: bool = True
) -> tuple[tuple[float, ...], float]:
    """Exact law of one position with `count` candidates from q, and the chance that one of them is kept.

    `replacement` False draws without repeating a token: q loses a rejected token and is renormalised. `update` False
    leaves p as it is after a rejection, the mistake that loses the law. Enumerates the rejected candidates: for small
    vocabularies.
    """
    target = row("p", p)
    parts: list[list[float]] = [[] for _ in target]
    kept: list[float] = []

    def explore(left: tuple[float, ...], draft: tuple[float, ...] | None, tries: int, reach: float) -> None:
        if tries == 0 or draft is None:
            for token, weight in enumerate(left):
                parts[token].append(reach * weight)
            return
        after = replacement_row(left, draft) if update else left
        for token, drawn in enumerate(draft):
            if drawn > 0.0:
                chance = min(1.0, left[token] / drawn)
                parts[token].append(reach * drawn * chance)
                kept.append(reach * drawn * chance)
                if chance < 1.0:
                    rest = draft if replacement else _drop(draft, token)
                    explore(after, rest, tries - 1, reach * drawn * (1.0 - chance))

    explore(target, row("q", q, len(target)), whole("count", count, 0), 1.0)
    return tuple(map(math.fsum, parts)), math.fsum(kept)


def verify_tree(
    tree: Tree,
    tokens: Sequence[int],
    p_rows: Mapping[int, Sequence[float]],
    q_rows: Mapping[int, Sequence[float]],
    uniforms: Sequence[float],
    pick: float,
) -> tuple[tuple[int, ...], Round]:
    """Walk down a tree from the root: at each node try its children in order of rank with `verify_candidates`.

    tokens: one a node; p_rows: the target's row after each node (-1: after the root); q_rows: the row each node was
    drawn from; uniforms: one a node. Returns the kept path of nodes and the `Round` that ends it: a "correction" where
    no child passed, a "bonus" below a leaf.
    """
    if len(tokens) != len(tree.parents):
        raise ValueError(f"tokens has {len(tokens)} entries; it must have {len(tree.parents)}, one for each node")
    path: list[int] = []
    node = -1
    while True:
        below = tree.children(node)
        if not below:
            return tuple(path), Round(len(path), pick_token(p_rows[node], pick), "bonus")
        found = verify_candidates(
            p_rows[node],
            [q_rows[child] for child in below],
            [tokens[child] for child in below],
            [uniforms[child] for child in below],
            pick,
        )
        if found.kind == "correction":
            return tuple(path), Round(len(path), found.token, "correction")
        node = below[found.accepted]
        path.append(node)


def _rates(rates: Sequence[Sequence[float]]) -> list[tuple[float, ...]]:
    """The table of rates, each in [0, 1], each row at most 1 in sum: only one rank can be right."""
    table = []
    for d, level in enumerate(rates):
        values = tuple(probability(f"rates[{d}][{r}]", value) for r, value in enumerate(level))
        if math.fsum(values) > 1.0 + TIE:
            raise ValueError(
                f"rates[{d}] sums to {math.fsum(values)!r}; it must be at most 1: only one rank can be right"
            )
        table.append(values)
    return table


def _grid(chance: float) -> float:
    """A chance rounded to 9 significant digits, so that equal products in another order of factors are a tie."""
    return float(f"{chance:.9e}")


def _drop(draft: tuple[float, ...], token: int) -> tuple[float, ...] | None:
    """A row without one token, renormalised; None when nothing is left to draw."""
    left = [0.0 if i == token else weight for i, weight in enumerate(draft)]
    mass = math.fsum(left)
    return tuple(weight / mass for weight in left) if mass > 0.0 else None
