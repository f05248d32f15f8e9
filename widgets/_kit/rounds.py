"""Rounds of draft and verify to look at: words for drawn rounds, a token strip, and two ways on one time axis.

Which token is kept comes from `sim.draw_rounds` and every width from `sim.round_time`; the words are only there to be
read. It must not know which figure shows them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from sim import draw_rounds, round_time

from .drawing import linear
from .lanes import Lane, Segment, lanes
from .text import brief, number, times
from .view import Token

__all__ = [
    "KEY",
    "TEXT",
    "TIME",
    "ShownRound",
    "factor",
    "plain_lane",
    "rounds_in_words",
    "strip",
    "tokens_in",
    "two_ways",
]

_STORY = """
the kettle on the stove began to sing and the cat who had been asleep by the window opened one eye to see what was the
matter but nobody had come in and the rain still ran down the glass so she stretched her front paws and then her back
paws and walked along the shelf past the blue cups and the tin of tea until she could look down at the table where a
letter lay half read with its corner under a spoon and a small ring of milk beside it which was worth the jump she
thought and so she made it and landed without a sound
"""
TEXT = tuple(_STORY.split())
_ASTRAY = """
a this went quickly garden again he old through made under bright into some water left many door away first could
house over seen
"""
_GUESSES = tuple(_ASTRAY.split())


KEY = (("draft", "draft step"), ("target", "verify"))
TIME = "time in passes"


@dataclass(frozen=True)
class ShownRound:
    """One round as drawn: what was drafted, how many of it stayed, and the target's own token after them."""

    drafted: tuple[str, ...]
    kept: int
    own: str

    @property
    def tokens(self) -> int:
        """What the round adds to the text: the kept drafts, and one token from the target in any case."""
        return self.kept + 1


def rounds_in_words(alpha: float, gamma: int, rounds: int, seed: int) -> tuple[ShownRound, ...]:
    """Words for the drawn rounds: kept drafts go on with the text, refused ones are other words."""
    guess = Random(seed)
    place, found = 0, []
    for kept in draw_rounds(alpha, gamma, rounds, seed):
        right = TEXT[place : place + kept]
        wrong: list[str] = []
        for index in range(kept, gamma):
            pick = int(guess.random() * len(_GUESSES))
            word = _GUESSES[pick]
            wrong.append(word if word != TEXT[place + index] else _GUESSES[(pick + 1) % len(_GUESSES)])
        found.append(ShownRound((*right, *wrong), kept, TEXT[place + kept]))
        place += kept + 1
    return tuple(found)


def tokens_in(rounds: Sequence[ShownRound]) -> int:
    """How many tokens these rounds add to the text."""
    return int(math.fsum(item.tokens for item in rounds))


def factor(x: float) -> str:
    """A speed-up; near 1× and below it with two digits, where the first alone says too little."""
    return times(x, 2 if x < 1.1 and abs(x - 1) > 1e-9 else 1)


def plain_lane(tokens: int) -> Lane:
    """Plain decoding: a pass for each token."""
    passes = tuple(Segment(place, 1, "memory") for place in range(tokens))
    word = "token in 1 pass" if tokens == 1 else f"tokens in {number(tokens)} passes"
    return Lane("Plain decoding", passes, aside=f"{number(tokens)} {word}")


def two_ways(rounds: Sequence[ShownRound], shown: Sequence[ShownRound], waiting: bool, gamma: int, c: float) -> str:
    """The same tokens on one time axis, decoded one by one above and by rounds below. The axis holds the whole run."""
    length, verify = round_time(gamma, c), round_time(0, c)
    axis = linear(max(float(tokens_in(rounds)), length * len(rounds)), TIME)
    segments: list[Segment] = []
    for index in range(len(shown) + waiting):
        start = length * index
        if c > 0:
            steps = (round_time(place, c) - verify for place in range(gamma))
            segments.extend(Segment(start + before, c, "draft", "low") for before in steps)
        if index < len(shown):
            segments.append(Segment(start + length - verify, verify, "target"))
    spent = length * len(shown) + (length - verify if waiting else 0.0)
    tokens = tokens_in(shown)
    word = "token" if tokens == 1 else "tokens"
    aside = f"the same {number(tokens)} in {brief(spent)}" if tokens else f"drafting, {brief(spent)}" if waiting else ""
    return lanes(
        f"Two lanes on one time axis: plain decoding writes {number(tokens)} {word} in {number(tokens)} passes,"
        f" speculation in the time of {brief(spent)} passes",
        axis,
        (plain_lane(tokens), Lane("Speculation", tuple(segments), aside=aside)),
        key=KEY,
    )


_DROPPED = "dropped unread, since one before it was rejected"


def strip(shown: Sequence[ShownRound], waiting: Sequence[ShownRound] = ()) -> tuple[Token, ...]:
    """The rounds as token cells; those of `waiting` are drafted and not verified yet."""
    cells: list[Token] = []
    for index, item in enumerate(shown, start=1):
        cells.extend(Token(word, "accepted", index) for word in item.drafted[: item.kept])
        for place, word in enumerate(item.drafted[item.kept :]):
            cells.append(Token(word, "rejected", index, _DROPPED if place else ""))
        cells.append(Token(item.own, "bonus" if item.kept == len(item.drafted) else "correction", index))
    for item in waiting:
        cells.extend(Token(word, "drafted", len(shown) + 1) for word in item.drafted)
    return tuple(cells)
