"""`python -m bench.train VERB …`: the steps that make the tiny pair, in the order of `README.md`.

It must not know what the steps do.
"""

from __future__ import annotations

import importlib
import sys

VERBS = {
    "corpus": ("bench.train.prepare", "read the texts, hold some out, train the tokenizer"),
    "target": ("bench.train.target", "train the target for a given time"),
    "sample": ("bench.train.sample", "let the target write texts for distillation"),
    "distil": ("bench.train.distil", "train the drafts on the target's predictions"),
    "export": ("bench.train.export", "write docs/data/models/*.safetensors"),
    "golden": ("bench.train.golden", "write reference logits of the exported files"),
    "card": ("bench.train.card", "measure the exported files, write the model card's numbers"),
}


def main(arguments: list[str]) -> int:
    """Dispatch; 2 for an unknown verb."""
    if not arguments or arguments[0] not in VERBS:
        if arguments and arguments[0] not in ("-h", "--help"):
            print(f"unknown verb {arguments[0]!r}", file=sys.stderr)
        for name, (_, words) in VERBS.items():
            print(f"python -m bench.train {name}  {words}")
        return 0 if arguments and arguments[0] in ("-h", "--help") else 2
    result: int = importlib.import_module(VERBS[arguments[0]][0]).main(arguments[1:])
    return result


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
