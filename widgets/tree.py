"""Chain or tree: the same number of verified nodes in a row or branching, and what the pass over them costs in a batch.

Tokens per pass follow from the chance of each guess by depth and rank (`sim.tree_tokens`); the walk down the tree is
`sim.verify_tree` on real rows. The cost of a pass is the roofline of `sim.pass_time`, as in the lesson's first figure.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Any

from sim import (
    HARDWARE,
    Round,
    Tree,
    best_first_tree,
    chain_tree,
    one_hot,
    pass_time,
    tree_tokens,
    verify_tree,
)
from widgets._kit.chart import Curve, Level, Mark, Now, Wall, linear, logarithmic, plot
from widgets._kit.drawing import along, frame, ink, write
from widgets._kit.params import Choice, Slider, Step
from widgets._kit.text import coordinate, count, number, times
from widgets._kit.view import Row, Table, Verdict, View

TITLE = "Chain or tree: the same budget, spent two ways"

RANKS = 4
DEEPEST = 12
TRIES = 12
MODEL = "8b"
"""Any dense model: in plain passes of the same batch its size cancels."""
_BATCHES = (1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
_LENGTHS = (1, 2, 3, 4, 5, 6, 8, 10, 12)
_LISTED = (1, 8, 16, 32, 64, 128, 256)

PARAMS = {
    "nodes": Slider(
        "Nodes to verify", 1, 63, 1, 21, stops=(1, 2, 3, 4, 6, 8, 12, 16, 21, 32, 48, 63), help="Guesses in one pass."
    ),
    "first": Slider("First guess is kept", 0.3, 0.95, 0.01, 0.62, help="At the first place."),
    "second": Slider(
        "The next one is, if it was not",
        0,
        0.4,
        0.01,
        0.3,
        help="So is each further guess for the same place, up to four.",
    ),
    "fade": Slider("From place to place", 0.8, 1, 0.01, 0.97, unit="×", help="How the first guess fares further on."),
    "c": Slider("Draft cost", 0, 0.3, 0.01, 0.05, help="Of one level of the tree, in passes of the target."),
    "batch": Slider("Requests in the batch", 1, 256, 1, 1, stops=_BATCHES),
    "hardware": Choice("Hardware", {key: card.title.split(" ")[0] for key, card in HARDWARE.items()}, "h100-sxm"),
    "step": Step("Walk down the tree", TRIES, 900, TRIES),
    "seed": Slider("Sample", 1, 20, 1, 9, help="Another walk, same chances."),
}
NEEDS: tuple[str, ...] = ()
DATA: tuple[str, ...] = ()
SOURCE = (
    "Computed: chances by depth and rank as in https://arxiv.org/abs/2401.10774 and https://arxiv.org/abs/2402.12374;"
    " a pass takes the longer of reading 16-bit weights and computing every position; cache and overhead are left out."
)


@dataclass(frozen=True)
class _Walk:
    """One verification: nodes tried in order with their verdict, the kept path, and the token that ends it."""

    tried: tuple[tuple[int, bool], ...]
    path: tuple[int, ...]
    end: Round


@dataclass(frozen=True)
class _Told:
    """Speed-ups by batch: the tree, the chain of as many nodes, and the best shorter chain."""

    tree: Mapping[int, float]
    chain: Mapping[int, float]
    best: Mapping[int, float]
    length: Mapping[int, int]

    def first(self, lower: Mapping[int, float] | float) -> int | None:
        """The first batch at which the tree falls behind."""
        limits = lower if isinstance(lower, Mapping) else dict.fromkeys(_BATCHES, lower)
        return next((batch for batch in _BATCHES if self.tree[batch] < limits[batch] - 1e-9), None)


def view(
    *,
    data: Mapping[str, Any],
    nodes: int,
    first: float,
    second: float,
    fade: float,
    c: float,
    batch: int,
    hardware: str,
    step: int,
    seed: int,
) -> View:
    """One state of the figure."""
    rates = _rates(first, second, fade)
    tree = best_first_tree(rates, nodes)
    chain = chain_tree(nodes)
    deep = tuple(rates[min(place, DEEPEST - 1)] for place in range(nodes))
    told = _speeds(tree, chain, deep, c, hardware)
    wide, narrow = tree_tokens(tree, deep), tree_tokens(chain, deep)
    walk = _walk(tree, deep, seed)
    crossed, lost = told.first(told.best), told.first(1.0)
    return View(
        summary=_summary(walk, step),
        readout=(
            Row("tree_tokens", "tokens per pass as a tree", wide, "", number(wide, ".2f")),
            Row("chain_tokens", "tokens per pass as a chain", narrow, "", number(narrow, ".2f")),
            Row("tree_speed", f"as a tree, batch {number(batch)}", told.tree[batch], "", _factor(told.tree[batch])),
            Row("chain_speed", f"as a chain, batch {number(batch)}", told.chain[batch], "", _factor(told.chain[batch])),
            Row("best_speed", _chain_of(told, batch), told.best[batch], "", _factor(told.best[batch])),
        ),
        svg=_drawn(tree, chain, deep, walk, step) + _curves(told, batch, crossed, lost),
        table=_table(told, batch, wide, narrow),
        verdict=_verdict(told, batch, crossed, lost),
        title=f"{count(nodes, 'node', 'nodes')}: {number(wide, '.2f')} tokens a pass as a tree, "
        f"{number(narrow, '.2f')} as a chain",
    )


def _chain_of(told: _Told, batch: int) -> str:
    return f"best chain: {count(told.length[batch], 'draft', 'drafts')}"


def _factor(x: float) -> str:
    return times(x, 2)


def _rates(first: float, second: float, fade: float) -> tuple[tuple[float, ...], ...]:
    """The chance of each rank at each depth: `second` of what is left after every miss, never more than before it."""
    table = []
    for depth in range(DEEPEST):
        row = [first * fade**depth]
        while len(row) < RANKS:
            left = 1.0 - math.fsum(row)
            row.append(min(row[-1], left * second))
        table.append(tuple(row))
    return tuple(table)


@lru_cache(maxsize=4096)
def _verify(hardware: str, positions: int, batch: int) -> float:
    """The verifying pass in plain passes of the same batch."""
    wide = pass_time(MODEL, hardware, positions, batch)
    return wide.total_ms / pass_time(MODEL, hardware, 1, batch).total_ms


def _speeds(tree: Tree, chain: Tree, rates: tuple[tuple[float, ...], ...], c: float, hardware: str) -> _Told:
    nodes = len(chain.parents)
    deep = tree.depth
    wide, narrow = tree_tokens(tree, rates[:deep]), tree_tokens(chain, rates)
    chains = {k: tree_tokens(chain_tree(k), rates[:k]) for k in _LENGTHS if k <= nodes}

    def at(tokens: float, depth: int, size: int, batch: int) -> float:
        return tokens / (depth * c + _verify(hardware, size + 1, batch))

    best: dict[int, float] = {}
    length: dict[int, int] = {}
    for batch in _BATCHES:
        options = {k: at(tokens, k, k, batch) for k, tokens in chains.items()}
        top = max(options.values())
        length[batch] = next(k for k, speed in options.items() if speed >= top - 1e-9)
        best[batch] = options[length[batch]]
    return _Told(
        {batch: at(wide, deep, len(tree.parents), batch) for batch in _BATCHES},
        {batch: at(narrow, nodes, nodes, batch) for batch in _BATCHES},
        best,
        length,
    )


def _walk(tree: Tree, rates: tuple[tuple[float, ...], ...], seed: int) -> _Walk:
    """One verification on real rows: at each place the ranks' chances and "something else"; guesses are certain."""
    depths, ranks = tree.depths, tree.ranks
    rows = [(*level, max(0.0, 1.0 - math.fsum(level))) for level in rates] + [one_hot(RANKS, RANKS + 1)]
    p_rows = {node: rows[0 if node < 0 else min(depths[node], len(rates))] for node in range(-1, len(depths))}
    q_rows = {node: one_hot(rank, RANKS + 1) for node, rank in enumerate(ranks)}
    chance = Random(f"walk {seed}")
    uniforms = [chance.random() for _ in depths]
    path, end = verify_tree(tree, ranks, p_rows, q_rows, uniforms, chance.random())
    tried: list[tuple[int, bool]] = []
    for place, node in enumerate((-1, *path)):
        kept = path[place] if place < len(path) else None
        for child in tree.children(node):
            tried.append((child, child == kept))
            if child == kept:
                break
    return _Walk(tuple(tried), path, end)


