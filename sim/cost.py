"""How long one forward pass takes: bytes moved against arithmetic done.

Why it exists: "a pass that scores five positions costs almost what a pass that scores one costs" is a claim about
bandwidth and arithmetic, and this module is where it is computed. The model is the roofline of the scaling book's
inference chapter and of literature section D: time = max(bytes / bandwidth, operations / peak) + overhead, or their
sum, which is the form that fits measured engines. It must not know about acceptance, tokens kept or speed-up.

Left out on purpose: attention's own arithmetic, communication between devices, and the fact that no kernel reaches the
data sheet (use `Hardware.derated`).
"""

from dataclasses import dataclass

from sim._numbers import geometric_sum, one_of, whole
from sim.presets import BYTES, HARDWARE, MODELS, Hardware, Model

__all__ = ["PassTime", "draft_cost", "experts_touched", "pass_time", "ridge_positions", "verify_cost"]


@dataclass(frozen=True)
class PassTime:
    """One forward pass. Times in milliseconds, sizes in bytes (GB = 1e9).

    `weight_bytes` is what the pass reads (for a mixture of experts an expectation), `stored_bytes` what must lie in
    memory (weights and cache). `memory_ms` = `weights_ms` + `kv_ms`; `per_position_ms` = `total_ms` over all scored
    positions of the batch; `busy` is the share of peak arithmetic used, `idle` = 1 - `busy`: unused peak, not a
    utilisation counter.
    """

    weights_ms: float
    kv_ms: float
    compute_ms: float
    overhead_ms: float
    total_ms: float
    per_position_ms: float
    weight_bytes: float
    fits: bool
    bound: str
    busy: float
    idle: float
    memory_ms: float
    kv_bytes: float
    stored_bytes: float
    capacity_bytes: float
    operations: float
    positions: int


def pass_time(
    model: Model | str,
    hardware: Hardware | str,
    positions: int = 1,
    batch: int = 1,
    context: int = 0,
    *,
    weights: str = "bf16",
    arithmetic: str = "bf16",
    devices: int = 1,
    form: str = "max",
    cache: str = "bf16",
) -> PassTime:
    """Time of one forward pass over `positions` new positions in each of `batch` sequences of `context` cached tokens.

    Bytes: the weights once, and the cache of every sequence once. Operations: 2 per active parameter and position.
    `weights`, `cache` and `arithmetic` are number formats; `devices` share everything evenly and talk for nothing;
    `form` "max" is the roofline, "sum" the fitted form (literature D.1, D.4). ValueError for an unknown name or format,
    or a bad number.
    """
    shape, device = _model(model), _hardware(hardware)
    batch_size, per_sequence = whole("batch", batch, 1), whole("positions", positions, 1)
    cached, count = whole("context", context, 0), whole("devices", devices, 1)
    scored = per_sequence * batch_size
    rate = _peak(device, arithmetic) * count
    bandwidth = device.bandwidth * count
    weight_size = BYTES[one_of("weights", weights, tuple(BYTES))]
    cache_size = BYTES[one_of("cache", cache, tuple(BYTES))]

    weight_bytes = _read_params(shape, scored) * weight_size
    kv_bytes = batch_size * cached * shape.kv_values * cache_size
    operations = 2.0 * shape.active_params * scored
    weights_ms, kv_ms = 1e3 * weight_bytes / bandwidth, 1e3 * kv_bytes / bandwidth
    memory_ms, compute_ms = weights_ms + kv_ms, 1e3 * operations / rate
    work = max(memory_ms, compute_ms) if one_of("form", form, ("max", "sum")) == "max" else memory_ms + compute_ms
    total_ms = work + device.overhead_ms
    stored = shape.params * weight_size + batch_size * (cached + per_sequence) * shape.kv_values * cache_size
    capacity = device.memory * count
    busy = compute_ms / total_ms
    return PassTime(
        weights_ms=weights_ms,
        kv_ms=kv_ms,
        compute_ms=compute_ms,
        overhead_ms=device.overhead_ms,
        total_ms=total_ms,
        per_position_ms=total_ms / scored,
        weight_bytes=weight_bytes,
        fits=stored <= capacity,
        bound="compute" if compute_ms > memory_ms * (1.0 + 1e-9) else "memory",
        busy=busy,
        idle=1.0 - busy,
        memory_ms=memory_ms,
        kv_bytes=kv_bytes,
        stored_bytes=stored,
        capacity_bytes=capacity,
        operations=operations,
        positions=scored,
    )


