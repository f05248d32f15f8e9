"""Numbers in prose: what is computed, what is refused, and that nothing but `sim` can run."""

from __future__ import annotations

import builtins
import os
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sim
from widgets._page.inline import Refused, data_value, sim_value, split_spec


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("expected_tokens(alpha=0.8, gamma=4):.2f", "3.36"),
        ("expected_tokens(alpha=0.8, gamma=4)", "3.3616"),
        ("expected_tokens( gamma = 4 , alpha = 8e-1 ):.2f", "3.36"),
        ("expected_tokens(alpha=.8,\n gamma=4):.2f", "3.36"),
        ('pass_time(model="70b", hardware="h100-sxm").idle:.2%', "99.66%"),
        ("pass_time(model='70b', hardware='h100-sxm').total_ms:.1f", "41.8"),
        ('pass_time(model="70b", hardware="h100-sxm").fits', "no"),
        ('pass_time(model="70b", hardware="h100-sxm").bound', "memory"),
        ("overlap(p=(.5, .3, .2), q=[.6, .1, .3]):.1f", "0.8"),
        ("passes_for(tokens=100, alpha=0.8, gamma=4):.0f", "30"),
        ("optimal_gamma(alpha=0.8, c=0.17)", str(sim.optimal_gamma(alpha=0.8, c=0.17))),
        ('acceptance(p=(.5, .3, .2), q=(.6, .1, .3), rule="match"):.2f', "0.39"),
    ],
)
def test_a_value_is_what_sim_says(text, shown):
    assert sim_value(text)[0] == shown


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "cannot be read"),
        ("expected_tokens", "is not one call to a function of sim"),
        ("expected_tokens(alpha=0.8, gamma=4", "cannot be read"),
        ("expected_tokens(0.8, 4)", "name every argument of expected_tokens"),
        ("expected_tokens(alpha=0.8, gamma=4, alpha=0.9)", "alpha stands twice"),
        ("expected_token(alpha=0.8, gamma=4)",
         "sim has no function 'expected_token' (did you mean 'expected_tokens'?)"),
        ("expected_tokens(alhpa=0.8, gamma=4)", "has no argument 'alhpa' (did you mean 'alpha'?)"),
        ("expected_tokens(alpha=0.8)", "sim.expected_tokens needs gamma"),
        ("expected_tokens(alpha=1.8, gamma=4)", "sim.expected_tokens: alpha"),
        ("expected_tokens(alpha=0.8, gamma=4).real", "is one value and has no field 'real'"),
        ('pass_time(model="70b", hardware="h100-sxm")', "is not one value; name one of its fields: "),
        ('pass_time(model="70b", hardware="h100-sxm").idel', "has no field 'idel' (did you mean 'idle'?)"),
        ('pass_time(model="70b", hardware="h100-sxm").fits:.2f', "is yes or no, which has no format '.2f'"),
        ('pass_time(model="70b", hardware="h100-sxm").bound:.2f', "is a word, which has no format '.2f'"),
        ('pass_time(model="70c", hardware="h100-sxm").idle', "sim.pass_time: "),
        ("draw_rounds(alpha=0.8, gamma=4, rounds=3, seed=1)", "gives many numbers; a sentence can show one"),
        ("expected_tokens(alpha=0.8, gamma=4):.2f:", "cannot be read"),
        ("expected_tokens(alpha=0.8, gamma=4):x", "'x' is not a format"),
        ("MODELS()", "sim.MODELS is not a function"),
    ],
)
def test_a_mistake_is_named(text, words):
    with pytest.raises(Refused) as refused:
        sim_value(text)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('id')",
        "__import__(name='os')",
        "eval(expression='1')",
        "open(file='/etc/passwd')",
        "theory.expected_tokens(alpha=0.8, gamma=4)",
        "expected_tokens.__globals__(alpha=0.8)",
        "expected_tokens(alpha=0.8, gamma=4).__class__",
        "expected_tokens(alpha=0.8, gamma=4).__class__.__mro__",
        'pass_time(model="70b", hardware="h100-sxm").__class__',
        'pass_time(model="70b", hardware="h100-sxm").__dict__',
        'pass_time(model="70b", hardware="h100-sxm").__init__',
        'pass_time(model="70b", hardware="h100-sxm").idle.real',
        "expected_tokens(alpha=expected_tokens(alpha=0.1, gamma=1), gamma=4)",
        "expected_tokens(alpha=0.4+0.4, gamma=4)",
        "expected_tokens(alpha=0.8, gamma=2**30)",
        "expected_tokens(alpha=0.8, gamma=10000001)",
        "expected_tokens(alpha=0.8, gamma=" + "9" * 300 + ")",
        "expected_tokens(alpha=0.8, gamma=" + "9" * 5000 + ")",
        "expected_tokens(alpha=1e999, gamma=4)",
        "expected_tokens(alpha=-1e999, gamma=4)",
        "expected_tokens(alpha=-True, gamma=4)",
        "expected_tokens(alpha=f'{0.8}', gamma=4)",
        "expected_tokens(alpha=b'x', gamma=4)",
        "expected_tokens(alpha=0.8j, gamma=4)",
        "expected_tokens(alpha=(lambda: 0.8)(), gamma=4)",
        "expected_tokens(alpha=[x for x in (1,)], gamma=4)",
        "expected_tokens(alpha={}, gamma=4)",
        "expected_tokens(alpha=..., gamma=4)",
        "expected_tokens(alpha=(x := 0.8), gamma=4)",
        "expected_tokens(**{'alpha': 0.8, 'gamma': 4})",
        "expected_tokens(*(0.8, 4))",
        "(lambda: 1)()",
        "[expected_tokens(alpha=0.8, gamma=4)][0]",
        "expected_tokens(alpha=0.8, gamma=4)(x=1)",
        "await expected_tokens(alpha=0.8, gamma=4)",
        "expected_tokens(alpha=0.8, gamma=4); import os",
        "expected_tokens(alpha=0.8, gamma=4):{alpha}",
        "expected_tokens(alpha=0.8, gamma=4):1000000000",
        "expected_tokens(alpha=0.8, gamma=4):.1000000f",
        "expected_tokens(alpha=0.8, gamma=4):>9",
        "expected_tokens(alpha=0.8, gamma=4):!r",
        "overlap(p=(" + "0.1, " * 65 + "), q=(1,))",
        "(" * 300 + "1" + ")" * 300,
        "\x00",
    ],
)
def test_nothing_but_plain_calls_of_sim_can_be_reached(text):
    with pytest.raises(Refused):
        sim_value(text)


