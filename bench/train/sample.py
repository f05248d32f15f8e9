"""Lets the target write texts that drafts are then distilled on: `python -m bench.train sample`.

A draft is asked about texts that the target wrote, not about the corpus; so part of its training is on such texts.
Prompts are windows of the training parts, half prose, half code; temperatures are drawn evenly between 0.6 and 1. Many
texts go through one pass, with a cache of keys and values. It must not know drafts.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from bench.train.distil import load_target
from bench.train.model import Model, rotate
from bench.train.target import Texts

LOWEST, HIGHEST = 0.6, 1.0


class Cache:
    """Keys and values of texts of one length that a model reads together."""

    def __init__(self, model: Model, rows: int, length: int) -> None:
        self.model, self.at = model, 0
        heads, size = model.config.heads, model.config.width // model.config.heads
        self.keys = [torch.zeros(rows, heads, length, size) for _ in model.layers]
        self.values = [torch.zeros(rows, heads, length, size) for _ in model.layers]

    def logits(self, ids: Tensor) -> Tensor:
        """Logits (rows, vocab) after the last of new ids (rows, count); count is one, except in the first call."""
        model, (rows, count) = self.model, ids.shape
        new = slice(self.at, self.at + count)
        cos, sin = model.cos[new], model.sin[new]
        x = F.embedding(ids, model.embedding)
        width, eps = model.config.width, model.config.eps
        for layer, keys, values in zip(model.layers, self.keys, self.values, strict=True):
            qkv = F.linear(F.rms_norm(x, (width,), layer.norm1, eps), layer.qkv)
            q, k, v = qkv.view(rows, count, 3, layer.heads, -1).permute(2, 0, 3, 1, 4)
            keys[:, :, new], values[:, :, new] = rotate(k, cos, sin), v
            mixed = F.scaled_dot_product_attention(
                rotate(q, cos, sin), keys[:, :, : new.stop], values[:, :, : new.stop], is_causal=count > 1
            )
            x = x + F.linear(mixed.transpose(1, 2).reshape(rows, count, width), layer.out)
            hidden = F.relu(F.linear(F.rms_norm(x, (width,), layer.norm2, eps), layer.up)).square()
            x = x + F.linear(hidden, layer.down)
        self.at = new.stop
        return model.head(x[:, -1])


@torch.no_grad()
def write_texts(model: Model, prompts: Tensor, length: int, temperatures: Tensor, chance: torch.Generator) -> Tensor:
    """Prompts (rows, count) continued to `length` ids, each at its temperature (rows,); 0 takes the likeliest."""
    cache = Cache(model, len(prompts), length)
    ids, new = prompts, prompts
    while ids.shape[1] < length:
        logits = cache.logits(new)
        shares = (logits / temperatures[:, None].clamp(min=1e-6)).softmax(dim=-1)
        drawn = torch.multinomial(shares, 1, generator=chance)
        new = torch.where(temperatures[:, None] > 0, drawn, logits.argmax(dim=-1, keepdim=True))
        ids = torch.cat((ids, new), dim=1)
    return ids


def main(arguments: Sequence[str]) -> int:
    """See the module."""
    asked = argparse.ArgumentParser(prog="python -m bench.train sample", description=__doc__)
    asked.add_argument("--data", type=Path, required=True, help="folder that `corpus` wrote")
    asked.add_argument("--target", type=Path, required=True, help="checkpoint that `target` wrote")
    asked.add_argument("--out", type=Path, required=True, help="the texts, .npy")
    asked.add_argument("--texts", type=int, default=2048)
    asked.add_argument("--batch", type=int, default=128)
    asked.add_argument("--prompt", type=int, default=32)
    asked.add_argument("--length", type=int, default=257)
    asked.add_argument("--threads", type=int, default=1)
    asked.add_argument("--seed", type=int, default=3)
    given = asked.parse_args(arguments)
    torch.set_num_threads(given.threads)
    model, _ = load_target(given.target)
    texts = Texts(given.data, given.seed)
    written: list[np.ndarray] = []
    begun = time.monotonic()
    while sum(map(len, written)) < given.texts:
        prompts = texts.batch(given.batch, given.prompt - 1)
        temperatures = LOWEST + (HIGHEST - LOWEST) * torch.rand(given.batch, generator=texts.chance)
        ids = write_texts(model, prompts, given.length, temperatures, texts.chance)
        written.append(ids.numpy().astype(np.uint16))
        done = sum(map(len, written))
        print(f"{done} texts, {done * given.length / (time.monotonic() - begun):.0f} tokens/s", flush=True)
    np.save(given.out, np.concatenate(written))
    return 0