def _places(tree: Tree) -> tuple[list[float], int]:
    """Each node's place across, 0 to 1: leaves side by side, every parent above the middle of its children."""
    children: list[list[int]] = [[] for _ in range(len(tree.parents) + 1)]
    for node, parent in enumerate(tree.parents):
        children[parent + 1].append(node)
    spots, leaves, stack, order = [0.0] * len(tree.parents), 0, list(reversed(children[0])), []
    while stack:
        node = stack.pop()
        order.append(node)
        stack.extend(reversed(children[node + 1]))
        if not children[node + 1]:
            spots[node] = leaves + 0.5
            leaves += 1
    for node in reversed(order):
        below = children[node + 1]
        if below:
            spots[node] = (spots[below[0]] + spots[below[-1]]) / 2
    return [spot / leaves for spot in spots], leaves


def _reach(tree: Tree, rates: tuple[tuple[float, ...], ...]) -> list[float]:
    """The chance of each node to be kept, its whole path included."""
    found: list[float] = []
    for parent, depth, rank in zip(tree.parents, tree.depths, tree.ranks, strict=True):
        level = rates[depth - 1]
        found.append((found[parent] if parent >= 0 else 1.0) * (level[rank] if rank < len(level) else 0.0))
    return found


def _drawn(tree: Tree, chain: Tree, rates: tuple[tuple[float, ...], ...], walk: _Walk, step: int) -> str:
    """The chain as a row and the tree below it; the fuller a node, the likelier it is kept. The walk is marked."""
    tried = dict(walk.tried if step >= TRIES else walk.tried[:step])
    inner = [write("0", 12, "as a chain", tone="ink")]
    many = len(chain.parents)
    for node, chance in enumerate(_reach(chain, rates)):
        inner.append(
            _node((node + 0.5) / max(many, 12), 32.0, 2.4 if many > 40 else 4.0 if many > 24 else 6.0, chance, None)
        )
    spots, leaves = _places(tree)
    top = 92.0
    gap = min(42.0, 250.0 / max(1, tree.depth))
    small = leaves > 22
    radius = 4.5 if small else 8.0
    inner.append(write("0", 68, "as a tree", tone="ink"))
    inner.append(write("100%", 68, "fuller: likelier to be kept", anchor="end"))
    inner.append(f'<circle cx="50%" cy="{coordinate(top)}" r="4" fill="{ink("ink")}"/>')
    levels = [(spot, top + gap * depth) for spot, depth in zip(spots, tree.depths, strict=True)]
    for node, (spot, level) in enumerate(levels):
        above = (0.5, top) if tree.parents[node] < 0 else levels[tree.parents[node]]
        kept = tried.get(node)
        colour = ink("accepted") if kept else "var(--sd-grid)"
        inner.append(
            f'<line x1="{along(above[0])}" y1="{coordinate(above[1])}" x2="{along(spot)}" y2="{coordinate(level)}" '
            f'stroke-width="{"3" if kept else "1"}" stroke="{colour}"/>'
        )
    for node, ((spot, level), chance) in enumerate(zip(levels, _reach(tree, rates), strict=True)):
        inner.append(_node(spot, level, radius, chance, tried.get(node)))
    tall = top + 250 + 14
    label = f"{number(many)} nodes as a chain and as a tree of depth {number(tree.depth)}"
    return frame(label, int(tall), (2, 2, 2, 2), inner, stepped=True)


