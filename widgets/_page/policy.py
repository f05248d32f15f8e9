"""``python -m widgets policy [site]``: the content security policy under which the built site works, for its host.

Why it exists: Material's own small inline scripts have to be allowed by their hashes, and those change with Material.
They are computed from the built pages, so one header fits all of them. It must not know who hosts the site.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import sys
from pathlib import Path

from widgets._page import assets

__all__ = ["inline_scripts", "main", "policy"]

_SCRIPT = re.compile(r"<script(?P<attributes>[^>]*)>(?P<script>.*?)</script>", re.DOTALL)


def inline_scripts(html: str) -> list[str]:
    """The scripts written into a page, data in JSON left out: a browser does not run them."""
    found = _SCRIPT.finditer(html)
    return [each["script"] for each in found if not re.search(r'\ssrc=|type="application/', each["attributes"])]


def policy(site: Path) -> str:
    """The value of a Content-Security-Policy header for every page below `site`.

    `'wasm-unsafe-eval'` starts WebAssembly and nothing else; images as data are the icons in Material's style sheet.
    """
    pages = (page.read_text(encoding="utf-8") for page in sorted(site.rglob("*.html")))
    scripts = sorted({script for page in pages for script in inline_scripts(page)})
    sums = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(["'self'", "'wasm-unsafe-eval'", *(f"'sha256-{value}'" for value in sums)])
    return f"default-src 'self'; script-src {allowed}; img-src 'self' data:; object-src 'none'; base-uri 'self'"


def main(arguments: list[str]) -> int:
    """The command: prints the policy of the built site."""
    site = Path(arguments[0]) if arguments else assets.ROOT / os.environ.get("SITE_DIR", "site")
    if len(arguments) > 1 or not (site / "index.html").is_file():
        print(f"usage: python -m widgets policy [site]; no built site in {site}", file=sys.stderr)
        return 2
    print(policy(site))
    return 0
