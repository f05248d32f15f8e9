"""The pair of the site: PyTorch's logits, greedy speculation, and that the recorded runs are what these files give.

NumPy's products may differ in the last bits between machines and between one row and five, so two greedy texts may
part, but only where two tokens are as good as equal; such a place is printed. With the page's kernel they may not.
SD_MODELS names another folder of files.
"""

import hashlib
import itertools
import json
import os
from pathlib import Path

import pytest

from sim.data import parse

np = pytest.importorskip("numpy")
lm = pytest.importorskip("sim.lm")
kernel = pytest.importorskip("sim.kernel")

DATA = Path(__file__).parents[2] / "docs" / "data"
MODELS = Path(os.environ.get("SD_MODELS", DATA / "models"))
FILES = {name: MODELS / name for name in ("target.safetensors", "drafts.safetensors")}
GOLDEN = Path(__file__).parents[1] / "data" / "lm-golden.json"
RUNS = DATA / "traces" / "real-pair.json"
NEAR = 1e-3
"""Logits closer than this are a tie that rounding may decide."""

pytestmark = pytest.mark.skipif(
    not all(path.is_file() for path in FILES.values()), reason="the files of the pair are not there: see bench/train"
)


@pytest.fixture(scope="module")
def pair():
    return lm.load(*(path.read_bytes() for path in FILES.values()))


@pytest.fixture(scope="module")
def runs():
    if not RUNS.is_file() or "SD_MODELS" in os.environ:
        pytest.skip("no recorded runs of these files")
    return parse(RUNS.read_text(encoding="utf-8"), RUNS.name).rows


def same_or_near_tie(pair, prompt, found, wanted, told, one_machine=True):
    """Whether the texts are equal; parted at a near-tie it says where, parted elsewhere it fails."""
    if found == wanted:
        return True
    place = next(k for k, (a, b) in enumerate(zip(found, wanted, strict=True)) if a != b)
    logits = pair.target().reader.logits((*prompt, *wanted[:place]))[0]
    gap = abs(float(logits[found[place]] - logits[wanted[place]]))
    first, second = (pair.piece(text[place]) for text in (found, wanted))
    print(f"{told}: token {place} is {first!r} or {second!r}, {gap:.1e} apart in logits")
    assert gap < NEAR, f"{told} parts at token {place}: {first!r} and not {second!r}, {gap} apart"
    assert not (kernel.plugged() and one_machine), f"{told} parts although the kernel adds in a fixed order"
    return False


def greedy(pair, name, prompt, gamma, count):
    steps = lm.generate(pair, name, prompt, gamma, count, temperature=0.0)
    return tuple(itertools.chain.from_iterable(step.emitted for step in steps))[:count]


def test_the_pair_is_whole_and_small(pair):
    assert pair.drafts == lm.DRAFTS
    assert (pair.vocab, len(pair.network.layers)) == (1024, 4)
    assert FILES["target.safetensors"].stat().st_size <= 4_000_000
    assert FILES["drafts.safetensors"].stat().st_size <= 1_500_000


@pytest.mark.skipif(not GOLDEN.is_file(), reason="no logits of PyTorch for these files")
@pytest.mark.skipif("SD_MODELS" in os.environ, reason="the logits are those of the site's files")
@pytest.mark.parametrize("name", ["target", "one-layer", "two-layer", "exit"])
def test_logits_are_those_of_pytorch(pair, name):
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    for file, path in FILES.items():
        assert golden["sha256"][file] == hashlib.sha256(path.read_bytes()).hexdigest(), "other files: make golden anew"
    for prompt in golden["prompts"]:
        assert list(pair.encode(prompt["text"])) == prompt["tokens"]
        reader = pair.target().reader if name == "target" else pair.draft(name).reader
        wanted = np.array(prompt[name]["logits"])
        found = reader.logits(prompt["tokens"], len(wanted))[:, prompt[name]["entries"]]
        assert np.abs(found - wanted).max() < 1e-3


@pytest.mark.parametrize("name", lm.DRAFTS)
@pytest.mark.parametrize(
    "text", ["It was not the first time that she had", "    def __init__(self, name):\n        self."]
)
def test_greedy_speculation_is_greedy_decoding_or_parts_at_a_near_tie(pair, text, name):
    prompt = pair.fit(pair.encode(text), 40).tokens
    plain = greedy(pair, None, prompt, 0, 32)
    assert len(plain) == 32
    same_or_near_tie(pair, prompt, greedy(pair, name, prompt, 4, 32), plain, f"{name} after {text[:20]!r}")


@pytest.mark.parametrize("name", lm.DRAFTS)
def test_the_recorded_greedy_runs_are_what_these_files_say(pair, runs, name):
    mine = [run for run in runs.values() if run.draft == name and run.temperature == 0.0]
    assert sorted(run.dataset for run in mine) == ["code", "prose"]
    for run in mine:
        prompt, count = pair.encode(run.prompt), len(run.tokens)
        steps = list(lm.generate(pair, name, prompt, run.gamma, count, temperature=0.0, seed=run.seed))
        found = tuple(itertools.chain.from_iterable(step.emitted for step in steps))[:count]
        if same_or_near_tie(pair, prompt, found, run.tokens, run.id, one_machine=False):
            assert [step.accepted for step in steps] == list(run.accepted)


@pytest.mark.parametrize("name", lm.DRAFTS)
def test_the_recorded_chances_are_those_of_these_files(pair, runs, name):
    for run in (run for run in runs.values() if run.draft == name):
        target, draft = pair.target(run.temperature), pair.draft(name, None, run.temperature)
        text, tokens = list(pair.encode(run.prompt)), list(run.tokens)
        for number, step in enumerate(run.steps[:6]):
            emitted = tokens[: step["accepted"] + 1]
            del tokens[: len(emitted)]
            drafts = [pair.text((token,)) for token in emitted[:-1]]
            assert (drafts, pair.text(emitted[-1:])) == (step["draft"][: step["accepted"]], step["token"])
            p_rows = target.rows((*text, *emitted[:-1]), len(emitted))
            p = [float(row[token]) for row, token in zip(p_rows, emitted, strict=True)]
            recorded = [*step["p"][: step["accepted"]], step["p"][-1]]
            assert p == pytest.approx(recorded, rel=6e-3, abs=1e-6), (run.id, number)
            for k, token in enumerate(emitted[:-1]):
                q = float(draft.row((*text, *emitted[:k]))[token])
                assert q == pytest.approx(step["q"][k], rel=6e-3, abs=1e-6), (run.id, number)
            text += emitted


def test_a_prompt_of_ten_thousand_characters_and_none(pair):
    for text in ("", "\0\xff☃" * 3_400, "She said nothing. " * 560, "    return self\n" * 625):
        prompt, left_out = pair.fit(pair.encode(text), 8 + 4)
        assert (left_out > 0) == (len(text) > 9_000)
        assert len(greedy(pair, "one-layer", prompt, 4, 8)) == 8
