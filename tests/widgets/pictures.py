"""The stored pictures: which there are, how they are made, and the command that renews them.

    python -m tests.widgets.pictures          says which stored pictures differ
    python -m tests.widgets.pictures --update writes them

Both write build/pictures.html: every picture before and after, side by side, in light and dark, to be looked at before
the change is committed. One element a line, so that a diff can be read.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import widgets
from tests.widgets.states import ROOT, draw
from widgets._kit.text import esc

FOLDER = Path(__file__).parent / "pictures"
STATES: dict[str, tuple[str, dict[str, Any]]] = {
    "pass_cost": ("pass_cost", {}),
    "pass_cost-eight": ("pass_cost", {"positions": 8}),
    "pass_cost-past-the-ridge": ("pass_cost", {"positions": 512}),
    "draft_verify": ("draft_verify", {}),
    "draft_verify-off": ("draft_verify", {"on": False}),
    "draft_verify-loss": ("draft_verify", {"alpha": 0.1, "c": 0.5, "gamma": 8}),
    "draft_verify-waiting": ("draft_verify", {"step": 5}),
    "draft_verify-cheap": ("draft_verify", {"alpha": 0.95, "c": 0.02, "gamma": 7}),
    "draft_sources": ("draft_sources", {}),
    "draft_sources-medusa": ("draft_sources", {"source": "medusa"}),
    "draft_sources-lookup": ("draft_sources", {"source": "lookup", "gamma": 7}),
    "sampler": ("sampler", {}),
    "sampler-redraw-from-p": ("sampler", {"rule": "redraw_from_p"}),
    "sampler-first-step": ("sampler", {"step": 1, "draws": "100"}),
    "sampler-greedy": ("sampler", {"temperature": 0}),
    "ties": ("ties", {}),
    "ties-bug": ("ties", {"bug": True}),
    "ties-exact": ("ties", {"format": "mixed", "gap": 0.01, "ties": "last"}),
    "ties-float32": ("ties", {"format": "float32", "gap": 1e-7, "seed": 1}),
    "tree": ("tree", {}),
    "tree-crowd": ("tree", {"batch": 64, "nodes": 63}),
    "tree-first-steps": ("tree", {"step": 2, "nodes": 8}),
    "verdict": ("verdict", {}),
    "verdict-no": ("verdict", {"batch": 24, "engine": "sglang-2025", "doubt": 0.02, "prompt": 256}),
    "diagnose": ("diagnose", {}),
    "diagnose-bursts": ("diagnose", {"sample": "lookup", "c": 0.01, "reported": 1.6}),
    "metrics": ("metrics", {}),
    "metrics-pair": ("metrics", {"given": "pair", "gamma": 5, "mean": 3.25, "rate": 0.65}),
    "verdict-too-large": ("verdict", {"model": "70b"}),
    "pass_cost-published": ("pass_cost", {"model": "8b", "positions": 8}),
    "draft_verify-published": ("draft_verify", {"alpha": 0.75, "c": 0.03, "gamma": 7}),
    "measured_passes": ("measured_passes", {}),
    "measured_passes-batch": ("measured_passes", {"batch": "16", "context": "2048"}),
    "published_map": ("published_map", {}),
    "published_map-lookup": ("published_map", {"method": "lookup"}),
    "your_machine": ("your_machine", {}),
    "real_pair": ("real_pair", {}),
    "real_pair-lookup": ("real_pair", {"kind": "code", "draft": "look-up", "temperature": "0"}),
    "first_look": ("first_look", {}),
    "first_look-loses": ("first_look", {"alpha": 0.3, "c": 0.4}),
    "published_map-above": ("published_map", {"hardware": "tpu"}),
}


def picture(name: str) -> str:
    """The picture `name` as it is drawn now, one element a line."""
    widget_name, given = STATES[name]
    widget = widgets.load(widget_name)
    svg = draw(widget, widget.values(given)).svg
    assert svg is not None
    return svg.replace("><", ">\n<") + "\n"


def stored(name: str) -> str:
    """The picture as it was reviewed; "" when it is new."""
    path = FOLDER / f"{name}.svg"
    return path.read_text(encoding="utf-8") if path.exists() else ""


def side_by_side(pairs: dict[str, tuple[str, str]]) -> str:
    """A page with each picture as stored and as drawn now."""
    css = (ROOT / "widgets" / "_browser" / "widget.css").read_text(encoding="utf-8")
    sections = []
    for name, (before, after) in pairs.items():
        state = "changed" if before != after else "same"
        cells = "".join(
            f'<div style="color-scheme:{scheme}"><figure class="sd sd-figure sd-picture">{svg}</figure></div>'
            for scheme in ("light", "dark")
            for svg in (before or "<p>new</p>", after)
        )
        sections.append(f"<h2>{esc(name)}: {state}</h2><div class='row'>{cells}</div>")
    layout = ".row{display:grid;grid-template-columns:repeat(4,1fr);gap:16px}.row figure{padding:16px}"
    head = f"<!doctype html><meta charset='utf-8'><title>Pictures</title><style>{css}{layout}</style>"
    return head + "".join(sections)


def main() -> None:
    """Compare, or renew."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="write the pictures as they are drawn now")
    update = parser.parse_args().update
    pairs = {name: (stored(name), picture(name)) for name in STATES}
    page = ROOT / "build" / "pictures.html"
    page.parent.mkdir(exist_ok=True)
    page.write_text(side_by_side(pairs), encoding="utf-8")
    for name, (before, after) in pairs.items():
        if before != after:
            print(f"{'wrote' if update else 'differs:'} {name}")
            if update:
                FOLDER.mkdir(exist_ok=True)
                (FOLDER / f"{name}.svg").write_text(after, encoding="utf-8")
    print(f"look at {page.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
