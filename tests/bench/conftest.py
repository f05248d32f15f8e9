"""One small run of every suite, made once for all tests here."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.run import main


@pytest.fixture(scope="session")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the files of all five suites at size small."""
    folder = tmp_path_factory.mktemp("measured")
    assert main(["all", "--device", "cpu", "--size", "small", "--out", str(folder)]) == 0
    return folder
