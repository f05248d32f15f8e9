"""The finished site: ``python -m widgets build`` = assets, then ``mkdocs build --strict``.

Why it exists: the two belong together, in that order. Never with ``--quiet``: together with ``--strict`` MkDocs then
exits 0 in spite of warnings.

Must not know: anything about pages or widgets.
"""

from __future__ import annotations

import subprocess
import sys

from widgets._page import assets

__all__ = ["main"]


def main(arguments: list[str]) -> int:
    """Further arguments go to MkDocs (``--site-dir elsewhere``); its exit code, or that of the assets."""
    failed = assets.main([])
    if failed:
        return failed
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", *arguments]
    return subprocess.call(command, cwd=assets.ROOT, env=assets.QUIET)
