"""The trainer's files without PyTorch: rounding to int8, tables, and that `sim.lm` reads what is written."""

import numpy as np
import pytest

from bench.train import bpe, export, tables
from bench.train.files import dequantise, pack, quantise, unpack
from sim import lm
from sim.lm.file import read

VOCAB = 280
LETTERS = bpe.train(
    [b"the cat sat on the mat, the rat sat on the cat; that is that and the rest is the best of it"], VOCAB
)


def network(chance, width, layers, hidden):
    weights = {"embedding": chance.normal(size=(256 + len(LETTERS), width))}
    for layer in range(layers):
        for name, shape in (("qkv", (3 * width, width)), ("out", (width, width)), ("up", (hidden, width))):
            weights[f"layers.{layer}.{name}"] = chance.normal(size=shape)
        weights[f"layers.{layer}.down"] = chance.normal(size=(width, hidden))
        weights |= {f"layers.{layer}.{name}": chance.uniform(0.5, 2, width) for name in ("norm1", "norm2")}
    weights["norm"] = chance.uniform(0.5, 2, width)
    config = {"vocab": 256 + len(LETTERS), "width": width, "layers": layers, "heads": 2, "hidden": hidden}
    return weights, {**config, "context": 64, "rope_theta": 1e4, "eps": 1e-6}


@pytest.fixture(scope="module")
def texts():
    chance = np.random.default_rng(5)
    follow = np.cumsum(chance.dirichlet(np.full(256 + len(LETTERS), 0.02), size=256 + len(LETTERS)), axis=1)
    ids = [0]
    for coin in chance.random(20_000):
        ids.append(min(int(np.searchsorted(follow[ids[-1]], coin)), len(follow) - 1))
    return [np.array(ids[:12_000], dtype=np.uint16), np.array(ids[12_000:], dtype=np.uint16)]


@pytest.fixture(scope="module")
def files(texts):
    chance = np.random.default_rng(1)
    target, config = network(chance, 32, 2, 64)
    small, about = network(chance, 16, 1, 32)
    leave = {"norm": np.ones(32), "map": chance.normal(size=(32, 32))}
    bigram = chance.dirichlet(np.full(256 + len(LETTERS), 0.05), size=256 + len(LETTERS))
    first = export.target_file(target, config, LETTERS, {"seed": 1})
    networks = {"one-layer": (small, about), "exit": (leave, {"layer": 1})}
    return first, export.drafts_file(networks, bigram, tables.trigram(texts, len(bigram)), {"seed": 2}), target, bigram


def test_rounding_is_within_half_a_step_of_each_row():
    matrix = np.random.default_rng(3).normal(size=(40, 30)) * np.logspace(-3, 2, 40)[:, None]
    rows, scales = quantise(matrix)
    assert rows.dtype == np.int8
    assert np.abs(rows).max() <= 127
    # fp16 keeps 11 bits of the scale, so an entry is off by half a step, and the largest one by a clip of 2^-11 more.
    allowed = scales.astype(float)[:, None] * 0.5 + np.abs(matrix) * 2.0**-11
    assert (np.abs(dequantise(rows, scales) - matrix) <= allowed).all()


def test_a_row_of_zeros_stays_zero():
    rows, scales = quantise(np.zeros((2, 3)))
    assert (dequantise(rows, scales) == 0).all()
    assert (scales > 0).all()


def test_only_matrices_are_rounded_by_row():
    with pytest.raises(ValueError, match="matrix must have 2 dimensions, got 1"):
        quantise(np.zeros(3))


def test_packed_weights_come_back():
    weights = {"a": np.random.default_rng(4).normal(size=(6, 5)), "gain": np.array([0.5, 2.0])}
    stored = pack(weights, "x.")
    assert sorted(stored) == ["x.a", "x.a.scale", "x.gain"]
    found = unpack(stored, "x.")
    assert np.abs(found["a"] - weights["a"]).max() < 0.02
    assert found["gain"].tolist() == [0.5, 2.0]


def test_sim_reads_what_is_exported(files):
    first, second, target, _ = files
    pair = lm.load(first, second)
    assert {"one-layer", "exit", "bigram", "trigram"} <= set(pair.drafts)
    data = b"that cat is on the best mat\n"
    assert list(pair.encode(data)) == bpe.Encoder(LETTERS).encode(data)
    assert pair.cards["target"]["seed"] == 1
    found = read(first, "target").matrix("layers.0.up", 64, 32)
    assert np.abs(found - target["layers.0.up"]).max() < 0.03


def test_sim_and_the_trainer_read_the_same_tables(files, texts):
    first, second, _, bigram = files
    pair = lm.load(first, second)
    whole = read(second, "drafts")
    stored = {
        name: whole.take(name, kind, shape)
        for name, kind, shape in (
            ("bigram.tokens", "U16", (None, None)),
            ("bigram.weights", "U8", (None, None)),
            ("bigram.rest", "F16", (None,)),
        )
    }
    rows = tables.bigram_rows(stored)
    assert np.allclose(rows.sum(axis=1), 1)
    assert np.minimum(rows, bigram).sum(axis=1).mean() > 0.97
    three = tables.trigram(texts, len(bigram))
    target = pair.target()
    for before, last in ((5, 7), (0, 0), *texts[0][100:140].reshape(-1, 2).tolist()):
        assert np.allclose(pair.draft("bigram", target)((before, last)), rows[last], atol=1e-6)
        row = tables.trigram_row(three, before, last)
        assert np.isclose(row.sum(), 1)
        assert np.allclose(pair.draft("trigram", target)((before, last)), row, atol=1e-6)


def test_a_trigram_beats_its_own_back_off_and_keeps_its_budget(texts):
    vocab = 256 + len(LETTERS)
    full, cut = (tables.trigram(texts, vocab, budget=budget) for budget in (500_000, 600))
    assert 0 < len(cut["trigram.contexts"]) < len(full["trigram.contexts"])
    assert sum(cut[f"trigram.{name}"].nbytes for name in ("contexts", "counts", "tokens", "weights")) <= 600
    ids = texts[1][:2000].astype(int).tolist()
    threes = list(zip(ids, ids[1:], ids[2:], strict=False))
    loss = [-np.mean([np.log(tables.trigram_row(table, a, b)[c]) for a, b, c in threes]) for table in (full, cut)]
    assert loss[0] < loss[1]


def test_a_file_too_large_is_not_written(files, monkeypatch):
    monkeypatch.setattr(export, "MOST_TARGET", 100)
    weights, config = network(np.random.default_rng(1), 32, 2, 64)
    with pytest.raises(ValueError, match="file must have at most 100 bytes, got"):
        export.target_file(weights, config, LETTERS, {})
