"""Find a Chromium for the tests: ``python -m tests.tools.chromium`` prints its path, installing one where it may.

Why it exists: one browser for all tests, on any machine: ``$CHROMIUM``, else a system Chromium or Chrome, else
Playwright's own download, else (as root on Debian) the package; else a message with the command to type.

Must not know: what is tested with it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

__all__ = ["ARGUMENTS", "ensure", "find", "main"]

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MACOS = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
#: As root Chromium refuses its sandbox; the others keep it from calling home while a test watches its requests.
ARGUMENTS = (
    *(("--no-sandbox",) if hasattr(os, "geteuid") and os.geteuid() == 0 else ()),
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-gpu",
)
MESSAGE = """No Chromium was found. One of these brings one:
  apt-get install chromium               (Debian; `make test` does it by itself as root)
  .venv/bin/python -m playwright install chromium
  CHROMIUM=/path/to/chrome make test"""


def find() -> str | None:
    """The path of a browser, or None. A ``$CHROMIUM`` that does not exist is an error, never passed over."""
    if own := os.environ.get("CHROMIUM"):
        found = shutil.which(own)
        if not found:
            raise FileNotFoundError(f"CHROMIUM names '{own}', and there is no such program")
        return found
    for name in (*NAMES, *MACOS):
        if found := shutil.which(name):
            return found
    return _playwrights()


def _playwrights() -> str | None:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if path and Path(path).is_file() else None


def ensure() -> str | None:
    """``find``, and where nothing is found and we are root on Debian, install the package."""
    found = find()
    if found or not (hasattr(os, "geteuid") and os.geteuid() == 0 and Path("/etc/debian_version").is_file()):
        return found
    print("no Chromium here: apt-get install chromium …", file=sys.stderr, flush=True)
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "update", "-qq"], env=quiet, check=False)
    install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium", "fonts-dejavu-core"]
    subprocess.run(install, env=quiet, check=False, stdout=subprocess.DEVNULL)
    return find()


def main() -> int:
    """Print the path, or say which commands bring a browser."""
    try:
        found = ensure()
    except FileNotFoundError as problem:
        print(problem, file=sys.stderr)
        return 1
    print(found or MESSAGE, file=sys.stdout if found else sys.stderr)
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())
