"""A round of speculative decoding inside a server: what its steps take, what a request takes, what memory is left.

Why it exists: "will it be faster here?" needs more than the roofline of `sim.cost`. An engine reaches only part of the
data sheet, pays a fixed price for every pass and every draft step, and some pay per sequence in the batch. `ENGINES`
holds three sets of such constants, each fitted to published points, each with the error of its fit. It must not decide
anything: that is `sim.decision`.

Left out on purpose: traffic between cards, queueing, other requests' prompts in the same pass, sampling.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from types import MappingProxyType

from sim._numbers import number, one_of, probability, whole
from sim.cost import additive_pass_ms, pass_time
from sim.presets import BYTES, HARDWARE, MODELS, Hardware, Model
from sim.sampling import draw_rounds
from sim.theory import expected_tokens
from sim.trees import best_first_tree, tree_tokens

__all__ = [
    "DRAFTERS",
    "ENGINES",
    "Drafter",
    "Engine",
    "MemoryLedger",
    "RequestTime",
    "ServingRound",
    "cost_per_million",
    "draft_model",
    "memory_ledger",
    "request_time",
    "serving_round",
    "serving_tokens",
    "time_quantile",
]


@dataclass(frozen=True)
class Engine:
    """What an engine makes of a card. Shares of the data sheet, then milliseconds.

    `pass_ms` is added to every pass of the target; a draft step takes `launch_ms` and `layer_ms` a layer beside its
    roofline; a round takes `round_ms` more, and `sequence_ms` for each of the first `sequences` in the batch. `error`
    is the relative root-mean-square error of the fit at the points it was made from.
    """

    title: str
    bandwidth: float
    arithmetic: float
    pass_ms: float
    launch_ms: float
    layer_ms: float
    round_ms: float
    sequence_ms: float
    sequences: int
    error: float
    source: str


_FIT = "SpecDecode-Bench, arXiv 2601.11580, predictor.py: Llama 3.1 8B, vLLM 0.10.1, one H100"
_STEPS = "draft steps fitted here to its 2.135 ms for three EAGLE steps and to a draft model's 37.5 % of an 8B's pass"

ENGINES: Mapping[str, Engine] = MappingProxyType(
    {
        "vllm-2025": Engine(
            "tuned, as vLLM in 2025",
            *(0.8145, 0.7725, 1.207, 0.06, 0.075, 0.0, 0.0, 0, 0.06),
            source=f"{_FIT}: 5.886 ms + 21.01 us a token, 1.207 ms a step; {_STEPS}",
        ),
        "sglang-2025": Engine(
            "early, as SGLang at the start of 2025",
            *(0.8145, 0.7725, 1.207, 0.06, 0.075, 2.0, 0.225, 24, 0.045),
            source=f"{_FIT}; what a round takes more was fitted here to the nine EAGLE points (batch 2 to 64) of the "
            "EAGLE-3 paper, Table 3, arXiv 2503.01840, at an accept rate of 0.62",
        ),
        "vllm-2024": Engine(
            "early, as vLLM in October 2024",
            *(0.8145, 0.7725, 1.207, 0.06, 0.075, 2.0, 0.43, 48, 0.12),
            source=f"{_FIT}; what a round takes more was fitted here to three points of vLLM's post of 2024-10-17 "
            "(70B, four H100): batches of 2, 48 and 86 from its rates and latencies, accept rates of 0.6 and 0.3",
        ),
    }
)


_CARDS: Mapping[tuple[str, str], Hardware] = MappingProxyType(
    {
        (engine, card): sheet.derated(how.bandwidth, how.arithmetic)
        for engine, how in ENGINES.items()
        for card, sheet in HARDWARE.items()
    }
)


@dataclass(frozen=True)
class Drafter:
    """A way to draft. `kind` is "head", "model" or "lookup"; `nodes` > 0: that many guesses hang in a tree."""

    title: str
    kind: str
    nodes: int = 0


DRAFTERS: Mapping[str, Drafter] = MappingProxyType(
    {
        "eagle": Drafter("EAGLE-style head", "head"),
        "tree": Drafter("EAGLE-style head, tree of 21", "head", 21),
        "model": Drafter("separate 1B model", "model"),
        "ngram": Drafter("n-gram look-up", "lookup"),
    }
)

LOOKUP_SHARE = 0.0059
"""An n-gram search in units of the verifying pass: SpecDecode-Bench, predictor.py."""
_SECOND_BEST = (0.35, 0.2, 0.1)
"""Chance of the second to fourth guess, as shares of what the first one misses. With an accept rate of 0.62 a best tree
of 21 nodes and depth 3 then yields 2.9 tokens, as SpecDecode-Bench prints for its tree (2.92, chain 2.25)."""


def draft_model(model: str, drafter: str) -> Model | None:
    """What is loaded beside the target; None for a look-up. Heads exist here in two sizes, for 8B and for 70B."""
    kind = DRAFTERS[one_of("drafter", drafter, tuple(DRAFTERS))].kind
    if kind == "lookup":
        return None
    if kind == "model":
        return MODELS["1b"]
    target = MODELS[one_of("model", model, tuple(MODELS))]
    return MODELS["eagle-70b" if target.active_params > 20e9 else "eagle-8b"]


def serving_tokens(drafter: str, alpha: float, gamma: int) -> float:
    """Tokens a round: `expected_tokens` for a chain, the best tree of its size and depth gamma for a tree."""
    nodes = DRAFTERS[one_of("drafter", drafter, tuple(DRAFTERS))].nodes
    if not nodes:
        return expected_tokens(alpha, gamma)
    first = probability("alpha", alpha)
    row = (first, *(min(first, (1.0 - first) * share) for share in _SECOND_BEST))
    rates = (row,) * whole("gamma", gamma, 1)
    return tree_tokens(best_first_tree(rates, nodes), rates)


@dataclass(frozen=True)
class ServingRound:
    """One round and one plain pass at the same load, in milliseconds. `round_ms` = drafts + verify + extra.

    `positions` are scored in one sequence; `verify` = verify_ms / plain_ms.
    """

    plain_ms: float
    draft_ms: float
    verify_ms: float
    extra_ms: float
    round_ms: float
    positions: int
    verify: float
    c: float


def serving_round(
    model: str,
    hardware: str,
    drafter: str,
    gamma: int,
    batch: int = 1,
    context: int = 0,
    *,
    engine: str = "vllm-2025",
    weights: str = "bf16",
    devices: int = 1,
) -> ServingRound:
    """What a round costs on this engine: additive passes (literature D.4), drafts in 16 bits, arithmetic in 16 bits."""
    how = ENGINES[one_of("engine", engine, tuple(ENGINES))]
    steps = whole("gamma", gamma, 1)
    kind = DRAFTERS[one_of("drafter", drafter, tuple(DRAFTERS))]
    card = _CARDS[engine, one_of("hardware", hardware, tuple(HARDWARE))]
    positions = 1 + (kind.nodes or steps)
    target, size = MODELS[one_of("model", model, tuple(MODELS))], BYTES[one_of("weights", weights, tuple(BYTES))]
    load = (whole("batch", batch, 1), whole("context", context, 0))
    cards = whole("devices", devices, 1)
    plain_ms = additive_pass_ms(target, card, 1, *load, size, cards) + how.pass_ms
    verify_ms = additive_pass_ms(target, card, positions, *load, size, cards) + how.pass_ms
    small = draft_model(model, drafter)
    if small is None:
        draft_ms = LOOKUP_SHARE * verify_ms
    else:
        step = additive_pass_ms(small, card, 1, *load, BYTES["bf16"], cards)
        draft_ms = steps * (step + how.launch_ms + how.layer_ms * small.layers)
    extra_ms = how.round_ms + how.sequence_ms * min(load[0], how.sequences)
    return ServingRound(
        plain_ms=plain_ms,
        draft_ms=draft_ms,
        verify_ms=verify_ms,
        extra_ms=extra_ms,
        round_ms=draft_ms + verify_ms + extra_ms,
        positions=positions,
        verify=verify_ms / plain_ms,
        c=draft_ms / steps / plain_ms,
    )


@dataclass(frozen=True)
class RequestTime:
    """One request: reading the prompt, then writing. `decode_share` is the writing's share of the plain request."""

    prefill_ms: float
    plain_ms: float
    speculative_ms: float
    gain: float
    decode_share: float


