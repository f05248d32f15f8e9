"""The reader explains speculative decoding in free words; the page says which ideas it sees and asks about the rest.

Rules of courtesy: it quotes the words it relied on, gives no mark, says "I could not tell" when it could not, and keeps
nothing (the parameter is private: never in an address, in storage or on a wire). It must not decide what counts as an
idea: words and rules lie in `_kit.explain_words`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from widgets._kit.explain import Match, find, words
from widgets._kit.explain_words import ENGLISH, FOREIGN, IDEAS, MISCONCEPTIONS, lexicon
from widgets._kit.params import Param, Text
from widgets._kit.view import Row, Table, Verdict, View

__all__ = ["DATA", "NEEDS", "PARAMS", "SOURCE", "TABLE_OPEN", "TITLE", "Reading", "read", "view"]

TITLE = "Explain it back"
NEEDS: tuple[str, ...] = ()
DATA: tuple[str, ...] = ()
SOURCE = (
    "Read by word rules in this page, which can miss an idea said in an unusual way. "
    "What you write is neither sent nor kept."
)

TABLE_OPEN = "Your words, idea by idea"

QUESTION = "Speculative decoding runs an extra model at every step, so why is it faster and not slower?"
_LONGEST = 20_000  # characters: a paste of 2,000 words has about 13,000
_CLAUSE = ".!?;:,()…\n—–"
_MARGIN = 60  # characters by which a quote may reach to the ends of its clause
_QUOTE = 160  # characters of the reader's words shown back at most

PARAMS: dict[str, Param] = {
    "answer": Text(
        "Your explanation",
        "",
        max_length=_LONGEST,
        rows=8,
        help="In English, in your own words; one sentence or many. It stays in this page.",
        placeholder="It is faster because …",
    )
}

# Of each idea: its name, and the question that is asked back when it is not there.
_IDEA: Mapping[str, tuple[str, str]] = {
    "memory": (
        "A pass waits for memory",
        "While the large model makes one token, what is the hardware mostly waiting for?",
    ),
    "parallel": (
        "Checking several costs about what one costs",
        "How many passes of the large model does it take to check five guesses?",
    ),
    "cheap": ("Drafts are cheap", "What does the extra model cost, next to one pass of the large one?"),
    "several": (
        "Several tokens come out of a pass",
        "How many tokens can one pass of the large model yield when guesses are right?",
    ),
    "check": (
        "The check keeps the large model's output",
        "What happens to the text when a guess is wrong: is it still the large model's?",
    ),
    "limits": ("Sometimes it does not pay", "When would the extra model make it slower, or bring nothing?"),
}

_GENTLE: Mapping[str, str] = {
    "unchecked": "No draft token is used unchecked: the large model scores each one, "
    "and its own token takes the place of the first that fails.",
    "smaller": "The large model keeps its size and all its weights; only the number of its passes goes down. "
    "Fewer bits or fewer layers are other techniques.",
    "always": "It does not help in every case: with poor drafts, a slow drafter or a busy server "
    "it can be slower than plain decoding.",
    "worse": "With the right accept rule the text is not worse: it follows the large model's own distribution. "
    "Only relaxed rules change it.",
    "less_compute": "The arithmetic goes up, not down: rejected tokens were computed too. "
    "What is saved is passes, each of which reads every weight.",
    "side_by_side": "The two models do not divide the text: the small one guesses first, "
    "then the large one checks every guess.",
}

_STATES = {"there": "✓ in your words", "unclear": "? could not tell", "missing": "– not seen"}


@dataclass(frozen=True)
class Reading:
    """What was read. `reply` is empty, short, language, unsure or read; the rest maps names to the reader's words."""

    reply: str
    there: Mapping[str, str]
    unclear: Mapping[str, str]
    misconceptions: Mapping[str, str]


def read(text: str) -> Reading:
    """Which ideas and misconceptions are in `text`, each with the words it was seen in."""
    text = text[:_LONGEST]
    reply = _kind(text)
    if reply != "read":
        return Reading(reply, {}, {}, {})
    matches = {match.idea: match for match in find(text, lexicon())}
    there = _quotes(text, matches, IDEAS, clear=True)
    wrong = _quotes(text, matches, MISCONCEPTIONS, clear=True)
    unclear = _quotes(text, matches, IDEAS, clear=False)
    return Reading("read" if there or wrong else "unsure", there, unclear, wrong)


def _kind(text: str) -> str:
    """Whether this is something to read at all: small words tell English from other languages and from lists."""
    if not text.strip():
        return "empty"
    letters = [] if text.isascii() else [char for char in text if char.isalpha()]
    latin = len(
        [char for char in letters if char < "\u0250" or "\u1e00" <= char < "\u1f00" or "\uff21" <= char < "\uff5b"]
    )
    if letters and latin < 0.7 * len(letters):
        return "language"
    said = words(text)
    if len(said) < 3:
        return "short"
    english = len([word for word in said if word in ENGLISH])
    foreign = len([word for word in said if word in FOREIGN])
    if foreign > english and foreign >= 2:
        return "language"
    if (english == 0 and len(said) >= 4) or (len(said) >= 12 and english < 0.08 * len(said)):
        return "unsure"
    return "read"


