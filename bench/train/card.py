"""Measures the exported files and writes `docs/data/models/card.json`: `python -m bench.train card`.

Held-out losses of target and drafts, fp32 and int8, the overlap of every draft with the target on texts that the target
writes, the curve of the training, sizes and data: rows that pages cite. It must not train or change a weight.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from bench.train import tables
from bench.train.distil import EXIT_LAYER, SHAPES, Exit, load_target
from bench.train.exported import Exported, load
from bench.train.model import Config, Model
from bench.train.sample import write_texts
from bench.train.target import KINDS, Texts
from sim.lm.drafts import LookUp
from sim.lm.rows import Sampler

NETWORKS = ("target", "one-layer", "two-layer", "exit")
DRAFTS = ("one-layer", "two-layer", "trigram", "bigram", "look-up", "exit")
TEMPERATURES = (0.7, 1.0)
PROMPTS, PROMPT, NEW = 64, 64, 64
KNOWN, REPEATED = 64, 16
WINDOW = 256
CURVE = 12

Rows = list[dict[str, Any]]
Logits = Callable[[str, torch.Tensor], torch.Tensor]


def windows(ids: torch.Tensor, length: int) -> torch.Tensor:
    """All of a held-out part as windows of length + 1 ids, each beginning with the last id of the one before."""
    return ids[: (len(ids) - 1) // length * length + 1].unfold(0, length + 1, length)


def losses(logits: Logits, name: str, texts: Texts, length: int = WINDOW) -> dict[str, float]:
    """Nats a token over all windows of the held-out parts, by kind."""
    found = {}
    for kind in KINDS:
        rows = windows(texts.parts[kind, "held"], length)
        parts = [
            F.cross_entropy(logits(name, some[:, :-1]).flatten(0, 1), some[:, 1:].flatten(), reduction="sum").item()
            for some in rows.split(8)
        ]
        found[kind] = math.fsum(parts) / (rows.shape[0] * length)
    return found


def table_losses(exported: Exported, texts: Texts) -> dict[str, dict[str, float]]:
    """The same for the tables; they look at two tokens at most, so windows do not matter."""
    found: dict[str, dict[str, float]] = {"bigram": {}, "trigram": {}}
    two = tables.bigram_rows(exported.tables)
    for kind in KINDS:
        ids = texts.parts[kind, "held"].numpy()
        found["bigram"][kind] = float(-np.log(two[ids[:-1], ids[1:]]).mean())
        three = [tables.trigram_row(exported.tables, a, b)[c] for a, b, c in zip(ids, ids[1:], ids[2:], strict=False)]
        found["trigram"][kind] = float(-np.log(three).mean())
    return found


def fp32(target_path: Path, drafts_path: Path) -> Logits:
    """Logits of the checkpoints, before rounding."""
    target, _ = load_target(target_path)
    stored = torch.load(drafts_path)["networks"]
    drafts: dict[str, Any] = {name: Model(Config(**stored[name][1])) for name in SHAPES} | {"exit": Exit(target)}
    for name, draft in drafts.items():
        draft.load_state_dict(stored[name][0])

    def logits(name: str, ids: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            if name == "target":
                return target(ids)
            if name == "exit":
                return drafts["exit"](target.states(ids)[EXIT_LAYER], target.embedding)
            return drafts[name](ids)

    return logits


def overlaps(exported: Exported, texts: Texts, kind: str, temperature: float, seed: int) -> dict[str, float]:
    """Mean sum of min(p, q) over texts the target wrote at this temperature after held-out prompts; its entropy."""
    prompts = texts.held(kind, PROMPTS, PROMPT - 1)
    chance = torch.Generator().manual_seed(seed)
    warm = torch.full((PROMPTS,), temperature)
    ids = write_texts(exported.target, prompts, PROMPT + NEW, warm, chance)
    asked = slice(PROMPT - 1, PROMPT + NEW - 1)
    p = (exported.logits("target", ids)[:, asked].double() / temperature).softmax(dim=-1)
    found = {"entropy": float(-(p * p.clamp(min=1e-300).log()).sum(dim=-1).mean())}
    two = torch.from_numpy(tables.bigram_rows(exported.tables))
    look = LookUp(p.shape[-1], Sampler(1.0, 0, 1.0))
    for name in DRAFTS:
        if name in exported.drafts:
            q = (exported.logits(name, ids)[:, asked].double() / temperature).softmax(dim=-1)
        elif name == "look-up":
            q = torch.zeros_like(p)
            for row, text in enumerate(ids.tolist()):
                for place in range(NEW):
                    token = look.token(text[: PROMPT + place])
                    if token is not None:
                        q[row, place, token] = 1.0
        else:
            if name == "bigram":
                q = two[ids[:, asked]]
            else:
                rows = [
                    [
                        tables.trigram_row(exported.tables, text[at - 1], text[at])
                        for at in range(asked.start, asked.stop)
                    ]
                    for text in ids.tolist()
                ]
                q = torch.from_numpy(np.array(rows))
            q = q ** (1 / temperature)
            q = q / q.sum(dim=-1, keepdim=True)
        found[name] = float(torch.minimum(p, q).sum(dim=-1).mean())
    return found


def repeated(exported: Exported, texts: Texts, kind: str) -> float:
    """The share of passages of the training text that the target goes on with as they stand there."""
    ids = texts.parts[kind, "train"]
    starts = torch.linspace(0, len(ids) - KNOWN - REPEATED, PROMPTS).long().tolist()
    passages = torch.stack([ids[start : start + KNOWN + REPEATED] for start in starts])
    written = write_texts(
        exported.target, passages[:, :KNOWN], KNOWN + REPEATED, torch.zeros(PROMPTS), torch.Generator().manual_seed(0)
    )
    return float((written == passages).all(dim=1).double().mean())


def thinned(curve: list[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """Points of a curve, the first and the last among them."""
    if len(curve) <= most:
        return curve
    return [curve[round(place * (len(curve) - 1) / (most - 1))] for place in range(most)]


def main(arguments: Sequence[str]) -> int:
    """See the module."""
    asked = argparse.ArgumentParser(prog="python -m bench.train card", description=__doc__)
    asked.add_argument("--data", type=Path, required=True, help="folder that `corpus` wrote")
    asked.add_argument("--target", type=Path, required=True, help="checkpoint that `target` wrote")
    asked.add_argument("--drafts", type=Path, required=True, help="checkpoint that `distil` wrote")
    asked.add_argument("--models", type=Path, default=Path("docs/data/models"))
    asked.add_argument("--hardware", required=True, help="the training machine's processor, as sim.devices names it")
    asked.add_argument("--memory-gb", type=float, required=True)
    asked.add_argument("--commit", required=True)
    asked.add_argument("--date", required=True)
    asked.add_argument("--threads", type=int, default=1)
    asked.add_argument("--seed", type=int, default=4)
    given = asked.parse_args(arguments)
    torch.set_num_threads(given.threads)
    texts = Texts(given.data, given.seed)
    exported = load(given.models)
    stored = torch.load(given.target)
    drafts = torch.load(given.drafts)
    facts = json.loads((given.data / "corpus.json").read_text())
    rows: Rows = []

    def add(ident: str, quantity: str, unit: str, value: float, note: str, **more: Any) -> None:
        told = {
            "id": f"tiny-{ident}",
            "quantity": quantity,
            "unit": unit,
            "value": value if isinstance(value, int) else float(f"{value:.6g}"),
            "n": 1,
        }
        rows.append(told | more | {"note": note})

    run = "one training run, one seed"
    for kind in KINDS:
        for part in ("train", "held"):
            about = facts[f"{kind}_{part}"]
            words = f"{kind}, {'held out' if part == 'held' else 'trained on'}"
            add(
                f"data-{kind}-{part}-characters", f"characters of {words}", "characters", about["characters"], "counted"
            )
            add(f"data-{kind}-{part}-tokens", f"tokens of {words}", "tokens", about["tokens"], "counted")
    add("data-code-files", "source files of code", "files", facts["files"], "counted; held out ones included")
    add("data-code-held-files", "source files held out", "files", len(facts["held_files"]), "counted")
    add("data-code-other-files", "files left out for their notices", "files", len(facts["other_licence"]), "counted")
    for name in ("target", "drafts"):
        size = (given.models / f"{name}.safetensors").stat().st_size
        add(f"{name}-size", f"size of {name}.safetensors", "MB", size / 1e6, "counted")
    for name, model in {"target": exported.target, **exported.drafts}.items():
        count = sum(p.numel() for p in model.parameters())
        add(f"{name}-weights", f"weights of {name}", "weights", count, "counted, gains included")
    add(
        "trigram-contexts",
        "contexts of the trigram table",
        "contexts",
        len(exported.tables["trigram.contexts"]),
        "counted",
    )

    state = stored["state"]
    add("target-time", "training time of the target", "s", state["elapsed"], f"{run}, machine shared")
    add("target-tokens", "tokens the target was trained on", "tokens", state["tokens"], run)
    total = facts["prose_train"]["tokens"] + facts["code_train"]["tokens"]
    add("target-epochs", "passes over the training text", "×", state["tokens"] / total, f"{run}; prose more, code less")
    add("drafts-time", "training time of the drafts", "s", drafts["state"]["elapsed"], f"{run}, machine shared")
    add("drafts-tokens", "tokens the drafts were distilled on", "tokens", drafts["tokens"], run)
    curve = thinned(state["curve"], CURVE)
    for number, point in enumerate(curve, 1):
        add(f"curve-{number}-tokens", "tokens seen", "tokens", point["tokens"], run)
        for kind in KINDS:
            note = f"{run}; 32 held-out windows of 256 tokens"
            add(f"curve-{number}-{kind}", f"held-out loss on {kind} while training", "nats", point[kind], note)
    last = state["curve"][-1]
    before = min(state["curve"], key=lambda point: abs(point["tokens"] - 0.9 * last["tokens"]))
    for kind in KINDS:
        note = f"{run}; from {before['tokens']} to {last['tokens']} tokens; the learning rate falls to zero there"
        gain = before[kind] - last[kind]
        add(f"last-tenth-{kind}", f"what the last tenth of the training took off the loss, {kind}", "nats", gain, note)

    for kind in KINDS:
        note = f"{PROMPTS} passages trained on, {KNOWN} tokens given, the next {REPEATED} at T = 0"
        share = repeated(exported, texts, kind)
        add(f"repeated-{kind}", "passages of the training text repeated word for word", "fraction", share, note)
    for told, logits in (("fp32", fp32(given.target, given.drafts)), ("int8", exported.logits)):
        for name in NETWORKS:
            for kind, loss in losses(logits, name, texts).items():
                note = f"mean over all held-out tokens in windows of {WINDOW}"
                suffix = "" if told == "int8" else "-fp32"
                add(f"{name}-{kind}{suffix}", f"held-out loss of {name}, {told}", "nats", loss, note, weights=told)
                if told == "int8":
                    about = facts[f"{kind}_held"]
                    each = loss * about["tokens"] / about["characters"]
                    add(
                        f"{name}-{kind}-character",
                        f"held-out loss of {name} a character",
                        "nats",
                        each,
                        note,
                        weights=told,
                    )
                print(rows[-1], flush=True)
    longest = exported.target.config.context
    for kind, loss in losses(exported.logits, "target", texts, longest).items():
        note = f"mean over all held-out tokens in windows of {longest}"
        add(f"target-{kind}-longest", "held-out loss of target in its longest windows", "nats", loss, note)
    for name, found in table_losses(exported, texts).items():
        for kind, loss in found.items():
            add(f"{name}-{kind}", f"held-out loss of {name}", "nats", loss, "mean over all held-out tokens")
    for temperature in TEMPERATURES:
        for kind in KINDS:
            label = f"{kind}-t{round(10 * temperature):02d}"
            found = overlaps(exported, texts, kind, temperature, given.seed)
            prompts = f"{PROMPTS} held-out prompts of {PROMPT} tokens"
            note = f"{prompts}, {NEW} more written by the target at T = {temperature:g}"
            add(f"entropy-{label}", "entropy of the target's rows", "nats", found.pop("entropy"), note)
            for name, value in found.items():
                add(f"overlap-{name}-{label}", f"sum of min(p, q) of {name}", "fraction", value, note)
            print(label, found, flush=True)
    whole = {
        "version": 1,
        "kind": "measured",
        "title": "The tiny pair: data, training, losses, overlap of drafts and target",
        "suite": "card",
        "note": "Losses in nats a token, on text held out before the tokenizer was trained. The target trained once.",
        "provenance": {
            "hardware": given.hardware,
            "devices": 1,
            "driver": "none",
            "shared": True,
            "memory_gb": given.memory_gb,
            "software": {
                "python": platform.python_version(),
                "torch": torch.__version__,
                "numpy": np.__version__,
                "threads": str(given.threads),
            },
            "command": "python -m bench.train card (after the steps of bench/train/README.md)",
            "commit": given.commit,
            "date": given.date,
            "tool": "bench.train",
            "warmup": 0,
        },
    }
    lines = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in rows)
    text = json.dumps(whole, indent=1, ensure_ascii=False).removesuffix("\n}") + f',\n "rows": [\n{lines}\n ]\n}}\n'
    (given.models / "card.json").write_text(text, encoding="utf-8")
    return 0