def additive_pass_ms(
    model: Model, hardware: Hardware, positions: int, batch: int, context: int, weight_size: float, devices: int
) -> float:
    """`pass_time(..., form="sum").total_ms` in 16-bit arithmetic, and nothing else: for sweeps of hundreds of passes.

    The caller has checked the arguments; `weight_size` is in bytes a number. A test holds the two together.
    """
    scored = positions * batch
    moved = _read_params(model, scored) * weight_size + batch * context * model.kv_values * BYTES["bf16"]
    arithmetic_ms = 1e3 * (2.0 * model.active_params * scored) / (hardware.peak["bf16"] * devices)
    return 1e3 * moved / (hardware.bandwidth * devices) + arithmetic_ms + hardware.overhead_ms


def ridge_positions(hardware: Hardware | str, *, weights: str = "bf16", arithmetic: str = "bf16") -> float:
    """Positions, over the whole batch, at which a dense model turns from memory-bound to compute-bound.

    peak / bandwidth × bytes per weight / 2 (literature D.2; scaling book, inference chapter): the model's size cancels.
    """
    device = _hardware(hardware)
    size = BYTES[one_of("weights", weights, tuple(BYTES))]
    return _peak(device, arithmetic) / device.bandwidth * size / 2.0


def experts_touched(experts: int, active: int, positions: int) -> float:
    """Expected distinct experts that `positions` positions use, experts·(1 - (1 - active/experts)^positions).

    Independent routing (arXiv 2605.15051): it overstates, because neighbouring tokens share experts.
    """
    total = whole("experts", experts, 1)
    chosen = whole("active", active, 1, total)
    return chosen * geometric_sum(1.0 - chosen / total, whole("positions", positions, 0))


def verify_cost(model: Model | str, hardware: Hardware | str, gamma: int, **settings: object) -> float:
    """The verifying pass over gamma + 1 positions in units of a plain pass: the `verify` of `sim.theory`.

    `settings` are those of `pass_time` apart from `positions`.
    """
    length = whole("gamma", gamma, 0)
    wide = pass_time(model, hardware, length + 1, **settings)  # type: ignore[arg-type]
    plain = pass_time(model, hardware, 1, **settings)  # type: ignore[arg-type]
    return wide.total_ms / plain.total_ms


def draft_cost(draft: Model | str, target: Model | str, hardware: Hardware | str, **settings: object) -> float:
    """One pass of the draft model over one pass of the target, the `c` of `sim.theory`, both under the same `settings`.

    It is a floor: launch overheads weigh more on a small model (literature A.6: c is not the ratio of parameters).
    """
    small = pass_time(draft, hardware, 1, **settings)  # type: ignore[arg-type]
    large = pass_time(target, hardware, 1, **settings)  # type: ignore[arg-type]
    return small.total_ms / large.total_ms


def _read_params(model: Model, positions: int) -> float:
    """Parameters that a pass over `positions` positions reads: all of a dense model, a mixture's touched experts."""
    always = model.params - model.expert_params + model.shared_params
    if not model.experts:
        return always
    touched = experts_touched(model.experts, model.experts_active, positions)
    return always + model.expert_params / model.experts * touched


def _model(model: Model | str) -> Model:
    return model if isinstance(model, Model) else MODELS[one_of("model", model, tuple(MODELS))]


def _hardware(hardware: Hardware | str) -> Hardware:
    return hardware if isinstance(hardware, Hardware) else HARDWARE[one_of("hardware", hardware, tuple(HARDWARE))]


def _peak(hardware: Hardware, arithmetic: str) -> float:
    """Operations a second in a number format; ValueError when the device has no such units."""
    return hardware.peak[one_of("arithmetic", arithmetic, tuple(hardware.peak))]
