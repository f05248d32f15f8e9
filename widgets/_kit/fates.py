"""Rounds of the real pair as a token strip and as a table: every token with its fate and with what decided it.

Why it exists: what a pointer shows on one token and what the table says in its row must be the same numbers. It must
not know where the rounds come from, nor what they cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from unicodedata import category

from .race import Round
from .text import number
from .view import Token

__all__ = ["GIVEN", "HEAD", "rows", "shown", "strip_tokens"]

GIVEN = 24
"""Letters of the beginning that stand before the first token."""

HEAD = ("pass", "token", "fate", "p, target", "q, draft", "random number", "likeliest for the target: p (q)")
_MARKS = {"\n": "↵", "\t": "⇥", "\r": "↵", " ": "␣"}
_FATES = {"accepted": "✓ accepted", "rejected": "✗ rejected", "correction": "↻ correction", "bonus": "+ bonus"}
_UNSEEN = "✗ thrown away unseen"


def shown(text: str) -> str:
    """A token's text as a cell can hold it: line ends and what cannot be seen get a sign."""
    if text.isspace():
        return "".join(_MARKS.get(letter, "␣") for letter in text)
    plain = (letter == " " or category(letter)[0] not in "CZ" for letter in text)
    return "".join(letter if fine else _MARKS.get(letter, "�") for letter, fine in zip(text, plain, strict=True))


def strip_tokens(beginning: str, rounds: Sequence[Round]) -> tuple[Token, ...]:
    """The end of what was given, then every token of these rounds, drafts first, then the target's own."""
    tail = shown(beginning[-GIVEN:])
    given = f"What both models go on from ends like this: {_quoted(beginning[-10 * GIVEN :])}."
    found = [Token(f"…{tail}" if len(beginning) > GIVEN else tail, "given", 0, "", given)]
    for count, one in enumerate(rounds, 1):
        for place, text in enumerate(one.draft):
            unseen = place > one.accepted
            kind = "accepted" if place < one.accepted else "rejected"
            label = "thrown away unseen" if unseen else ""
            found.append(Token(shown(text), kind, count, label, _detail(one, place, text)))
        kind = "correction" if one.failed else "bonus"
        found.append(Token(shown(one.token), kind, count, "", _own(one)))
    return tuple(found)


def rows(rounds: Sequence[Round]) -> Iterator[tuple[str, ...]]:
    """The same, a row each, under `HEAD`."""
    for count, one in enumerate(rounds, 1):
        for place, text in enumerate(one.draft):
            fate = _FATES["accepted" if place < one.accepted else "rejected"] if place <= one.accepted else _UNSEEN
            coin = _chance(one.coins[place]) if place <= one.accepted else ""
            p = _chance(one.p[place]) if place <= one.accepted else ""
            yield (number(count), shown(text), fate, p, _chance(one.q[place]), coin, _likeliest(one, place))
        fate = _FATES["correction" if one.failed else "bonus"]
        q = _chance(one.q[-1]) if one.failed else ""
        yield (number(count), shown(one.token), fate, _chance(one.p[-1]), q, _chance(one.coins[-1]), _likeliest(one))


def _chance(x: float) -> str:
    """A probability or a coin, in three digits that do not pretend 0 or 1."""
    if 0.0 < x < 0.0005:
        return "<0.001"
    return number(x, ".3f") if not 0.9995 <= x < 1.0 else ">0.999"


def _quoted(text: str) -> str:
    return f"“{shown(text)}”"


def _detail(one: Round, place: int, text: str) -> str:
    q = _chance(one.q[place])
    if place > one.accepted:
        return f"{_quoted(text)}, drafted with q {q}. A draft before it failed, so it was thrown away unseen."
    p, coin = _chance(one.p[place]), _chance(one.coins[place])
    kept = place < one.accepted
    if one.p[place] >= one.q[place]:
        why = f"the target wants it no less (p {p}), so it stays whatever the random number ({coin})"
    else:
        share = _chance(one.p[place] / one.q[place])
        side = "below" if kept else "not below"
        why = f"p is {p}, so it stays with chance p/q = {share}; the random number {coin} is {side} that"
    fate = "✓ Accepted" if kept else "✗ Rejected"
    return f"{_quoted(text)}, drafted with q {q}: {why}. {fate}. {_here(one, place)}"


def _own(one: Round) -> str:
    p, coin = _chance(one.p[-1]), _chance(one.coins[-1])
    if not one.failed:
        first = "Nothing was drafted" if not one.draft else "All drafts stayed"
        said = f"{first}, so the target adds a token, drawn from p with the random number {coin}: it has p {p}."
        return f"{_quoted(one.token)}, + bonus. {said} {_here(one)}"
    q = _chance(one.q[-1])
    said = f"drawn with the random number {coin} from what p has more of than q: it has p {p} and q {q}."
    return f"{_quoted(one.token)}, ↻ correction in place of the rejected draft, {said} {_here(one)}"


def _here(one: Round, place: int = -1) -> str:
    said = _likeliest(one, place)
    return f"Likeliest here for the target: {said}." if said else ""


def _likeliest(one: Round, place: int = -1) -> str:
    """The candidates at a position; "" for one that was not looked at, or where none were recorded."""
    position = one.top[place] if place < len(one.top) and one.top else ()
    found = (f"{_quoted(text)} {_chance(p)}" + (f" ({_chance(q)})" if q is not None else "") for text, p, q in position)
    return ", ".join(found)
