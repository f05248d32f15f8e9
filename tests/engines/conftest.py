"""One visitor at a time in each engine, before the same built site and the same host as tests/site.

An engine that is not here is left out by name; in continuous integration (``CI=true``) it fails instead.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator

import pytest

from tests.engines.install import PROGRAMS, missing
from tests.engines.visitor import Visitor
from tests.site.conftest import built, host, odd, odd_site, own_host

__all__ = ["built", "host", "odd", "odd_site", "own_host"]

#: Two processes share the work (`pytest -n 2 --dist loadgroup`): WebKit, the slowest, has one for itself.
ENGINES = [pytest.param(name, marks=pytest.mark.xdist_group(str(name == "webkit"))) for name in PROGRAMS]
NOTE = "note"


@pytest.fixture(scope="session", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[Callable[[], Visitor]]:
    """A running engine: each call is a new visitor."""
    if why := missing(request.param):
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(why)
    with importlib.import_module(f"tests.engines.{request.param}_visitor").engine() as new:
        yield new


@pytest.fixture
def visitor(engine: Callable[[], Visitor]) -> Iterator[Visitor]:
    """A reader with an empty cache; an error of the page that the test did not expect fails it."""
    visit = engine()
    yield visit
    unexpected = visit.unexpected()
    visit.close()
    assert not unexpected, "\n".join(unexpected)


@pytest.fixture
def note(request: pytest.FixtureRequest, record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """Keep a remark for the end of the output: how long Python took, say. No test compares times."""
    return lambda text: record_property(NOTE, f"{request.node.callspec.params['engine']}: {text}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for report in terminalreporter.getreports("passed"):
        for name, text in getattr(report, "user_properties", ()):
            if name == NOTE and report.when == "call":
                terminalreporter.write_line(str(text))
