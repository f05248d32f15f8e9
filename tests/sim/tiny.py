"""A pair of random weights for tests: the files' real form, a few kilobytes, every draft. Needs NumPy."""

import json
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
NETWORKS: dict[str, dict[str, Any]] = {
    "one-layer": {**SIZES, "width": 16, "layers": 1, "heads": 2, "hidden": 24},
    "two-layer": {**SIZES, "width": 24, "layers": 2, "heads": 3, "hidden": 32},
}


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


def files(seed: int = 0) -> Files:
    """A random pair whose drafts are no strangers to the target: they share its liking of some tokens."""
    chance = np.random.default_rng(seed)
    made = Files(config=json.loads(json.dumps({**TARGET, "pretokenize": PATTERN})))
    made.target["merges"] = np.array(_merges(), np.uint16)
    liking = chance.standard_normal(VOCAB)
    made.target |= _network(chance, TARGET, "", liking)
    for name, config in NETWORKS.items():
        made.drafts |= _network(chance, config, f"{name}.", liking)
        made.drafts_config[name] = dict(config)
    width = TARGET["width"]
    made.drafts["exit.norm"] = np.full(width, 1.25, np.float16)
    made.drafts["exit.map"], made.drafts["exit.map.scale"] = _int8(0.1 * chance.standard_normal((width, width)))
    made.drafts_config["exit"] = {"layer": 1}
    rows = np.exp(liking + chance.standard_normal((VOCAB, VOCAB)))
    made.drafts |= _tables(chance, rows / rows.sum(axis=1, keepdims=True))
    made.drafts_config |= {"bigram": {"order": 1}, "trigram": {"order": 2}}
    return made


def pair(seed: int = 0) -> Pair:
    return files(seed).loaded()


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


def _int8(matrix):
    scales = (np.abs(matrix).max(axis=1) / 127).astype(np.float16)
    return np.rint(matrix / scales.astype(np.float64)[:, None]).clip(-127, 127).astype(np.int8), scales


def _network(chance, config, prefix, liking):
    width, hidden = config["width"], config["hidden"]
    made: dict[str, Any] = {}

    def matrix(name, outer, inner, size):
        values = size * inner**-0.5 * chance.standard_normal((outer, inner))
        made[prefix + name], made[f"{prefix}{name}.scale"] = _int8(values)

    def gain(name, about=1.0):
        made[prefix + name] = (about * (1 + 0.1 * chance.standard_normal(width))).astype(np.float16)

    embedding = 0.7 * chance.standard_normal((config["vocab"], width))
    embedding[:, 0] += 0.6 * liking  # every text's first number is large: a liking that does not depend on it
    embedding[:, 0] += 2.0
    made[f"{prefix}embedding"], made[f"{prefix}embedding.scale"] = _int8(embedding)
    for i in range(config["layers"]):
        gain(f"layers.{i}.norm1")
        matrix(f"layers.{i}.qkv", 3 * width, width, 1.5)
        matrix(f"layers.{i}.out", width, width, 0.7)
        gain(f"layers.{i}.norm2")
        matrix(f"layers.{i}.up", hidden, width, 1.0)
        matrix(f"layers.{i}.down", width, hidden, 0.7)
    gain("norm", 0.6)
    return made


def _tables(chance, rows):
    order = np.argsort(-rows, axis=1)[:, :20]
    top = np.take_along_axis(rows, order, axis=1)
    made = {
        "bigram.tokens": order.astype(np.uint16),
        "bigram.weights": np.rint(255 * np.sqrt(top / top[:, :1])).astype(np.uint8),
        "bigram.rest": (1 - top.sum(axis=1)).astype(np.float16),
    }
    contexts = np.sort(chance.choice(VOCAB * VOCAB, 3000, replace=False)).astype(np.int32)
    for prefix, count in (("trigram.", len(contexts)), ("trigram.bigram.", VOCAB)):
        numbers = chance.integers(0, 5, count).astype(np.uint8)
        made[f"{prefix}counts"] = numbers
        made[f"{prefix}tokens"] = np.concatenate([chance.permutation(VOCAB)[:n] for n in numbers]).astype(np.uint16)
        made[f"{prefix}weights"] = chance.integers(20, 128, int(numbers.sum())).astype(np.uint8)
    made["trigram.contexts"] = contexts
    made["trigram.unigram"] = np.rint(255 * np.sqrt(rows.mean(axis=0) / rows.mean(axis=0).max())).astype(np.uint8)
    return made
