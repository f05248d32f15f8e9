"""The one file that knows MkDocs: it tells the Markdown extension which page is being built.

Why a hook and not a plugin: an extension gets the text only, without its path and without its front matter, and an
author needs `file:line`. It must not know widgets, and does nothing that another site generator would miss.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from widgets._page.problems import CURRENT, Page

__all__ = ["on_page_markdown"]


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
