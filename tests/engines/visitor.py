"""A reader at a browser, whichever engine it is: the few things a reader does, and no more.

Why it exists: the same steps run in Chromium, Firefox and WebKit. Each engine has its own driver (Playwright, WebDriver
BiDi, WebDriver); a test that speaks to `Visitor` does not know which. Keys and clicks are real ones, sent by the
driver; looking is JavaScript, the same in all three.

Must not know: the site.
"""

from __future__ import annotations

import json
import re
import time
from abc import ABC, abstractmethod
from typing import Any

__all__ = ["KEYS", "READY_S", "VISIBLE", "Visitor"]

READY_S = 180.0  # a cold start of Python and NumPy on a busy machine
#: WebDriver's code points for keys without a character
KEYS = {"ArrowLeft": "\ue012", "ArrowUp": "\ue013", "ArrowRight": "\ue014", "ArrowDown": "\ue015", "End": "\ue010"}
#: the body of a function of one selector: its first element that a reader can see
VISIBLE = """
  const found = [...document.querySelectorAll(selector)].find((node) => node.getClientRects().length);
  if (!found) throw new Error(`nothing to be seen for ${selector}`);
  found.scrollIntoView({ block: "center", behavior: "instant" });
  return found;
"""


class Visitor(ABC):
    """One visit: own cache, own storage, one window of 1280 × 900."""

    #: whether the engine tells the driver what went wrong in the page (`problems`)
    reports = True

    def __init__(self) -> None:
        #: regular expressions; a problem that matches one was made on purpose
        self.expected: list[str] = []

    @abstractmethod
    def open(self, url: str) -> None:
        """Load a page as a whole."""

    @abstractmethod
    def back(self) -> None:
        """The back button."""

    @abstractmethod
    def press(self, selector: str, *keys: str) -> None:
        """Focus the first visible element and press keys (`KEYS`) there."""

    @abstractmethod
    def click(self, selector: str) -> None:
        """Click the middle of the first visible element with the mouse."""

    @abstractmethod
    def _json(self, body: str) -> str:
        """Run the body of an async function in the page; it returns text."""

    @abstractmethod
    def problems(self) -> list[str]:
        """Errors of the page so far: its console's, and exceptions nobody caught. Empty where not `reports`."""

    @abstractmethod
    def pdf(self) -> bytes | None:
        """The page printed, or None where the engine's driver cannot print."""

    @abstractmethod
    def close(self) -> None:
        """End the visit."""

    def unexpected(self) -> list[str]:
        return [text for text in self.problems() if not any(re.search(what, text) for what in self.expected)]

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression (a promise is waited for), as JSON carries it."""
        return json.loads(self._json(f"return JSON.stringify((await ({expression})) ?? null)"))

    def text(self, selector: str) -> str:
        """What the first such element says, spaces made one."""
        at = f"document.querySelector({json.dumps(selector)})"
        return str(self.evaluate(f"{at}.innerText.replace(/\\s+/g, ' ').trim()"))

    def attribute(self, selector: str, name: str) -> str | None:
        at = f"document.querySelector({json.dumps(selector)})"
        value: str | None = self.evaluate(f"{at}?.getAttribute({json.dumps(name)})")
        return value

    def style(self, selector: str, name: str) -> str:
        """A computed property (custom ones too)."""
        at = f"getComputedStyle(document.querySelector({json.dumps(selector)}))"
        return str(self.evaluate(f"{at}.getPropertyValue({json.dumps(name)}).trim()"))

    def wait_for(self, expression: str, what: str, seconds: float = READY_S) -> Any:
        """Until the expression is true; its value. Pages may change under it: an error counts as not yet."""
        until = time.monotonic() + seconds
        last: object = None
        while time.monotonic() < until:
            try:
                last = self.evaluate(expression)
            except AssertionError:
                raise
            except Exception as problem:  # each driver has its own for a page that is just being left
                last = problem
            else:
                if last:
                    return last
            time.sleep(0.05)
        raise AssertionError(f"not within {seconds:g} s: {what} ({expression} gave {last!r})")

    def wait_for_attribute(self, selector: str, name: str, value: str) -> None:
        at = f"document.querySelector({json.dumps(selector)})?.getAttribute({json.dumps(name)})"
        self.wait_for(f"{at} === {json.dumps(value)}", f"{selector} has {name} = {value}")
