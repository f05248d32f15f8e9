"""Writes what the page loads: `python -m bench.train export`.

Target and drafts as int8 rows, the tables, the tokenizer's merges, config and a short card, in the bytes of
`sim.lm.file`. Sizes are checked here, because a page pays for them. It must not train or measure.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.train import bpe, tables
from bench.train.files import Arrays, pack
from sim.lm.file import write

__all__ = ["MOST_DRAFTS", "MOST_TARGET", "drafts_file", "main", "target_file"]

MOST_TARGET, MOST_DRAFTS = 4_000_000, 1_500_000
FOLLOWERS = 48
DATA = "six novels of Jane Austen (public domain) and the Python 3.11 standard library (PSF-2.0)"


def target_file(
    weights: Mapping[str, np.ndarray], config: Mapping[str, Any], merges: bpe.Merges, card: Mapping[str, Any]
) -> bytes:
    """The target's file."""
    arrays: Arrays = {"merges": np.array(merges, dtype=np.uint16).reshape(-1, 2), **pack(weights)}
    full = {**config, "pretokenize": bpe.PRETOKENIZE.decode("latin-1")}
    return _checked(write(arrays, full, {"data": DATA, **card}), MOST_TARGET)


def drafts_file(
    networks: Mapping[str, tuple[Mapping[str, np.ndarray], Mapping[str, Any]]],
    bigram: np.ndarray,
    trigram: Arrays,
    card: Mapping[str, Any],
) -> bytes:
    """The drafts' file: learned ones by name with their config (`exit` among them), bigram rows, trigram tables."""
    arrays: Arrays = {}
    config: dict[str, Any] = {}
    for name, (weights, about) in networks.items():
        arrays |= pack(weights, f"{name}.")
        config[name] = dict(about)
    arrays |= tables.bigram(bigram, FOLLOWERS) | trigram
    config["bigram"] = {"order": 1, "followers": FOLLOWERS}
    config["trigram"] = {"order": 2, "format": tables.TRIGRAM_FORMAT}
    return _checked(write(arrays, {"drafts": config}, {"data": DATA, **card}), MOST_DRAFTS)


def _checked(data: bytes, most: int) -> bytes:
    if len(data) > most:
        raise ValueError(f"file must have at most {most} bytes, got {len(data)}")
    return data


def _numpy(state: Mapping[str, Any]) -> dict[str, np.ndarray]:
    return {name: values.detach().float().numpy() for name, values in state.items()}


def main(arguments: Sequence[str]) -> int:
    """See the module."""
    import torch

    asked = argparse.ArgumentParser(prog="python -m bench.train export", description=__doc__)
    asked.add_argument("--data", type=Path, required=True, help="folder that `corpus` wrote")
    asked.add_argument("--target", type=Path, required=True, help="checkpoint that `target` wrote")
    asked.add_argument("--drafts", type=Path, required=True, help="checkpoint that `distil` wrote")
    asked.add_argument("--context", type=int, default=512)
    asked.add_argument("--out", type=Path, default=Path("docs/data/models"))
    given = asked.parse_args(arguments)
    merges = json.loads((given.data / "merges.json").read_text())
    stored = torch.load(given.target)
    state = stored["state"]
    last = (state["curve"] or [{}])[-1]
    card = {
        "licence": "weights: as this site; data: see docs/reference/models.md",
        "seed": int(stored["arguments"]["seed"]),
        "tokens_seen": state["tokens"],
        "held_out_nats_a_token": {kind: round(last[kind], 3) for kind in ("prose", "code") if kind in last},
    }
    given.out.mkdir(parents=True, exist_ok=True)
    config = {**stored["config"], "context": given.context}
    data = target_file(_numpy(stored["model"]), config, merges, card)
    (given.out / "target.safetensors").write_bytes(data)
    print(f"target.safetensors: {len(data)} bytes")
    drafts = torch.load(given.drafts)
    networks: dict[str, Any] = {}
    for name, (weights, about) in drafts["networks"].items():
        context = {"context": given.context} if "width" in about else {}
        networks[name] = (_numpy(weights), {**about, **context})
    texts = [np.fromfile(given.data / f"{kind}-train.u16", dtype=np.uint16) for kind in ("prose", "code")]
    trigram = tables.trigram(texts, config["vocab"])
    told = {"seed": drafts["seed"], "distilled_tokens": drafts["tokens"]}
    data = drafts_file(networks, drafts["bigram"].numpy(), trigram, told)
    (given.out / "drafts.safetensors").write_bytes(data)
    print(f"drafts.safetensors: {len(data)} bytes")
    return 0
