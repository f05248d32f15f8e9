"""What goes wrong in a reader's browser, in each engine: it is said in words, or nobody notices.

The whole table of faults (tests/site/faults.py) runs in Chromium. Here are the rows that engines see with their own
eyes: what they call a page in place of a script, how they lose a worker, what they refuse under a policy.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re

import pytest

from tests.engines.test_journey import ALL, TWO, move, shows
from tests.engines.visitor import Visitor
from tests.site.faults import ABSENT, FILES, SPOILED, Row, place, told
from tests.site.odd import BUILT
from tests.tools.server import Host

EVERYWHERE = ("a web page in its place: worker.js", "cut off on its way: site.zip", "truncated: pyodide.asm.wasm")
KEEP_WORKERS = """
  (() => {
    window.pythons = [];
    const Plain = Worker;
    window.Worker = class extends Plain {
      constructor(...all) { super(...all); window.pythons.push(this); }
    };
  })()
"""


@pytest.mark.parametrize("what", ["WebAssembly absent", "workers refused"])
def test_a_browser_that_cannot(visitor: Visitor, host: Host, what: str) -> None:
    gone, back, words = ABSENT[what]
    visitor.open(host.url + TWO)
    visitor.wait_for("!!customElements.get('sd-widget')", "the live part")
    visitor.evaluate(f"(() => {{ {gone} }})()")
    visitor.press("#draft_verify-gamma", "End")
    visitor.wait_for_attribute("#draft_verify", "data-state", "failed")
    assert words in visitor.text("#draft_verify .sd-notice")
    assert visitor.attribute("#draft_verify-gamma", "aria-valuetext") == "8 tokens"
    visitor.evaluate(f"(() => {{ {back} }})()")
    visitor.click("#draft_verify [data-do=retry]")
    visitor.wait_for_attribute("#draft_verify", "data-state", "live")
    shows(visitor, 8)


@pytest.mark.parametrize("row", [row for row in FILES if str(row) in EVERYWHERE], ids=str)
def test_a_broken_file_is_named_and_retry_works_once_it_is_whole(visitor: Visitor, own_host: Host, row: Row) -> None:
    visitor.expected += [ALL, "JavaScript|SyntaxError|Wasm|wasm|CompileError"]
    own_host.broken = {place(row.at): SPOILED[row.kind]}
    visitor.open(own_host.url + TWO)
    visitor.press("#draft_verify-gamma", "ArrowRight")
    visitor.wait_for_attribute("#draft_verify", "data-state", "failed")
    assert told(row, own_host.folder) in visitor.text("#draft_verify .sd-notice")
    own_host.broken = {}
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
    words = json.dumps(BUILT)
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
