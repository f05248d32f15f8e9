"""Which lines of a page are widget blocks, and which only show or resemble one."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widgets._page.fences import scan


def blocks(text: str) -> list[tuple[int, tuple[str, ...], str]]:
    return [(fence.start, fence.body, fence.problem) for fence in scan(text.split("\n"))[0]]


@pytest.mark.parametrize(
    "text",
    [
        "```widget\nuse: meter\n```",
        "``` widget\nuse: meter\n```",
        "`````widget\nuse: meter\n`````",
        "~~~widget\nuse: meter\n~~~",
        "  ```widget\n  use: meter\n  ```",
        "    ```widget\n    use: meter\n    ```",
        "> ```widget\n> use: meter\n> ```",
        ">     ```widget\n>     use: meter\n>     ```",
        "```widget\nuse: meter\n`````",
    ],
)
def test_every_spelling_of_a_block_is_one(text):
    assert blocks(text) == [(0, ("use: meter",), "")]


@pytest.mark.parametrize(
    "text",
    [
        "````markdown\n```widget\nuse: meter\n```\n````",
        "~~~\n```widget\nuse: meter\n```\n~~~",
        "```markdown\n~~~widget\nuse: meter\n~~~\n```",
        "`````\n````\n```widget\n```\n````\n`````",
        "```python\nwidget = 1\n```",
        "the word widget",
        "```` ```widget ``` ````",
        "```text\nwidget\n```",
        "```budget\n```",
    ],
)
def test_an_example_in_a_longer_fence_stays_an_example(text):
    assert blocks(text) == []


def test_lines_are_counted_past_other_fences():
    text = "a\n````md\n```widget\nuse: x\n```\n````\nb\n\n```widget\nuse: meter\n```\nc"
    assert blocks(text) == [(8, ("use: meter",), "")]
    assert scan(text.split("\n"))[1] == [False, *[True] * 5, False, False, *[True] * 3, False]


@pytest.mark.parametrize(
    ("text", "body", "words"),
    [
        ("```widget wide\nuse: meter\n```", ("use: meter",), "nothing else may stand on the opening line"),
        ("```widget {.wide}\nuse: meter\n```", ("use: meter",), "nothing else may stand on the opening line"),
        ("```wigdet\nuse: meter\n```", ("use: meter",), "opening line says 'wigdet'; write 'widget'"),
        ("```Widget\nuse: meter\n```", ("use: meter",), "opening line says 'Widget'; write 'widget'"),
        ("```widgets\nuse: meter\n```", ("use: meter",), "opening line says 'widgets'; write 'widget'"),
        ("``` { .widget }\nuse: meter\n```", ("use: meter",), "opening line says '{ .widget }'; write 'widget'"),
        ("```widget\nuse: meter\n\nmore text", ("use: meter",), "is not closed"),
        ("```widget\nuse: meter\n~~~\n\nmore", ("use: meter", "~~~"), "is not closed"),
        ("````widget\nuse: meter\n```\n\nmore", ("use: meter", "```"), "end it with a line of ````"),
        ("```widget\nuse: meter\n\ntext\n```python\nx\n```", ("use: meter",), "is not closed"),
        ("!!! note\n\n    ```widget\n    use: meter\n\ntext\n\n```\nx\n```", ("use: meter",), "is not closed"),
        ("> ```widget\n> use: meter\n\ntext\n\n```\nx\n```", ("use: meter",), "is not closed"),
        ("- ```widget\n  use: meter\n  ```", ("  use: meter", "  ```"), "cannot start on the line of a list mark"),
        ("1. ~~~ widget\n   use: meter\n   ~~~", ("   use: meter", "   ~~~"),
         "cannot start on the line of a list mark"),
    ],
)
def test_a_block_that_is_not_right_is_told(text, body, words):
    found = blocks(text)
    assert len(found) == 1
    assert found[0][1] == body
    assert words in found[0][2]


def test_an_unclosed_block_leaves_the_rest_of_the_page_alone():
    found, inside = scan(["```widget", "use: meter", "", "# Next", "", "```widget", "use: meter", "```"])
    assert [fence.start for fence in found] == [0, 5]
    assert inside == [True, True, False, False, False, True, True, True]


@given(st.text(alphabet="`~> widget-1.\n{}:", max_size=120))
def test_any_text_is_scanned_without_an_error_and_no_line_twice(text):
    lines = text.split("\n")
    found, inside = scan(lines)
    assert len(inside) == len(lines)
    assert all(before.end <= after.start for before, after in pairwise(found))
    assert all(0 <= fence.start < fence.end <= len(lines) for fence in found)
