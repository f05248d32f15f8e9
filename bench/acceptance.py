"""How often the tiny pair's drafts are kept: `python -m bench acceptance [--rounds N] [--write]`.

Why it exists: what the lesson says of drafts, and where the formula holds, rests on real rounds of `sim.lm.generate`
over held-out prompts: every draft, kind of text, temperature and gamma, so many rounds after every prompt. The results
do not depend on the machine's speed. Standard errors take the prompt as the unit, because the rounds of one text are
alike.

`predicted` in a row is the formula's tokens per pass with the share of first drafts kept in that cell as alpha. It must
not know how a draft works.
"""

from __future__ import annotations

import argparse
import datetime
import itertools
import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when NumPy is loaded; a second thread waits for the first

from bench import prompts, store
from bench.sim_speed import _processor
from sim import expected_tokens
from sim.lm import Pair, generate, load

__all__ = ["GAMMAS", "ROUNDS", "TEMPERATURES", "Tally", "main", "measure", "models", "row"]

ROOT = Path(__file__).resolve().parents[1]
MODELS = ROOT / "docs" / "data" / "models"
OUT = ROOT / "docs" / "data" / "measured" / "acceptance.json"
GAMMAS = (1, 2, 3, 4, 5, 6)
TEMPERATURES = (0.0, 0.7, 1.0)
ROUNDS = 16
"""Rounds after a prompt in every cell."""
SAMPLING = {"look-up": "one-hot: the token found", 0.0: "greedy"}


@dataclass
class Tally:
    """Counts of one prompt in one cell. `kept[k]`: rounds that kept draft k and all before it."""

    rounds: int = 0
    drafted: int = 0
    tested: int = 0
    kept: list[int] = field(default_factory=list)

    @property
    def accepted(self) -> int:
        """Drafts kept in all."""
        return sum(self.kept)

    def add(self, drafted: int, accepted: int) -> None:
        """One round. A draft is tested when all before it were kept."""
        self.rounds += 1
        self.drafted += drafted
        self.tested += min(accepted + 1, drafted)
        for k in range(accepted):
            self.kept[k] += 1


Cell = tuple[str, str, float, int]
"""Kind of text, draft, temperature, gamma."""


def models(folder: Path) -> Pair:
    """The pair in a folder; exits with a word where there is none."""
    try:
        return load((folder / "target.safetensors").read_bytes(), (folder / "drafts.safetensors").read_bytes())
    except FileNotFoundError as error:
        raise SystemExit(f"no model: {error.filename} (bench/train makes the files)") from None


def measure(
    pair: Pair,
    texts: Mapping[str, Sequence[str]],
    rounds: int = ROUNDS,
    tallies: dict[Cell, list[Tally]] | None = None,
    gammas: Sequence[int] = GAMMAS,
) -> Iterator[str]:
    """Fill `tallies`: one for every prompt in every cell, seeded by its number; yields a word after each prompt."""
    found = {} if tallies is None else tallies
    for kind, listed in texts.items():
        for number, text in enumerate(listed):
            prompt = pair.fit(pair.encode(text), (rounds + 1) * (max(gammas) + 1)).tokens
            for temperature in TEMPERATURES:
                target = pair.target(temperature)
                for name in pair.drafts:
                    draft = pair.draft(name, target, temperature)
                    for gamma in gammas:
                        tally = found.setdefault((kind, name, temperature, gamma), [Tally() for _ in listed])[number]
                        tally.kept.extend([0] * (gamma - len(tally.kept)))
                        steps = generate(
                            pair, draft, prompt, gamma, rounds * (gamma + 1), temperature=temperature, seed=number,
                            target=target, top=0,
                        )  # fmt: skip
                        for step in itertools.islice(steps, rounds):
                            tally.add(len(step.draft), step.accepted)
            yield f"{kind} {number + 1}/{len(listed)}"


def ratio(pairs: Sequence[tuple[int, int]]) -> tuple[float, float]:
    """Sum over sum of (part, whole) by prompt, and its standard error between prompts (linearised)."""
    whole = sum(b for _, b in pairs)
    if not whole:
        return 0.0, 0.0
    value = sum(a for a, _ in pairs) / whole
    count = len(pairs)
    spread = math.fsum((a - value * b) ** 2 for a, b in pairs) * count / max(1, count - 1)
    return value, math.sqrt(spread) / whole