def _node(spot: float, level: float, radius: float, chance: float, kept: bool | None) -> str:
    """A node: untried ones are filled as far as they are likely, kept ones full with ✓, rejected ones struck."""
    place = f'cx="{along(spot)}" cy="{coordinate(level)}" r="{coordinate(radius)}"'
    ground = f'<circle {place} fill="var(--sd-ground)"/>'
    if kept is None:
        full = number(math.sqrt(chance), ".2f")
        looks = f'stroke-width="1.2" fill="{ink("draft")}" stroke="{ink("draft")}" fill-opacity="{full}"'
        return f"{ground}<circle {place} {looks}/>"
    if kept:
        mark = f'<circle {place} fill="{ink("accepted")}"/>'
        return mark + (_glyph(spot, level, "✓", "ground") if radius > 6 else "")
    looks = f'stroke-width="1.6" stroke-dasharray="2 2" stroke="{ink("rejected")}" fill="none"'
    return f"{ground}<circle {place} {looks}/>" + _glyph(spot, level, "✗", "rejected")


def _glyph(spot: float, level: float, sign: str, tone: str) -> str:
    return write(along(spot), level + 4.3, sign, anchor="middle", tone=tone, strong=True)


def _curves(told: _Told, batch: int, crossed: int | None, lost: int | None) -> str:
    x = logarithmic(1, _BATCHES[-1], "requests in the batch, log axis", ticks=(1, 4, 16, 64, 256))
    high = max(*told.tree.values(), *told.best.values(), 1.0)
    y = linear(high * 1.08, "speed-up", ticks=4, show=lambda value: number(value) + "×")
    marks: list[Mark] = [
        Level(1.0, "1×"),
        Curve(tuple(told.best.items()), "muted", "best chain", 2, "below", dashed=True),
        Curve(tuple(told.chain.items()), "draft", "chain of as many", 2, "above"),
        Curve(tuple(told.tree.items()), "target", "tree", *((1, "below") if batch > 8 else (7, "corner"))),
    ]
    if crossed is not None and crossed > 1:
        marks.insert(0, Wall(crossed, f"chain ahead from {number(crossed)}", "ink"))
    marks.append(Now(batch, told.tree[batch], _factor(told.tree[batch]), side="above"))
    return plot(
        f"Speed-up against batch: the tree {_factor(told.tree[batch])} at {number(batch)}, "
        f"the best chain {_factor(told.best[batch])}",
        x,
        y,
        marks,
        height=300,
    )


