"""The exported files as PyTorch models with the weights every reader computes with: int8 rows times their scales.

References and measurements are made on these, never on the fp32 checkpoints. It must not measure anything itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bench.train.bpe import Encoder
from bench.train.distil import Exit
from bench.train.files import Arrays
from bench.train.model import Config, Model
from sim.lm.file import Tensors, read

__all__ = ["Exported", "load"]

TABLES = {
    "bigram": (("tokens", "U16", 2), ("weights", "U8", 2), ("rest", "F16", 1)),
    "trigram": (
        ("contexts", "I32", 1),
        ("counts", "U8", 1),
        ("tokens", "U16", 1),
        ("weights", "U8", 1),
        ("bigram.counts", "U8", 1),
        ("bigram.tokens", "U16", 1),
        ("bigram.weights", "U8", 1),
        ("unigram", "U8", 1),
    ),
}


class Exported:
    """Target, drafts by name (`exit` is called on the target's states), the tables' arrays, the encoder."""

    def __init__(self, target: Tensors, drafts: Tensors) -> None:
        self.merges = target.take("merges", "U16", (None, 2)).astype(int).tolist()
        self.encoder = Encoder([(a, b) for a, b in self.merges])
        self.target = network(target, target.config)
        self.drafts: dict[str, Any] = {}
        self.tables: Arrays = {}
        self.exit_layer = 0
        width = self.target.config.width
        for name, config in drafts.config["drafts"].items():
            if name == "exit":
                self.exit_layer = config["layer"]
                head = Exit(self.target)
                state = {"norm": drafts.vector("exit.norm", width), "map": drafts.matrix("exit.map", width, width)}
                head.load_state_dict({key: torch.from_numpy(values) for key, values in state.items()})
                self.drafts[name] = head.requires_grad_(False)
            elif name in TABLES:
                for part, kind, dimensions in TABLES[name]:
                    self.tables[f"{name}.{part}"] = drafts.take(f"{name}.{part}", kind, (None,) * dimensions)
            else:
                self.drafts[name] = network(drafts, config, f"{name}.")

    def logits(self, name: str, ids: torch.Tensor) -> torch.Tensor:
        """Logits (rows, positions, vocab) of the target or of a learned draft."""
        with torch.no_grad():
            if name == "target":
                return self.target(ids)
            if name == "exit":
                return self.drafts["exit"](self.target.states(ids)[self.exit_layer], self.target.embedding)
            return self.drafts[name](ids)


def network(tensors: Tensors, config: Mapping[str, Any], prefix: str = "") -> Model:
    """One network out of a file."""
    shape = Config(**{item.name: config[item.name] for item in fields(Config)})
    width, hidden = shape.width, shape.hidden
    state: dict[str, np.ndarray] = {"embedding": tensors.matrix(f"{prefix}embedding", shape.vocab, width)}
    for layer in range(shape.layers):
        at = f"layers.{layer}."
        for name, (outer, inner) in {
            "qkv": (3 * width, width),
            "out": (width, width),
            "up": (hidden, width),
            "down": (width, hidden),
        }.items():
            state[at + name] = tensors.matrix(prefix + at + name, outer, inner)
        for name in ("norm1", "norm2"):
            state[at + name] = tensors.vector(prefix + at + name, width)
    state["norm"] = tensors.vector(f"{prefix}norm", width)
    model = Model(shape)
    model.load_state_dict({name: torch.from_numpy(values) for name, values in state.items()})
    model.requires_grad_(False)
    return model


def load(folder: Path) -> Exported:
    """From the folder that `export` wrote."""
    files = [(folder / name).read_bytes() for name in ("target.safetensors", "drafts.safetensors")]
    return Exported(read(files[0], "target.safetensors"), read(files[1], "drafts.safetensors"))
