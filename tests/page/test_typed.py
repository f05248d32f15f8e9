"""Numbers typed into sentences: which ones are warned of, and that the list of exceptions is not longer than needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from widgets._page.check import check, warnings_in
from widgets._page.typed import listed, typed_numbers, warnings

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = "docs/lessons/x.md"
NOWHERE = Path("/nowhere/claims.toml")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A pass takes 41.8 ms.", [(1, "41.8 ms")]),
        ("It costs about 0.36% more,\nor 0.36 % more.", [(1, "0.36%"), (2, "0.36 %")]),
        ("A speed-up of 2.5× at 3.35 TB/s", [(1, "2.5×"), (1, "3.35 TB/s")]),
        ("That is 3.3616 tokens per pass and 1,200 tokens/s.", [(1, "3.3616 tokens per pass"), (1, "1,200 tokens/s")]),
        ("---\ntitle: 5 ms\n---\n\nIt takes 5 ms.", [(5, "5 ms")]),
        ("Five tokens, node 1, 2023, α = 0.8, γ = 4, batch 16, a 70B model, 16 bits", []),
        ("## 5 ms in a heading\n| 5 ms | in a table |\n> 5 ms that somebody said", []),
        ("`5 ms` in code, ``#!sim f(x=5):.1f`` ms, [5 ms in a link](x.md)", []),
        ("```text\n5 ms in a block\n```", []),
        ("Below 1× it is a loss; 0.8 × 0.8 is a product.", []),
        ("Two-bar_5 ms, v1.5 ms, 2024-5 ms, section 3.5", []),
        ("Several lines of `code that\ngoes on 5 ms` and 6 ms", [(2, "6 ms")]),
    ],
)
def test_only_numbers_with_a_unit_in_sentences_count(text: str, found: list[tuple[int, str]]) -> None:
    assert list(typed_numbers(text)) == found


def test_a_warning_names_file_line_and_number() -> None:
    (only,) = warnings(PAGE, "One.\n\nIt takes 5.886 ms.", NOWHERE)
    assert str(only).startswith("docs/lessons/x.md:3: warning: number '5.886 ms' is typed by hand; take it from sim")


def test_a_number_that_a_claim_of_the_page_holds_is_watched_there(tmp_path: Path) -> None:
    claims = tmp_path / "claims.toml"
    claims.write_text('[[claim]]\npage = "docs/lessons/x.md"\nsentence = "It takes 5.886 ms."\n', encoding="utf-8")
    assert list(warnings(PAGE, "It takes 5.886 ms.", claims)) == []
    assert len(list(warnings("docs/labs/y.md", "It takes 5.886 ms.", claims))) == 1
    assert list(warnings("docs/contributing/y.md", "It takes 5.886 ms.", claims)) == []


def test_a_warning_is_printed_and_stops_nobody(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "docs" / "lessons" / "x.md"
    page.parent.mkdir(parents=True)
    page.write_text("# X\n\nIt takes 5.886 ms.\n", encoding="utf-8")
    assert check(tmp_path / "docs") == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("docs/lessons/x.md:3: warning: number '5.886 ms'")
    assert printed.err == "no problems and 1 warning in 1 pages\n"


def test_the_pages_have_no_warning() -> None:
    assert [str(problem) for problem in warnings_in(DOCS)] == []


def test_every_exception_has_a_reason_and_is_still_needed() -> None:
    for page, numbers in listed().items():
        typed = {number for _, number in typed_numbers((DOCS.parent / page).read_text(encoding="utf-8"))}
        assert [number for number in numbers if number not in typed] == [], page
        assert all(len(why) >= 15 for why in numbers.values()), page
