"""The site while you write: ``python -m widgets serve [address]``.

Why it exists: MkDocs reloads Markdown by itself but keeps Python modules as it first imported them. So `mkdocs serve`
runs as a child here, and is started again, with fresh assets, when a file under `sim/`, `widgets/` or `docs/data/`
changes.
Warnings (a mistake in a widget block) are printed and drawn into the page, they do not stop the server.

Must not know: what any of those files mean.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

from widgets._page import assets

__all__ = ["changed", "free_address", "main", "mistakes", "snapshot"]

WATCHED = ("sim", "widgets", "docs/data")
EVERY_S = 0.5


def snapshot(root: Path = assets.ROOT) -> dict[str, int]:
    """Path → time of change (ns) of every file that a running MkDocs would not notice."""
    times = {}
    for folder in WATCHED:
        for place, folders, files in os.walk(root / folder):
            folders[:] = [name for name in folders if name != "__pycache__" and not name.startswith(".")]
            for name in files:
                if not name.startswith(".") and not name.endswith((".pyc", "~")):
                    path = os.path.join(place, name)
                    try:
                        times[path] = os.stat(path).st_mtime_ns
                    except FileNotFoundError:  # an editor that saves by renaming
                        continue
    return times


def changed(before: dict[str, int], after: dict[str, int]) -> list[str]:
    """Paths added, removed or written between two snapshots, sorted."""
    return sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))


def mistakes(paths: list[str]) -> list[str]:
    """``file:line: message`` for each Python file that does not parse: starting again would only repeat it per page."""
    found = []
    for path in paths:
        if path.endswith(".py") and os.path.isfile(path):
            try:
                compile(Path(path).read_bytes(), path, "exec", dont_inherit=True)
            except (SyntaxError, ValueError) as problem:
                line = getattr(problem, "lineno", None) or 1
                found.append(f"{os.path.relpath(path, assets.ROOT)}:{line}: {getattr(problem, 'msg', problem)}")
    return found


def free_address(wanted: str) -> str:
    """``wanted`` ("host:port"), or the next port on that host that is free."""
    host, _, port = wanted.rpartition(":")
    if not host or not port.isdigit():
        raise ValueError(f"an address is host:port, for example 127.0.0.1:8000, not '{wanted}'")
    for number in range(int(port), int(port) + 50):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, number))
            except OSError:
                continue
            return f"{host}:{number}"
    raise ValueError(f"no port from {port} to {int(port) + 49} is free on {host}")


def main(arguments: list[str]) -> int:
    """Serve until Ctrl-C."""
    wanted = arguments[0] if arguments else "127.0.0.1:8000"
    try:
        address = free_address(wanted)
    except (ValueError, OSError) as problem:
        print(problem, file=sys.stderr)
        return 2
    if address != wanted:
        print(f"{wanted} is in use, taking {address}", flush=True)
    failed = assets.main([])
    if failed:
        return failed
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ended like Ctrl-C: the child goes too
    seen = snapshot()
    child = _start(address)
    announced = False
    try:
        while True:
            time.sleep(EVERY_S)
            if not announced and _answers(address):
                path = urlsplit(os.environ.get("SITE_URL", "")).path or "/"
                print(f"\n    The site: http://{address}{path}    (Ctrl-C stops)\n", flush=True)
                announced = True
            now = snapshot()
            paths = changed(seen, now)
            if not paths:
                continue
            seen = now
            wrong = mistakes(paths)
            if wrong:
                print("\n" + "\n".join(wrong) + "\nThe site stays as it was until that is mended.", flush=True)
                continue
            names = ", ".join(os.path.relpath(path, assets.ROOT) for path in paths[:3])
            print(f"\n{names}{' …' if len(paths) > 3 else ''} changed: starting again", flush=True)
            _stop(child)
            assets.main([])  # says what is wrong by itself; the next change tries again
            child = _start(address)
    except KeyboardInterrupt:
        print()
        return 0
    finally:
        _stop(child)


def _start(address: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "mkdocs", "serve", "--no-strict", "--dev-addr", address]
    return subprocess.Popen(command, cwd=assets.ROOT, env=assets.QUIET)


def _stop(child: subprocess.Popen[bytes]) -> None:
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(timeout=5)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def _answers(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host, int(port)), timeout=0.2):
            return True
    except OSError:
        return False