def _quotes(text: str, matches: Mapping[str, Match], names: tuple[str, ...], *, clear: bool) -> dict[str, str]:
    return {name: _quote(text, matches[name]) for name in names if name in matches and matches[name].clear is clear}


def _quote(text: str, match: Match) -> str:
    """The reader's clause on one line. Control and direction marks become spaces: a paste cannot disturb the page."""
    start, end = match.start, match.end
    while start > max(0, match.start - _MARGIN) and text[start - 1] not in _CLAUSE:
        start -= 1
    while end < min(len(text), match.end + _MARGIN) and text[end] not in _CLAUSE:
        end += 1
    if start == match.start - _MARGIN or end == match.end + _MARGIN:  # the clause is long: keep to what was relied on
        start, end = match.start, match.end
    piece = text[start:end]
    plain = " ".join("".join(" " if unicodedata.category(char)[0] == "C" else char for char in piece).split())
    return plain if len(plain) <= _QUOTE else plain[:_QUOTE].rsplit(" ", 1)[0] + " …"


def view(*, data: Mapping[str, object], answer: str) -> View:
    """The reply to `answer`. Pure; nothing is remembered between calls."""
    reading = read(answer)
    if reading.reply == "empty":
        return View(
            "Write your explanation in your own words. The page looks for six ideas in it, quotes the words it relied "
            "on, and asks about what it did not see. It gives no mark, and nothing leaves the page. "
            "If there is no field to write in, say your answer aloud and compare it with the model answer.",
            title=QUESTION,
        )
    if reading.reply != "read":
        return View(
            _not_read(reading), verdict=Verdict("info", _WHY[reading.reply]), title=QUESTION, table=_table(reading)
        )
    return View(
        _summary(reading),
        readout=tuple(
            Row(name, _IDEA[name][0], state, "", _STATES[state]) for name in IDEAS for state in (_state(reading, name),)
        ),
        table=_table(reading),
        verdict=_verdict(reading),
        title=_title(reading),
    )


_WHY = {
    "short": "That is too short to read an explanation from.",
    "language": "I read English only, and this seems to be another language. Your answer may be right all the same.",
    "unsure": "I could not tell which ideas are in this. That says as much about my word rules as about your answer.",
}


def _not_read(reading: Reading) -> str:
    if reading.unclear:
        name, quote = next(iter(reading.unclear.items()))
        return f"I could not tell what you mean by “{quote}”. A question back: {_IDEA[name][1]}"
    if reading.reply == "short":
        return "Write a sentence or two. " + _ask("memory")
    if reading.reply == "language":
        return "Answer in English, or compare your answer with the model answer yourself."
    return "You could begin here. " + _ask("memory")


def _ask(name: str) -> str:
    return f"A question back: {_IDEA[name][1]}"


def _state(reading: Reading, name: str) -> str:
    return "there" if name in reading.there else "unclear" if name in reading.unclear else "missing"


def _title(reading: Reading) -> str:
    if len(reading.there) == len(IDEAS):
        return "Every idea I look for is in your words"
    return "What I read in your words" if reading.there else "A point to look at again"


def _summary(reading: Reading) -> str:
    seen = "; ".join(f"{_IDEA[name][0].lower()} (“{quote}”)" for name, quote in reading.there.items())
    parts = [f"I read in your words: {seen}."] if seen else []
    if reading.unclear:
        name, quote = next(iter(reading.unclear.items()))
        parts.append(f"I could not tell what you mean by “{quote}”. {_ask(name)}")
    else:
        missing = [name for name in IDEAS if name not in reading.there]
        parts.append(_ask(missing[0]) if missing else "Compare it with the model answer, which may put it another way.")
    return " ".join(parts)


def _verdict(reading: Reading) -> Verdict | None:
    if not reading.misconceptions:
        return None
    return Verdict(
        "care", " ".join(f"You write “{quote}”. {_GENTLE[name]}" for name, quote in reading.misconceptions.items())
    )


def _table(reading: Reading) -> Table | None:
    if reading.reply != "read":
        return None
    rows = []
    for name in IDEAS:
        title, question = _IDEA[name]
        words_seen = reading.there.get(name) or reading.unclear.get(name)
        rows.append((title, f"“{words_seen}”" if words_seen else "–", "" if name in reading.there else question))
    return Table("Six ideas, your words, and what I would ask", ("Idea", "Your words", "A question back"), tuple(rows))