PIECES = [
    "expected_tokens(", "alpha=0.8", "alpha=", "gamma=4", ", ", ")", "(", "[", "]", "{", "}", "__import__('os')",
    ".system('id')", ".__class__", ".__subclasses__()", ".__globals__", "open('x', 'w')", "lambda: ", "exec(",
    "eval(", "globals()", "\n", "; ", "import os", ":", ":{", "!r", "f'{1}'", "'", '"', "sim.", "cost.", "data.",
    "random.", "pass_time(", "**", "*", ":=", "0.8", "-", " if ", " else ", " for x in ", "yield ", "@", "\\", "#",
    ":.2f", "%", "9999999999999999999999999999999999999999", "\x00", "\u2028",
]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_nothing_is_evaluated_opened_or_imported_whatever_is_written(text):
    def reached(*given: object, **named: object) -> None:
        raise AssertionError(f"{text!r} reached Python")

    with pytest.MonkeyPatch.context() as patch:
        for name in ("eval", "exec", "open"):
            patch.setattr(builtins, name, reached)
        patch.setattr(os, "system", reached)
        with suppress(Refused):
            assert isinstance(sim_value(text)[0], str)


@given(st.text(alphabet="expctd_okns(alph=0.8,gm4):.2f'\"[]{}*!_ ", max_size=60))
def test_any_text_is_a_value_or_is_refused(text):
    with suppress(Refused):
        assert isinstance(sim_value(text)[0], str)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("f(a=1)", ("f(a=1)", "")),
        ("f(a=1):.2f", ("f(a=1)", ".2f")),
        ("f(a='x:y').b:.1%", ("f(a='x:y').b", ".1%")),
        ("f(a=[1:2])", ("f(a=[1:2])", "")),
        ("f(a=1):a:b", ("f(a=1):a", "b")),
        ("f(a=')'):d", ("f(a=')')", "d")),
    ],
)
def test_the_format_is_split_at_the_last_colon_outside_brackets_and_quotes(text, parts):
    assert split_spec(text) == parts


@pytest.mark.parametrize(
    ("text", "shown"),
    [("a-1.speedup:.1f", "2.4"), ("a-1.speedup", "2.444"), ("a-1.year", "2023"), ("a-1.method", "draft model"),
     ("a-1.lossless", "yes")],
)
def test_a_row_of_the_data(bench, text, shown):
    assert data_value(text, bench.docs) == (shown, f"docs/data/published.json: {text.split(':')[0]}")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "'' is not '<row id>.<field>'"),
        ("a-1", "'a-1' is not '<row id>.<field>'"),
        ("a-1.speedup.real", "is not '<row id>.<field>'"),
        ("a-2.speedup", "no row 'a-2' in docs/data (did you mean 'a-1'?)"),
        ("a-1.speedpu:.1f", "row 'a-1' has no field 'speedpu' (did you mean 'speedup'?)"),
        ("a-1.__class__", "row 'a-1' has no field '__class__'"),
        ("a-1.batch", "row 'a-1': batch is unknown (null in docs/data/published.json)"),
        ("a-1.method:.1f", "a-1.method is a word, which has no format '.1f'"),
        ("a-1.speedup:>99", "'>99' is not a format"),
        ("../a-1.speedup", "is not '<row id>.<field>'"),
    ],
)
def test_a_mistake_in_a_row_is_named(bench, text, words):
    with pytest.raises(Refused) as refused:
        data_value(text, bench.docs)
    assert words in str(refused.value)


