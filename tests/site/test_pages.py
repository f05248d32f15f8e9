"""Every page of the built site: it opens without an error, says one thing in its title, and fits a narrow screen."""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import pytest
from playwright.sync_api import Page


def addresses(site: Path) -> list[str]:
    """The pages of a built site as addresses relative to its root: "" for the home page, "lessons/…/" for others."""
    folders = (page.parent.relative_to(site).as_posix() for page in site.rglob("index.html"))
    return sorted(f"{folder}/".removeprefix("./") for folder in folders)


def test_every_page_opens_without_an_error_in_both_palettes(built: Path, open_page: Callable[..., Page]) -> None:
    pages = addresses(built)
    assert len(pages) > 10
    for dark in (False, True):
        page = open_page("", dark=dark)
        root = page.url
        for address in pages:
            page.goto(root + address)
            titles = 0 if address.startswith("embed/") else 1  # an embedded figure stands on a page with a title
            assert page.locator("h1").count() == titles, address


#: In the pictures of a page: labels that lie on one another, and those that leave their picture.
CROWDED = """() => [...document.querySelectorAll(".sd-picture svg")].flatMap((svg) => {
  const edge = svg.getBoundingClientRect();
  const labels = [...svg.querySelectorAll("text")].map((one) => [one.textContent, one.getBoundingClientRect()]);
  const over = (one, other) =>
    Math.min(one.right, other.right) - Math.max(one.left, other.left) > 2 &&
    Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 4;
  return labels.flatMap(([words, place], index) => [
    ...(place.left < edge.left - 3 || place.right > edge.right + 3 ? [`“${words}” leaves its picture`] : []),
    ...labels.slice(index + 1).filter((other) => over(place, other[1])).map((other) => `“${words}” on “${other[0]}”`),
  ]);
})"""


@pytest.mark.parametrize("width", [320, 350, 390, 1280])
def test_a_screen_of_any_width_has_room_for_all(built: Path, open_page: Callable[..., Page], width: int) -> None:
    """No page scrolls sideways, and no label of a picture lies on another or leaves the picture."""
    height = 256 if width == 320 else 800  # 1280 by 1024 at 400 %
    page = open_page("", viewport={"width": width, "height": height})
    root = page.url
    found = {}
    for address in addresses(built):
        page.goto(root + address)
        reach = page.evaluate("document.scrollingElement.scrollWidth")
        crowded = page.evaluate(CROWDED)
        if reach > width or crowded:
            found[address] = (reach, crowded)
    assert found == {}


class _Links(HTMLParser):
    """Where a page points to, and the places in it that can be pointed at."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.pictures_without_words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag == "a" and found.get("href"):
            self.links.append(str(found["href"]))
        if tag == "img" and found.get("alt") is None:
            self.pictures_without_words.append(str(found.get("src")))
        for name in ("id", "name"):
            if found.get(name):
                self.places.add(str(found[name]))


def test_every_link_inside_the_site_leads_somewhere(built: Path) -> None:
    read: dict[Path, _Links] = {}
    for page in built.rglob("*.html"):
        read[page] = _Links()
        read[page].feed(page.read_text(encoding="utf-8"))
    broken = []
    for page, found in read.items():
        if page.name == "404.html":  # served from any depth, so its addresses start at the root
            continue
        here = "/" + str(page.parent.relative_to(built)).replace(".", "", 1)
        for link in found.links:
            target, fragment = urldefrag(urljoin(here.rstrip("/") + "/", link))
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            file = built / unquote(parts.path).lstrip("/")
            file = file / "index.html" if parts.path.endswith("/") or file.is_dir() else file
            if not file.is_file():
                broken.append(f"{here}: {link}")
            elif fragment and file in read and unquote(fragment) not in read[file].places:
                broken.append(f"{here}: {link} (no such place)")
    assert broken == []


def test_every_picture_has_words(built: Path) -> None:
    for page in built.rglob("*.html"):
        links = _Links()
        links.feed(page.read_text(encoding="utf-8"))
        assert links.pictures_without_words == [], page


def test_search_finds_the_lesson_and_not_the_machinery(built: Path) -> None:
    index = (built / "search" / "search_index.json").read_text(encoding="utf-8")
    assert "draft length" in index
    for noise in ("data-part", "data-stops", "<svg", "sd-control", "viewBox", "base64"):
        assert noise not in index, noise
    assert len(index) < 400_000
