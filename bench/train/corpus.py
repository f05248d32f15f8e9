"""The two kinds of text and what is held out of them: Jane Austen's novels and Python's standard library.

It reads what a Debian package and an interpreter hold, cuts the held-out part off before anything is trained, and
writes token files. It must not know of models. Prose: the lines of a novel are joined to paragraphs. Code: whole files,
without tests, data tables, generated documentation, and without files whose head names a copyright other than the
Python Software Foundation's (or a licence to it).
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from bench.train import bpe, rdata

NOVELS = ("sensesensibility", "prideprejudice", "mansfieldpark", "emma", "northangerabbey", "persuasion")
LEFT_OUT = {
    "test", "tests", "encodings", "idlelib", "lib2to3", "tkinter", "distutils", "pydoc_data", "turtledemo", "ensurepip",
    "site-packages", "dist-packages", "__phello__", "__pycache__", "config-3.11-x86_64-linux-gnu",
}  # fmt: skip
HELD_OUT_SHARE = 0.05
HELD_OUT_EVERY = 24
VOCAB = 1024
HEAD = 3000
NOTICE = re.compile(rb"(?i)copyright[^\n]*(?:\n[^\n]*){0,3}")
OTHER_TERMS = re.compile(rb"(?i)all rights reserved|permission to use|permission is hereby|redistribution and use")
FOUNDATION = re.compile(rb"(?i)python software foundation|licensed to psf")


def paragraphs(lines: list[str]) -> str:
    """The lines of a novel as paragraphs with one blank line between them."""
    blocks = re.split(r"\n\s*\n", "\n".join(line or "" for line in lines))
    return "\n\n".join(" ".join(block.split("\n")).strip() for block in blocks if block.strip()) + "\n\n"


def prose(package: Path) -> dict[str, bytes]:
    """The novels by name, from the unpacked Debian package r-cran-janeaustenr."""
    folder = package / "usr/lib/R/site-library/janeaustenr/data"
    found = rdata.read_database((folder / "Rdata.rdx").read_bytes(), (folder / "Rdata.rdb").read_bytes())
    return {name: paragraphs(found[name]).encode() for name in NOVELS}


def other_licence(source: bytes) -> bool:
    """Whether the head of a source file names a copyright that is not the Python Software Foundation's."""
    head = source[:HEAD]
    if any(not FOUNDATION.search(notice) for notice in NOTICE.findall(head)):
        return True
    return bool(OTHER_TERMS.search(head))


def code(library: Path) -> tuple[dict[str, bytes], list[str]]:
    """Source files by path, and the paths left out for their notices."""
    kept, other = {}, []
    for path in sorted(library.rglob("*.py")):
        name = path.relative_to(library).as_posix()
        if LEFT_OUT & set(name.split("/")) or path.stat().st_size < 500 or name.startswith("_sysconfigdata"):
            continue
        source = path.read_bytes()
        if other_licence(source):
            other.append(name)
            continue
        try:
            source.decode("utf-8")
        except UnicodeDecodeError:
            continue
        kept[name] = source.replace(b"\r\n", b"\n").rstrip(b"\n") + b"\n\n\n"
    return kept, other


def split(novels: dict[str, bytes], sources: dict[str, bytes]) -> dict[str, dict[str, list[bytes]]]:
    """Texts by kind and part: the end of every novel and every 24th source file are held out."""
    parts: dict[str, dict[str, list[bytes]]] = {kind: {"train": [], "held": []} for kind in ("prose", "code")}
    for text in novels.values():
        cut = text.rfind(b"\n\n", 0, int(len(text) * (1 - HELD_OUT_SHARE))) + 2
        parts["prose"]["train"].append(text[:cut])
        parts["prose"]["held"].append(text[cut:])
    for number, source in enumerate(sources.values()):
        parts["code"]["held" if number % HELD_OUT_EVERY == HELD_OUT_EVERY // 2 else "train"].append(source)
    return parts


def prepare(package: Path, library: Path, out: Path) -> dict[str, Any]:
    """Write `<kind>-<part>.u16` token files, `<kind>-held.bin` texts, `merges.json` and `corpus.json` into `out`."""
    import numpy as np

    out.mkdir(parents=True, exist_ok=True)
    sources, other = code(library)
    parts = split(prose(package), sources)
    merges = bpe.train((text for kind in parts.values() for text in kind["train"]), VOCAB)
    (out / "merges.json").write_text(json.dumps(merges), encoding="utf-8")
    encoder = bpe.Encoder(merges)
    names = list(sources)
    held = [name for number, name in enumerate(names) if number % HELD_OUT_EVERY == HELD_OUT_EVERY // 2]
    facts: dict[str, Any] = {"held_files": held, "other_licence": other, "files": len(names)}
    for kind, both in parts.items():
        for part, texts in both.items():
            data = b"".join(texts)
            ids = np.array(encoder.encode(data), dtype=np.uint16)
            ids.tofile(out / f"{kind}-{part}.u16")
            (out / f"{kind}-{part}.bin").write_bytes(data)
            facts[f"{kind}_{part}"] = {
                "characters": len(data.decode()),
                "bytes": len(data),
                "tokens": len(ids),
                "sha256": hashlib.sha256(data).hexdigest(),
            }
    (out / "corpus.json").write_text(json.dumps(facts, indent=1), encoding="utf-8")
    return facts
