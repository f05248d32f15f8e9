"""Trains the target within a given time, resumable: `python -m bench.train target --minutes M`.

The schedule is by the clock, not by steps, so that training ends on time however busy the machine is: warm-up, constant
rate, linear decay to zero. Half the rows of a batch are prose, half code; later windows are twice as long, so that
positions up to 512 are learned. It must not know the drafts or the weight file.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from bench.train.model import Config, Model, optimisers

KINDS = ("prose", "code")
WARM_UP_STEPS = 60
DECAY_FROM = 0.5
LONGER_FROM = 0.6
CHECKPOINT_S = 240.0
VALIDATE_S = 300.0


class Texts:
    """Token files, random windows of them and fixed held-out windows."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.parts = {
            (kind, part): torch.from_numpy(np.fromfile(folder / f"{kind}-{part}.u16", dtype=np.uint16).astype(np.int64))
            for kind in KINDS
            for part in ("train", "held")
        }
        self.chance = torch.Generator().manual_seed(seed)

    def batch(self, rows: int, length: int) -> torch.Tensor:
        """(rows, length + 1) ids, the first half prose, the second code."""
        found = []
        for number in range(rows):
            ids = self.parts[KINDS[number * len(KINDS) // rows], "train"]
            start = int(torch.randint(len(ids) - length, (), generator=self.chance))
            found.append(ids[start : start + length + 1])
        return torch.stack(found)

    def held(self, kind: str, rows: int, length: int) -> torch.Tensor:
        """Held-out windows spread evenly over the part."""
        ids = self.parts[kind, "held"]
        starts = torch.linspace(0, len(ids) - length - 1, rows).long()
        return torch.stack([ids[start : start + length + 1] for start in starts.tolist()])


@torch.no_grad()
def held_loss(model: Any, texts: Texts, rows: int, length: int) -> dict[str, float]:
    """Mean held-out loss in nats a token, by kind."""
    found = {}
    for kind in KINDS:
        total = 0.0
        ids = texts.held(kind, rows, length)
        for some in ids.split(16):
            total += F.cross_entropy(model(some[:, :-1]).flatten(0, 1), some[:, 1:].flatten(), reduction="sum").item()
        found[kind] = total / (rows * length)
    return found


def rate(progress: float, step: int, decay_from: float = DECAY_FROM) -> float:
    """The share of the full learning rate at a share of the time."""
    if progress >= 1:
        return 0.0
    return min(1.0, (step + 1) / WARM_UP_STEPS, (1 - progress) / (1 - decay_from))


def save(path: Path, values: dict[str, Any]) -> None:
    """A checkpoint that is never half written."""
    torch.save(values, path.with_suffix(".new"))
    path.with_suffix(".new").rename(path)


def main(arguments: Sequence[str]) -> int:
    """See the module."""
    asked = argparse.ArgumentParser(prog="python -m bench.train target", description=__doc__)
    asked.add_argument("--data", type=Path, required=True, help="folder that `corpus` wrote")
    asked.add_argument("--out", type=Path, required=True, help="folder of the checkpoint and the log")
    asked.add_argument("--minutes", type=float, required=True, help="wall clock, earlier runs included")
    asked.add_argument("--threads", type=int, default=1)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--rows", type=int, default=8)
    asked.add_argument("--context", type=int, default=256)
    asked.add_argument("--iterations", type=int, default=3, help="Newton-Schulz iterations of Muon")
    asked.add_argument("--matrix-rate", type=float, default=0.02)
    asked.add_argument("--other-rate", type=float, default=0.003)
    asked.add_argument("--compile", action="store_true")
    asked.add_argument("--stop-after", type=float, default=math.inf, help="seconds, to measure the rate only")
    given = asked.parse_args(arguments)
    torch.set_num_threads(given.threads)
    torch.manual_seed(given.seed)
    given.out.mkdir(parents=True, exist_ok=True)
    texts = Texts(given.data, given.seed)
    model = Model(Config(context=given.context))
    both = optimisers(model, given.matrix_rate, given.other_rate, given.iterations)
    state: dict[str, Any] = {"step": 0, "tokens": 0, "elapsed": 0.0, "curve": []}
    path = given.out / "target.pt"
    if path.exists():
        stored = torch.load(path)
        model.load_state_dict(stored["model"])
        for optimiser, values in zip(both, stored["optimisers"], strict=True):
            optimiser.load_state_dict(values)
        texts.chance.set_state(stored["chance"])
        state = stored["state"]
    forward: Any = torch.compile(model) if given.compile else model

    begun = time.monotonic() - state["elapsed"]
    saved = validated = shown = time.monotonic()
    since = (state["tokens"], shown)
    total = given.minutes * 60

    def validate(rows: int) -> None:
        found = held_loss(model, texts, rows, given.context)
        state["curve"].append(
            {"tokens": state["tokens"], "step": state["step"], "minutes": state["elapsed"] / 60, **found}
        )
        print(json.dumps(state["curve"][-1]), flush=True)

    def keep() -> None:
        save(path, {"model": model.state_dict(), "optimisers": [each.state_dict() for each in both],
                    "chance": texts.chance.get_state(), "state": state, "config": model.config.dict(),
                    "arguments": {key: str(value) for key, value in vars(given).items()}})  # fmt: skip

    while state["elapsed"] < total and time.monotonic() - begun < given.stop_after:
        share = rate(state["elapsed"] / total, state["step"])
        for optimiser in both:
            for group in optimiser.param_groups:
                group["lr"] = group["peak"] * share
        longer = 2 if state["elapsed"] / total > LONGER_FROM else 1
        ids = texts.batch(given.rows // longer, given.context * longer)
        loss = F.cross_entropy(forward(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        loss.backward()
        for optimiser in both:
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
        state["step"] += 1
        state["tokens"] += ids[:, 1:].numel()
        now = time.monotonic()
        state["elapsed"] = now - begun
        if now - shown > 15:
            speed = (state["tokens"] - since[0]) / (now - since[1])
            done = f"{state['step']} {state['tokens']} {state['elapsed']:.0f} s"
            print(f"{done}, rate {share:.2f}, loss {loss.item():.3f}, {speed:.0f} tokens/s", flush=True)
            shown, since = now, (state["tokens"], now)
        if now - validated > VALIDATE_S:
            validate(32)
            validated = time.monotonic()
        if now - saved > CHECKPOINT_S:
            keep()
            saved = time.monotonic()
    if given.stop_after == math.inf:
        validate(32)
        keep()
    else:
        print(f"{state['step']} steps, {state['tokens'] / state['elapsed']:.0f} tokens/s")
    return 0
