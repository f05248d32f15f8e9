"""A pair of random weights for tests: the files' real form, a few kilobytes, every draft. Needs NumPy."""

import copy
import functools
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sim.lm import Pair, load
from sim.lm.file import write

__all__ = ["PATTERN", "Files", "files", "pair"]

PATTERN = (
    r"\n{1,4}[ \t]{0,32}"
    r"| ?_{0,2}[A-Za-z\x80-\xff]{1,32}"
    r"| ?[0-9]{1,3}"
    r"| {1,31}(?= )"
    r"| ?[^\sA-Za-z0-9\x80-\xff]{1,16}"
    r"|\s"
)
MERGES = (
    "th",
    "the",
    "in",
    "er",
    "an",
    " t",
    " the",
    "re",
    "on",
    " a",
    "ing",
    "aa",
    "aaaa",
    "\n ",
    "  ",
    "..",
    "é",
    "or",
)
VOCAB = 256 + len(MERGES)
SIZES = {"vocab": VOCAB, "context": 96, "rope_theta": 10000.0, "eps": 1e-6}
TARGET = {**SIZES, "width": 32, "layers": 2, "heads": 2, "hidden": 48}
NETWORKS: dict[str, dict[str, Any]] = {"one-layer": {**TARGET, "layers": 1}, "two-layer": TARGET}


@dataclass
class Files:
    """What the two files hold, to be changed before they are written."""

    target: dict[str, Any] = field(default_factory=dict)
    drafts: dict[str, Any] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)
    drafts_config: dict[str, Any] = field(default_factory=dict)

    def written(self) -> tuple[bytes, bytes]:
        card = {"data": "random numbers"}
        return write(self.target, self.config, card), write(self.drafts, {"drafts": self.drafts_config}, card)

    def loaded(self) -> Pair:
        return load(*self.written())


def files() -> Files:
    """A random target; drafts that are it with something left out and noise on top, so that they are right at times."""
    return copy.deepcopy(_files())


def pair() -> Pair:
    return files().loaded()


@functools.cache
def _files() -> Files:
    chance = np.random.default_rng(0)
    made = Files(config={**TARGET, "pretokenize": PATTERN})
    floats = _network(chance)
    made.target = {"merges": np.array(_merges(), np.uint16), **_stored(floats)}
    target = made.loaded().target()
    for name, config in NETWORKS.items():
        kept = {
            tensor: values
            for tensor, values in floats.items()
            if not tensor.startswith(("merges", f"layers.{config['layers']}"))
        }
        noisy = {
            tensor: values + 0.25 * values.std() * chance.standard_normal(values.shape)
            for tensor, values in kept.items()
        }
        made.drafts |= {f"{name}.{tensor}": values for tensor, values in _stored(noisy).items()}
        made.drafts_config[name] = dict(config)
    width = TARGET["width"]
    made.drafts["exit.norm"] = floats["norm"].astype(np.float16)
    made.drafts |= _stored({"exit.map": 0.1 * chance.standard_normal((width, width))})
    made.drafts_config["exit"] = {"layer": 1}
    made.drafts |= _tables(target)
    made.drafts_config |= {"bigram": {"order": 1}, "trigram": {"order": 2}}
    return made


def _merges():
    """Each text of MERGES out of two tokens that are there before it."""
    known = {bytes([byte]): byte for byte in range(256)}
    found = []
    for text in MERGES:
        data = text.encode()
        cut = next(k for k in range(1, len(data)) if data[:k] in known and data[k:] in known)
        found.append((known[data[:cut]], known[data[cut:]]))
        known[data] = len(known)
    return found


def _network(chance):
    """The target's weights before they are rounded."""
    width, hidden = TARGET["width"], TARGET["hidden"]
    made = {"embedding": 0.7 * chance.standard_normal((VOCAB, width))}
    for i in range(TARGET["layers"]):
        sizes = {"qkv": (3 * width, width), "out": (width, width), "up": (hidden, width), "down": (width, hidden)}
        for name, (outer, inner) in sizes.items():
            made[f"layers.{i}.{name}"] = 1.2 * inner**-0.5 * chance.standard_normal((outer, inner))
        for name in ("norm1", "norm2"):
            made[f"layers.{i}.{name}"] = 1 + 0.1 * chance.standard_normal(width)
    made["norm"] = 0.4 * (1 + 0.1 * chance.standard_normal(width))
    return made


def _stored(weights):
    """int8 rows with their scales, vectors in float16."""
    made = {}
    for name, values in weights.items():
        if values.ndim == 1:
            made[name] = values.astype(np.float16)
            continue
        scales = (np.abs(values).max(axis=1) / 127).astype(np.float16)
        rows = np.rint(values / scales.astype(np.float64)[:, None]).clip(-127, 127)
        made[name], made[f"{name}.scale"] = rows.astype(np.int8), scales
    return made


def _tables(target):
    """The target's own rows after one token and after two, cut to the likeliest."""
    rows = np.stack([target((token,)) for token in range(VOCAB)])
    order = np.argsort(-rows, axis=1)[:, :20]
    top = np.take_along_axis(rows, order, axis=1)
    made = {
        "bigram.tokens": order.astype(np.uint16),
        "bigram.weights": np.rint(255 * np.sqrt(top / top[:, :1])).astype(np.uint8),
        "bigram.rest": (1 - top.sum(axis=1)).astype(np.float16),
    }
    some = range(90, 112)
    contexts = [(before, last) for before in some for last in some]
    after_two = np.stack([target(context) for context in contexts])
    made["trigram.contexts"] = np.array([before * VOCAB + last for before, last in contexts], np.int32)
    for prefix, listed, most in (("trigram.", after_two, 6), ("trigram.bigram.", rows, 12)):
        order = np.argsort(-listed, axis=1)[:, :most]
        numbers = np.arange(len(listed)) % (most + 1)  # some have none
        keep = np.arange(most) < numbers[:, None]
        made[f"{prefix}counts"] = numbers.astype(np.uint8)
        made[f"{prefix}tokens"] = order[keep].astype(np.uint16)
        made[f"{prefix}weights"] = np.floor(255 * np.sqrt(np.take_along_axis(listed, order, axis=1)))[keep].astype(
            np.uint8
        )
    mean = rows.mean(axis=0)
    made["trigram.unigram"] = np.rint(255 * np.sqrt(mean / mean.max())).clip(1).astype(np.uint8)
    return made
