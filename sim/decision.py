"""Use it, do not use it, or measure first: a verdict that follows from an interval.

Why it exists: a single predicted speed-up says nothing about whether to trust it. Here the prediction carries the error
of the cost model and of the reader's accept rate; where the interval spans 1×, the only honest answer is to measure. It
must not know how times are made (`sim.serving`) or shown.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from sim._numbers import number, probability, whole
from sim.presets import MODELS
from sim.serving import ENGINES, MemoryLedger, ServingRound, memory_ledger, serving_round, serving_tokens

__all__ = ["Decision", "Setting", "break_even_batch", "decide", "round_at", "speedup_at"]

MAX_GAMMA = 8
MAX_BATCH = 512
ELSEWHERE = 0.10
"""Added error away from the fitted place (an 8B dense model on one H100): our estimate, not a fit."""
MIXTURE = 0.20
"""Added error for a mixture of experts, our estimate: independent routing overstates what drafts bring in."""


@dataclass(frozen=True)
class Setting:
    """A deployment. `alpha_error`: how far off the accept rate may be; `context`: mean cached tokens of a sequence."""

    model: str
    hardware: str
    drafter: str
    gamma: int
    alpha: float
    alpha_error: float = 0.05
    batch: int = 1
    context: int = 512
    engine: str = "vllm-2025"
    weights: str = "bf16"
    devices: int = 1

    def __post_init__(self) -> None:
        probability("alpha", self.alpha)
        number("alpha_error", self.alpha_error, 0.0, 1.0)
        whole("gamma", self.gamma, 1)


@dataclass(frozen=True)
class Decision:
    """`kind` is "use", "no" or "measure"; `cause` names what it turns on.

    cause: "memory" (it does not fit), "verify", "experts", "draft", "engine" (the dearest part of the round) or
    "tokens" (none of them stands out). `low`, `mid`, `high` bound the speed-up of decoding; `best_gamma` is the length
    with the best `mid`, 0 where none pays.
    """

    kind: str
    cause: str
    low: float
    mid: float
    high: float
    model_error: float
    tokens: float
    round: ServingRound
    ledger: MemoryLedger
    best_gamma: int


def round_at(setting: Setting) -> ServingRound:
    """The round of this setting."""
    return serving_round(
        setting.model,
        setting.hardware,
        setting.drafter,
        setting.gamma,
        setting.batch,
        setting.context,
        engine=setting.engine,
        weights=setting.weights,
        devices=setting.devices,
    )


def speedup_at(setting: Setting, tokens: float | None = None) -> float:
    """Predicted speed-up of decoding: tokens a round × plain pass / round. `tokens` spares working them out again."""
    found = round_at(setting)
    got = serving_tokens(setting.drafter, setting.alpha, setting.gamma) if tokens is None else tokens
    return got * found.plain_ms / found.round_ms


def decide(setting: Setting) -> Decision:
    """The verdict. The two errors are taken as independent: their squares add up."""
    found, tokens = round_at(setting), serving_tokens(setting.drafter, setting.alpha, setting.gamma)
    mid = tokens * found.plain_ms / found.round_ms
    error = _model_error(setting)

    def off(alpha: float) -> float:
        other = serving_tokens(setting.drafter, min(1.0, max(0.0, alpha)), setting.gamma)
        return math.hypot(error, other / tokens - 1.0)

    low = mid * max(0.0, 1.0 - off(setting.alpha - setting.alpha_error))
    high = mid * (1.0 + off(setting.alpha + setting.alpha_error))
    ledger = memory_ledger(
        setting.model,
        setting.hardware,
        setting.drafter,
        setting.gamma,
        setting.batch,
        setting.context,
        weights=setting.weights,
        devices=setting.devices,
    )
    kind = "no" if not ledger.fits or high < 1.0 else "use" if low > 1.0 else "measure"
    cause = "memory" if not ledger.fits else _cause(setting, found)
    return Decision(kind, cause, low, mid, high, error, tokens, found, ledger, _best_gamma(setting))


def break_even_batch(setting: Setting, most: int = MAX_BATCH, known: Mapping[int, float] | None = None) -> int | None:
    """The smallest batch at which the predicted speed-up is below 1; None when there is none up to `most`.

    The speed-up need not fall all the way (a mixture's rises first), so doublings are walked before halving.
    `known` spares working out again: speed-ups of this setting by batch.
    """
    before = {} if known is None else known
    tokens = serving_tokens(setting.drafter, setting.alpha, setting.gamma)

    def loses(batch: int) -> bool:
        speed = before.get(batch)
        return (speedup_at(replace(setting, batch=batch), tokens) if speed is None else speed) < 1.0 - 1e-9

    last, batch = 0, 1
    while not loses(batch):
        if batch >= most:
            return None
        last, batch = batch, min(2 * batch, most)
    return _first(loses, last, batch)


def _first(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The smallest whole number above `low` at which it holds, when it does at `high`."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _model_error(setting: Setting) -> float:
    """The error of the fit, and what is added away from where it was made."""
    model = MODELS[setting.model]
    away = setting.model != "8b" or setting.hardware != "h100-sxm" or setting.devices != 1
    parts = [ENGINES[setting.engine].error, ELSEWHERE if away else 0.0, MIXTURE if model.experts else 0.0]
    return math.sqrt(math.fsum(part * part for part in parts))


def _cause(setting: Setting, found: ServingRound) -> str:
    """The dearest thing a round adds to a plain pass."""
    added = {
        "experts" if MODELS[setting.model].experts else "verify": found.verify_ms - found.plain_ms,
        "draft": found.draft_ms,
        "engine": found.extra_ms,
    }
    name, most = max(added.items(), key=lambda item: item[1])
    return name if most > 0.15 * found.plain_ms else "tokens"


def _best_gamma(setting: Setting) -> int:
    """The draft length up to MAX_GAMMA with the best predicted speed-up; the smallest of equals, 0 where none pays."""
    best, chosen = 1.0 + 1e-9, 0
    for gamma in range(1, MAX_GAMMA + 1):
        speed = speedup_at(replace(setting, gamma=gamma))
        if speed > best * (1.0 + 1e-9):
            best, chosen = speed, gamma
    return chosen
