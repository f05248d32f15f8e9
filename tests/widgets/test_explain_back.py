"""The explanation reader, judged by labelled answers: half of them were written before it and are never tuned on.

The figures per idea are printed on every run. A change of a rule may look at single answers of the tuning half only.
"""

import ast
import re
import tomllib
from pathlib import Path

import pytest

import widgets
from widgets._kit import explain
from widgets._kit.explain import Lexicon, Rule, find, sentences, stem
from widgets._kit.explain_words import IDEAS, MISCONCEPTIONS, lexicon
from widgets._kit.render import parts
from widgets.explain_back import PARAMS, read, view

ROOT = Path(__file__).parents[2]
FILE = tomllib.loads((ROOT / "tests" / "data" / "explanations.toml").read_text(encoding="utf-8"))
ANSWERS = FILE["answer"]
PRECISION, RECALL = 0.9, 0.7


def half(name):
    return [answer for answer in ANSWERS if answer["set"] == name]


def written(answer):
    """The text of a labelled answer; a paste stands in the middle of so many words of its filler."""
    paste = answer.get("paste")
    if paste is None:
        return answer["text"]
    filler = FILE["fillers"][paste["filler"]].split()
    around = (filler * (paste["words"] // len(filler) + 1))[: paste["words"]]
    middle = len(around) // 2
    return f"{' '.join(around[:middle])}\n{answer['text']}\n{' '.join(around[middle:])}"


def score(name, label, keys):
    """Per idea: how many were found rightly, how many were found, how many are there."""
    counts = {key: [0, 0, 0] for key in keys}
    for answer in half(name):
        reading = read(written(answer))
        for key in keys:
            found = key in reading.there or key in reading.misconceptions
            there = key in answer[label]
            for place, holds in enumerate((found and there, found, there)):
                counts[key][place] += holds
    return counts


def test_the_labelled_set_is_large_and_varied_enough():
    assert len(half("held-out")) >= 80
    assert len(half("tuning")) >= 80
    for name in ("held-out", "tuning"):
        for idea in IDEAS:
            assert sum(idea in answer["ideas"] for answer in half(name)) >= 15
        replies = {answer.get("reply") for answer in half(name)}
        assert replies >= {"empty", "short", "language", "unsure"}
        assert any(len(written(answer).split()) >= 2000 for answer in half(name))
    texts = [answer["text"] for answer in ANSWERS if answer["text"].strip()]
    assert len(texts) == len(set(texts)), "an answer stands in the file twice"


def test_labels_are_known_words():
    for answer in ANSWERS:
        assert answer["set"] in ("held-out", "tuning")
        assert all(idea in IDEAS for idea in answer["ideas"]), answer["text"]
        assert all(name in MISCONCEPTIONS for name in answer["misconceptions"]), answer["text"]


@pytest.mark.parametrize("name", ["held-out", "tuning"])
def test_ideas_are_found_with_precision_and_recall(name, capsys):
    counts = score(name, "ideas", IDEAS)
    with capsys.disabled():
        print(f"\n{name} half, {len(half(name))} answers: precision, recall")
        for idea, (right, found, there) in counts.items():
            print(f"  {idea:9} {right / found:.2f} ({right}/{found})  {right / there:.2f} ({right}/{there})")
    for idea, (right, found, there) in counts.items():
        assert right / found >= PRECISION, f"{idea}: too often seen where it is not"
        assert right / there >= RECALL, f"{idea}: too often missed"


@pytest.mark.parametrize("name", ["held-out", "tuning"])
def test_misconceptions_are_found_and_nobody_is_accused_wrongly(name, capsys):
    counts = score(name, "misconceptions", MISCONCEPTIONS).values()
    right, found, there = (sum(column) for column in zip(*counts, strict=True))
    precision, recall = right / found, right / there
    with capsys.disabled():
        print(f"\n{name} half, misconceptions: {precision:.2f} ({right}/{found}), {recall:.2f} ({right}/{there})")
    assert precision >= PRECISION
    assert recall >= RECALL


@pytest.mark.parametrize("answer", [a for a in ANSWERS if "reply" in a], ids=lambda a: a["text"][:30] or "empty")
def test_what_cannot_be_read_is_said_to_be_so(answer):
    assert read(written(answer)).reply == answer["reply"]


@pytest.mark.parametrize(
    ("said", "denied"),
    [
        ("Decoding is limited by memory bandwidth.", "Decoding is not limited by memory bandwidth."),
        ("The drafts are cheap.", "The drafts aren't cheap."),
        ("The large model checks all of them in one pass.", "The large model can't check all of them in one pass."),
        ("The distribution is preserved.", "The distribution isn’t preserved."),
        ("The weights are the bottleneck.", "Are the weights the bottleneck?"),
        ("It is memory-bound.", "My teacher said it is memory-bound but that is wrong."),
    ],
)
def test_a_denied_or_doubted_idea_is_not_taken_for_the_idea(said, denied):
    assert read(said).there
    assert not read(denied).there


def test_unusual_letters_and_spellings_read_alike():
    """Case, typographic marks, wide letters, British and American spelling, a slip of the pen."""
    plain = read("The pass is memory-bound and the cores are underutilized.").there
    for text in (
        "THE PASS IS MEMORY-BOUND AND THE CORES ARE UNDERUTILIZED.",
        "The pass is memory‑bound and the cores are underutilised.",
        "The pass is ｍｅｍｏｒｙ-bound and the cores are underutilized.",
        "The pass is memmory-bound and the cores are underutilized.",
    ):
        assert tuple(read(text).there) == tuple(plain) == ("memory",)


def test_a_stem_joins_the_forms_of_a_word():
    assert stem("verifies") == stem("verified") == stem("verifying") == stem("verify")
    assert stem("quantised") == stem("quantized") == stem("quantizing")
    assert stem("written") == stem("wrote") == stem("writes")


def test_the_quote_is_what_the_reader_wrote():
    text = "Well — the GPU is\n  Mostly Waiting for its weights, you see."
    quote = read(text).there["memory"]
    assert quote in " ".join(text.split())
    assert "Mostly Waiting" in quote


def test_the_view_quotes_asks_back_and_gives_no_mark():
    drawn = parts(widgets.load("explain_back"), view(data={}, answer="The drafts are cheap. It always helps."))
    assert "The drafts are cheap" in drawn["summary"]
    assert "A question back" in drawn["summary"]
    assert "does not help in every case" in drawn["verdict"]
    values = [row.value for row in view(data={}, answer="The drafts are cheap.").readout]
    assert values == ["missing", "missing", "there", "missing", "missing", "missing"]
    assert not any(char.isdigit() for part in drawn.values() for char in _text(part))


def _text(fragment):
    """What is read on the page, without tags and character references."""
    out, inside = [], False
    for char in fragment.replace("&#x27;", "'"):
        inside = char == "<" or (inside and char != ">")
        out.append("" if inside else char)
    return "".join(out)


def test_the_model_answer_of_the_lesson_holds_all_six_ideas():
    page = (ROOT / "docs" / "lessons" / "03-drafting-with-heads.md").read_text(encoding="utf-8")
    folded = page.partition('??? note "A model answer"\n')[2]
    answer = "".join(line for line in folded.splitlines(keepends=True) if line.startswith("    ") or not line.strip())
    reading = read(answer)
    assert tuple(reading.there) == IDEAS
    assert not reading.misconceptions


def test_all_six_ideas_leave_no_question_open():
    shown = view(data={}, answer=half("tuning")[0]["text"])
    assert [row.value for row in shown.readout] == ["there"] * 6
    assert "question back" not in shown.summary
    assert shown.table is not None
    assert all(row[2] == "" for row in shown.table.rows)


def test_the_default_says_what_will_happen():
    shown = view(data={}, answer=PARAMS["answer"].default)
    assert "nothing leaves the page" in shown.summary
    assert shown.readout == ()


def test_other_languages_are_told_that_english_is_read():
    shown = view(data={}, answer="Weil das Prüfen von fünf Token kaum mehr kostet als das von einem.")
    assert shown.verdict is not None
    assert "English only" in shown.verdict.text


HOSTILE = [
    "<script>alert(1)</script> The drafts are cheap & <b onmouseover='x'>fast</b>.",
    "The drafts \u202eare\u202c \u0000\u0007cheap\u2028 and \u200bfast.",
    'The drafts are ]]> cheap --> "fast" \' and',
    "cheap " * 3000,
    "x" * 20_000,
    "memory-" * 2500,
    "the drafts are cheap, " * 900,
    "not " * 5000,
    "if it would " * 1600,
    "'’'’'’" * 3000,
    "\U0001f600" * 10_000,
    "\u05d0\u05d1\u05d2 " * 4000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_stays_text(text):
    drawn = parts(widgets.load("explain_back"), view(data={}, answer=PARAMS["answer"].check(text)))
    for part in drawn.values():
        assert "<script" not in part
        assert "<b " not in part
        assert not any(mark in part for mark in "\u0000\u0007\u202e\u202c\u2028\u200b")
        assert len(part) < 6000, "a long text is quoted in short"


def test_the_parameter_is_private():
    param = PARAMS["answer"]
    assert param.private
    assert param.show("my secret") == ""
    with pytest.raises(ValueError, match="private"):
        param.address("my secret")


def test_reading_is_pure_and_remembers_nothing():
    first = view(data={}, answer="The drafts are cheap.")
    view(data={}, answer="It is limited by memory bandwidth.")
    assert view(data={}, answer="The drafts are cheap.") == first
    before = repr(vars(lexicon()))
    view(data={}, answer="The weights of the zyxwvutian are read once for all positions that are checked.")
    assert repr(vars(lexicon())) == before
    assert "zyxwvutian" not in repr({name: value for name, value in vars(explain).items() if name != "__builtins__"})


def test_only_the_standard_library_is_imported():
    for name in ("widgets/explain_back.py", "widgets/_kit/explain.py", "widgets/_kit/explain_words.py"):
        tree = ast.parse((ROOT / name).read_text(encoding="utf-8"))
        froms = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level == 0]
        plain = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
        allowed = ("__future__", "collections.abc", "dataclasses", "functools", "itertools", "re", "unicodedata")
        assert all(module in allowed or module.startswith("widgets._kit.") for module in [*froms, *plain])


def test_patterns_have_no_nested_repeats():
    """Two repeats inside each other are what makes a pattern take for ever on a long line."""
    import re._parser as parser

    def depth(tree):
        deepest = 0
        for operation, argument in tree:
            inner = list(_trees(argument, parser.SubPattern))
            repeats = str(operation) in ("MAX_REPEAT", "MIN_REPEAT") and argument[1] > 1
            deepest = max(deepest, repeats + max((depth(item) for item in inner), default=0))
        return deepest

    patterns = [value for value in vars(explain).values() if isinstance(value, re.Pattern)]
    assert patterns
    assert all(depth(parser.parse(pattern.pattern)) <= 1 for pattern in patterns)


def _trees(argument, kind):
    if isinstance(argument, kind):
        yield argument
    elif isinstance(argument, (tuple, list)):
        for item in argument:
            yield from _trees(item, kind)


def test_work_grows_in_proportion_to_the_text(monkeypatch):
    """Twice the text makes at most about twice the work, counted in tries of a rule; and no sentence is long."""
    tries = []
    real = explain._apply

    def counted(rule, places, sentence, doubted):
        tries.append(len([1 for found in places.values() for _ in found]))
        return real(rule, places, sentence, doubted)

    monkeypatch.setattr(explain, "_apply", counted)
    text = "the big model waits and the small model is not slow while tokens are read "

    def work(times):
        tries.clear()
        find(text * times, lexicon())
        return sum(tries)

    assert 0 < work(400) <= 2.2 * work(200)
    assert all(len(sentence.stems) <= explain.SENTENCE + 1 for sentence in sentences(text * 400, lexicon()))


def test_a_rule_that_names_no_class_is_refused():
    with pytest.raises(ValueError, match="no class 'DOG'"):
        Lexicon({"CAT": ["cat"]}, [Rule("pets", ("CAT", "DOG"))])
    with pytest.raises(ValueError, match="too little of"):
        Lexicon({"CAT": ["the cat"]}, [])


def test_a_rule_reads_as_it_is_written():
    """Order, a class in between, before, after, a pause, a wanted negation."""
    classes = {"CAT": ["cat"], "DOG": ["dog"], "BIRD": ["bird"]}

    def holds(text, **settings):
        return bool([m for m in find(text, Lexicon(classes, [Rule("x", ("CAT", "DOG"), 4, **settings)])) if m.clear])

    assert holds("the dog sees the cat")
    assert not holds("the dog sees the cat", order=True)
    assert not holds("cat, one, two, three, four, five, dog")
    assert not holds("the cat and bird and dog", between=("BIRD",))
    assert not holds("a bird saw cat and dog", before=("BIRD",))
    assert not holds("a cat saw a dog and bird", after=("BIRD",))
    assert not holds("the cat, a dog", together=True)
    assert not holds("no cat sees the dog")
    assert [m.clear for m in find("no cat", Lexicon(classes, [Rule("x", ("CAT!",))]))] == [True]
