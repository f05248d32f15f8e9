"""Formulas: LaTeX in, MathML out, or a sentence that says what is wrong with it."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.tools.subset_font import CHARACTERS, LIMIT, TARGET, italic
from widgets._page.formula import Refused, formula

PAGES = sorted((Path(__file__).resolve().parents[2] / "docs").rglob("*.md"))
FORMULAS = [latex for page in PAGES for latex in re.findall(r"^```math\n(.*?)\n```$", page.read_text(), re.M | re.S)]


def math(latex: str) -> str:
    """The inside of <math>."""
    found = re.search(r"<math [^>]*><mrow>(.*)</mrow></math>", formula(latex))
    assert found
    return found[1]


@pytest.mark.parametrize(
    ("latex", "wanted"),
    [
        (r"\frac{a}{b}", "<mfrac><mrow><mi>a</mi></mrow><mrow><mi>b</mi></mrow></mfrac>"),
        (r"\mathrm{E}", '<mi mathvariant="normal">E</mi>'),  # one letter would be set in italics
        (r"a \iff b", "<mi>a</mi><mo>⟺</mo><mi>b</mi>"),  # a sign, not a letter: it needs room
        (r"x < 1", "<mi>x</mi><mo>&lt;</mo><mn>1</mn>"),
        (r"1 + \sum_{x} x", "<mn>1</mn><mo>+</mo><munder><mo>∑</mo><mrow><mi>x</mi></mrow></munder><mi>x</mi>"),
        (r"a_{x}", "<msub><mi>a</mi><mrow><mi>x</mi></mrow></msub>"),
        (r"\hat{c}", '<mover accent="true"><mrow><mi>c</mi></mrow><mo>ˆ</mo></mover>'),
        (r"\text{a \b}", "<mtext>a\u00a0\\b</mtext>"),
    ],
)
def test_latex_becomes_mathml(latex, wanted):
    assert math(latex) == wanted


@pytest.mark.parametrize(
    ("latex", "told"),
    [
        ("", "the formula is empty"),
        (r"\apha", r"unknown command \apha (did you mean \alpha?)"),
        (r"\fracc{1}{2}", r"unknown command \fracc (did you mean \frac?)"),
        (r"\frac{1}", "a fraction, root, index or exponent lacks one of its parts"),
        (r"\frac{1}{2", "a { has no }"),
        ("1}", "a } has no {"),
        (r"\left( x", r"this LaTeX cannot be read: a \left has no \right, or a \right no \left"),
        ("x^", "this LaTeX cannot be read: nothing stands after a ^ or _"),
        ("x_1_2", "this LaTeX cannot be read: two indices follow each other; put braces around the first"),
        (r"\begin{matrix} a", r"this LaTeX cannot be read: a \begin has no \end"),
        ("a & b", r"a & stands outside a table, or a < inside \text"),
        (r"\text{<script>alert(1)</script>}", "this LaTeX gives <script>, which is not shown here"),
        (r"\href{javascript:alert(1)}{x}", "this LaTeX gives href=, which is not shown here"),
    ],
)
def test_what_would_come_out_wrong_is_refused(latex, told):
    with pytest.raises(Refused) as refused:
        formula(latex)
    assert str(refused.value) == told


def test_the_latex_stays_with_the_formula_for_whoever_cannot_see_it():
    html = formula("a <\n b")
    assert 'alttext="a &lt; b"' in html
    assert 'role="group" aria-label="Formula, in LaTeX: a &lt; b"' in html
    assert "data-search-exclude" in html


def test_a_block_becomes_a_formula(bench):
    built = bench.build("Before.\n```math\n\\tau = \\frac{1}{2}\n```\nAfter.\n")
    assert built.told == []
    assert re.fullmatch(r"<p>Before.</p>\s*<div class=\"sd-formula\".*</math></div>\s*<p>After.</p>", built.html)


def test_a_block_in_a_quote_and_in_a_list(bench):
    built = bench.build("> ```math\n> a\n> ```\n\n- item\n\n    ```math\n    b\n    ```\n")
    assert built.told == []
    assert built.html.count("<math ") == 2
    assert "<li>" in built.html.split("<math ")[1] + built.html


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Text.\n\n```math\n\\tau =\n\\foo\n```\n", "4: unknown command \\foo"),
        ("```math\n\n```", "2: the formula is empty"),
        ("```maths\na\n```", "1: this looks like a math block, but its opening line says 'maths'; write 'math'"),
        ("``` {.math}\na\n```", "1: this looks like a math block, but its opening line says '{.math}'; write 'math'"),
        ("```math a\nb\n```", "1: nothing else may stand on the opening line of a math block, but 'a' does"),
        ("```math\na\n", "1: the math block is not closed; end it with a line of ```"),
    ],
)
def test_a_mistake_is_named_with_its_line_and_shown_in_the_page(bench, text, told):
    built = bench.build(text)
    assert len(built.told) == 1
    assert built.told[0].startswith(f"docs/page.md:{told}")
    assert "This formula could not be drawn." in built.html


def test_an_example_in_a_longer_fence_stays_an_example(bench):
    built = bench.build("````markdown\n```math\na\n```\n````\n")
    assert "<math" not in built.html
    assert "```math" in re.sub(r"<[^>]+>", "", built.html)


def test_there_are_formulas_in_the_pages():
    assert len(FORMULAS) >= 8


@pytest.mark.parametrize("latex", FORMULAS)
def test_the_font_has_every_character_of_the_pages(latex):
    root = ElementTree.fromstring(re.sub(r"^<div[^>]*data-search-exclude>|</div>$", "", formula(latex)))
    shown = ""
    for element in root.iter():
        text = element.text or ""
        single = element.tag == "mi" and len(text) == 1 and not element.get("mathvariant")
        shown += italic(text) if single else text
    lacking = sorted(set(shown) - set(CHARACTERS))
    assert lacking == [], "add them to CHARACTERS in tests/tools/subset_font.py and run it"


def test_the_font_is_small_and_says_whose_it_is():
    assert 10_000 < TARGET.stat().st_size <= LIMIT
    assert "The STIX Fonts Project Authors" in (TARGET.parent / "OFL.txt").read_text(encoding="utf-8")
