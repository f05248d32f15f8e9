"""tests/cases.toml is whole: every case that somebody reported elsewhere is asserted by a test that exists.

What a case asks and how severe it is stands there; a name in it that no longer exists is a case nobody watches.
"""

from __future__ import annotations

import ast
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
CASES: dict[str, dict[str, Any]] = tomllib.loads((ROOT / "tests" / "cases.toml").read_text(encoding="utf-8"))
COUNT = 101
MOST_REASONS = 20


@cache
def names_in(file: str) -> frozenset[str]:
    """The names of the tests in a file, read and not run."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return frozenset(
        node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    )


def test_every_case_is_listed() -> None:
    assert len(CASES) == COUNT
    assert list(CASES) == sorted(CASES)
    assert {case["severity"] for case in CASES.values()} == {"H", "M", "L"}
    assert all(case["right"] for case in CASES.values())


@pytest.mark.parametrize("id", CASES)
def test_a_case_has_tests_that_exist_or_a_reason_with_its_code(id: str) -> None:
    case = CASES[id]
    if "reason" in case:
        assert "tests" not in case
        assert len(case["reason"]) > 40
        assert (ROOT / case["code"]).is_file()
        return
    assert case["tests"]
    for test in case["tests"]:
        file, name = test.split("::")
        assert name in names_in(file), f"{id}: {test} does not exist"


def test_few_cases_are_ruled_out_and_none_that_would_give_wrong_numbers() -> None:
    reasons = [id for id, case in CASES.items() if "reason" in case]
    assert len(reasons) <= MOST_REASONS
    assert [id for id in reasons if CASES[id]["severity"] == "H"] == []


def test_a_test_that_names_a_case_is_listed_with_it() -> None:
    named = {
        f"{path.relative_to(ROOT).as_posix()}::{name}": name.split("_")[1]
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in names_in(path.relative_to(ROOT).as_posix())
        if name.split("_")[1] in CASES
    }
    assert len(named) > 60
    assert [test for test, id in named.items() if test not in CASES[id]["tests"]] == []
