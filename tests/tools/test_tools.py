"""The tools of the commands: what they find, and what they say when they do not."""

from __future__ import annotations

import http.client
import os
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest

from tests.tools import chromium, run
from tests.tools.server import Host, serve
from widgets._page import node
from widgets._page.serve import changed, free_address, mistakes, snapshot

ROOT = Path(__file__).resolve().parents[2]


def test_serve_notices_what_mkdocs_does_not(tmp_path: Path) -> None:
    (tmp_path / "sim").mkdir()
    (tmp_path / "docs").mkdir()
    module = tmp_path / "sim" / "theory.py"
    module.write_text("")
    before = snapshot(tmp_path)
    (tmp_path / "docs" / "index.md").write_text("MkDocs sees to this one")
    (tmp_path / "sim" / "__pycache__").mkdir()
    (tmp_path / "sim" / "__pycache__" / "theory.pyc").write_text("")
    assert changed(before, snapshot(tmp_path)) == []
    os.utime(module, ns=(1, 1))
    (tmp_path / "sim" / "cost.py").write_text("")
    assert changed(before, snapshot(tmp_path)) == [str(tmp_path / "sim" / "cost.py"), str(module)]


def test_serve_names_the_line_that_does_not_parse(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text("x = 1\n")
    (tmp_path / "bad.py").write_text("x = 1\ndef broken(:\n")
    paths = [str(tmp_path / name) for name in ("good.py", "bad.py", "gone.py")]
    (found,) = mistakes(paths)
    assert found.endswith("bad.py:2: invalid syntax")


def test_serve_takes_the_next_port_when_one_is_in_use() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert free_address(f"127.0.0.1:{port}") != f"127.0.0.1:{port}"


def test_serve_says_what_an_address_is() -> None:
    with pytest.raises(ValueError, match="an address is host:port"):
        free_address("8000")


def test_a_chromium_that_is_not_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHROMIUM", "/no/such/browser")
    with pytest.raises(FileNotFoundError, match="CHROMIUM names '/no/such/browser'"):
        chromium.find()


def test_an_old_node_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in {"node": "#!/bin/sh\necho v18.0.0\n", "npm": "#!/bin/sh\n"}.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path) + os.pathsep + "/bin")
    monkeypatch.setattr(node, "_wheel", lambda: None)
    with pytest.raises(RuntimeError, match="Node 20 or newer is needed"):
        node.command(install=False)
    (tmp_path / "node").write_text("#!/bin/sh\necho v22.1.0\n")
    assert node.command(install=False) == [str(tmp_path / "node")]


def test_check_needs_neither_browser_nor_node(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node, "command", lambda: pytest.fail("check asked for Node"))
    names = [step.name for step in run.steps(browser=False) if step.command()]
    assert names == ["pages and data", "ruff", "mypy", "pytest"]
    assert [step.name for step in run.words()] == ["pages and data"]
    assert {step.rests_on for step in run.steps(browser=True)} <= {"", *(step.name for step in run.steps(browser=True))}


def test_a_python_without_ensurepip_gets_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "ensurepip.py").write_text("raise ImportError('Debian leaves it out')\n")
    done = subprocess.run(
        [sys.executable, "tests/tools/bootstrap.py", str(tmp_path / "venv")],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "apt install python3-venv" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture
def host(tmp_path: Path):
    (tmp_path / "lessons/one").mkdir(parents=True)
    (tmp_path / "index.html").write_text("home")
    (tmp_path / "404.html").write_text("not here")
    (tmp_path / "lessons/one/index.html").write_text("one")
    (tmp_path / "a.mjs").write_text("export {}")
    (tmp_path / "a.wasm").write_bytes(b"\0asm")
    with serve(tmp_path, "/sub/") as running:
        yield running


def get(host: Host, path: str, **headers: str) -> tuple[int, str, bytes]:
    parts = urlsplit(host.url)
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=10)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, answer.headers["Content-Type"], content


def test_the_host_behaves_like_a_static_host_below_a_sub_path(host: Host) -> None:
    assert host.pages() == ("", "lessons/one/")
    assert get(host, "/sub/") == (200, "text/html; charset=utf-8", b"home")
    assert get(host, "/sub/lessons/one/?gamma=8") == (200, "text/html; charset=utf-8", b"one")
    assert get(host, "/sub/lessons/one")[0] == 301
    assert get(host, "/sub/nothing") == (404, "text/html; charset=utf-8", b"not here")
    assert get(host, "/index.html")[0] == 404
    assert get(host, "/sub/../../etc/passwd")[0] == 404
    assert get(host, "/sub/a.mjs")[1] == "text/javascript; charset=utf-8"
    assert get(host, "/sub/a.wasm")[1] == "application/wasm"


def test_the_host_breaks_what_a_test_asks_it_to(host: Host) -> None:
    host.broken[r"\.wasm$"] = 503
    host.headers["Content-Security-Policy"] = "default-src 'self'"
    assert get(host, "/sub/a.wasm")[0] == 503
    assert host.asked[-1] == ("a.wasm", 503)


def test_a_slow_line_is_shared_and_begins_late(tmp_path: Path) -> None:
    """Half a megabit a second and 50 ms: 12,500 bytes take a quarter of a second, twice as long when two share it."""
    for name in ("a.bin", "b.bin"):
        (tmp_path / name).write_bytes(bytes(12_500))
    with serve(tmp_path, "/sub/") as host:
        host.bits_per_s, host.latency_s = 400_000, 0.05
        began = time.monotonic()
        with ThreadPoolExecutor() as pool:
            bodies = list(pool.map(lambda name: urlopen(host.url + name).read(), ("a.bin", "b.bin")))
        took = time.monotonic() - began
    assert bodies == [bytes(12_500)] * 2
    assert 0.5 <= took < 2
    assert host.sent == [12_500, 12_500]
