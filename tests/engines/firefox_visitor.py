"""Firefox through WebDriver BiDi, which it speaks by itself: JSON over one WebSocket, no driver program in between.

The commands are those of https://w3c.github.io/webdriver-bidi/. The WebSocket client is the one that Selenium brings.
"""

from __future__ import annotations

import base64
import json
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import websocket

from tests.engines.install import program
from tests.engines.visitor import KEYS, READY_S, VISIBLE, Visitor

__all__ = ["engine"]

#: A browser for tests: it looks for nothing outside, asks nothing, and is light unless the page says otherwise.
SETTINGS = {
    "app.normandy.enabled": False,
    "app.update.disabledForTesting": True,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.page": 0,
    "datareporting.policy.dataSubmissionEnabled": False,
    "extensions.getAddons.cache.enabled": False,
    "extensions.update.enabled": False,
    "layout.css.prefers-color-scheme.content-override": 1,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,",
    "toolkit.telemetry.enabled": False,
}


class Connection:
    """Commands out, answers in; what the browser tells in between is kept in ``events``."""

    def __init__(self, address: str) -> None:
        self.socket = websocket.create_connection(f"{address}/session", timeout=READY_S, suppress_origin=True)
        self.events: list[dict[str, Any]] = []
        self.last = 0

    def send(self, method: str, **params: Any) -> Any:
        self.last += 1
        self.socket.send(json.dumps({"id": self.last, "method": method, "params": params}))
        while True:
            message = json.loads(self.socket.recv())
            if message.get("type") == "event":
                self.events.append(message)
            elif message.get("id") == self.last:
                if message["type"] == "error":
                    raise RuntimeError(f"{method}: {message['error']}: {message['message']}")
                return message["result"]


class FirefoxVisitor(Visitor):
    """One user context (Firefox's word for a separate cache and storage) of a running Firefox."""

    def __init__(self, firefox: Connection) -> None:
        super().__init__()
        self.firefox = firefox
        self.user = firefox.send("browser.createUserContext")["userContext"]
        self.tab = firefox.send("browsingContext.create", type="tab", userContext=self.user)["context"]
        size = {"width": 1280, "height": 900}
        firefox.send("browsingContext.setViewport", context=self.tab, viewport=size)

    def _run(self, function: str, *arguments: object, await_: bool = True) -> Any:
        done = self.firefox.send(
            "script.callFunction",
            functionDeclaration=function,
            awaitPromise=await_,
            target={"context": self.tab},
            arguments=[{"type": "string", "value": value} for value in arguments],
        )
        if done["type"] == "exception":
            raise RuntimeError(done["exceptionDetails"]["text"])
        return done["result"]

    def open(self, url: str) -> None:
        # A page that writes its address just now ends Firefox's waiting too early: it counts as having navigated.
        self.evaluate("window.left = true")
        self.firefox.send("browsingContext.navigate", context=self.tab, url=url, wait="complete")
        self.wait_for("!window.left && document.readyState === 'complete'", url)

    def back(self) -> None:
        self.firefox.send("browsingContext.traverseHistory", context=self.tab, delta=-1)

    def press(self, selector: str, *keys: str) -> None:
        self._run(f"(selector) => {{ (() => {{ {VISIBLE} }})().focus() }}", selector)
        strokes = [{"type": kind, "value": KEYS[key]} for key in keys for kind in ("keyDown", "keyUp")]
        self._act({"type": "key", "id": "keyboard", "actions": strokes})

    def click(self, selector: str) -> None:
        node = self._run(f"(selector) => {{ {VISIBLE} }}", selector)
        middle = {"type": "element", "element": {"sharedId": node["sharedId"]}}
        steps = [
            {"type": "pointerMove", "x": 0, "y": 0, "origin": middle},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        self._act({"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": steps})

    def _act(self, source: dict[str, Any]) -> None:
        self.firefox.send("input.performActions", context=self.tab, actions=[source])

    def _json(self, body: str) -> str:
        return str(self._run(f"async () => {{ {body} }}")["value"])

    def problems(self) -> list[str]:
        entries = [event["params"] for event in self.firefox.events if event["method"] == "log.entryAdded"]
        own = [entry for entry in entries if entry["source"].get("context") == self.tab]
        return [entry["text"] for entry in own if entry["level"] == "error"]

    def pdf(self) -> bytes | None:
        return base64.b64decode(self.firefox.send("browsingContext.print", context=self.tab)["data"])

    def close(self) -> None:
        self.firefox.send("browser.removeUserContext", userContext=self.user)
        self.firefox.events.clear()


@contextmanager
def engine() -> Iterator[Callable[[], Visitor]]:
    """A running Firefox without a window; each call is a new visitor."""
    path = program("firefox-esr", "firefox")
    assert path is not None
    with tempfile.TemporaryDirectory(prefix="firefox-", ignore_cleanup_errors=True) as profile:
        lines = (f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in SETTINGS.items())
        Path(profile, "user.js").write_text("\n".join(lines), encoding="utf-8")
        command = [path, "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0"]
        said = Path(profile, "said.txt")
        with said.open("w") as out, subprocess.Popen(command, stdout=out, stderr=out) as running:
            try:
                firefox = Connection(_address(said, running))
                firefox.send("session.new", capabilities={})
                firefox.send("session.subscribe", events=["log.entryAdded"])
                yield lambda: FirefoxVisitor(firefox)
                firefox.send("browser.close")
                firefox.socket.close()
                running.wait(20)
            finally:
                running.kill()


def _address(said: Path, running: subprocess.Popen[bytes]) -> str:
    """Where Firefox listens: it picks a free port and prints it."""
    until = time.monotonic() + READY_S
    while time.monotonic() < until and running.poll() is None:
        if found := re.search(r"WebDriver BiDi listening on (ws://\S+)", said.read_text(encoding="utf-8")):
            return found[1]
        time.sleep(0.05)
    raise RuntimeError(f"Firefox did not start:\n{said.read_text(encoding='utf-8')}")
