"""What the lesson must get right stands on its pages, word for word: claims.toml lists each sentence and its source."""

from __future__ import annotations

import re
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

CLAIMS: list[dict[str, Any]] = tomllib.loads((Path(__file__).with_name("claims.toml")).read_text("utf-8"))["claim"]


class _Words(HTMLParser):
    """The words a reader sees, without markup."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def words(page: Path) -> str:
    parser = _Words()
    parser.feed(page.read_text(encoding="utf-8"))
    return re.sub(r"\s+", " ", "".join(parser.words))


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim["id"])
def test_the_sentence_stands_on_its_page(built: Path, claim: dict[str, Any]) -> None:
    page = built / claim["page"].removeprefix("docs/").removesuffix(".md") / "index.html"
    assert re.sub(r"\s+", " ", claim["sentence"]).strip() in words(page)


def test_each_claim_names_its_source_once() -> None:
    names = [claim["id"] for claim in CLAIMS]
    assert len(names) == len(set(names))
    for claim in CLAIMS:
        assert claim["source"].strip(), claim["id"]
