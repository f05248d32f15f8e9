"""A new page is numbered, in the navigation, and free of mistakes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from widgets._page import check
from widgets._page.new_lesson import create

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = """nav:
  - Start here: index.md
  - The lesson:
      - lessons/01-why.md
      - lessons/02-how.md
  - Primers:
      - lessons/kv-cache.md
      - reference/questions.md
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in re.findall(r"[\w/-]+\.md", SETTINGS):
        (tmp_path / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "docs" / name).write_text("# A page\n")
    (tmp_path / "mkdocs.yml").write_text(SETTINGS)
    return tmp_path


def test_it_takes_the_next_number_and_stands_after_the_last_lesson(root: Path) -> None:
    path = create("What a full server changes", root)
    assert path == root / "docs/lessons/03-what-a-full-server-changes.md"
    line = "      - lessons/03-what-a-full-server-changes.md\n"
    assert (root / "mkdocs.yml").read_text() == SETTINGS.replace("02-how.md\n", "02-how.md\n" + line)
    text = path.read_text()
    assert text.startswith("---\ntitle: What a full server changes\n")
    assert "Node 03 / 03\n{ .sd-page-eyebrow }" in text


def test_the_page_builder_finds_nothing_wrong_with_it(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    create("Nothing wrong", root)
    assert check.main([str(root / "docs")]) == 0, capsys.readouterr()


@pytest.mark.parametrize(("title", "says"), [("…", "a title with letters"), ("How", "no line like")])
def test_it_says_what_is_missing(root: Path, title: str, says: str) -> None:
    (root / "mkdocs.yml").write_text("nav:\n  - index.md\n")
    with pytest.raises(ValueError, match=says):
        create(title, root)


def test_the_site_has_a_line_to_stand_after() -> None:
    assert "- lessons/03-" in (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