def request_time(
    model: str,
    hardware: str,
    prompt: int,
    output: int,
    plain_token_ms: float,
    token_ms: float,
    *,
    engine: str = "vllm-2025",
    weights: str = "bf16",
    devices: int = 1,
) -> RequestTime:
    """A whole request from its times per written token: the prompt is read once, alone, and no faster than before."""
    how = ENGINES[one_of("engine", engine, tuple(ENGINES))]
    card = _CARDS[engine, one_of("hardware", hardware, tuple(HARDWARE))]
    read = pass_time(model, card, whole("prompt", prompt, 1), weights=weights, devices=devices, form="sum")
    prefill = read.total_ms + how.pass_ms
    written = whole("output", output, 1)
    plain = written * number("plain_token_ms", plain_token_ms, 0.0, open_low=True)
    faster = written * number("token_ms", token_ms, 0.0, open_low=True)
    return RequestTime(
        prefill, prefill + plain, prefill + faster, (prefill + plain) / (prefill + faster), plain / (prefill + plain)
    )


def cost_per_million(price_per_hour: float, devices: int, batch: int, ms: float, output: int) -> float:
    """Money for a million written tokens: `devices` cards at `price_per_hour` each, `batch` requests of `ms` at a time.

    price × devices × hours / (batch × output) × 1e6.
    """
    spent = number("price_per_hour", price_per_hour, 0.0) * whole("devices", devices, 1)
    hours = number("ms", ms, 0.0) / 3.6e6
    return spent * hours / (whole("batch", batch, 1) * whole("output", output, 1)) * 1e6


