"""Models and devices by name, each with the source of its figures.

Why it exists: a chart that says "70B on an H100" must say where 3.35 TB/s comes from. It must not compute a time: that is
`sim.cost`. Figures from a data sheet that only a secondary source was read for say so in `source`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from sim._numbers import number

__all__ = ["BYTES", "HARDWARE", "MODELS", "Hardware", "Model"]

BYTES: Mapping[str, float] = MappingProxyType({"bf16": 2.0, "fp16": 2.0, "fp8": 1.0, "int8": 1.0, "int4": 0.5})
"""Bytes per number. Scales of quantised formats (about 3 % more for groups of 128) are left out."""


@dataclass(frozen=True)
class Model:
    """A decoder's size. Counts of parameters, not bytes.

    `params` lie in memory; `active_params` do arithmetic for one token; `experts`, `experts_active` and `expert_params` (all
    routed experts together) describe a mixture, 0 for a dense model; `shared_params` are another model's weights that a
    pass reads as well (an EAGLE head uses its target's output matrix).
    """

    title: str
    params: float
    active_params: float
    layers: int
    kv_heads: int
    head_size: int
    source: str
    experts: int = 0
    experts_active: int = 0
    expert_params: float = 0.0
    shared_params: float = 0.0

    @property
    def kv_values(self) -> int:
        """Numbers the cache holds for one token: a key and a value in every layer."""
        return 2 * self.layers * self.kv_heads * self.head_size


@dataclass(frozen=True)
class Hardware:
    """One device: memory in bytes, bandwidth in bytes a second, dense peak in operations a second by number format."""

    title: str
    memory: float
    bandwidth: float
    peak: Mapping[str, float]
    source: str
    overhead_ms: float = 0.0

    def derated(self, bandwidth: float = 1.0, arithmetic: float = 1.0, overhead_ms: float = 0.0) -> "Hardware":
        """The same device at a share of its data sheet, as measured: shares in (0, 1], a fixed overhead a pass in ms."""
        share = number("arithmetic", arithmetic, 0.0, 1.0, open_low=True)
        return replace(
            self,
            bandwidth=self.bandwidth * number("bandwidth", bandwidth, 0.0, 1.0, open_low=True),
            peak=MappingProxyType({name: value * share for name, value in self.peak.items()}),
            overhead_ms=number("overhead_ms", overhead_ms, 0.0),
        )


def _dense(title: str, params: float, layers: int, kv_heads: int, head_size: int, source: str) -> Model:
    return Model(title, params, params, layers, kv_heads, head_size, source)


MODELS: Mapping[str, Model] = MappingProxyType(
    {
        "70b": _dense("70B dense", 70e9, 80, 8, 128, "70e9 parameters by name; shape of Llama 3.1 70B (its config.json)"),
        "8b": _dense("8B dense", 8.03e9, 32, 8, 128, "Llama 3.1 8B, config.json and model card (8.03e9 parameters)"),
    }
)

_SHEETS = "stas00/ml-engineering, compute/accelerator README @ 744d01e1 (vendor data sheets collected there)"


def _tera(**peak: float) -> Mapping[str, float]:
    return MappingProxyType({name: value * 1e12 for name, value in peak.items()})


HARDWARE: Mapping[str, Hardware] = MappingProxyType(
    {
        "a100-80gb": Hardware("A100 80 GB SXM", 80e9, 2.039e12, _tera(bf16=312, fp16=312, int8=624, int4=1248), _SHEETS),
        "h100-sxm": Hardware("H100 SXM", 80e9, 3.35e12, _tera(bf16=989, fp16=989, fp8=1979, int8=1979), _SHEETS),
        "h200": Hardware("H200 SXM", 141e9, 4.8e12, _tera(bf16=989, fp16=989, fp8=1979, int8=1979), _SHEETS),
        "b200": Hardware("B200 SXM", 180e9, 8.0e12, _tera(bf16=2250, fp16=2250, fp8=4500, int8=4500), _SHEETS),
        "mi300x": Hardware("MI300X", 192e9, 5.3e12, _tera(bf16=1307, fp16=1307, fp8=2615, int8=2615), _SHEETS),
    }
)
