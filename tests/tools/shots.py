"""Contact sheets for looking at: ``python -m widgets shots [part of an address …]`` into ``build/shots``.

Why it exists: whether a page is beautiful, no test can say. One picture per page shows it wide and on a phone, in both
palettes, without JavaScript, and with a control moved; the single shots lie beside it at full size.

Must not know: what is on the pages, beyond that a figure is an ``sd-widget`` with sliders.
"""

from __future__ import annotations

import html
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, FloatRect, Page, sync_playwright
from playwright.sync_api import TimeoutError as TooLong

from tests.tools import chromium
from tests.tools.server import serve

__all__ = ["main"]

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "build" / "shots"
#: A page is long; its sheet is also cut into pictures of this height, so that one can look at it without zooming.
STRIP = 1700
SHOTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("1280 light", {"width": 1280}),
    ("1280 dark", {"width": 1280, "color_scheme": "dark"}),
    ("1280 no JavaScript", {"width": 1280, "java_script_enabled": False}),
    ("1280 moved", {"width": 1280, "moved": True}),
    ("390 light", {"width": 390}),
    ("390 dark", {"width": 390, "color_scheme": "dark"}),
)


def take(browser: Browser, address: str, path: Path, options: dict[str, Any]) -> str:
    """One full-page picture; the answer is a remark ("" when all went well)."""
    settings = dict(options)
    width, moved = settings.pop("width"), settings.pop("moved", False)
    context = browser.new_context(viewport={"width": width, "height": 900}, reduced_motion="reduce", **settings)
    try:
        page = context.new_page()
        page.goto(address, wait_until="load")
        remark = move(page) if moved else ""
        page.wait_for_timeout(150)
        page.screenshot(path=path, full_page=True)
        scripted = options.get("java_script_enabled", True)
        wide = page.evaluate("document.documentElement.scrollWidth") if scripted else width
        return remark or (f"{wide} px wide: scrolls sideways" if wide > width else "")
    finally:
        context.close()


def move(page: Page) -> str:
    """Move the first slider of every figure two stops and wait until Python has answered."""
    figures = page.locator("sd-widget:has(input[type=range])")
    for number in range(figures.count()):
        figure = figures.nth(number)
        figure.scroll_into_view_if_needed()
        slider = figure.locator("input[type=range]").first
        slider.press("ArrowRight")
        slider.press("ArrowRight")
        try:
            figure.and_(page.locator("[data-state=live]")).wait_for(timeout=40_000)
        except TooLong:
            return f"figure {number + 1} is not live but {figure.get_attribute('data-state')}"
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_timeout(400)
    return ""


def sheets(browser: Browser, wanted: list[str], folder: Path) -> Iterator[tuple[Path, list[str]]]:
    """Each contact sheet with the remarks on it."""
    with serve(folder, "/sub/") as host:
        for address in host.pages():
            if wanted and not any(part in (address or "index") for part in wanted):
                continue
            name = address.strip("/").replace("/", "-") or "index"
            single = OUT / name
            single.mkdir(parents=True, exist_ok=True)
            cells, remarks = [], []
            for title, options in SHOTS:
                picture = single / f"{title.replace(' ', '-')}.png"
                remark = take(browser, host.url + address, picture, options)
                if remark:
                    remarks.append(f"{title}: {remark}")
                shown = 390 if options["width"] == 390 else 640
                source = picture.relative_to(OUT).as_posix()
                caption = html.escape(f"{title}  {remark}")
                cells.append(f'<figure><figcaption>{caption}</figcaption><img src="{source}" width="{shown}"></figure>')
            sheet = OUT / f"{name}.html"
            style = "body{display:flex;gap:16px;margin:16px;background:#888;font:14px sans-serif}figure{margin:0}"
            sheet.write_text(f"<!doctype html><title>{name}</title><style>{style}</style>{''.join(cells)}", "utf-8")
            page = browser.new_page(viewport={"width": 4 * 640 + 2 * 390 + 7 * 16, "height": 800})
            page.goto(sheet.as_uri())
            size = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
            for number, top in enumerate(range(0, size[1], STRIP), start=1):
                height = min(STRIP, size[1] - top)
                strip = FloatRect(x=0, y=top, width=size[0], height=height)
                page.screenshot(path=OUT / f"{name}-{number}.png", full_page=True, clip=strip)
            page.close()
            yield sheet, remarks


def main(arguments: list[str]) -> int:
    """Sheets of all pages, or of those whose address holds one of the words; exit 1 when there are remarks."""
    path = chromium.find()
    folder = ROOT / os.environ.get("SITE_DIR", "site")
    if path is None or not (folder / "index.html").is_file():
        print(chromium.MESSAGE if path is None else f"{folder} holds no site: `make build` first", file=sys.stderr)
        return 2
    count = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(chromium.ARGUMENTS))
        for sheet, remarks in sheets(browser, arguments, folder):
            print(sheet.relative_to(ROOT), *remarks, sep="\n    ", flush=True)
            count += len(remarks)
        browser.close()
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