def test_data_that_cannot_be_read_name_the_file(bench):
    bench.rows("<!doctype html>")
    with pytest.raises(Refused, match=r"the data cannot be read: docs/data/published\.json"):
        data_value("a-1.speedup", bench.docs)


def test_data_that_changed_are_read_again(bench):
    assert data_value("a-1.speedup", bench.docs)[0] == "2.444"
    path = bench.docs / "data" / "published.json"
    bench.rows(path.read_text(encoding="utf-8").replace("2.444", "2.5"))
    assert data_value("a-1.speedup", bench.docs)[0] == "2.5"


NUMBER = '<span class="sd-number" title="sim.expected_tokens(alpha=0.8, gamma=4)">3.36</span>'
VALUE = "`#!sim expected_tokens(alpha=0.8, gamma=4):.2f`"


@pytest.mark.parametrize(
    "text",
    [
        f"Gives {VALUE} tokens.",
        f"- Gives {VALUE} tokens.",
        f"| a |\n| - |\n| {VALUE} |",
        f"**{VALUE}** and [a link](x)",
        f"!!! note\n\n    Gives {VALUE}.",
        f'<p markdown="1">Gives {VALUE}.</p>',
        "Gives `#!sim expected_tokens(alpha=0.8,\ngamma=4):.2f` tokens.",
        "Gives ``#!sim expected_tokens(alpha=0.8, gamma=4):.2f`` tokens.",
        f"## Gives {VALUE} tokens {{#gives}}",
        f"Gives {VALUE} tokens {{#gives}}\n----------",
    ],
)
def test_a_value_stands_in_the_sentence(bench, text):
    built = bench.build(text)
    assert built.told == []
    assert NUMBER in built.html


@pytest.mark.parametrize(
    "text",
    [
        "``` `#!sim nothing()` ```",
        "`` `#!sim nothing()` ``",
        "```text\n`#!sim nothing()`\n```",
        "    `#!sim nothing()`",
        "`#!python print(1)` and `#!simple x`",
        "<!-- `#!sim nothing()` -->",
        r"\`#!sim nothing()\`",
    ],
)
def test_an_example_of_a_value_stays_one(bench, text):
    built = bench.build(text)
    assert built.told == []
    assert "sd-" not in built.html


def test_a_value_wins_over_highlighted_code_with_the_same_opener(bench):
    built = bench.build(f"`#!python x = 1` and {VALUE}")
    assert '<code class="highlight">' in built.html
    assert NUMBER in built.html


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a\n\nb `#!sim nothing(x=1)`", "docs/page.md:3: sim has no function 'nothing'"),
        ("a\n\nb `#!data a-9.year`", "docs/page.md:3: no row 'a-9' in docs/data (did you mean 'a-1'?)"),
        ("b `#!sim`", "docs/page.md:1: '' cannot be read"),
        ("````md\n`#!sim nothing(x=1)`\n````\n\n`#!sim nothing(x=1)`", "docs/page.md:5: sim has no function 'nothing'"),
        (f"{VALUE}\n\n{VALUE}\n\n`#!sim nothing()`", "docs/page.md:5: sim has no function 'nothing'"),
        ("a ` b\n\nc `#!sim nothing()` d", "docs/page.md:3: sim has no function 'nothing'"),
        (f"# Gives {VALUE}", "docs/page.md:1: a number in a heading would become part of its address"),
        (f"a\n\nGives {VALUE}\n====", "docs/page.md:3: a number in a heading would become part of its address"),
        (f"a\n\n<p>Gives {VALUE}</p>",
         "docs/page.md:3: `#!sim expected_tokens(alpha=0.8, gamma=4):.2f` stands in raw HTML"),
    ],
)
def test_a_value_that_cannot_be_shown_is_told_with_its_line(bench, text, told):
    built = bench.build(text)
    assert len(built.told) == 1
    assert built.told[0].startswith(told)


def test_a_red_box_stands_in_the_sentence_and_is_escaped(bench):
    built = bench.build("b `#!sim <img src=x onerror=alert(1)>` c")
    assert '<span class="sd-problem-box sd-problem-inline" role="note">' in built.html
    assert "<img" not in built.html
    assert built.html.startswith("<p>b <span")
    assert built.html.endswith("</span> c</p>")


def test_the_title_of_a_value_is_escaped(bench):
    html = bench.build('`#!sim pass_time(model="70b", hardware="h100-sxm").total_ms:.1f`').html
    assert 'title="sim.pass_time(model=&quot;70b&quot;, hardware=&quot;h100-sxm&quot;).total_ms">41.8<' in html
