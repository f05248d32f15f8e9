"""The trainer's PyTorch parts: small, seconds; skipped where PyTorch is not installed."""

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: bench/train/README.md says how to get it")

from bench import check  # noqa: E402
from bench.train import card, distil, export, exported, golden, sample, tables, target  # noqa: E402
from bench.train.model import Config, Model, orthogonal  # noqa: E402
from sim import lm  # noqa: E402

SHAPE = Config(vocab=256, width=32, layers=2, heads=2, hidden=64, context=48)


@pytest.fixture
def model():
    torch.manual_seed(0)
    made = Model(SHAPE)
    for name, p in made.named_parameters():
        if p.ndim == 2 and "layers" in name:
            torch.nn.init.normal_(p, std=0.2)
    return made.requires_grad_(False)


@pytest.fixture
def data(tmp_path):
    chance = np.random.default_rng(2)
    for kind in target.KINDS:
        for part in ("train", "held"):
            ids = np.repeat(chance.integers(0, 16, 1500), 2).astype(np.uint16)
            ids.tofile(tmp_path / f"{kind}-{part}.u16")
            (tmp_path / f"{kind}-{part}.bin").write_bytes(b"a few words here\n\n" * 60)
    (tmp_path / "merges.json").write_text("[]")
    counted = {"characters": 1020, "tokens": 3000}
    facts = {f"{kind}_{part}": counted for kind in target.KINDS for part in ("train", "held")}
    facts |= {"files": 3, "held_files": ["a.py"], "other_licence": []}
    (tmp_path / "corpus.json").write_text(json.dumps(facts))
    return tmp_path


def test_a_cache_gives_the_logits_of_a_whole_pass(model):
    ids = torch.randint(256, (3, 20))
    cache = sample.Cache(model, 3, 20)
    cache.logits(ids[:, :7])
    for at in range(7, 20):
        last = cache.logits(ids[:, at : at + 1])
    assert torch.allclose(last, model(ids)[:, -1], atol=1e-4)


def test_texts_at_temperature_0_are_the_likeliest(model):
    prompts = torch.randint(256, (2, 4))
    ids = sample.write_texts(model, prompts, 9, torch.zeros(2), torch.Generator().manual_seed(1))
    assert torch.equal(ids[:, :4], prompts)
    assert torch.equal(ids[:, 4:], model(ids)[:, 3:-1].argmax(dim=-1))


@pytest.mark.parametrize("shape", [(24, 8), (8, 24), (12, 12)])
def test_a_step_of_muon_has_singular_values_near_one(shape):
    torch.manual_seed(1)
    values = torch.linalg.svdvals(orthogonal(torch.randn(2, *shape), 5))
    assert values.max() < 1.3
    assert values.min() > 0.5


def test_the_rate_warms_up_stays_and_falls_to_zero():
    assert target.rate(0.0, 0) == pytest.approx(1 / target.WARM_UP_STEPS)
    assert target.rate(0.3, 1000) == 1.0
    assert target.rate(0.75, 1000) == pytest.approx(0.5)
    assert target.rate(1.0, 1000) == 0.0


def test_training_distilling_export_and_references_hang_together(data, tmp_path, monkeypatch):
    monkeypatch.setattr(target, "Config", lambda context: SHAPE)
    small = {"one-layer": {"vocab": 256, "width": 16, "layers": 1, "heads": 2, "hidden": 32}}
    monkeypatch.setattr(distil, "SHAPES", small)
    monkeypatch.setattr(card, "SHAPES", small)
    monkeypatch.setattr(golden, "NETWORKS", ("target", "one-layer", "exit"))
    monkeypatch.setattr(golden, "LENGTHS", (12, 30))
    monkeypatch.setattr(export, "FOLLOWERS", 16)
    monkeypatch.setattr(card, "NETWORKS", ("target", "one-layer", "exit"))
    monkeypatch.setattr(card, "DRAFTS", ("one-layer", "trigram", "bigram", "look-up", "exit"))
    for name, value in {"WINDOW": 32, "PROMPTS": 4, "PROMPT": 8, "NEW": 8, "KNOWN": 8, "REPEATED": 4}.items():
        monkeypatch.setattr(card, name, value)
    torch.manual_seed(0)
    common = ["--data", str(data)]
    assert target.main([*common, "--out", str(data), "--minutes", "0.05", "--context", "32", "--rows", "4"]) == 0
    first = torch.load(data / "target.pt")["state"]
    assert first["curve"][-1]["prose"] < np.log(256)
    # Again with more time: goes on where it stood.
    assert target.main([*common, "--out", str(data), "--minutes", "0.06", "--context", "32", "--rows", "4"]) == 0
    assert torch.load(data / "target.pt")["state"]["step"] > first["step"]
    where = ["--target", str(data / "target.pt")]
    written = ["--texts", "8", "--batch", "8", "--prompt", "4", "--length", "33", "--out", str(data / "s.npy")]
    assert sample.main([*common, *where, *written]) == 0
    assert np.load(data / "s.npy").shape == (8, 33)
    drafts = [*common, *where, "--out", str(data / "drafts.pt"), "--rows", "4", "--context", "32", "--minutes", "0.04"]
    assert distil.main([*drafts, "--stop-at", "0.5"]) == 0
    assert distil.main([*drafts, "--samples", str(data / "s.npy")]) == 0
    models = tmp_path / "models"
    out = ["--context", "48", "--out", str(models)]
    assert export.main([*common, *where, "--drafts", str(data / "drafts.pt"), *out]) == 0
    assert golden.main([*common, "--models", str(models), "--out", str(tmp_path / "golden.json")]) == 0
    pair = lm.load((models / "target.safetensors").read_bytes(), (models / "drafts.safetensors").read_bytes())
    ours = exported.load(models)
    assert np.isclose(tables.bigram_rows(ours.tables).sum(axis=1), 1).all()
    for prompt in json.loads((tmp_path / "golden.json").read_text(encoding="utf-8"))["prompts"]:
        assert list(pair.encode(prompt["text"])) == prompt["tokens"]
        logits = ours.logits("target", torch.tensor([prompt["tokens"]]))[0, -1].double()
        assert np.allclose(pair.target()(prompt["tokens"]), logits.softmax(dim=-1).numpy(), atol=1e-5)
        for name in ("one-layer", "exit"):
            row = ours.logits(name, torch.tensor([prompt["tokens"]]))[0, -1].double().softmax(dim=-1)
            assert np.allclose(pair.draft(name, pair.target())(prompt["tokens"]), row.numpy(), atol=1e-5)
        entries, rows = prompt["target"]["entries"], prompt["target"]["logits"]
        assert np.allclose(logits[entries].numpy(), rows[-1], atol=1e-4)
    about = [
        "--models",
        str(models),
        "--hardware",
        "CPU AMD EPYC",
        "--memory-gb",
        "1",
        "--commit",
        "0",
        "--date",
        "2026-11-30",
    ]
    assert card.main([*common, *where, "--drafts", str(data / "drafts.pt"), *about]) == 0
    text = (models / "card.json").read_text(encoding="utf-8")
    assert [found for found in check.check(text, "card.json") if found.level == "error"] == []
    values = {row["id"]: row["value"] for row in json.loads(text)["rows"]}
    assert abs(values["tiny-target-prose"] - values["tiny-target-prose-fp32"]) < 0.02
    assert all(0 <= value <= 1.000001 for name, value in values.items() if name.startswith("tiny-overlap"))
