"""Accepting and rejecting drafted tokens: the exact rule, its law, and the famous wrong ones.

Why it exists: "the output follows the target" is a theorem about one small rule, and most reports of broken
speculative decoding are a small change to it. Here every rule is written in one form (what is drafted, with which
chance it is kept, what replaces it), so that its exact law can be computed and compared. It must not know about
models, caches, time or NumPy.

p is the target's row and q the draft's, both after temperature, top-k and top-p. Leviathan is arXiv 2211.17192v2,
Chen is arXiv 2302.01318 (which calls the target q and the draft p).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from types import MappingProxyType

from sim._numbers import number, one_of, probability, row, tokens_of, whole
from sim.rows import greedy_token, one_hot, reshaped, truncated

__all__ = [
    "RULES",
    "Position",
    "Round",
    "Rule",
    "acceptance",
    "draw_rounds",
    "output_law",
    "overlap",
    "pick_token",
    "position",
    "replacement_row",
    "residual",
    "verify_round",
]

Row = tuple[float, ...]
NOTHING = 1e-15
"""A residual of this mass or less is rounding: nothing is ever rejected there."""


def overlap(p: Sequence[float], q: Sequence[float]) -> float:
    """The chance that one token drawn from q is kept, sum of min(p, q): Leviathan Theorem 3.5.

    1 minus total variation.
    """
    target = row("p", p)
    return math.fsum(map(min, target, row("q", q, len(target))))


def residual(p: Sequence[float], q: Sequence[float]) -> Row:
    """What a rejected token is redrawn from, norm(max(0, p - q)): Leviathan section 2.3.

    ValueError where p equals q (mass up to 1e-15): nothing is ever rejected there, so there is nothing to redraw from.
    """
    target = row("p", p)
    excess = [max(0.0, a - b) for a, b in zip(target, row("q", q, len(target)), strict=True)]
    mass = math.fsum(excess)
    if mass <= NOTHING:
        raise ValueError(
            f"p equals q ({target!r}); it must differ from q: nothing is ever rejected, the residual is empty"
        )
    return tuple(value / mass for value in excess)


def pick_token(probabilities: Sequence[float], pick: float) -> int:
    """The token that a uniform number in [0, 1) chooses: inverse cumulative sum in token order.

    Token i is chosen when the sum before it is at most pick and the sum with it is above; never one of probability 0.
    """
    weights = row("probabilities", probabilities)
    aim = _uniform("pick", pick) * math.fsum(weights)
    running = 0.0
    for token, weight in enumerate(weights):
        running += weight
        if aim < running:
            return token
    return max(token for token, weight in enumerate(weights) if weight > 0.0)  # the running sum rounded below aim


@dataclass(frozen=True)
class Round:
    """What one verifying pass decided: how many drafts were kept, and the token that follows them.

    kind "correction": redrawn where a draft was rejected; "bonus": drawn past the last draft because all were kept.
    """

    accepted: int
    token: int
    kind: str


def verify_round(
    p_rows: Sequence[Sequence[float]],
    q_rows: Sequence[Sequence[float]],
    draft: Sequence[int],
    uniforms: Sequence[float],
    pick: float,
) -> Round:
    """Keep the longest prefix of `draft` that passes, then one more token: Leviathan Algorithm 1, Chen Algorithm 2.

    p_rows: len(draft) + 1 rows; q_rows: len(draft) rows that the drafts were drawn from; uniforms: one in [0, 1) a
    draft; pick: in [0, 1), chooses the next token. Draft x is kept iff u·q(x) < p(x). The < is strict so that u = 0
    cannot keep a token with p = 0. An empty draft is plain decoding: one "bonus" token. ValueError for lengths or rows
    that do not fit.
    """
    if len(p_rows) != len(draft) + 1:
        raise ValueError(
            f"p_rows has {len(p_rows)} rows; it must have {len(draft) + 1}: one a draft and one past the last"
        )
    for name, values in (("q_rows", q_rows), ("uniforms", uniforms)):
        if len(values) != len(draft):
            raise ValueError(f"{name} has {len(values)} entries; it must have {len(draft)}, one for each draft")
    size = len(p_rows[0])
    targets = [row(f"p_rows[{k}]", values, size) for k, values in enumerate(p_rows)]
    drafts = [row(f"q_rows[{k}]", values, size) for k, values in enumerate(q_rows)]
    tokens = tokens_of("draft", draft, size)
    chances = [_uniform(f"uniforms[{k}]", value) for k, value in enumerate(uniforms)]
    for k, token in enumerate(tokens):
        if not chances[k] * drafts[k][token] < targets[k][token]:
            return Round(k, pick_token(replacement_row(targets[k], drafts[k]), pick), "correction")
    return Round(len(tokens), pick_token(targets[-1], pick), "bonus")


def draw_rounds(alpha: float, gamma: int, rounds: int, seed: int) -> tuple[int, ...]:
    """How many drafts each of `rounds` rounds keeps when every one is kept with probability alpha, independently.

    Each count is in 0 … gamma. Every round takes gamma uniforms from `Random(seed)`, kept or not: with one seed a
    larger alpha never keeps fewer, so a slider moves the same story and does not tell a new one.
    """
    ratio, length = probability("alpha", alpha), whole("gamma", gamma, 0)
    uniform = Random(whole("seed", seed, 0)).random
    counts = []
    for _ in range(whole("rounds", rounds, 0)):
        kept = [uniform() < ratio for _ in range(length)]
        counts.append(kept.index(False) if False in kept else length)
    return tuple(counts)


@dataclass(frozen=True)
class Position:
    """One position under a rule: the row drafts come from, the chance to keep each, what replaces a rejected one."""

    drafted: Row
    accept: Row
    replacement: Callable[[int], Row]

    @property
    def acceptance(self) -> float:
        """The chance that the drafted token is kept."""
        return math.fsum(d * a for d, a in zip(self.drafted, self.accept, strict=True))

    @property
    def law(self) -> Row:
        """The exact law of the emitted token, over every draft and both outcomes."""
        parts: list[list[float]] = [[d * a] for d, a in zip(self.drafted, self.accept, strict=True)]
        for token, (d, a) in enumerate(zip(self.drafted, self.accept, strict=True)):
            rejected = d * (1.0 - a)
            if rejected > 0.0:
                for other, weight in enumerate(self.replacement(token)):
                    parts[other].append(rejected * weight)
        return tuple(map(math.fsum, parts))


@dataclass(frozen=True)
class Rule:
    """A way to accept drafts at one position. kind: "lossless", "lossy" (off p on purpose), "wrong" (by mistake).

    `settings`: names and defaults. `example`: (p, q) where the law is at least 1e-3 from p in total variation; None if
    lossless.
    """

    name: str
    kind: str
    settings: Mapping[str, float] = field(default_factory=dict)
    sentence: str = ""
    example: tuple[Row, Row] | None = None

    @property
    def lossless(self) -> bool:
        """Whether the emitted token follows p whatever q is."""
        return self.kind == "lossless"


def position(p: Sequence[float], q: Sequence[float], rule: str = "lossless", **settings: float) -> Position:
    """The parts of one position under a rule; `settings` override the defaults in `RULES[rule].settings`."""
    chosen = RULES[one_of("rule", rule, tuple(RULES))]
    for name in settings:
        if name not in chosen.settings:
            known = ", ".join(chosen.settings) or "none"
            raise ValueError(f"{name} is {settings[name]!r}; rule {rule!r} has no such setting (it has: {known})")
    target = row("p", p)
    return _PARTS[rule](target, row("q", q, len(target)), **{**chosen.settings, **settings})


def acceptance(p: Sequence[float], q: Sequence[float], rule: str = "lossless", **settings: float) -> float:
    """The chance that the drafted token is kept at this position. `lossless` gives `overlap(p, q)`."""
    return position(p, q, rule, **settings).acceptance


def output_law(p: Sequence[float], q: Sequence[float], rule: str = "lossless", **settings: float) -> Row:
    """The exact law of the token emitted at one position, summed over every draft, kept or replaced.

    Equal to p for every lossless rule (Leviathan appendix A.1). ValueError for an unknown rule or setting, with the
    list.
    """
    return position(p, q, rule, **settings).law


def _uniform(name: str, value: float) -> float:
    return number(name, value, 0.0, 1.0, open_high=True)


def _kept(p: Row, q: Row) -> Row:
    """min(1, p/q), the chance to keep each token; 1 where q is 0, where it is never drafted."""
    return tuple(1.0 if b <= a else a / b for a, b in zip(p, q, strict=True))


def replacement_row(p: Row, q: Row) -> Row:
    """The residual, or p itself where rounding alone rejected a token of two equal rows."""
    try:
        return residual(p, q)
    except ValueError:
        return p


def _without(p: Row, token: int) -> Row:
    """p given that the token is not the one: what a deterministic draft's rejection leaves."""
    return replacement_row(p, one_hot(token, len(p)))


