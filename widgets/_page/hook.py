"""The one file that knows MkDocs: it tells the Markdown extension which page is being built, and writes embed pages.

Why a hook and not a plugin: an extension gets the text only, without its path and without its front matter, and an
author needs `file:line`. It must not know how a figure is made.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from widgets._page import embed
from widgets._page.problems import CURRENT, LOG, Page

__all__ = ["on_config", "on_page_content", "on_page_markdown", "on_post_build"]

_FIGURE = re.compile(r'<sd-widget id="([A-Za-z0-9_-]+)" class="sd" data-widget="([a-z0-9_]+)"')

_places: dict[str, embed.Place] = {}


def on_config(config: Any) -> Any:
    """A build begins (the server builds many times)."""
    _places.clear()
    return config


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Any) -> str:
    """Remember the page's path (as the author types it) and how many lines its front matter took."""
    path = Path(page.file.abs_src_path)
    root = Path(config.config_file_path or ".").resolve().parent
    try:
        raw = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        raw = markdown
    offset = raw.count("\n") - markdown.count("\n") if raw.endswith(markdown) else 0
    CURRENT.set(Page(Path(os.path.relpath(path, root)).as_posix(), offset))
    return markdown


def on_page_content(html: str, *, page: Any, config: Any, files: Any) -> str:
    """Remember where each figure stands; a lesson goes before any other page."""
    for id, name in _FIGURE.findall(html):
        known = _places.get(name)
        if known is None or (page.url.startswith("lessons/") and not known.address.startswith("lessons/")):
            _places[name] = embed.Place(page.url, str(page.title), id)
    return html


def on_post_build(config: Any) -> None:
    """Write `embed/<widget>/` for every figure that stands in a page."""
    try:
        embed.write(Path(config.site_dir), Path(config.docs_dir), _places, config.site_name)
    except Exception as error:  # told like every other problem: strict mode counts it
        LOG.warning("embed pages: %s: %s", type(error).__name__, error)
