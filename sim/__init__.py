"""The model of speculative decoding: exact rules, closed forms, cost of a pass.

Everything a lesson or a widget may ask for is importable from here. Standard library only; `sim.montecarlo` and `sim.lm`
need NumPy and are imported by their own names. It must not read or write files, keep state, or know about pages.
"""

from sim.cost import PassTime, draft_cost, experts_touched, pass_time, ridge_positions, verify_cost
from sim.presets import HARDWARE, MODELS, Hardware, Model
from sim.sampling import draw_rounds
from sim.theory import (
    alpha_from_tokens,
    break_even_alpha,
    break_even_cost,
    cost_from_speedup,
    engine_acceptance_rate,
    expected_tokens,
    operations_factor,
    optimal_gamma,
    oracle_tokens,
    passes_for,
    round_time,
    share_discarded,
    speedup,
    survival_from_rates,
    tokens_from_survival,
)

__all__ = [
    "HARDWARE",
    "MODELS",
    "Hardware",
    "Model",
    "PassTime",
    "alpha_from_tokens",
    "break_even_alpha",
    "break_even_cost",
    "cost_from_speedup",
    "draft_cost",
    "draw_rounds",
    "engine_acceptance_rate",
    "expected_tokens",
    "experts_touched",
    "operations_factor",
    "optimal_gamma",
    "oracle_tokens",
    "pass_time",
    "passes_for",
    "ridge_positions",
    "round_time",
    "share_discarded",
    "speedup",
    "survival_from_rates",
    "tokens_from_survival",
    "verify_cost",
]
