"""What goes wrong in a reader's browser, in each engine: it is said in words, or nobody notices.

The whole table of faults runs in Chromium (tests/site). Here are those that engines see with their own eyes: what they
call a page in place of a script, how they lose a worker, what they refuse under a policy.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path

import pytest

from tests.engines.test_journey import ALL, TWO, move, shows
from tests.engines.visitor import Visitor
from tests.site.odd import linked_copy, live_folder
from tests.tools.server import Host, serve

KINDS = "share 0.6, length 4, round 0, card a, on True, words hello"
KEEP_WORKERS = """
  (() => {
    window.pythons = [];
    const Plain = Worker;
    window.Worker = class extends Plain {
      constructor(...all) { super(...all); window.pythons.push(this); }
    };
  })()
"""


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("delete window.WebAssembly", "This browser has no WebAssembly"),
        ("window.Worker = class { constructor() { throw new Error('workers are refused') } }", "Workers are refused"),
    ],
    ids=["no WebAssembly", "no workers"],
)
def test_a_browser_that_cannot(visitor: Visitor, host: Host, script: str, words: str) -> None:
    visitor.open(host.url + TWO)
    visitor.wait_for("!!customElements.get('sd-widget')", "the live part")
    visitor.evaluate(f"(() => {{ {script} }})()")
    visitor.press("#draft_verify-gamma", "End")
    visitor.wait_for_attribute("#draft_verify", "data-state", "failed")
    assert words in visitor.text("#draft_verify .sd-notice")
    assert visitor.attribute("#draft_verify-gamma", "aria-valuetext") == "8 tokens"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("worker.js", b"<!doctype html><title>404</title>", "worker.js holds a web page in place of JavaScript"),
        ("pyodide.asm.wasm", b"\0asm", "pyodide.asm.wasm has 4 bytes in place of"),
    ],
)
def test_a_broken_file_is_named_and_retry_works_once_it_is_whole(
    visitor: Visitor, built: Path, tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    visitor.expected += [ALL, "JavaScript|SyntaxError|Wasm|wasm|CompileError"]
    site = linked_copy(built, tmp_path / "site")
    file = live_folder(site) / name
    whole = file.read_bytes()
    file.unlink()
    file.write_bytes(content)
    with serve(site, "/sub/") as host:
        visitor.open(host.url + TWO)
        visitor.press("#draft_verify-gamma", "ArrowRight")
        visitor.wait_for_attribute("#draft_verify", "data-state", "failed")
        assert words in visitor.text("#draft_verify .sd-notice")
        file.write_bytes(whole)
        visitor.click("#draft_verify [data-do=retry]")
        visitor.wait_for_attribute("#draft_verify", "data-state", "live")
        shows(visitor, 5)


def test_without_the_memory_from_build_time_it_starts_plainly(visitor: Visitor, own_host: Host) -> None:
    visitor.expected.append(ALL)
    own_host.broken = {r"snapshot\.bin$": 404}
    visitor.open(own_host.url + TWO)
    move(visitor, "draft_verify", "gamma", "ArrowRight")
    assert visitor.evaluate('performance.getEntriesByName("python ready").map((mark) => mark.detail)') == ["plain"]
    shows(visitor, 5)


def test_a_worker_that_died_in_the_middle_of_an_answer(visitor: Visitor, odd: Host) -> None:
    visitor.open(f"{odd.url}lessons/odd-kinds/")
    visitor.wait_for("!!customElements.get('sd-widget')", "the live part")
    visitor.evaluate(KEEP_WORKERS)
    move(visitor, "kinds", "share", "ArrowRight")
    visitor.evaluate("pythons.at(-1).terminate()")
    visitor.press("#kinds-share", "ArrowLeft")
    said = "document.querySelector('#kinds .sd-notice').innerText"
    visitor.wait_for(f"{said}.includes('Python gave no sign of life and was started again.')", "the death is told")
    words = json.dumps(KINDS.replace("0.6", "0.5"))
    visitor.wait_for(f"document.querySelector('#kinds [data-part=summary]').innerText === {words}", words)
    assert visitor.evaluate("pythons.length") == 2


def test_a_strict_policy_is_enough(visitor: Visitor, own_host: Host) -> None:
    text = (own_host.folder / TWO / "index.html").read_text(encoding="utf-8")
    inline = re.findall(r"<script(?![^>]*\ssrc=)[^>]*>(.*?)</script>", text, re.DOTALL)
    sums = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in inline)
    hashes = " ".join(f"'sha256-{value}'" for value in sums)
    policy = f"default-src 'self'; script-src 'self' 'wasm-unsafe-eval' {hashes}; img-src 'self' data:"
    own_host.headers = {"Content-Security-Policy": policy}
    visitor.expected.append(r"(?i)content.security.policy")  # Material sets inline styles; they are only looks
    visitor.open(own_host.url + TWO)
    move(visitor, "draft_verify", "gamma", "ArrowRight")
    shows(visitor, 5)
