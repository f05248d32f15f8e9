"""Fetch the one wheel readers' Python needs beyond its standard library: NumPy built for Pyodide.

Why it exists: npm's ``pyodide`` carries the interpreter but no packages, and a built site must not send readers to
somebody else's server. So the wheel is fetched once, checked against the SHA-256 in ``pyodide-lock.json``, kept in a
cache folder and copied into the site.

Must not know: what the site does with the file. Every source hands over bytes; only the checksum decides.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

__all__ = ["FetchError", "LockedWheel", "cache_folder", "fetch", "locked"]

CDN = "https://cdn.jsdelivr.net/pyodide/v{version}/full/{file}"
# A PyPI wheel that carries the very same file; only this member of it is read. The checksum makes the detour safe.
CARRIER = "open-webui==0.12.4"
CARRIER_MEMBER = "open_webui/frontend/pyodide/{file}"
TIMEOUT_S = 8.0


class FetchError(Exception):
    """No source had the file; the message lists what was tried and what to do."""


@dataclass(frozen=True)
class LockedWheel:
    """A package as Pyodide's own lock file names it."""

    name: str
    version: str
    file: str
    sha256: str
    pyodide: str


def locked(name: str, pyodide: Path) -> LockedWheel:
    """The entry for ``name`` in the npm package folder ``pyodide`` (its lock file and its own version)."""
    entry = json.loads((pyodide / "pyodide-lock.json").read_text(encoding="utf-8"))["packages"][name]
    version = json.loads((pyodide / "package.json").read_text(encoding="utf-8"))["version"]
    return LockedWheel(name, entry["version"], entry["file_name"], entry["sha256"], version)


def cache_folder() -> Path:
    """Where fetched files stay: ``$SPECDEC_CACHE``, else ``speculative-decoding`` below the user's cache folder."""
    if own := os.environ.get("SPECDEC_CACHE"):
        return Path(own).expanduser()
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "speculative-decoding"


def fetch(
    wheel: LockedWheel,
    *,
    cache: Path | None = None,
    sources: tuple[tuple[str, Callable[[LockedWheel], bytes]], ...] | None = None,
    say: Callable[[str], None] = print,
) -> Path:
    """The path of a verified copy in the cache; raises ``FetchError`` naming every source that failed and why."""
    kept = (cache_folder() if cache is None else cache) / wheel.file
    if kept.is_file() and _digest(kept.read_bytes()) == wheel.sha256:
        return kept
    failures = []
    for name, read in _sources() if sources is None else sources:
        try:
            content = read(wheel)
        except (OSError, zipfile.BadZipFile, ValueError, KeyError, LookupError) as problem:
            failures.append(f"  - {name}: {problem or type(problem).__name__}")
            continue
        if _digest(content) != wheel.sha256:
            failures.append(f"  - {name}: the file there has another SHA-256 than pyodide-lock.json names")
            continue
        kept.parent.mkdir(parents=True, exist_ok=True)
        partial = kept.with_name(f"{kept.name}.{os.getpid()}.part")
        partial.write_bytes(content)
        partial.replace(kept)
        say(f"fetched {wheel.file} ({len(content) / 1e6:.1f} MB) from {name}")
        return kept
    raise FetchError(
        f"could not fetch {wheel.file} (SHA-256 {wheel.sha256}). Tried:\n"
        + "\n".join(failures)
        + "\nPut the file into a folder and name that folder in PYODIDE_WHEELS, or try again with a connection."
    )


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _sources() -> tuple[tuple[str, Callable[[LockedWheel], bytes]], ...]:
    own = os.environ.get("PYODIDE_WHEELS")
    folder = ((f"the folder {own} (PYODIDE_WHEELS)", _from_folder),) if own else ()
    return (*folder, ("the Pyodide CDN", _from_cdn), (f"the PyPI wheel {CARRIER}", _from_carrier))


def _from_folder(wheel: LockedWheel) -> bytes:
    return (Path(os.environ["PYODIDE_WHEELS"]).expanduser() / wheel.file).read_bytes()


def _from_cdn(wheel: LockedWheel) -> bytes:
    address = CDN.format(version=wheel.pyodide, file=wheel.file)
    try:
        with urllib.request.urlopen(address, timeout=TIMEOUT_S) as answer:
            content: bytes = answer.read()
            return content
    except urllib.error.URLError as problem:
        raise OSError(f"{address}: {problem.reason}") from problem


def _from_carrier(wheel: LockedWheel) -> bytes:
    """Ask pip where the carrier lies under the user's own index settings, then read one member by HTTP range."""
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-deps", "--ignore-installed"]
    command += ["--ignore-requires-python", "--quiet", "--report", "-", CARRIER]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    except subprocess.TimeoutExpired as slow:
        raise OSError("pip did not answer within two minutes") from slow
    if answer.returncode:
        last = (answer.stderr.strip().splitlines() or ["no message"])[-1]
        raise OSError(f"pip could not find it: {last}")
    address: str = json.loads(answer.stdout)["install"][0]["download_info"]["url"]
    member = CARRIER_MEMBER.format(file=wheel.file)
    if address.startswith("file://"):
        with zipfile.ZipFile(urllib.request.url2pathname(address.removeprefix("file://"))) as archive:
            return archive.read(member)
    try:
        from remotezip import RemoteZip
    except ImportError as missing:
        raise OSError("the package remotezip is not installed") from missing
    import requests

    with requests.Session() as session:
        # The index may sit behind a private certificate that pip has been told about.
        certificate = _pip_certificate()
        if certificate:
            session.verify = certificate
        with RemoteZip(address, session=session, timeout=60) as archive:
            content: bytes = archive.read(member)
            return content


def _pip_certificate() -> str | None:
    if own := os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("PIP_CERT"):
        return own
    answer = subprocess.run(
        [sys.executable, "-m", "pip", "config", "get", "global.cert"], capture_output=True, text=True, check=False
    )
    return answer.stdout.strip().strip("'\"") or None