# The rules, one function each: rows and settings in, parts of the position out.


def _lossless(p: Row, q: Row) -> Position:
    again = replacement_row(p, q)
    return Position(q, _kept(p, q), lambda _: again)


def _match(p: Row, q: Row) -> Position:
    return Position(q, p, lambda token: _without(p, token))


def _lenient(p: Row, q: Row, lenience: float) -> Position:
    scale = number("lenience", lenience, 0.0, 1.0, open_low=True)
    again = replacement_row(p, q)
    return Position(q, _kept(p, tuple(scale * b for b in q)), lambda _: again)


def _typical(p: Row, q: Row, threshold: float, delta: float) -> Position:
    entropy = -math.fsum(a * math.log(a) for a in p if a > 0.0)
    least = min(probability("threshold", threshold), number("delta", delta, 0.0) * math.exp(-entropy))
    again = one_hot(greedy_token(p), len(p))
    return Position(q, tuple(1.0 if a > least else 0.0 for a in p), lambda _: again)


def _threshold(p: Row, q: Row, single: float, accumulated: float) -> Position:
    sure, scale = probability("single", single), probability("accumulated", accumulated)
    return Position(
        q, tuple(1.0 if a >= sure or a >= scale else a / scale for a in p), lambda token: _without(p, token)
    )


