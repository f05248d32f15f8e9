"""A formula in LaTeX as MathML, when the site is built: no script, read aloud, and it wraps nothing else.

Why not the library alone: latex2mathml lets what it does not know into the page as it stands (`\\foo`, a lone brace, an
attribute that runs something), and some of what it knows it marks up as letters (arrows, the limits of a sum). Here its
answer is parsed, mended where the meaning is clear, and refused where it is not. It must not know Markdown or pages.
"""

from __future__ import annotations

import difflib
import re
from functools import cache
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from latex2mathml import converter, exceptions
from latex2mathml.symbols_parser import SYMBOLS

from widgets._kit.text import esc

__all__ = ["Refused", "formula"]

_ELEMENTS = {  # element → number of children, None where any number may stand
    "math": None, "mrow": None, "mi": None, "mo": None, "mn": None, "mtext": None, "mspace": None, "mstyle": None,
    "msqrt": None, "mtable": None, "mtr": None, "mtd": None, "mpadded": None, "mphantom": None,
    "mfrac": 2, "mroot": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2, "msubsup": 3, "munderover": 3,
}  # fmt: skip
_ATTRIBUTES = (
    "accent", "columnalign", "display", "displaystyle", "fence", "form", "linethickness", "lspace", "mathvariant",
    "maxsize", "minsize", "movablelimits", "rspace", "scriptlevel", "separator", "stretchy", "width",
)  # fmt: skip
_LIMITS = {"msub": "munder", "msubsup": "munderover"}
_ABOVE_AND_BELOW = ("∑", "∏", "max", "min", "sup", "inf", "lim", "argmax", "argmin")
_MORE = ("frac", "left", "right", "text", "sqrt", "mathrm", "operatorname", "begin", "end", "hat", "bar", "over")
_UPRIGHT = re.compile(r"<mi>&#x000([46][1-9A-F]|[57][0-9A]);</mi>")
_ENTITY = re.compile(r"&#x([0-9A-Fa-f]+);")
_WORDS = {
    exceptions.NoAvailableTokensError: "something is missing at its end",
    exceptions.ExtraLeftOrMissingRightError: r"a \left has no \right, or a \right no \left",
    exceptions.MissingSuperScriptOrSubscriptError: "nothing stands after a ^ or _",
    exceptions.MissingEndError: r"a \begin has no \end",
    exceptions.DoubleSubscriptsError: "two indices follow each other; put braces around the first",
    exceptions.DoubleSuperscriptsError: "two exponents follow each other; put braces around the first",
    exceptions.NumeratorNotFoundError: "a fraction has no numerator",
    exceptions.DenominatorNotFoundError: "a fraction has no denominator",
}


class Refused(ValueError):
    """LaTeX that would not come out as its author means it; the message says why and, where it can, what to write."""


def formula(latex: str) -> str:
    """The formula as a block of its own. Refused, with a sentence, where it cannot be shown rightly."""
    latex = " ".join(latex.split())
    if not latex:
        raise Refused("the formula is empty")
    _braces(latex)
    try:
        text = converter.convert(latex, display="block")
    except Exception as error:  # the library raises its own kinds, and on odd input any other
        what = next((words for kind, words in _WORDS.items() if isinstance(error, kind)), f"{type(error).__name__}")
        raise Refused(f"this LaTeX cannot be read: {what}") from None
    text = _UPRIGHT.sub(lambda letter: f'<mi mathvariant="normal">{chr(int(letter[1], 16))}</mi>', text)
    # Numbers of characters as characters, but never one that would be markup.
    text = _ENTITY.sub(lambda code: code[0] if int(code[1], 16) in (0x26, 0x3C, 0x3E) else chr(int(code[1], 16)), text)
    try:
        root = ElementTree.fromstring(text.replace(' xmlns="http://www.w3.org/1998/Math/MathML"', ""))
    except ElementTree.ParseError:
        raise Refused("a & stands outside a table, or a < inside \\text") from None
    _check(root)
    _mend(root)
    root.set("alttext", latex)
    math = ElementTree.tostring(root, encoding="unicode", short_empty_elements=False)
    label = esc(f"Formula, in LaTeX: {latex}")
    return f'<div class="sd-formula" tabindex="0" role="group" aria-label="{label}" data-search-exclude>{math}</div>'


def _braces(latex: str) -> None:
    depth = 0
    for mark in re.findall(r"\\.|[{}]", latex):
        depth += {"{": 1, "}": -1}.get(mark, 0)
        if depth < 0:
            raise Refused("a } has no {")
    if depth:
        raise Refused("a { has no }")


def _check(root: Element) -> None:
    for element in root.iter():
        if element.tag not in _ELEMENTS:
            raise Refused(f"this LaTeX gives <{element.tag}>, which is not shown here")
        for name in element.attrib:
            if name not in _ATTRIBUTES:
                raise Refused(f"this LaTeX gives {name}=, which is not shown here")
        wanted = _ELEMENTS[element.tag]
        if wanted is not None and len(element) != wanted:
            raise Refused("a fraction, root, index or exponent lacks one of its parts")
        unknown = re.match(r"\\[A-Za-z]+", element.text or "")
        if unknown and element.tag != "mtext":
            near = difflib.get_close_matches(unknown[0], _commands(), n=1)
            raise Refused(f"unknown command {unknown[0]}{f' (did you mean {near[0]}?)' if near else ''}")


@cache
def _commands() -> tuple[str, ...]:
    return tuple(f"\\{name.lstrip(chr(92))}" for name in (*SYMBOLS, *_MORE) if name.lstrip(chr(92)).isalpha())


def _mend(root: Element) -> None:
    """Signs as operators, so that they get their room; limits below their sums; a thin gap around functions' names."""
    for element in root.iter():
        text = element.text or ""
        if element.tag == "mi" and len(text) == 1 and not text.isalnum() and text not in "∞…⋯∅":
            element.tag = "mo"
        if element.tag == "mo" and text.isascii() and text.isalpha():
            element.set("lspace", "0.11em")
            element.set("rspace", element.get("rspace", "0.06em"))
        base = element[0].text or "" if len(element) else ""
        if element.tag in _LIMITS and element[0].tag == "mo" and base in _ABOVE_AND_BELOW:
            element.tag = _LIMITS[element.tag]
        if element.tag in _LIMITS.values() and base.isalpha():
            element[0].set("movablelimits", "true")
            element[0].set("rspace", "0.17em")  # no bracket need follow: argmax S
        if element.get("accent") and element[-1].text == "^":
            element[-1].text = "\u02c6"  # the accent; the other is an operator and sits in the letter
