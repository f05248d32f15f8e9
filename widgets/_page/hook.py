"""The one file that knows MkDocs: it tells the Markdown extension which page is being built, writes embed pages, and
puts notebook pages into the site's own form.

Why a hook and not a plugin: an extension gets the text only, without its path and without its front matter, and an
author needs `file:line`. It must not know how a figure is made.
"""

from __future__ import annotations

import os
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.plugins import CombinedEvent, event_priority
from mkdocs.utils import get_relative_url

from widgets._page import drawn, embed, notebook
from widgets._page.problems import CURRENT, LOG, Page, Problem, box, hint, tell

__all__ = ["on_config", "on_page_content", "on_page_context", "on_page_markdown", "on_post_build", "on_startup"]

_FIGURE = re.compile(r'<sd-widget id="([A-Za-z0-9_-]+)" class="sd" data-widget="([a-z0-9_]+)"')

_WHOLE = re.compile(r"<sd-widget id=.*?</sd-widget>", re.DOTALL)

_places: dict[str, embed.Place] = {}
_commands: list[str] = []
_collected: list[drawn.Collected] = []
_taken: list[str] = []


def on_startup(*, command: str, dirty: bool) -> None:
    """Remember whether this is a build or a server."""
    _commands[:] = [command]


def on_config(config: Any) -> Any:
    """A build begins (the server builds many times)."""
    _places.clear()
    _collected[:] = [drawn.collect(drawn.KEPT)]
    runner = config.plugins.get("mkdocs-jupyter")
    if runner is not None and not notebook.executes(os.environ, _commands == ["serve"]):
        runner.config["execute"] = False
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
    """Remember where each figure stands; a lesson goes before any other page. Set notebooks in the site's own form."""
    if page.file.src_uri.endswith(".py"):
        html = _notebook(html, page, config, files)
    for id, name in _FIGURE.findall(html):
        if page.present_anchor_ids is not None:  # MkDocs does not look into finished HTML, and links lead to figures
            page.present_anchor_ids.add(id)
        known = _places.get(name)
        if known is None or (page.url.startswith("lessons/") and not known.address.startswith("lessons/")):
            _places[name] = embed.Place(page.url, str(page.title), id)
    return html


def _take_figures(context: Any, *, page: Any, config: Any, nav: Any) -> Any:
    """Before the search index reads the page: figures are not searched, and reading them is most of that work."""
    _taken[:] = _WHOLE.findall(page.content)
    page.content = _WHOLE.sub("<sd-widget></sd-widget>", page.content)
    return context


def _give_figures(context: Any, *, page: Any, config: Any, nav: Any) -> Any:
    """After it: the page is written with its figures."""
    figures = iter(_taken)
    page.content = re.sub("<sd-widget></sd-widget>", lambda _: next(figures), page.content)
    return context


on_page_context = CombinedEvent(event_priority(100)(_take_figures), event_priority(-100)(_give_figures))


def on_post_build(config: Any) -> None:
    """Write `embed/<widget>/` for every figure that stands in a page, and the answers that are baked for figures."""
    try:
        embed.write(Path(config.site_dir), Path(config.docs_dir), _places, config.site_name)
    except Exception as error:  # told like every other problem: strict mode counts it
        LOG.warning("embed pages: %s: %s", type(error).__name__, error)
    for collected in _collected:
        collected.write(Path(config.site_dir))


def _notebook(html: str, page: Any, config: Any, files: Any) -> str:
    """The page of a notebook; what is wrong in it is told like every other mistake, with its line."""
    source = Path(page.file.abs_src_path)
    text = source.read_text(encoding="utf-8")
    here = page.file.src_uri

    def complain(words: str, message: str) -> Problem:
        at = max(text.find(words.split("\n")[0]), 0)
        problem = Problem(f"docs/{here}", text.count("\n", 0, at) + 1, message)
        tell(problem)
        return problem

    def link(written: str) -> str:
        path, mark, anchor = written.partition("#")
        if not path or ":" in path or path.startswith("/"):
            return written
        wanted = posixpath.normpath(posixpath.join(posixpath.dirname(here), path))
        target = files.get_file_from_path(wanted)
        if target is None:
            known = [file.src_uri for file in files.documentation_pages()]
            complain(f"]({written}", f"the link {written!r} leads to no page{hint(wanted, known)}")
            return written
        return f"{get_relative_url(target.url, page.url)}{mark}{anchor}"

    def refused(latex: str, message: str) -> str:
        return box([complain(latex, message)], "formula")

    executed = bool(config.plugins["mkdocs-jupyter"].config["execute"])
    return notebook.rebuilt(html, source.name, executed, link, refused)
