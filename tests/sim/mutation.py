"""Mutation score of the three modules that must be right: `python -m tests.sim.mutation [module …]`.

Cosmic Ray changes one operator or number at a time; a change that no test notices is a survivor. The score must
reach 90 %, and every survivor must stand in `survivors.toml` with the reason why it may live. Takes tens of
minutes, so it is not part of the tests. Each worker changes a copy of its own: the checkout is never touched. Needs
`pip install cosmic-ray`.
"""

import argparse
import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
SURVIVORS = Path(__file__).with_name("survivors.toml")
GOAL = 0.90
TESTS = {  # the tests that answer for a module, those that fail soonest first
    "theory": ("test_theory.py", "test_published.py"),
    "sampling": ("test_sampling.py", "test_cases.py"),
    "decode": ("test_decode.py", "test_cases.py"),
}
COMMAND = ("-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist")
CONFIG = """\
[cosmic-ray]
module-path = "sim/{module}.py"
timeout = 60.0
excluded-modules = []
test-command = "{command}"

[cosmic-ray.distributor]
name = "http"

[cosmic-ray.distributor.http]
worker-urls = {urls}

# Left out because they fail whatever the tests are, which would only flatter the score: bit operations on floats,
# unions in type hints, identity of numbers.
[cosmic-ray.filters.operators-filter]
exclude-operators = [
  "core/ReplaceBinaryOperator_.*_(RShift|LShift|BitOr|BitAnd|BitXor|Mod|Pow)",
  "core/ReplaceBinaryOperator_BitOr_.*",
  "core/ReplaceComparisonOperator_(Eq|NotEq|Lt|LtE|Gt|GtE)_(Is|IsNot)",
]
"""


def copy(folder: Path) -> Path:
    """What the tests of `sim` need, in a folder of its own."""
    skip = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "sim", folder / "sim", ignore=skip)
    shutil.copytree(ROOT / "tests" / "sim", folder / "tests" / "sim", ignore=skip)
    shutil.copy(ROOT / "tests" / "conftest.py", folder / "tests")
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def free_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        return int(door.getsockname()[1])


@contextmanager
def worker(folder: Path, tests: Sequence[str]) -> Iterator[str]:
    """A Cosmic Ray worker that changes and tests the copy in `folder`; yields its address.

    The tests must pass once before anything is changed. What Python compiled in that run stays for the tests and
    goes for `sim`: a compiled module that is as old and as long as the changed one would hide the change.
    """
    settings = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    settings["SIM_EXAMPLES"] = "10"
    subprocess.run([sys.executable, *COMMAND, *tests], cwd=copy(folder), env=settings, check=True, capture_output=True)
    shutil.rmtree(folder / "sim" / "__pycache__")
    settings["PYTHONDONTWRITEBYTECODE"] = "1"
    port = free_port()
    command = [sys.executable, "-m", "cosmic_ray.cli", "http-worker", "--port", str(port)]
    with subprocess.Popen(
        command, cwd=folder, env=settings, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            for _ in range(100):
                with socket.socket() as knock:
                    if knock.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def survivors_of(module: str, jobs: int) -> tuple[int, list[tuple[str, str]]]:
    """How many changes of a module were tried, and those that no test noticed, as (line before, line after)."""
    from cosmic_ray.work_db import WorkDB, use_db
    from cosmic_ray.work_item import WorkerOutcome

    with tempfile.TemporaryDirectory() as place, ExitStack() as stack:
        home = copy(Path(place) / "home")
        tests = [f"tests/sim/{name}" for name in TESTS[module]]
        urls = [stack.enter_context(worker(Path(place) / f"worker-{k}", tests)) for k in range(jobs)]
        command = " ".join([Path(sys.executable).as_posix(), *COMMAND, *tests])
        (home / "cosmic.toml").write_text(CONFIG.format(module=module, command=command, urls=urls), encoding="utf-8")
        for tool, *rest in (
            ("cosmic_ray.cli", "init", "cosmic.toml", "run.sqlite"),
            ("cosmic_ray.tools.filters.operators_filter", "run.sqlite", "cosmic.toml"),
            ("cosmic_ray.cli", "exec", "cosmic.toml", "run.sqlite"),
        ):
            subprocess.run([sys.executable, "-m", tool, *rest], cwd=home, check=True)
        with use_db(home / "run.sqlite", WorkDB.Mode.open) as work:
            results = [result for _, result in work.completed_work_items]
        results = [result for result in results if result.worker_outcome is not WorkerOutcome.SKIPPED]
        return len(results), sorted(change(result.diff) for result in results if not result.is_killed)


def change(diff: str) -> tuple[str, str]:
    """The first line that a diff takes away and the first that it adds, without indentation."""
    lines = diff.splitlines()
    gone = next((line[1:].strip() for line in lines if line.startswith("-") and not line.startswith("---")), "")
    come = next((line[1:].strip() for line in lines if line.startswith("+") and not line.startswith("+++")), "")
    return gone, come


def excused() -> set[tuple[str, str, str]]:
    """The survivors with a reason: (module, was, became)."""
    listed = tomllib.loads(SURVIVORS.read_text(encoding="utf-8"))["survivor"]
    return {(entry["module"], entry["was"], entry["became"]) for entry in listed if entry["reason"].strip()}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.sim.mutation", description=__doc__)
    parser.add_argument("modules", nargs="*", default=list(TESTS), metavar="module", help=", ".join(TESTS))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="workers (default: one a core)")
    options = parser.parse_args()
    if importlib.util.find_spec("cosmic_ray") is None:
        print("Cosmic Ray is not installed: pip install cosmic-ray", file=sys.stderr)
        return 2
    known, failed = excused(), False
    for module in options.modules:
        tried, survivors = survivors_of(module, options.jobs)
        score = 1 - len(survivors) / tried
        print(f"sim/{module}.py: {tried} changes, {len(survivors)} not noticed, score {score:.1%}", flush=True)
        failed |= score < GOAL
        for was, became in survivors:
            if (module, was, became) not in known:
                failed = True
                print(f'\n[[survivor]]\nmodule = "{module}"\nwas = {was!r}\nbecame = {became!r}\nreason = ""')
    print("FAILED: a score below 90 %, or survivors without a reason (above)" if failed else "passed")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
