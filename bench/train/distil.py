"""Trains the learned drafts on the target's predictions: `python -m bench.train distil --minutes M`.

One-layer, two-layer, the exit head on the target's first layer and the bigram table share the target's forward pass
over half prose, half code, every second row (with --samples) a text the target wrote itself. The loss is the target's
cross-entropy against the draft's row, at temperature 1. Resumable against a newer target: run it again with the same
--out; the bigram then holds what the last run saw. The schedule is by the clock, as in `target`. It must not know the
weight files.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bench.train.model import Config, Model, optimisers
from bench.train.target import KINDS, Texts, rate, save

SHAPES = {
    "one-layer": {"width": 64, "layers": 1, "heads": 2, "hidden": 256},
    "two-layer": {"width": 128, "layers": 2, "heads": 4, "hidden": 512},
}
EXIT_LAYER = 1
DECAY_FROM = 0.78
"""Later than the target's: the last run, on the finished target, is where the drafts settle."""
SHOW_S = 20.0


class Exit(nn.Module):  # type: ignore[misc]
    """A head on the target's early residual stream: its own norm and map, the target's embedding."""

    def __init__(self, target: Model) -> None:
        super().__init__()
        width = target.config.width
        self.eps, self.width = target.config.eps, width
        self.norm = nn.Parameter(target.norm.detach().clone())
        self.map = nn.Parameter(torch.zeros(width, width))

    def forward(self, x: Tensor, embedding: Tensor) -> Tensor:
        """Logits from the residual stream after the early layer."""
        return F.linear(F.rms_norm(x + F.linear(x, self.map), (self.width,), self.norm, self.eps), embedding)


def load_target(path: Path) -> tuple[Model, dict[str, Any]]:
    """The target of a checkpoint, for reading only."""
    stored = torch.load(path)
    model = Model(Config(**stored["config"]))
    model.load_state_dict(stored["model"])
    return model.requires_grad_(False), stored


class Samples:
    """Texts that the target wrote, (rows, length) ids, drawn at random."""

    def __init__(self, path: Path | None) -> None:
        self.rows = None if path is None else torch.from_numpy(np.load(path).astype(np.int64))

    def mix(self, ids: Tensor, chance: torch.Generator) -> Tensor:
        """The batch with every second row replaced, where there are samples."""
        if self.rows is None:
            return ids
        ids = ids.clone()
        length = min(ids.shape[1], self.rows.shape[1])
        for place in range(1, len(ids), 2):
            row = int(torch.randint(len(self.rows), (), generator=chance))
            ids[place, :length] = self.rows[row, :length]
        return ids[:, :length]


def main(arguments: Sequence[str]) -> int:
    """See the module."""
    asked = argparse.ArgumentParser(prog="python -m bench.train distil", description=__doc__)
    asked.add_argument("--data", type=Path, required=True, help="folder that `corpus` wrote")
    asked.add_argument("--target", type=Path, required=True, help="checkpoint that `target` wrote")
    asked.add_argument("--out", type=Path, required=True, help="checkpoint of the drafts")
    asked.add_argument("--minutes", type=float, required=True, help="wall clock, earlier runs included")
    asked.add_argument("--stop-at", type=float, default=1.0, help="share of the schedule at which this run ends")
    asked.add_argument("--samples", type=Path, help="texts that `sample` wrote")
    asked.add_argument("--threads", type=int, default=1)
    asked.add_argument("--seed", type=int, default=2)
    asked.add_argument("--rows", type=int, default=8)
    asked.add_argument("--context", type=int, default=256)
    given = asked.parse_args(arguments)
    torch.set_num_threads(given.threads)
    torch.manual_seed(given.seed)
    target, _ = load_target(given.target)
    vocab = target.config.vocab
    texts, samples = Texts(given.data, given.seed), Samples(given.samples)
    drafts: dict[str, Any] = {name: Model(Config(context=given.context, **shape)) for name, shape in SHAPES.items()}
    drafts["exit"] = Exit(target)
    settings = {"one-layer": (0.03, 0.005), "two-layer": (0.03, 0.005), "exit": (0.04, 0.003)}
    all_optimisers = [
        each for name, draft in drafts.items() for each in optimisers(draft, *settings[name], iterations=4)
    ]
    sums = torch.full((vocab, vocab), 1e-4)
    state: dict[str, Any] = {"step": 0, "tokens": 0, "elapsed": 0.0}
    if given.out.exists():
        stored = torch.load(given.out)
        for name, draft in drafts.items():
            draft.load_state_dict(stored["networks"][name][0])
        for optimiser, values in zip(all_optimisers, stored["optimisers"], strict=True):
            optimiser.load_state_dict(values)
        texts.chance.set_state(stored["chance"])
        state = stored["state"]
    begun = time.monotonic() - state["elapsed"]
    shown, totals, steps = time.monotonic(), dict.fromkeys(drafts, 0.0), 0
    total = given.minutes * 60
    while state["elapsed"] < total * given.stop_at:
        share = rate(state["elapsed"] / total, state["step"], DECAY_FROM)
        for optimiser in all_optimisers:
            for group in optimiser.param_groups:
                group["lr"] = group["peak"] * share
        ids = samples.mix(texts.batch(given.rows, given.context), texts.chance)[:, :-1]
        with torch.no_grad():
            states = target.states(ids)
            p = target.head(states[-1]).softmax(dim=-1).flatten(0, 1)
            sums.index_add_(0, ids.flatten(), p)
        for name, draft in drafts.items():
            logits = draft(states[EXIT_LAYER], target.embedding) if name == "exit" else draft(ids)
            loss = F.cross_entropy(logits.flatten(0, 1), p)
            loss.backward()
            totals[name] += loss.item()
        for optimiser in all_optimisers:
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
        steps += 1
        state["step"] += 1
        state["tokens"] += ids.numel()
        now = time.monotonic()
        state["elapsed"] = now - begun
        if now - shown > SHOW_S:
            means = ", ".join(f"{name} {value / steps:.3f}" for name, value in totals.items())
            print(f"{state['step']} {state['tokens']} {state['elapsed']:.0f} s, rate {share:.2f}, {means}", flush=True)
            shown, totals, steps = now, dict.fromkeys(drafts, 0.0), 0
    about: dict[str, Any] = {name: drafts[name].config.dict() for name in SHAPES}
    about["exit"] = {"layer": EXIT_LAYER}
    values = {
        "networks": {name: (draft.state_dict(), about[name]) for name, draft in drafts.items()},
        "optimisers": [each.state_dict() for each in all_optimisers],
        "chance": texts.chance.get_state(),
        "state": state,
        "bigram": sums / sums.sum(dim=1, keepdim=True),
        "seed": given.seed,
        "tokens": state["tokens"],
        "kinds": KINDS,
    }
    save(given.out, values)
    return 0
