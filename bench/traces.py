"""Recorded runs of the tiny pair for readers who load no model: `python -m bench traces`.

Why it exists: a small phone shows the same rounds that the lab makes, token by token, with p, q and the coins. Every
kind of text, draft and temperature once, gamma 4, 64 tokens: docs/data/traces/real-pair.json, rows of kind "trace"
(`sim.records.Trace`); `steps` are what `sim.lm.recorded` makes of a Step, and the page draws live runs from the same.

Which prompt and seed: of the first prompts, the one whose run has the tokens per pass nearest to the mean of them all,
so that what is shown is neither luck nor misfortune. Rounds near the end that would only be cut off are kept whole.
It must not know how a run is drawn.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from bench import prompts
from bench.acceptance import MODELS, ROOT, models, provenance
from sim.data import VERSION, parse
from sim.lm import Pair, Step, generate, recorded

__all__ = ["OUT", "TEMPERATURES", "main", "record", "typical"]

OUT = ROOT / "docs" / "data" / "traces" / "real-pair.json"
TEMPERATURES = (0.0, 0.7, 1.0)
GAMMA, TOKENS, TRIED, DIGITS = 4, 64, 6, 3
MOST_BYTES = 400_000
_NOT_OURS = ("note", "warmup")


def typical(runs: Sequence[Sequence[Step]]) -> int:
    """The place of the run whose tokens per pass are nearest to the mean of all runs; the first of equals."""
    rates = [sum(len(step.emitted) for step in steps) / len(steps) for steps in runs]
    mean = sum(rates) / len(rates)
    return min(range(len(rates)), key=lambda place: (round(abs(rates[place] - mean), 9), place))


def record(
    pair: Pair, kind: str, texts: Sequence[str], name: str, temperature: float, tokens: int = TOKENS
) -> dict[str, Any]:
    """The row of one run: kind × draft × temperature."""
    runs = []
    for seed, text in enumerate(texts):
        prompt = pair.fit(pair.encode(text), tokens + GAMMA).tokens
        runs.append(list(generate(pair, name, prompt, GAMMA, tokens, temperature=temperature, seed=seed)))
    seed = typical(runs)
    steps = runs[seed]
    return {
        "id": f"pair-{kind}-{name}-t{round(10 * temperature):02d}",
        "dataset": kind,
        "draft": name,
        "temperature": temperature,
        "gamma": GAMMA,
        "seed": seed,
        "prompt": pair.text(pair.fit(pair.encode(texts[seed]), tokens + GAMMA).tokens),
        "drafted": [len(step.draft) for step in steps],
        "accepted": [step.accepted for step in steps],
        "tokens": [token for step in steps for token in step.emitted],
        "steps": [recorded(pair, step, DIGITS) for step in steps],
    }


def text_of(whole: dict[str, Any]) -> str:
    """The file: a run a line, without spaces after commas in the rounds."""
    import json

    rows = whole.pop("rows")
    head = json.dumps(whole, ensure_ascii=False, indent=1)[:-2]
    lines = [json.dumps(each, ensure_ascii=False, allow_nan=False, separators=(",", ":")) for each in rows]
    return head + ',\n "rows": [\n' + ",\n".join(lines) + "\n ]\n}\n"


def main(arguments: list[str]) -> int:
    """Record and write. 1 when the file would be too large for a page."""
    parser = argparse.ArgumentParser(prog="python -m bench traces", description=__doc__)
    parser.add_argument("--models", type=Path, default=MODELS)
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args(arguments)
    pair = models(options.models)
    rows = []
    for kind, texts in prompts.load().items():
        for name in pair.drafts:
            for temperature in TEMPERATURES:
                rows.append(record(pair, kind, texts[:TRIED], name, temperature))
                passes = len(rows[-1]["drafted"])
                print(f"{rows[-1]['id']:<32} {len(rows[-1]['tokens']) / passes:.2f} tokens per pass", file=sys.stderr)
    shared = {key: item for key, item in provenance(pair, "python -m bench traces").items() if key not in _NOT_OURS}
    whole = {
        "version": VERSION,
        "kind": "trace",
        "title": "Recorded runs of the tiny pair",
        "note": f"gamma {GAMMA}, {TOKENS} tokens; of {TRIED} held-out prompts (bench/prompts.json) and as many seeds "
        "the one with the most usual tokens per pass. p, q and coins have three digits, all of them where rounding "
        "would turn a test around.",
        "provenance": shared,
        "rows": rows,
    }
    text = text_of(whole)
    parse(text, options.out.name)
    size = len(text.encode())
    print(f"{len(rows)} runs, {size} bytes")
    if size > MOST_BYTES:
        print(f"more than {MOST_BYTES} bytes: not written", file=sys.stderr)
        return 1
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(text, encoding="utf-8", newline="\n")
    print(f"wrote {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
