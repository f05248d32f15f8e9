"""Seven famous faults, put into a copy of `sim` one by one: the fast tests must fail for each.

A test suite that passes on broken code proves nothing. The faults are the ones people shipped: see the list of cases.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FAST = ("test_sampling.py", "test_decode.py")
EDITS = {  # name: file, what stands there, what the fault makes of it
    "accept_at_equality": (
        "sampling.py",
        "if not chances[k] * drafts[k][token] < targets[k][token]:",
        "if not chances[k] * drafts[k][token] <= targets[k][token]:",
    ),
    "residual_from_p": ("sampling.py", "excess = [max(0.0, a - b)", "excess = [max(0.0, a)"),
    "residual_not_normalised": (
        "sampling.py",
        "return tuple(value / mass for value in excess)",
        "return tuple(value for value in excess)",
    ),
    "bonus_dropped": (
        "decode.py",
        "return (*self.draft[: self.accepted], self.token)",
        'return (*self.draft[: self.accepted], *([self.token] if self.kind == "correction" else []))',
    ),
    "always_accept": ("sampling.py", "if not chances[k] * drafts[k][token] < targets[k][token]:", "if False:"),
    "always_reject": ("sampling.py", "if not chances[k] * drafts[k][token] < targets[k][token]:", "if True:"),
    "draft_cache_not_rewound": (
        "decode.py",
        "del context[len(context) - len(guesses) + verdict.accepted :]",
        "del context[len(context) :]",
    ),
}

pytestmark = pytest.mark.skipif(sys.platform == "emscripten", reason="WebAssembly has no subprocesses")


def copy(folder: Path) -> Path:
    """`sim` and the fast tests in a folder of their own."""
    skip = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "sim", folder / "sim", ignore=skip)
    (folder / "tests" / "sim").mkdir(parents=True)
    shutil.copy(ROOT / "pyproject.toml", folder)
    shutil.copy(ROOT / "tests" / "conftest.py", folder / "tests")
    for name in ("strategies.py", *FAST):
        shutil.copy(ROOT / "tests" / "sim" / name, folder / "tests" / "sim")
    return folder


def run_fast_tests(folder: Path) -> subprocess.CompletedProcess[str]:
    """The fast tests of a copy, few random examples, up to the first failure."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    command += [f"tests/sim/{name}" for name in FAST]
    settings = {**os.environ, "SIM_EXAMPLES": "5", "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True, check=False, timeout=60)


def test_the_fast_tests_pass_on_an_unchanged_copy(tmp_path):
    done = run_fast_tests(copy(tmp_path))
    assert done.returncode == 0, done.stdout[-2000:]


@pytest.mark.parametrize("name", EDITS)
def test_the_fast_tests_fail_for_every_fault(name, tmp_path):
    file, right, wrong = EDITS[name]
    path = copy(tmp_path) / "sim" / file
    text = path.read_text(encoding="utf-8")
    assert text.count(right) == 1, f"{right!r} is no longer in {file}: bring the fault up to date"
    path.write_text(text.replace(right, wrong), encoding="utf-8")
    done = run_fast_tests(tmp_path)
    assert done.returncode == 1, done.stdout[-2000:]  # 1: a test failed; anything else is a copy that does not run
