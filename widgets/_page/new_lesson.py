"""A new lesson to fill in: ``python -m widgets new-lesson "What a full server changes"``.

Why it exists: the first five minutes of a new page are always the same: a numbered file, its head, one figure, one
computed number, a line in the navigation. What it makes builds without a warning.

Must not know: any widget but the one that serves as an example.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

__all__ = ["create", "main"]

ROOT = Path(__file__).resolve().parents[2]
NAVIGATION = re.compile(r"^( +)- lessons/(\d\d)-[\w-]+\.md$", re.M)
TEMPLATE = """---
title: {title}
description: One sentence for search engines.
---

Stage 0 · Node {number:02} / {number:02}
{{ .sd-page-eyebrow }}

# {title}

One sentence that says what the reader will know at the end.
{{ .sd-promise }}

## The question

Start with what the reader can see. Then let them try it:

```widget
use: draft_verify
alpha: 0.6
gamma: 4
```

At these settings a pass yields `#!sim expected_tokens(alpha=0.6, gamma=4):.2f` tokens: numbers are computed, not typed.

!!! note "What to take along"

    - One sentence.

<div class="sd-progress" data-progress="mark" data-node="{node}" hidden></div>

<ul class="sd-next" markdown>
<li markdown="span">[Questions people ask](../reference/questions.md)<br>Where the reader may go from here.</li>
</ul>
"""


def create(title: str, root: Path = ROOT) -> Path:
    """Write the file and its line in ``mkdocs.yml``; ValueError in words where that cannot be done."""
    words = re.findall(r"[a-z0-9]+", title.lower())
    if not words:
        raise ValueError("a lesson needs a title with letters in it")
    settings = root / "mkdocs.yml"
    text = settings.read_text(encoding="utf-8")
    lines = list(NAVIGATION.finditer(text))
    if not lines:
        raise ValueError("mkdocs.yml has no line like '- lessons/01-….md' after which the new one could stand")
    last = max(lines, key=lambda line: int(line[2]))
    number = int(last[2]) + 1
    path = root / "docs" / "lessons" / f"{number:02}-{'-'.join(words)}.md"
    if path.exists():
        raise ValueError(f"{path.relative_to(root)} is there already")
    path.write_text(TEMPLATE.format(title=title.strip(), number=number, node=path.stem), encoding="utf-8")
    new = f"\n{last[1]}- lessons/{path.name}"
    settings.write_text(text[: last.end()] + new + text[last.end() :], encoding="utf-8")
    return path


def main(arguments: list[str]) -> int:
    """One argument, the title; says which file to open."""
    if len(arguments) != 1:
        print('usage: python -m widgets new-lesson "Title of the lesson"', file=sys.stderr)
        return 2
    try:
        path = create(arguments[0])
    except ValueError as problem:
        print(f"new-lesson: {problem}", file=sys.stderr)
        return 1
    print(f"made {path.relative_to(ROOT)} and its line in mkdocs.yml; `make serve` shows it")
    return 0
