"""The matrix kernel for the reader's browser, compiled from its one source: widgets/_browser/kernel/matmul.ts.

Why it exists: the source is what is kept and read; the WebAssembly is made with the assets, by the npm package
`assemblyscript` at the version that package-lock.json pins. A result is kept under the checksum of source, compiler and
options, so that nothing is compiled twice.

Must not know: what the kernel computes, and who calls it.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

__all__ = ["NAME", "SOURCE", "KernelError", "make"]

NAME = "kernel.wasm"
SOURCE = "widgets/_browser/kernel/matmul.ts"
COMPILER = "node_modules/assemblyscript"
OPTIONS = (
    *("-O3", "--enable", "simd"),
    *("--importMemory", "--noExportMemory", "--initialMemory", "0"),  # Python's memory, of whatever size it has
    *("--runtime", "stub", "--use", "abort=", "--noAssert"),  # nothing of its own in that memory
)
_LIMIT_S = 120


class KernelError(RuntimeError):
    """The kernel could not be compiled; the message says what is missing, or holds the compiler's words."""


def make(node: list[str], root: Path) -> bytes:
    """The compiled kernel. ``node`` is the command that starts Node. Raises KernelError."""
    package = root / COMPILER / "package.json"
    if not package.is_file():
        raise KernelError(f"{COMPILER} is missing: run `npm ci` (or `make assets`) first")
    source = root / SOURCE
    made_of = b"\0".join((source.read_bytes(), package.read_bytes(), " ".join(OPTIONS).encode()))
    kept = root / "build" / "kernel" / f"{hashlib.sha256(made_of).hexdigest()[:16]}.wasm"
    if not kept.is_file():
        kept.parent.mkdir(parents=True, exist_ok=True)
        partial = kept.with_suffix(f".{os.getpid()}")
        words = [*node, f"{COMPILER}/bin/asc.js", SOURCE, "--outFile", str(partial), *OPTIONS]
        done = subprocess.run(words, cwd=root, capture_output=True, text=True, timeout=_LIMIT_S, check=False)
        if done.returncode or not partial.is_file():
            raise KernelError(f"{SOURCE} does not compile:\n{done.stderr.strip()[-1500:]}")
        partial.rename(kept)
    return kept.read_bytes()
