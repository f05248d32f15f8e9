"""The built site fetches nothing from another host, whatever file one looks into.

The browser tests watch requests as they happen; this one reads every text file, so that an address in a page nobody
opened, in a style sheet or in the JSON of a search index is found as well. A link that a reader clicks is not a fetch.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TEXTS = {".html", ".css", ".js", ".mjs", ".json", ".svg", ".xml", ".txt", ".map", ".py", ".webmanifest"}
ADDRESS = r"""(?:https?:)?//[a-z0-9-]+(?:\.[a-z0-9-]+)+[^\s"'<>)`\\]*"""
#: Where an address is fetched without a click. Group 1 is the address.
FETCHING = [
    re.compile(pattern + rf"""["'`]?\s*({ADDRESS})""", re.I)
    for pattern in (
        r"<(?:script|img|iframe|source|video|audio|embed|track|input)\b[^>]*?\ssrc\s*=\s*",
        r"<object\b[^>]*?\sdata\s*=\s*",
        r"""<link\b(?![^>]*rel=["']?(?:canonical|prev|next|license|edit))[^>]*?\shref\s*=\s*""",
        r"\ssrcset\s*=\s*",
        r"<(?:use|image)\b[^>]*?href\s*=\s*",
        r"\burl\(\s*",
        r"@import\s+(?=[\"'])",
        r"\bimport\s*\(\s*",
        r"\b(?:import|export)\b[^;\"'`()]*?\bfrom\s*(?=[\"'])",
        r"\bimport\s+(?=[\"'])",
        r"\bfetch\s*\(\s*",
        r"\bnew\s+(?:URL|Request|Worker|SharedWorker|WebSocket|EventSource)\s*\(\s*",
        r"\bimportScripts\s*\(\s*",
        r"\bsendBeacon\s*\(\s*",
        r"\.src\s*=\s*",
    )
]
#: Hosts from which somebody's script could be taken; their bare mention in code is looked at one by one.
CDNS = re.compile(r"cdn\.|unpkg\.com|jsdelivr|googleapis|gstatic|cdnjs|esm\.sh|skypack|analytics|plausible", re.I)
#: (file name, address) that stand in a file and are never fetched, each with the reason.
INERT = {
    # Pyodide's default for packages, used only where indexURL names no folder; the worker always names its own.
    ("pyodide.mjs", "https://cdn.jsdelivr.net/pyodide/"),
    # Material loads it for pages with Mermaid diagrams only; this site has none (test below).
    ("bundle", "https://unpkg.com/mermaid@"),
    # Material's polyfill for browsers without ResizeObserver: none of those runs WebAssembly modules either.
    ("bundle", "https://unpkg.com/resize-observer-polyfill"),
}


def texts(folder: Path) -> list[Path]:
    found = [path for path in sorted(folder.rglob("*")) if path.suffix in TEXTS]
    assert len(found) > 10, "the built site is nearly empty"
    return found


def inert(path: Path, address: str) -> bool:
    return any(path.name.startswith(name) and address.startswith(start) for name, start in INERT)


def fetched(text: str) -> list[str]:
    return [match[1] for pattern in FETCHING for match in pattern.finditer(text)]


def test_no_file_fetches_from_another_host(built: Path) -> None:
    wrong = [
        f"{path.relative_to(built)}: {address}"
        for path in texts(built)
        for address in fetched(path.read_text(encoding="utf-8", errors="replace"))
        if not inert(path, address)
    ]
    assert not wrong, "\n".join(wrong)


def test_code_names_no_script_host(built: Path) -> None:
    wrong = [
        f"{path.relative_to(built)}: {address}"
        for path in texts(built)
        if path.suffix in (".js", ".mjs", ".css")
        for address in re.findall(ADDRESS, path.read_text(encoding="utf-8", errors="replace"), re.I)
        if CDNS.search(address) and not inert(path, address)
    ]
    assert not wrong, "\n".join(wrong)


def test_every_exception_is_still_needed(built: Path) -> None:
    code = {path.name: path.read_text(encoding="utf-8") for path in texts(built) if path.suffix in (".js", ".mjs")}
    unused = [
        (name, start)
        for name, start in sorted(INERT)
        if not any(file.startswith(name) and start in text for file, text in code.items())
    ]
    assert not unused


def test_no_page_makes_material_load_mermaid(built: Path) -> None:
    assert not [path for path in built.rglob("*.html") if 'class="mermaid"' in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ('<script src="https://a.example/x.js"></script>', "https://a.example/x.js"),
        ('<link rel="stylesheet" href="//fonts.example.com/css">', "//fonts.example.com/css"),
        ("@font-face{src:url(https://f.example/a.woff2)}", "https://f.example/a.woff2"),
        ("import {a} from 'https://esm.example/a'", "https://esm.example/a"),
        ("const a = await import(`https://esm.example/a`)", "https://esm.example/a"),
        ('fetch("https://api.example/x")', "https://api.example/x"),
    ],
)
def test_the_reader_of_files_finds_what_it_should(text: str, address: str) -> None:
    assert address in fetched(text)


@pytest.mark.parametrize("text", ['<a href="https://arxiv.org/abs/1">', '<link rel="canonical" href="https://a.example/">'])
def test_a_link_is_not_a_fetch(text: str) -> None:
    assert fetched(text) == []
