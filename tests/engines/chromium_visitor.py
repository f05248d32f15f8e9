"""Chromium through Playwright, as the rest of the tests use it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, ElementHandle, sync_playwright

from tests.engines.visitor import VISIBLE, Visitor
from tests.tools import chromium

__all__ = ["engine"]


class ChromiumVisitor(Visitor):
    """One context of a running Chromium."""

    def __init__(self, browser: Browser) -> None:
        super().__init__()
        self.context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light")
        self.page = self.context.new_page()
        self.seen: list[str] = []
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.seen.append(str(error)))

    def _heard(self, message: Any) -> None:
        if message.type == "error":
            self.seen.append(message.text)

    def _find(self, selector: str) -> ElementHandle:
        found = self.page.evaluate_handle(f"(selector) => {{ {VISIBLE} }}", selector).as_element()
        assert found is not None
        return found

    def open(self, url: str) -> None:
        self.page.goto(url)

    def back(self) -> None:
        self.page.go_back()

    def press(self, selector: str, *keys: str) -> None:
        self._find(selector).focus()
        for key in keys:
            self.page.keyboard.press(key)

    def click(self, selector: str) -> None:
        self._find(selector).click()

    def _json(self, body: str) -> str:
        return str(self.page.evaluate(f"async () => {{ {body} }}"))

    def problems(self) -> list[str]:
        return self.seen

    def pdf(self) -> bytes | None:
        return self.page.pdf(format="A4")

    def close(self) -> None:
        self.context.close()


@contextmanager
def engine() -> Iterator[Callable[[], Visitor]]:
    """A running Chromium; each call is a new visitor."""
    with sync_playwright() as playwright:
        nowhere = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
        running = playwright.chromium.launch(executable_path=chromium.find(), args=[*chromium.ARGUMENTS, nowhere])
        yield lambda: ChromiumVisitor(running)
        running.close()
