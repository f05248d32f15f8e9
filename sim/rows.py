"""From logits to the row a sampler draws from: penalties, bans, temperature, top-k, top-p.

Why it exists: p and q are what is left *after* these steps, on both sides alike (Leviathan section 2.1,
"standardised sampling"). Half the bugs reported in the wild are one side that missed a step. It must not know which
side it works for.
"""

import math
from collections.abc import Sequence

from sim._numbers import number, row, tokens_of, whole

__all__ = ["distribution", "greedy_token", "one_hot", "reshaped", "translated", "truncated"]

TIE = 1e-9
"""Values closer than this are a tie, and the smaller token wins; a temperature up to this is greedy."""


def greedy_token(values: Sequence[float]) -> int:
    """The token with the largest value; of values within 1e-9 of the largest, the smallest token."""
    largest = max(values)
    return next(token for token, value in enumerate(values) if value >= largest - TIE)


def one_hot(token: int, size: int) -> tuple[float, ...]:
    """The row of a drafter that proposes one token for sure: 1 at `token`, 0 elsewhere, `size` entries."""
    chosen = whole("token", token, 0, whole("size", size, 1) - 1)
    return tuple(1.0 if i == chosen else 0.0 for i in range(size))


def distribution(
    logits: Sequence[float],
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    *,
    seen: Sequence[int] = (),
    frequency: float = 0.0,
    presence: float = 0.0,
    banned: Sequence[int] = (),
) -> tuple[float, ...]:
    """The row for these logits: penalties and bans, then softmax at `temperature`, then top-k, then top-p.

    `seen` are the tokens that count for the penalties: the prefix *including* drafts accepted earlier in the round;
    `frequency` is taken off a logit once for each time its token was seen, `presence` once. A logit may be -inf
    (banned), not NaN or +inf. Temperature 0 (up to 1e-9) is greedy: a one-hot row, ties to the smaller token.
    """
    scores = [_logit(i, value) for i, value in enumerate(logits)]
    heat = number("temperature", temperature, 0.0)
    per_count, once = number("frequency", frequency), number("presence", presence)
    counts: dict[int, int] = {}
    for token in tokens_of("seen", seen, len(scores)):
        counts[token] = counts.get(token, 0) + 1
    for token, count in counts.items():
        scores[token] -= per_count * count + once
    for token in tokens_of("banned", banned, len(scores)):
        scores[token] = -math.inf
    if not any(score > -math.inf for score in scores):
        raise ValueError("logits leave no token; at least one must be finite and not banned")
    if heat <= TIE:
        return one_hot(greedy_token(scores), len(scores))
    largest = max(scores)
    return truncated(_normalised([math.exp((score - largest) / heat) for score in scores]), top_k, top_p)


def reshaped(
    probabilities: Sequence[float], temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None
) -> tuple[float, ...]:
    """A row at another temperature and truncated: p^(1/T) renormalised, then top-k, then top-p. T = 0 is greedy."""
    given = row("probabilities", probabilities)
    heat = number("temperature", temperature, 0.0)
    if heat <= TIE:
        return one_hot(greedy_token(given), len(given))
    if heat == 1.0:
        return truncated(given, top_k, top_p)
    logs = [math.log(value) if value > 0.0 else -math.inf for value in given]
    return distribution(logs, heat, top_k, top_p)


def truncated(
    probabilities: Sequence[float], top_k: int | None = None, top_p: float | None = None
) -> tuple[float, ...]:
    """The row cut to its `top_k` likeliest tokens, of those the fewest that hold `top_p`; renormalised. None: no cut.

    Equal probabilities: the smaller token is kept first. top_k ≥ 1 (more than there are keeps all), 0 < top_p ≤ 1.
    """
    given = row("probabilities", probabilities)
    if top_k is None and top_p is None:
        return given
    order = sorted(range(len(given)), key=lambda token: (-given[token], token))
    kept = order[: whole("top_k", top_k, 1)] if top_k is not None else order
    if top_p is not None:
        nucleus = number("top_p", top_p, 0.0, 1.0, open_low=True) * math.fsum(given[token] for token in kept)
        inside = 1
        while inside < len(kept) and math.fsum(given[token] for token in kept[:inside]) < nucleus - TIE:
            inside += 1
        kept = kept[:inside]
    keep = [False] * len(given)
    for token in kept:
        keep[token] = True
    return _normalised([value if keep[token] else 0.0 for token, value in enumerate(given)])


def translated(probabilities: Sequence[float], ids: Sequence[int | None], size: int) -> tuple[float, ...]:
    """A draft's row in the target's vocabulary of `size` tokens, for a draft with a vocabulary of its own.

    ids[i] is the target's id of the draft's token i, None where the target has no such token: those are suppressed
    and the rest renormalised *before* anything is drawn, so that the row is what drafts are drawn from. Ids must be
    distinct.
    """
    given = row("probabilities", probabilities, len(ids))
    weights = [0.0] * whole("size", size, 1)
    named = [False] * len(weights)
    for i, token in enumerate(ids):
        if token is None:
            continue
        place = whole(f"ids[{i}]", token, 0, len(weights) - 1)
        if named[place]:
            raise ValueError(f"ids[{i}] is {token!r}; it must be named once: two tokens of the draft cannot be one")
        weights[place], named[place] = given[i], True
    if math.fsum(weights) <= 0.0:
        raise ValueError("ids leave no probability; the target must know at least one token that the draft proposes")
    return _normalised(weights)


def _normalised(weights: Sequence[float]) -> tuple[float, ...]:
    total = math.fsum(weights)
    return tuple(weight / total for weight in weights)


def _logit(index: int, value: object) -> float:
    """A finite number, or -inf for a token that is ruled out."""
    if isinstance(value, float) and value == -math.inf:
        return value
    return number(f"logits[{index}]", value)
