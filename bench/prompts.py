"""Held-out prompts for the tiny pair's benchmarks: 24 a kind, kept in bench/prompts.json.

Why it exists: acceptance depends on the text, so the texts are fixed, and are ones that neither tokeniser, target nor
drafts were trained on. `python -m bench.prompts FOLDER` cuts them anew out of what `bench.train corpus` held out. The
prose is Jane Austen's (public domain), the code Python's standard library (PSF-2.0). It must not know models.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from sim.data import read_json

__all__ = ["KINDS", "PATH", "cut", "load"]

KINDS = ("prose", "code")
PATH = Path(__file__).with_name("prompts.json")
COUNT, LENGTH = 24, 180
"""Prompts a kind, and about how many characters each has: 60 to 80 tokens."""


def cut(text: str) -> list[str]:
    """Prompts spread evenly over a held-out text: from after a blank line to the end of a word, within one book."""
    found = []
    for place in range(COUNT):
        start, prompt = len(text) * place // COUNT, ""
        while not prompt or "THE END" in prompt:
            start = text.index("\n\n", start) + 2
            start += len(text[start:]) - len(text[start:].lstrip("\n"))
            prompt = text[start : text.index(" ", start + LENGTH)].rstrip(" ")
        found.append(prompt)
    return found


def load() -> dict[str, list[str]]:
    """The prompts by kind."""
    whole = read_json(PATH.read_text(encoding="utf-8"), PATH.name)
    return {kind: [str(text) for text in whole[kind]] for kind in KINDS}


def main(arguments: list[str]) -> int:
    """Cut them anew."""
    folder = Path(arguments[0])
    made = {kind: cut((folder / f"{kind}-held.bin").read_bytes().decode()) for kind in KINDS}
    PATH.write_text(json.dumps(made, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
