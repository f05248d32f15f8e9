"""Writes reference logits for the NumPy inference: `python -m bench.train golden`.

Four held-out prompts, the target and every learned draft, the last three positions, forty tokens each: made by PyTorch
on the weights of the exported files, so that a difference is an error of the inference and not of rounding to int8.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from bench.train.exported import load
from bench.train.target import KINDS

LENGTHS = (24, 70)
POSITIONS, LIKELY, EVEN = 3, 20, 20
NETWORKS = ("target", "one-layer", "two-layer", "exit")


def main(arguments: Sequence[str]) -> int:
    """See the module."""
    asked = argparse.ArgumentParser(prog="python -m bench.train golden", description=__doc__)
    asked.add_argument("--data", type=Path, required=True, help="folder that `corpus` wrote")
    asked.add_argument("--models", type=Path, default=Path("docs/data/models"))
    asked.add_argument("--out", type=Path, default=Path("tests/data/lm-golden.json"))
    given = asked.parse_args(arguments)
    torch.set_num_threads(1)
    exported = load(given.models)
    prompts = []
    for kind in KINDS:
        text = (given.data / f"{kind}-held.bin").read_bytes()
        for number, length in enumerate(LENGTHS):
            start = text.index(b"\n\n", len(text) * (number + 1) // 4) + 2
            ids = exported.encoder.encode(text[start : start + 8 * length])[:length]
            ids = exported.encoder.encode(exported.encoder.decode(ids))  # the cut may have split a piece
            found: dict[str, Any] = {"kind": kind, "text": exported.encoder.decode(ids).decode(), "tokens": ids}
            for name in NETWORKS:
                logits = exported.logits(name, torch.tensor([ids]))[0, -POSITIONS:]
                best = set(logits[-1].topk(LIKELY).indices.tolist())
                rest = [token for token in range(logits.shape[1]) if token not in best]
                entries = sorted(best) + rest[:: len(rest) // EVEN][:EVEN]
                rows = [[float(f"{value:.6g}") for value in row[entries].tolist()] for row in logits]
                found[name] = {"entries": entries, "logits": rows}
            prompts.append(found)
    names = ("target.safetensors", "drafts.safetensors")
    whole = {
        "about": "python -m bench.train golden; logits after the last three prefixes, by PyTorch in float32",
        "sha256": {name: hashlib.sha256((given.models / name).read_bytes()).hexdigest() for name in names},
        "prompts": prompts,
    }
    given.out.write_text(_text(whole), encoding="utf-8")
    return 0


def _text(whole: dict[str, Any]) -> str:
    """JSON with one line a row of numbers."""
    prompts = []
    for prompt in whole["prompts"]:
        parts = [f"   {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in prompt.items()]
        prompts.append("  {\n" + ",\n".join(parts) + "\n  }")
    head = "".join(f" {json.dumps(key)}: {json.dumps(whole[key])},\n" for key in ("about", "sha256"))
    return "{\n" + head + ' "prompts": [\n' + ",\n".join(prompts) + "\n ]\n}\n"
