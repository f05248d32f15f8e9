"""The built site in a real browser: what every test under tests/site stands on.

``open_page("lessons/…/")`` gives a Playwright page of the site served under /sub/. Whatever goes wrong in it (an error
in the console, an exception, a request that failed or went to another host) fails the test at its end, unless the test
says that it expects so: ``seen.expected.append(r"pattern")``.

The site is the one in ``$SITE_DIR`` (make test builds it just before); without that variable it is built once here.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.tools import chromium
from tests.tools.server import Host, serve

ROOT = Path(__file__).resolve().parents[2]
SIZES = {"wide": (1280, 900), "phone": (390, 844)}


@dataclass
class Seen:
    """What the browser reported during one test."""

    host: Host
    problems: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    #: regular expressions; a problem that matches one is not a failure of the test
    expected: list[str] = field(default_factory=list)

    def unexpected(self) -> list[str]:
        return [text for text in self.problems if not any(re.search(what, text) for what in self.expected)]

    def watch(self, page: Page) -> None:
        own = urlsplit(self.host.url).netloc

        def request(asked: Any) -> None:
            self.requests.append(asked.url)
            parts = urlsplit(asked.url)
            if parts.scheme in ("http", "https", "ws", "wss") and parts.netloc != own:
                self.problems.append(f"request to another host: {asked.url}")

        def response(answer: Any) -> None:
            if answer.status >= 400:
                self.problems.append(f"status {answer.status}: {answer.url}")

        def failed(asked: Any) -> None:
            # Leaving a page cancels what it was still loading: not a fault of the site.
            if "ERR_ABORTED" not in (asked.failure or ""):
                self.problems.append(f"request failed ({asked.failure}): {asked.url}")

        def console(message: Any) -> None:
            if message.type in ("error", "warning"):
                self.problems.append(f"console {message.type}: {message.text} ({message.location.get('url', '')})")

        page.on("request", request)
        page.on("response", response)
        page.on("requestfailed", failed)
        page.on("console", console)
        page.on("pageerror", lambda error: self.problems.append(f"exception in the page: {error}"))


@pytest.fixture(scope="session")
def built() -> Path:
    """The folder of the built site."""
    if own := os.environ.get("SITE_DIR"):
        folder = ROOT / own
        if not (folder / "index.html").is_file():
            pytest.fail(f"SITE_DIR names {folder}, and no built site is there")
        return folder
    folder = ROOT / "build" / f"tested-site-{os.environ.get('PYTEST_XDIST_WORKER', 'one')}"
    done = subprocess.run(
        [sys.executable, "-m", "widgets", "build"],
        cwd=ROOT,
        env={**os.environ, "SITE_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.fail(f"the site does not build:\n{done.stdout}{done.stderr}")
    return folder


@pytest.fixture(scope="session")
def host(built: Path) -> Iterator[Host]:
    """The site under ``/sub/``, as a project page on a static host has it. Shared: change nothing in it."""
    with serve(built, "/sub/") as running:
        yield running


@pytest.fixture
def own_host(built: Path) -> Iterator[Host]:
    """A host of this test's own, to break files, delay them, send other headers: ``open_page(…, on=own_host)``."""
    with serve(built, "/sub/") as running:
        yield running


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium for the session; names outside this machine do not resolve in it."""
    path = chromium.find()
    if path is None:
        pytest.fail(chromium.MESSAGE)
    with sync_playwright() as playwright:
        nowhere = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
        running = playwright.chromium.launch(executable_path=path, args=[*chromium.ARGUMENTS, nowhere])
        yield running
        running.close()


@pytest.fixture
def seen(host: Host) -> Iterator[Seen]:
    """What the browser reported; anything unexpected fails the test when it ends."""
    record = Seen(host)
    yield record
    assert not record.unexpected(), "\n".join(record.unexpected())


@pytest.fixture
def open_page(browser: Browser, host: Host, own_host: Host, seen: Seen) -> Iterator[Callable[..., Page]]:
    """``open_page(path, size="wide" | "phone", dark=False, javascript=True, on=host, **context options) -> Page``.

    Each call is a new visitor (own cache, own storage) unless ``context=page.context`` says otherwise. It asks for
    ``own_host`` so that pages, which may still be loading when a test ends, are closed before that host is.
    """
    contexts = []

    def open_(
        path: str = "",
        *,
        size: str = "wide",
        dark: bool = False,
        javascript: bool = True,
        on: Host = host,
        context: Any = None,
        **options: Any,
    ) -> Page:
        if context is None:
            width, height = SIZES[size]
            options.setdefault("viewport", {"width": width, "height": height})
            options.setdefault("color_scheme", "dark" if dark else "light")
            context = browser.new_context(java_script_enabled=javascript, **options)
            context.set_default_timeout(30_000)
            contexts.append(context)
        seen.host = on
        page: Page = context.new_page()
        seen.watch(page)
        page.goto(on.url + path)
        return page

    yield open_
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def odd_site(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site and pages of widgets that misbehave; see tests/site/odd.py."""
    from tests.site.odd import add_odd_pages, linked_copy

    site = linked_copy(built, tmp_path_factory.mktemp("odd") / "site")
    add_odd_pages(site)
    return site


@pytest.fixture
def odd(odd_site: Path) -> Iterator[Host]:
    """A host of this test's own for ``odd_site``."""
    with serve(odd_site, "/sub/") as running:
        yield running


@pytest.fixture
def own_site(odd_site: Path, tmp_path: Path) -> Iterator[Host]:
    """A host whose files a test may move."""
    from tests.site.odd import linked_copy

    with serve(linked_copy(odd_site, tmp_path / "site"), "/sub/") as host:
        yield host


@pytest.fixture
def page_of(open_page: Callable[..., Page], odd: Host, seen: Seen) -> Callable[..., Page]:
    """``page_of("kinds", clock=False)``: an odd page, its Python workers kept where tests can count and kill them.

    With ``clock`` the page's timers are in the test's hands.
    """

    from tests.site.figures import count_workers

    def opened(name: str, clock: bool = False) -> Page:
        page = open_page("", on=odd)
        if clock:
            page.clock.install()
            seen.expected.append("executing a cancelled action")  # Material's timers, when their clock jumps
        count_workers(page)
        page.goto(f"{odd.url}lessons/odd-{name}/")
        return page

    return opened