def _greedy_draft_softmax_ratio(p: Row, q: Row) -> Position:
    again = replacement_row(p, q)
    return Position(one_hot(greedy_token(q), len(q)), _kept(p, q), lambda _: again)


def _redraw_from_p(p: Row, q: Row) -> Position:
    return Position(q, _kept(p, q), lambda _: p)


def _redraw_greedy(p: Row, q: Row) -> Position:
    again = one_hot(greedy_token(p), len(p))
    return Position(q, _kept(p, q), lambda _: again)


def _absolute_residual(p: Row, q: Row) -> Position:
    gaps = [abs(a - b) for a, b in zip(p, q, strict=True)]
    mass = math.fsum(gaps)
    again = tuple(gap / mass for gap in gaps) if mass > NOTHING else p
    return Position(q, _kept(p, q), lambda _: again)


def _swapped_ratio(p: Row, q: Row) -> Position:
    again = replacement_row(p, q)
    return Position(q, _kept(q, p), lambda _: again)


def _shared_uniform(p: Row, q: Row) -> Position:
    accept, again = _kept(p, q), replacement_row(p, q)

    def rest(token: int) -> Row:
        """What u picks from the residual when it is uniform on [accept, 1): the part of [0, 1) that rejects."""
        start, low, shares = accept[token], 0.0, []
        for weight in again:
            shares.append(max(0.0, low + weight - max(low, start)) / (1.0 - start))
            low += weight
        return tuple(shares)

    return Position(q, accept, rest)


def _untruncated_ratio(p: Row, q: Row, top_k: float) -> Position:
    again = replacement_row(p, q)
    return Position(truncated(q, whole("top_k", top_k, 1)), _kept(p, q), lambda _: again)


def _temperature_on_draft_only(p: Row, q: Row, temperature: float) -> Position:
    heat = number("temperature", temperature, 0.0, open_low=True)
    return _lossless(reshaped(p, 1.0 / heat), q)


def _accept_always(p: Row, q: Row) -> Position:
    return Position(q, (1.0,) * len(q), lambda _: p)


_PARTS: dict[str, Callable[..., Position]] = {}
_RULES: dict[str, Rule] = {}
_EXAMPLE = ((0.5, 0.3, 0.2), (0.6, 0.1, 0.3))


def _add(
    kind: str,
    parts: Callable[..., Position],
    sentence: str,
    example: tuple[Row, Row] | None = _EXAMPLE,
    **settings: float,
) -> None:
    name = parts.__name__.removeprefix("_")
    _PARTS[name] = parts
    _RULES[name] = Rule(name, kind, MappingProxyType(settings), sentence, None if kind == "lossless" else example)


_add("lossless", _lossless, "Keep x with chance min(1, p/q), else redraw from what p has more of (Leviathan, Chen).")
_add("lossless", _match, "Draw from p and keep the draft if it is the same token; what sampler-matching engines do.")
_add("lossy", _lenient, "q is scaled down before the test, so more is kept (Leviathan A.5).", lenience=0.5)
_add(
    "lossy",
    _typical,
    "Keep x if p(x) is above min(threshold, delta·exp(-entropy)), else take the likeliest (Medusa).",
    threshold=0.09,
    delta=0.3,
)
_add(
    "lossy",
    _threshold,
    "Keep x for sure if p(x) reaches single, else with chance p(x)/accumulated (SGLang's accept thresholds).",
    single=0.3,
    accumulated=1.0,
)
_add("wrong", _greedy_draft_softmax_ratio, "The draft is q's likeliest token, but the test still divides by q(x).")
_add("wrong", _redraw_from_p, "A rejected token is redrawn from p and not from the residual.")
_add("wrong", _redraw_greedy, "A rejected token is replaced by p's likeliest token.")
_add("wrong", _absolute_residual, "The residual is taken from |p - q|, so tokens q over-weights come back.")
_add("wrong", _swapped_ratio, "The ratio is upside down: kept with chance min(1, q/p).")
_add(
    "wrong",
    _shared_uniform,
    "One uniform number both rejects the draft and picks the replacement.",
    ((0.5, 0.3, 0.2), (0.2, 0.2, 0.6)),
)
_add(
    "wrong", _untruncated_ratio, "Drafts come from a top-k cut of q, but the test divides by q before the cut.", top_k=2
)
_add(
    "wrong",
    _temperature_on_draft_only,
    "Temperature reached the draft; the target was scored without.",
    temperature=0.5,
)
_add("wrong", _accept_always, "Every draft is kept: the output is the draft model's.")

RULES: Mapping[str, Rule] = MappingProxyType(_RULES)