def _table(told: _Told, batch: int, wide: float, narrow: float) -> Table:
    rows = []
    for size in sorted(dict.fromkeys((*_LISTED, batch))):
        speeds = (told.tree[size], told.chain[size], told.best[size])
        rows.append((number(size), *(_factor(speed) for speed in speeds), number(told.length[size])))
    rows.append(("tokens a pass", number(wide, ".2f"), number(narrow, ".2f"), "", ""))
    columns = ("batch", "tree", "chain of as many nodes", "best chain", "its length")
    return Table("Speed-up by batch, and tokens per pass", columns, tuple(rows))


def _summary(walk: _Walk, step: int) -> str:
    seen = walk.tried if step >= TRIES else walk.tried[:step]
    if not seen:
        return (
            "The tree is drafted and scored in one pass. Step on: the walk starts at the top with the likeliest guess."
        )
    kept = int(math.fsum(ok for _, ok in seen))
    missed = len(seen) - kept
    text = f"{count(len(seen), 'node', 'nodes')} looked at: {number(kept)} kept, {number(missed)} rejected."
    if len(seen) < len(walk.tried):
        more = "the walk goes on below it" if seen[-1][1] else "the next guess for the same place is tried"
        return f"{text} After a {'kept' if seen[-1][1] else 'rejected'} node, {more}."
    own = (
        "No guess for the next place passed, so the target writes its own"
        if walk.end.kind == "correction"
        else ("Nothing is left below, so the target adds one more")
    )
    return f"{text} {own}: {count(len(walk.path) + 1, 'token', 'tokens')} from this pass."


def _verdict(told: _Told, batch: int, crossed: int | None, lost: int | None) -> Verdict:
    tree, best = told.tree[batch], told.best[batch]
    chain = count(told.length[batch], "draft", "drafts")
    ends = "" if lost is None else f" From a batch of {number(lost)} on the tree is slower than no speculation."
    if max(tree, best) < 1 - 1e-9:
        return Verdict(
            "loss", f"At a batch of {number(batch)} neither pays: every position in this pass is paid for.{ends}"
        )
    if tree < best - 1e-9:
        text = f"At a batch of {number(batch)} a chain of {chain} is faster: {_factor(best)} against {_factor(tree)}."
        return Verdict(
            "care" if tree >= 1 else "loss", f"{text} The tree’s further nodes cost more than they bring.{ends}"
        )
    turn = "" if crossed is None else f" From a batch of {number(crossed)} on a short chain is ahead."
    if tree <= best + 1e-9:
        return Verdict("info", f"Here the tree is no faster than a chain of {chain}: {_factor(tree)}.{turn}{ends}")
    text = f"At a batch of {number(batch)} the tree wins: {_factor(tree)} against {_factor(best)} for the best chain."
    return Verdict("gain", f"{text}{turn}{ends}")