def time_quantile(
    alpha: float,
    gamma: int,
    round_ms: float,
    *,
    tokens: int = 100,
    share: float = 0.95,
    rounds: int = 200,
    seed: int = 1,
) -> float:
    """The time within which `share` of all stretches of `tokens` tokens are written, in ms, from seeded rounds.

    A stretch begins at each of the `rounds` rounds that has enough behind it, so stretches overlap. The answer is the
    smallest time with at least that share at or below it.
    """
    needed, part = whole("tokens", tokens, 1), number("share", share, 0.0, 1.0, open_low=True)
    ends = list(accumulate(kept + 1 for kept in draw_rounds(alpha, gamma, rounds, seed)))
    starts = [0, *ends]
    taken: list[int] = []
    place = 0
    for first, before in enumerate(starts[:-1]):
        while place < len(ends) and ends[place] - before < needed:
            place += 1
        if place == len(ends):
            break
        taken.append(place - first + 1)
    if not taken:
        raise ValueError(f"rounds is {rounds!r}; {needed} tokens need more")
    return sorted(taken)[math.ceil(part * len(taken) - 1e-9) - 1] * number("round_ms", round_ms, 0.0)


@dataclass(frozen=True)
class MemoryLedger:
    """Bytes on all cards together. `most_plain` and `most`: sequences whose caches fit without and with drafts."""

    capacity: float
    weights: float
    cache: float
    draft_weights: float
    draft_cache: float
    left: float
    most_plain: int
    most: int
    fits: bool


def memory_ledger(
    model: str,
    hardware: str,
    drafter: str,
    gamma: int,
    batch: int,
    context: int,
    *,
    weights: str = "bf16",
    devices: int = 1,
) -> MemoryLedger:
    """What lies in memory when `batch` sequences of `context` tokens run, and how many would fit.

    The slots of the drafts under check count as cache. Activations and the engine's own reserve are left out.
    """
    target, small = MODELS[one_of("model", model, tuple(MODELS))], draft_model(model, drafter)
    kind, length = DRAFTERS[drafter], whole("context", context, 1)
    size = BYTES[one_of("weights", weights, tuple(BYTES))]
    total = HARDWARE[one_of("hardware", hardware, tuple(HARDWARE))].memory * whole("devices", devices, 1)
    slots = length + 1 + (kind.nodes or whole("gamma", gamma, 1))
    plain_each = (length + 1) * target.kv_values * 2.0
    each = slots * target.kv_values * 2.0
    beside_each = slots * small.kv_values * 2.0 if small else 0.0
    own, beside = target.params * size, small.params * 2.0 if small else 0.0
    count = whole("batch", batch, 1)
    left = total - own - beside - count * (each + beside_each)
    return MemoryLedger(
        capacity=total,
        weights=own,
        cache=count * each,
        draft_weights=beside,
        draft_cache=count * beside_each,
        left=left,
        most_plain=max(0, math.floor((total - own) / plain_each + 1e-9)),
        most=max(0, math.floor((total - own - beside) / (each + beside_each) + 1e-9)),
        fits=left >= 0.0,
    )