def row(cell: Cell, tallies: Sequence[Tally]) -> dict[str, Any]:
    """The row of one cell: tokens per pass, alpha, acceptance by position, the formula beside them."""
    kind, name, temperature, gamma = cell
    rounds = sum(tally.rounds for tally in tallies)
    accepted, drafted = sum(tally.accepted for tally in tallies), sum(tally.drafted for tally in tallies)
    kept = [sum(tally.kept[k] for tally in tallies) / rounds for k in range(gamma)]
    tau, error = ratio([(tally.rounds + tally.accepted, tally.rounds) for tally in tallies])
    alpha, alpha_error = ratio([(tally.accepted, tally.tested) for tally in tallies])
    each = sorted(1 + tally.accepted / tally.rounds for tally in tallies)
    quarter = len(each) // 4
    made: dict[str, Any] = {
        "id": f"accept-{kind}-{name}-t{round(10 * temperature):02d}-g{gamma}",
        "quantity": "tokens per pass",
        "unit": "tokens",
        "value": _short(tau),
        "n": len(tallies),
        "min": _short(each[0]),
        "q1": _short(each[quarter]),
        "q3": _short(each[-1 - quarter]),
        "max": _short(each[-1]),
        "standard_error": _short(error),
        "predicted": _short(expected_tokens(kept[0], gamma)),
        "dataset": kind,
        "draft": name,
        "temperature": temperature,
        "gamma": gamma,
        "draft_sampling": SAMPLING.get(name) or SAMPLING.get(temperature) or "sampled at the target's temperature",
        "rounds": rounds,
        "drafted": drafted,
        "accepted": accepted,
        "emitted": rounds + accepted,
        "tokens_per_pass": _short(tau),
        "per_position": [_short(share) for share in kept],
    }
    if tested := sum(tally.tested for tally in tallies):
        made |= {"alpha": _short(alpha), "alpha_error": _short(alpha_error), "tested": tested}
    if drafted == gamma * rounds:
        made["rate"] = _short(accepted / drafted)
    return made


def _short(value: float) -> float:
    return float(f"{value:.6g}")


def provenance(pair: Pair, command: str) -> dict[str, Any]:
    """What every row shares."""
    import numpy as np

    commit = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    shape = pair.network.shape
    name = _processor().replace("(R)", "").replace("(TM)", "").replace("  ", " ").strip()
    return {
        "hardware": name if "CPU" in name else f"{name} CPU",
        "shared": True,
        "software": {"python": sys.version.split()[0], "numpy": np.__version__},
        "command": command,
        "commit": commit.stdout.strip() or None,
        "date": datetime.date.today().isoformat(),
        "warmup": 0,
        "tool": "sim.lm.generate",
        "model": f"tiny target, {shape.layers} layers of width {shape.width}",
        "weights": "int8 by row",
        "arithmetic": "float32",
        "batch": 1,
        "ignore_eos": False,
        "counts_bonus": True,
        "acceptance_rule": "lossless",
        "note": "min to max: over the prompts, a few rounds each; the models have no end token",
    }


def main(arguments: list[str]) -> int:
    """Measure; print a table; with --write store it."""
    parser = argparse.ArgumentParser(prog="python -m bench acceptance", description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="after every prompt in every cell")
    parser.add_argument("--prompts", type=int, default=prompts.COUNT, help="of each kind")
    parser.add_argument("--kinds", default=",".join(prompts.KINDS), help="a part, for `python -m bench merge`")
    parser.add_argument("--models", type=Path, default=MODELS)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--write", action="store_true", help=f"store {OUT.relative_to(ROOT)}, or --out")
    options = parser.parse_args(arguments)
    pair = models(options.models)
    kinds = options.kinds.split(",")
    texts = {kind: listed[: options.prompts] for kind, listed in prompts.load().items() if kind in kinds}
    tallies: dict[Cell, list[Tally]] = {}
    begun = time.monotonic()
    for word in measure(pair, texts, options.rounds, tallies):
        print(f"{word} {time.monotonic() - begun:.0f} s", file=sys.stderr)
    whole = store.empty(
        "acceptance",
        "Acceptance of the tiny pair's drafts",
        provenance(pair, f"python -m bench acceptance --rounds {options.rounds} --write"),
        f"{options.prompts} held-out prompts a kind (bench/prompts.json), {options.rounds} rounds after each. "
        "value: tokens per pass; predicted: the formula with the share of first drafts kept as alpha; alpha: kept of "
        "tested drafts, those before which all were kept; standard errors between prompts. Where a look-up finds "
        "nothing its round is a plain pass. At temperature 0 the text falls into loops, which copying guesses well.",
    )
    whole["rows"] = [row(cell, tallies[cell]) for cell in sorted(tallies, key=_order)]
    for made in whole["rows"]:
        alpha = f"alpha {made.get('alpha', math.nan):.3f} ± {made.get('alpha_error', 0):.3f}"
        tau = f"tokens per pass {made['value']:.3f} ± {made['standard_error']:.3f}, formula {made['predicted']:.3f}"
        print(f"{made['id']:<34} {alpha}   {tau}")
    print(f"{len(whole['rows'])} cells in {time.monotonic() - begun:.0f} s")
    if options.write:
        store.save(options.out, whole)
        print(f"wrote {options.out}")
    return 0


def _order(cell: Cell) -> tuple[Any, ...]:
    kind, name, temperature, gamma = cell
    return prompts.KINDS.index(kind), name, temperature, gamma


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
