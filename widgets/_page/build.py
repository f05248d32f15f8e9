"""The finished site: ``python -m widgets build`` = assets, ``mkdocs build --strict``, a ``.nojekyll`` for GitHub Pages.

Why it exists: the two belong together, in that order. Never with ``--quiet``: together with ``--strict`` MkDocs then
exits 0 in spite of warnings.

Must not know: anything about pages or widgets.
"""

from __future__ import annotations

import os
import subprocess
import sys

from widgets._page import assets

__all__ = ["main"]


def main(arguments: list[str]) -> int:
    """Build into ``$SITE_DIR`` (as mkdocs.yml does), else ``site``; MkDocs' exit code, or that of the assets."""
    if arguments:
        print("usage: python -m widgets build    (SITE_DIR and SITE_URL in the environment)", file=sys.stderr)
        return 2
    failed = assets.main([])
    if failed:
        return failed
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    failed = subprocess.call(command, cwd=assets.ROOT, env=assets.QUIET)
    if not failed:
        (assets.ROOT / os.environ.get("SITE_DIR", "site") / ".nojekyll").touch()
    return failed
