"""WebKit (Safari's engine) through Debian's WebKitWebDriver and MiniBrowser, on a screen that nobody sees."""

from __future__ import annotations

import os
import subprocess
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.webkitgtk.options import Options
from selenium.webdriver.webkitgtk.service import Service

from tests.engines.install import program
from tests.engines.visitor import KEYS, READY_S, VISIBLE, Visitor

__all__ = ["engine"]


class WebKitVisitor(Visitor):
    """One MiniBrowser, which keeps nothing: each visit is a new process."""

    reports = False  # WebDriver has no command for it, and WebKit no BiDi

    def __init__(self, environment: dict[str, str]) -> None:
        super().__init__()
        options = Options()
        options.binary_location = program("MiniBrowser") or ""
        options.add_argument("--automation")
        service = Service(program("WebKitWebDriver"), env=environment)
        with warnings.catch_warnings():  # Selenium warns here of its own way to call itself
            warnings.simplefilter("ignore", DeprecationWarning)
            self.driver = webdriver.WebKitGTK(options=options, service=service)
        self.driver.set_window_size(1280, 900)
        self.driver.set_script_timeout(READY_S)
        self.driver.set_page_load_timeout(READY_S)

    def _find(self, selector: str) -> Any:
        return self.driver.execute_script(f"const selector = arguments[0]; {VISIBLE}", selector)

    def open(self, url: str) -> None:
        self.driver.get(url)

    def back(self) -> None:
        self.driver.back()

    def press(self, selector: str, *keys: str) -> None:
        self.driver.execute_script("arguments[0].focus()", self._find(selector))
        for key in keys:
            ActionChains(self.driver).send_keys(KEYS[key]).perform()

    def click(self, selector: str) -> None:
        ActionChains(self.driver).move_to_element(self._find(selector)).click().perform()

    def _json(self, body: str) -> str:
        hear = "const hear = arguments[0];"
        said = self.driver.execute_async_script(
            f"{hear} (async () => {{ {body} }})().then((text) => hear([text]), (error) => hear([null, String(error)]))"
        )
        if said[0] is None:
            raise RuntimeError(said[1])
        return str(said[0])

    def problems(self) -> list[str]:
        return []

    def pdf(self) -> bytes | None:
        return None  # WebKitGTK's driver answers "unknown command"

    def close(self) -> None:
        self.driver.quit()


@contextmanager
def engine() -> Iterator[Callable[[], Visitor]]:
    """A screen for WebKit; each call is a new visitor on it."""
    path = program("Xvfb")
    assert path is not None
    command = [path, "-displayfd", "1", "-screen", "0", "1400x1100x24", "-nolisten", "tcp"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as screen:
        try:
            assert screen.stdout is not None
            environment = {
                **os.environ,
                "DISPLAY": f":{screen.stdout.readline().strip()}",
                "GDK_BACKEND": "x11",
                # Its sandbox refuses root, and hosts that forbid user namespaces; it sees this site's pages only.
                "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1",
            }
            yield lambda: WebKitVisitor(environment)
        finally:
            screen.terminate()
