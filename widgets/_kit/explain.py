"""Finds ideas in what a reader wrote, by rules that a reader can check.

Text becomes sentences of stems; `explain_words` names classes of words ("LIMIT": bound, bottleneck, waits for …) and
rules that ask for some classes near each other ("RES LIMIT": a resource, and that it limits). Each word knows whether a
negation or a supposition covers it, so "it is not the memory" is not taken for the idea. A rule whose words are all
there but denied, doubted or asked gives "unclear", never "there".

Why rules and no model: every answer can be traced to the reader's own words, nothing has to be downloaded, and the
same text gives the same answer everywhere. It must not know the question, the widget or HTML. Work grows in proportion
to the text: one scan for words, one for phrases, and in a sentence of at most `SENTENCE` words a fixed set of rules.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

__all__ = ["Lexicon", "Match", "Rule", "Sentence", "find", "sentences", "stem", "words"]

SENTENCE = 60  # words; a longer sentence is cut, so that no text makes the rules slow
_SCOPE = 9  # words that a negation covers at most

_WORD = re.compile(r"[^\W_]+(?:['’ʼ][^\W_]+)?|[.!?;:…,()\n—–=%]")
_MARKS = str.maketrans("’ʼ", "''")
_PLAIN = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_ENDS = frozenset(".!?;…\n")
_PAUSES = frozenset(",:()—–")
_CONJUNCTIONS = """
but and because since so while whereas although though as hence therefore if when instead rather unless yet
"""
_SKIPPED = """
the a an very really quite basically actually also then pretty super rather essentially literally roughly approximately
about around some sort kind already even still up of
"""
_NOT_NEGATED = "only just merely doubt matter wonder surprise extra additional more difference"
_BREAKS = frozenset(_CONJUNCTIONS.split())
_FILLER = frozenset(_SKIPPED.split())
_NEGATORS = frozenset(("not", "no", "never", "without", "nothing", "nobody", "none", "neither", "zero"))
_DOUBTS = """
perhaps, maybe, suppose, supposedly, allegedly, claim, myth, pretend, doubt, misconception, not believe, not think,
not sure, not convinced, be wrong, be false, not true, not case, no idea, people say, people think, others say,
other say, but it do not, but it be not, but that be not, but they can not, but it can not, i guess so,
leave out, common mistake
"""
_OPINIONS = ("think", "expect", "believ", "suspect")  # stems; "you may think that" supposes
_NEGATED_T = {"ca": "can", "wo": "will", "can": "can", "won": "will"}  # can't, won't; the rest are "does" + "n't"
_FORMS = """
run: ran; write: wrote written; take: took taken; get: got gotten; give: gave given; pay: paid; keep: kept; choose:
chose chosen; make: made; come: came; go: went gone goes; say: said; see: saw seen; lose: lost; spend: spent; bring:
brought; do: done does did; be: is are was were am been being; have: has had having; fall: fell; sit: sat; man: men;
big: biggest bigger; large: larger largest; cheap: cheaper; quick: quicker; parallel: parallelise parallelize
parallelism parallelly; quantization: quantisation; math: maths; would: wouldve; because: bc cuz; bandwidth:
bandwith
"""
_KEEP = """
quantization this its always less pass process access lossless guess nothing during bus loss us as yes neither
regardless speed need unchanged unaltered exceed proceed
"""
_IRREGULAR = {word: word for word in _KEEP.split()} | {
    form: entry.partition(":")[0].strip() for entry in _FORMS.split(";") for form in entry.partition(":")[2].split()
}


def stem(word: str) -> str:
    """A word without its ending, British and American spelling alike: verifies, verified, verifying → verify."""
    known = _IRREGULAR.get(word)
    if known is not None:
        return known if known == word else stem(known)
    if len(word) < 4 or not word.isalpha():
        return word
    for old, new in (("isation", "ization"), ("ising", "izing"), ("ised", "ized"), ("ise", "ize"), ("ises", "izes")):
        if word.endswith(old) and len(word) > len(old) + 3:
            word = word[: -len(old)] + new
            break
    for ending, put in (("ies", "y"), ("ied", "y"), ("ing", ""), ("ed", ""), ("ly", ""), ("es", ""), ("s", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word[: -len(ending)] + put
            break
    if word in _IRREGULAR:
        return stem(word)
    if word[-1] == "e" and len(word) > 3:
        word = word[:-1]
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lszef":
        word = word[:-1]
    return word


_HARMLESS = frozenset(stem(word) for word in _NOT_NEGATED.split())  # "not only", "no extra time": nothing is denied


def _stems(phrase: str) -> tuple[str, ...]:
    return tuple(stem(word) for word in phrase.split() if word not in _FILLER)


@dataclass(frozen=True)
class Rule:
    """Classes that must stand within `window` words: the first is the anchor. "X!" must be denied, "X*" either way.

    `order` asks for the order of writing. No class of `between` may stand from the first to the last of them, none of
    `before` in the three words before the first, none of `after` in the two words after the last. `together` forbids
    a pause (a comma, a bracket) between them.
    """

    idea: str
    groups: tuple[str, ...]
    window: int = 9
    order: bool = False
    between: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    together: bool = False


@dataclass(frozen=True)
class Sentence:
    """Stems with their places in the text. `end` is the mark it ends with."""

    stems: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    pauses: tuple[bool, ...]  # a comma or bracket stands before this word
    end: str


@dataclass(frozen=True)
class Match:
    """An idea that a rule found. `clear` is False when the words are denied, doubted, or asked."""

    idea: str
    clear: bool
    start: int
    end: int


@dataclass(frozen=True)
class _Occurrence:
    first: int
    last: int
    negated: bool
    supposed: bool


def _name(group: str) -> str:
    """The class that a group asks for, without its "!" or "*"."""
    return group.rstrip("!*")


class Lexicon:
    """Classes of words and phrases, stemmed once, with an index by first word."""

    def __init__(self, classes: Mapping[str, Iterable[str]], rules: Iterable[Rule]) -> None:
        single: dict[str, list[str]] = {}
        longer: dict[str, dict[str, list[tuple[tuple[str, ...], str]]]] = {}
        vocabulary: dict[str, None] = {}
        for name, phrases in classes.items():
            for phrase in phrases:
                stems = _stems(phrase)
                if len(stems) < len(phrase.split()) and len(stems) < 2:
                    raise ValueError(f"{name}: too little of {phrase!r} is left when common words are skipped")
                if len(stems) == 1:
                    single.setdefault(stems[0], []).append(name)
                else:
                    longer.setdefault(stems[0], {}).setdefault(stems[1], []).append((stems, name))
                vocabulary.update(dict.fromkeys(stems))
        self.single, self.longer = single, longer
        self.rules = tuple(rules)
        self.by_anchor: dict[str, list[int]] = {}
        for i, rule in enumerate(self.rules):
            self.by_anchor.setdefault(_name(rule.groups[0]), []).append(i)
        self.vocabulary = vocabulary
        self._near: dict[str, str] = {}
        for word in vocabulary:
            if len(word) >= 6:
                self._near[word] = word
                for i in range(1, len(word)):
                    self._near.setdefault(word[:i] + word[i + 1 :], word)
        for rule in self.rules:
            for group in (*rule.groups, *rule.between, *rule.before, *rule.after):
                if _name(group) not in classes:
                    raise ValueError(f"rule for {rule.idea}: no class {group!r}")

    def spelled(self, word: str) -> str:
        """`word`, or a known word of six to twenty letters that is a slip away: a letter missing, added or changed."""
        if not 6 <= len(word) <= 20 or word in self.vocabulary:
            return word
        near = self._near.get(word)
        for i in range(1, len(word)):
            if near is not None:
                break
            near = self._near.get(word[:i] + word[i + 1 :])
        return near if near is not None and abs(len(near) - len(word)) <= 1 else word


def sentences(text: str, lexicon: Lexicon) -> list[Sentence]:
    """The sentences of `text`. Places point into `text` as given, so that it can be quoted."""
    found: list[Sentence] = []
    stems: list[str] = []
    spans: list[tuple[int, int]] = []
    pauses: list[bool] = []
    pause = False
    seen: dict[str, str] = {}  # for this text only: a reader's words are not kept between calls

    def close(end: str) -> None:
        if stems:
            found.append(Sentence(tuple(stems), tuple(spans), tuple(pauses), end))
            stems.clear()
            spans.clear()
            pauses.clear()

    def add(word: str, span: tuple[int, int]) -> None:
        nonlocal pause
        if word:
            stems.append(word)
            spans.append(span)
            pauses.append(pause)
            pause = False

    for match in _WORD.finditer(text):
        raw, span = match.group(), match.span()
        if raw in _ENDS:
            following = text[span[1] : span[1] + 1]
            if raw == "\n" and following.islower():  # a wrapped line goes on
                pause = True
            elif not (raw == "." and following.isdigit() and text[span[0] - 1 : span[0]].isdigit()):
                close(raw)
                pause = False
            continue
        if raw in _PAUSES:
            pause = True
            continue
        if raw == "=":
            add("be", span)
            continue
        if len(stems) >= SENTENCE:
            close(",")
        word = raw.lower() if raw.isascii() else unicodedata.normalize("NFKC", raw).casefold().translate(_MARKS)
        if "'" in word:
            head, tail = word.split("'", 1)
            if tail == "t":  # don't, isn't, can't, won't
                verb = head.removesuffix("n")
                add(_NEGATED_T.get(verb) or stem(verb), span)
                add("not", span)
                continue
            word = head
        if word in _FILLER:
            continue
        if word == "cannot":
            add("can", span)
            word = "not"
        if word not in seen:
            seen[word] = lexicon.spelled(stem(word))
        add(seen[word], span)
    close("")
    return found


def _phrases(sentence: Sentence, lexicon: Lexicon) -> list[tuple[int, int, str]]:
    """Every phrase of every class that stands in the sentence: (first word, last word, class)."""
    stems = sentence.stems
    found: list[tuple[int, int, str]] = []
    for i, word in enumerate(stems):
        for name in lexicon.single.get(word, ()):
            found.append((i, i, name))
        after = lexicon.longer.get(word)
        if after is not None and i + 1 < len(stems):
            for phrase, name in after.get(stems[i + 1], ()):
                if stems[i : i + len(phrase)] == phrase:
                    found.append((i, i + len(phrase) - 1, name))
    return found


def _covered(sentence: Sentence) -> tuple[list[bool], list[bool], bool]:
    """Which words a negation covers, which a supposition; and whether the whole sentence is doubted."""
    stems, size = sentence.stems, len(sentence.stems)
    negated, supposed = [False] * size, [False] * size
    for i, word in enumerate(stems):
        if word in _NEGATORS and not (i + 1 < size and stems[i + 1] in _HARMLESS):
            for j in range(i + 1, min(size, i + 1 + _SCOPE)):
                if sentence.pauses[j] or (stems[j] in _BREAKS and j > i + 1):
                    break
                negated[j] = not negated[j]
        elif word in _OPINIONS and i > 0 and stems[i - 1] in ("may", "might", "would", "could"):
            for j in range(i + 1, size):
                if sentence.pauses[j] or stems[j] == "but":
                    break
                supposed[j] = True
        elif word == "if" and "would" in stems:
            for j in range(i + 1, size):
                if sentence.pauses[j] or stems[j] in ("then", "would"):
                    break
                supposed[j] = True
    return negated, supposed, _doubted(sentence)


def _doubted(sentence: Sentence) -> bool:
    if sentence.end == "?":
        return True
    stems = sentence.stems
    return any(stems[i : i + len(doubt)] == doubt for i, word in enumerate(stems) for doubt in _doubts().get(word, ()))


@lru_cache(maxsize=1)
def _doubts() -> dict[str, list[tuple[str, ...]]]:
    index: dict[str, list[tuple[str, ...]]] = {}
    for phrase in _DOUBTS.split(","):
        stems = _stems(phrase)
        index.setdefault(stems[0], []).append(stems)
    return index


def words(text: str) -> list[str]:
    """The words of `text` in lower case, without marks."""
    return [match.group().partition("'")[0] for match in _PLAIN.finditer(text.casefold().translate(_MARKS))]


def find(text: str, lexicon: Lexicon) -> list[Match]:
    """At most one match of each idea: the first clear one, else the first unclear one."""
    best: dict[str, Match] = {}
    for sentence in sentences(text, lexicon):
        phrases = _phrases(sentence, lexicon)
        if not phrases:
            continue
        negated, supposed, doubted = _covered(sentence)
        places: dict[str, list[_Occurrence]] = {}
        for first, last, name in phrases:
            places.setdefault(name, []).append(_Occurrence(first, last, negated[first], supposed[first]))
        for number in sorted(i for name in places for i in lexicon.by_anchor.get(name, ())):
            rule = lexicon.rules[number]
            known = best.get(rule.idea)
            if known is not None and known.clear:
                continue
            hit = _apply(rule, places, sentence, doubted)
            if hit is not None and (known is None or hit.clear):
                best[rule.idea] = hit
    return list(best.values())


def _fits(group: str, place: _Occurrence) -> bool:
    return group.endswith("*") or place.negated == group.endswith("!")


def _apply(rule: Rule, places: Mapping[str, list[_Occurrence]], sentence: Sentence, doubted: bool) -> Match | None:
    """The first place where `rule` holds; else one where only a negation speaks against it; else None."""
    denied: Match | None = None
    for anchor in places[_name(rule.groups[0])]:
        chosen = [anchor]
        for group in rule.groups[1:]:
            near = [
                place
                for place in places.get(_name(group), ())
                if max(place.first - anchor.last, anchor.first - place.last) <= rule.window
                and all(place.first > other.last or place.last < other.first for other in chosen)
                and (not rule.order or place.first > chosen[-1].last)
            ]
            if not near:
                break
            near.sort(key=lambda p: (not _fits(group, p), max(p.first - anchor.last, anchor.first - p.last), p.first))
            chosen.append(near[0])
        if len(chosen) < len(rule.groups):
            continue
        first, last = min(place.first for place in chosen), max(place.last for place in chosen)
        if rule.together and any(sentence.pauses[first + 1 : last + 1]):
            continue
        if _stands(rule.after, places, last + 1, last + 2, chosen):
            continue
        if _stands(rule.between, places, first, last, chosen) or _stands(
            rule.before, places, _reach(sentence, first), first - 1, chosen
        ):
            continue
        fits = all(_fits(group, place) for group, place in zip(rule.groups, chosen, strict=True))
        clear = fits and not doubted and not any(place.supposed for place in chosen)
        hit = Match(rule.idea, clear, sentence.spans[first][0], sentence.spans[last][1])
        if clear:
            return hit
        if not any(group.endswith("!") for group in rule.groups):  # "it changes" is not a denied "does not change"
            denied = denied or hit
    return denied


def _reach(sentence: Sentence, first: int) -> int:
    """How far back `before` looks: three words, and never across a pause."""
    back = first
    while back > max(0, first - 3) and not sentence.pauses[back]:
        back -= 1
    return back


def _stands(
    names: tuple[str, ...], places: Mapping[str, list[_Occurrence]], first: int, last: int, chosen: list[_Occurrence]
) -> bool:
    """Whether a class of `names` stands between two places, apart from the words already chosen."""
    return any(
        place.first <= last
        and place.last >= first
        and all(place.first > c.last or place.last < c.first for c in chosen)
        for name in names
        for place in places.get(name, ())
    )
