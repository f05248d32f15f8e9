"""`embed/<widget>/`: a page with one figure, its source line and a link back, sized for a frame on another page.

Why whole pages of their own and not a template of the site: nothing of the site's navigation, search or scripts belongs
into somebody else's page. The same style sheet and the same browser code make the figure live. They are written after
the build, from what the pages turned out to hold. It must not know MkDocs.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import widgets
from widgets._kit.text import esc
from widgets._page.assets import live_folder
from widgets._page.drawn import drawn
from widgets._page.figure import framed

__all__ = ["Place", "folder_of", "page", "write"]


@dataclass(frozen=True)
class Place:
    """Where a figure stands in the site: the page's address below the top, its title, and the figure's id."""

    address: str
    title: str
    id: str


def folder_of(name: str) -> str:
    """Where the page of the widget `name` lies, below the top of the site."""
    return f"embed/{name}/"


def write(site: Path, docs: Path, places: Mapping[str, Place], site_name: str, language: str = "en") -> None:
    """A page for every widget in `places` below `site`. Whatever a widget raises comes out, naming it."""
    for name, place in sorted(places.items()):
        target = site / folder_of(name) / "index.html"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(page(name, docs, place, site_name, language), encoding="utf-8")


def page(name: str, docs: Path, place: Place, site_name: str, language: str = "en") -> str:
    """The page of one widget, in its default state."""
    widget = widgets.load(name)
    values = widget.values({})
    state = drawn(widget, docs, values)
    html = framed(widget, state.parts, values, name, live_folder(docs) or "", state.baked)
    top = posixpath.relpath(".", folder_of(name))
    return f"""<!doctype html>
<html lang="{esc(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>{esc(widget.title)} – {esc(site_name)}</title>
<link rel="icon" href="{top}/assets/images/favicon.png">
<link rel="stylesheet" href="{top}/assets/live/widget.css">
<link rel="stylesheet" href="{top}/assets/css/embed.css">
<script type="module" src="{top}/assets/live/start.js"></script>
</head>
<body>
<main>
{html}
</main>
<p class="sd-home">From <a href="{top}/{esc(place.address)}#{esc(place.id)}" target="_blank" rel="noopener">\
{esc(place.title)}</a>, {esc(site_name)}</p>
</body>
</html>
"""
