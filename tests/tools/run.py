"""Lists of checks, in order, with durations: ``python -m tests.tools.run check`` (or quick, test, engines).

Why it exists: `make test`, `make check` and a shell without make run the same list, and a slow step shows at a glance.
`check` is for whoever edits words and data, and takes seconds; `quick` needs neither browser nor Node; `engines` is the
reader's path in three browsers, and nothing else. A failing step does not hide the ones after it, except where they
rest on it.

Must not know: how any step does its work.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from widgets._page import node

__all__ = ["Step", "engines", "main", "steps"]

ROOT = Path(__file__).resolve().parents[2]
#: Where the tested site is built; mkdocs.yml and tests/site/conftest.py read this variable.
SITE = {"SITE_DIR": "build/tested-site", "NO_MKDOCS_2_WARNING": "1"}


@dataclass(frozen=True)
class Step:
    """One command. ``rests_on`` names a step whose failure makes this one meaningless."""

    name: str
    command: Callable[[], list[str]]
    rests_on: str = ""
    settings: dict[str, str] = field(default_factory=dict)


def python(*words: str) -> Callable[[], list[str]]:
    """``python -m …`` with the interpreter this runs under."""
    return lambda: [sys.executable, "-m", *words]


def js(*words: str) -> Callable[[], list[str]]:
    """``node …``; which Node is looked up when the step runs."""
    return lambda: [*node.command(), *words]


def words() -> Iterator[Step]:
    """The list of `make check`: pages and data files, every problem at once."""
    yield Step("pages and data", python("widgets", "check", "docs"))


def steps(browser: bool) -> Iterator[Step]:
    """The list of `make quick`; with ``browser`` that of `make test`, which needs Node and Chromium too."""
    yield from words()
    tests = ROOT / "tests"
    quick = [path.parent for path in sorted(tests.glob("*/test_*.py")) if path.parent.name not in ("site", "engines")]
    quick += sorted(tests.glob("test_*.py"))
    yield Step("ruff", python("ruff", "check", "--quiet", "."))
    yield Step("mypy", python("mypy", "--no-error-summary"))
    yield Step("pytest", python("pytest", "-q", "-n", "2", *(str(p.relative_to(ROOT)) for p in dict.fromkeys(quick))))
    if not browser:
        return
    scripts = sorted((tests / "js").glob("*.test.*js"))
    yield Step("node --test", js("--test", *(str(path.relative_to(ROOT)) for path in scripts)))
    yield Step("tsc --checkJs", js("node_modules/typescript/bin/tsc", "-p", "widgets/_browser/tsconfig.json"))
    yield Step("assets", python("widgets", "assets"))
    # Fewer random examples there: WebAssembly is slower, and the same tests ran in full just now.
    yield Step("sim in Pyodide", js("tests/tools/pyodide_sim.mjs", sys.executable), "assets", {"SIM_EXAMPLES": "5"})
    yield Step("build", python("widgets", "build"), "assets", SITE)
    yield Step("site in Chromium", python("pytest", "-q", "-n", "2", "tests/site"), "build", SITE)


def engines() -> Iterator[Step]:
    """The list of `make engines`. The site is built here too, so that it is never an old one that is tested."""
    yield Step("assets", python("widgets", "assets"))
    yield Step("build", python("widgets", "build"), "assets", SITE)
    words = ("-q", "-n", "2", "--dist", "loadgroup", "--show-capture=no", "tests/engines")
    yield Step("three engines", python("pytest", *words), "build", SITE)


def main(arguments: list[str]) -> int:
    """Run the list, print the durations, give the number of failed steps as exit code (0 is good)."""
    lists = {"check": words, "quick": lambda: steps(False), "test": lambda: steps(True), "engines": engines}
    if len(arguments) != 1 or arguments[0] not in lists:
        print(f"usage: python -m tests.tools.run {'|'.join(lists)}", file=sys.stderr)
        return 2
    results: dict[str, tuple[str, float]] = {}
    for step in lists[arguments[0]]():
        if results.get(step.rests_on, ("passed", 0))[0] != "passed":
            results[step.name] = (f"not run: {step.rests_on} failed", 0.0)
            continue
        print(f"\n── {step.name} " + "─" * (70 - len(step.name)), flush=True)
        began = time.perf_counter()
        try:
            code = subprocess.call(step.command(), cwd=ROOT, env={**os.environ, **step.settings})
        except (OSError, RuntimeError) as problem:
            print(problem, file=sys.stderr)
            code = 1
        results[step.name] = ("passed" if code == 0 else f"FAILED (exit {code})", time.perf_counter() - began)
    print(f"\n── durations {'─' * 59}")
    for name, (result, seconds) in results.items():
        print(f"{name:<20}{seconds:7.1f} s  {result}")
    failed = sum(result != "passed" for result, _ in results.values())
    total = sum(seconds for _, seconds in results.values())
    print(f"{'all':<20}{total:7.1f} s  {f'{failed} of {len(results)} steps did not pass' if failed else 'passed'}")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
