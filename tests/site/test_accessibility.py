"""WCAG 2.2 AA on every page in both palettes, as far as a program can see it: axe reports nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from tests.site.test_pages import addresses

AXE = Path(__file__).resolve().parents[2] / "node_modules" / "axe-core" / "axe.min.js"
RULES = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}}


def violations(page: Page) -> list[str]:
    """What axe finds on the page as it stands: rule, words, and the first places."""
    found: Any = page.evaluate("rules => axe.run(document, rules)", RULES)
    return [
        f"{rule['id']}: {rule['help']} at {[node['target'] for node in rule['nodes'][:3]]} "
        f"{rule['nodes'][0].get('failureSummary', '')!r}"
        for rule in found["violations"]
    ]


def test_axe_reports_nothing_on_any_page_in_either_palette(built: Path, open_page: Callable[..., Page]) -> None:
    page = open_page("", reduced_motion="reduce")
    root = page.url
    found = {}
    for address in addresses(built):
        page.goto(root + address)
        page.evaluate(AXE.read_text(encoding="utf-8"))
        for palette in ("light", "dark"):
            page.emulate_media(color_scheme=palette)
            if reported := violations(page):
                found[f"{address} {palette}"] = reported
    assert found == {}
