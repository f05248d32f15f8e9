"""Pages with one figure for other people's pages, and where their links lead."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

import widgets
from widgets._page import embed, hook
from widgets._page.embed import Place, page, write

DOCS = Path(__file__).parents[2] / "docs"
PLACE = Place("lessons/01/", "Why <slow>", "my-figure")


@pytest.mark.parametrize("name", widgets.names())
def test_every_widget_of_the_site_can_be_embedded(name):
    html = page(name, DOCS, PLACE, "A & B")
    assert html.count("<sd-widget") == 1
    assert f'<sd-widget id="{name}"' in html
    assert 'href="../../lessons/01/#my-figure"' in html
    assert "Why &lt;slow&gt;</a>, A &amp; B" in html


def _page(url: str, title: str) -> SimpleNamespace:
    file = SimpleNamespace(src_uri=f"{url.rstrip('/')}.md")
    return SimpleNamespace(url=url, title=title, file=file, present_anchor_ids=None)


def test_an_embedded_figure_loads_only_what_is_the_figures():
    html = page("pass_cost", DOCS, PLACE, "Site")
    loaded = re.findall(r'<(?:link rel="stylesheet"|script)[^>]* (?:href|src)="([^"]+)"', html)
    assert loaded == ["../../assets/live/widget.css", "../../assets/css/embed.css", "../../assets/live/start.js"]
    assert "<nav" not in html
    assert 'name="robots" content="noindex"' in html


def test_the_files_lie_where_the_links_expect_them(tmp_path):
    write(tmp_path, DOCS, {"pass_cost": PLACE}, "Site")
    assert (tmp_path / "embed/pass_cost/index.html").is_file()
    assert (DOCS / "assets/css/embed.css").is_file()


def built(*pages: tuple[str, str, str]) -> dict[str, Place]:
    """What the hook remembers after these pages: address, title, HTML."""
    hook.on_config(SimpleNamespace(plugins={}))
    for url, title, html in pages:
        hook.on_page_content(html, page=_page(url, title), config=None, files=None)
    return dict(hook._places)


def test_the_link_back_leads_to_the_lesson_first():
    figure = '<sd-widget id="{}" class="sd" data-widget="pass_cost" data-state="static">'
    shown = ("contributing/a/", "How to", figure.format("a"))
    lesson = ("lessons/01/", "Slow", figure.format("b"))
    later = ("lessons/02/", "Draft", figure.format("c"))
    assert built(shown, lesson, later) == {"pass_cost": Place("lessons/01/", "Slow", "b")}
    assert built(shown) == {"pass_cost": Place("contributing/a/", "How to", "a")}
    assert built(("x/", "No figure", "<p>")) == {}


def test_a_widget_that_fails_is_a_warning(tmp_path, caplog):
    built(("x/", "X", '<sd-widget id="a" class="sd" data-widget="nothing"'))
    hook.on_post_build(SimpleNamespace(site_dir=str(tmp_path), docs_dir=str(DOCS), site_name="Site"))
    assert caplog.messages == ["embed pages: UnknownWidget: unknown widget 'nothing'"]
    assert embed.folder_of("nothing") == "embed/nothing/"
