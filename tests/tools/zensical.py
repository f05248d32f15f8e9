"""Do the pages build with Zensical too? ``python -m tests.tools.zensical`` (``make zensical``), informational.

Why it exists: Material for MkDocs is in maintenance. All the site's logic sits in one Markdown extension, so that
moving to its successor is a change of generator and nothing more; this says how far that holds today, page by page.

Must not know: how a figure is drawn. It counts them.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

__all__ = ["figures", "main"]

ROOT = Path(__file__).resolve().parents[2]


def figures(site: Path) -> dict[str, int]:
    """Page address → number of figures drawn on it."""
    pages = sorted(site.rglob("index.html"))
    return {
        page.parent.relative_to(site).as_posix(): len(re.findall(r"<sd-widget\b", page.read_text(encoding="utf-8")))
        for page in pages
    }


def main() -> int:
    """Build with both, compare the pages and their figures, print a table; 0 when they agree."""
    sites = {name: ROOT / "build" / f"compare-{name}" for name in ("mkdocs", "zensical")}
    commands = {"mkdocs": ["mkdocs", "build"], "zensical": ["zensical", "build", "--clean"]}
    for name, folder in sites.items():
        shutil.rmtree(folder, ignore_errors=True)
        settings = {**os.environ, "SITE_DIR": str(folder.relative_to(ROOT)), "NO_MKDOCS_2_WARNING": "1"}
        settings["PYTHONPATH"] = str(ROOT)
        done = subprocess.run(
            [sys.executable, "-m", *commands[name]], cwd=ROOT, env=settings, capture_output=True, text=True, check=False
        )
        if done.returncode or not folder.is_dir():
            print(f"{name} does not build the site:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
            return 1
    left, right = figures(sites["mkdocs"]), figures(sites["zensical"])
    print(f"{'page':<44}{'MkDocs':>8}{'Zensical':>10}")
    for page in sorted(left.keys() | right.keys()):
        print(f"{page:<44}{left.get(page, '-'):>8}{right.get(page, '-'):>10}")
    same = left == right
    counts = f"{sum(left.values())} figures with MkDocs, {sum(right.values())} with Zensical"
    print(f"{counts}: {'the pages agree' if same else 'the pages differ'}")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
