"""Models and devices by name, each with the source of its figures.

Why it exists: a chart that says "70B on an H100" must say where 3.35 TB/s comes from. It must not compute a time:
that is `sim.cost`. Figures from a data sheet that only a secondary source was read for say so in `source`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from sim._numbers import LARGEST, number, whole

__all__ = ["BYTES", "HARDWARE", "MODELS", "Hardware", "Model"]

BYTES: Mapping[str, float] = MappingProxyType({"bf16": 2.0, "fp16": 2.0, "fp8": 1.0, "int8": 1.0, "int4": 0.5})
"""Bytes per number. Scales of quantised formats (about 3 % more for groups of 128) are left out."""


@dataclass(frozen=True)
class Model:
    """A decoder's size. Counts of parameters, not bytes.

    `params` lie in memory; `active_params` do arithmetic for one token; `experts`, `experts_active` and
    `expert_params` (all routed experts together) describe a mixture, 0 for a dense model; `shared_params` are another
    model's weights that a pass reads as well (an EAGLE head uses its target's output matrix).
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

    def __post_init__(self) -> None:
        for name in ("params", "active_params"):
            number(name, getattr(self, name), 0.0, LARGEST, open_low=True)
        for name in ("layers", "kv_heads", "head_size", "experts"):
            whole(name, getattr(self, name), 0)
        whole("experts_active", self.experts_active, min(1, self.experts), self.experts)
        number("expert_params", self.expert_params, 0.0, self.params if self.experts else 0.0)
        number("shared_params", self.shared_params, 0.0, LARGEST)

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

    def __post_init__(self) -> None:
        number("memory", self.memory, 1.0)
        number("bandwidth", self.bandwidth, 1.0)
        number("overhead_ms", self.overhead_ms, 0.0)
        for name, value in self.peak.items():
            number(f"peak[{name!r}]", value, 1.0)

    def derated(self, bandwidth: float = 1.0, arithmetic: float = 1.0, overhead_ms: float = 0.0) -> "Hardware":
        """The same device as measured: shares of its data sheet in (0, 1], and a fixed overhead a pass in ms."""
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
        "70b": _dense("70B dense", 70e9, 80, 8, 128, "70e9 parameters by name; shape of Llama 3.1 70B, config.json"),
        "8b": _dense("8B dense", 8.03e9, 32, 8, 128, "Llama 3.1 8B: 8.03e9 parameters (model card), config.json"),
        "1b": _dense("1B draft model", 1.24e9, 16, 8, 64, "Llama 3.2 1B: 1.24e9 parameters (model card), config.json"),
        "0.5b": _dense(
            "0.5B draft model", 0.494e9, 24, 2, 64, "Qwen2.5 0.5B: 494e6 parameters (model card), config.json"
        ),
        "eagle-70b": Model(
            "EAGLE head for a 70B",
            *(0.99e9, 0.99e9 + 128256 * 8192, 1, 8, 128),
            source="0.99e9 parameters: EAGLE README; output matrix 128256 × 8192 of Llama 3.1 70B, config.json",
            shared_params=128256 * 8192,
        ),
        "eagle-8b": Model(
            "EAGLE head for an 8B",
            *(0.25e9, 0.25e9 + 128256 * 4096, 1, 8, 128),
            source="0.25e9 parameters: EAGLE README; output matrix 128256 × 4096 of Llama 3.1 8B, config.json",
            shared_params=128256 * 4096,
        ),
        "mixtral-8x7b": Model(
            "Mixtral 8x7B (mixture, 2 of 8)",
            *(46.7e9, 12.9e9, 32, 8, 128),
            source="46.7e9, 12.9e9 active: model card; an expert is 3 × 4096 × 14336 in each of 32 layers, config.json",
            experts=8,
            experts_active=2,
            expert_params=8.0 * 3 * 4096 * 14336 * 32,
        ),
        "qwen3-30b-a3b": Model(
            "Qwen3 30B-A3B (mixture, 8 of 128)",
            *(30.5e9, 3.3e9, 48, 4, 128),
            source="30.5e9 and 3.3e9 active: model card; an expert is 3 × 2048 × 768 in each of 48 layers, config.json",
            experts=128,
            experts_active=8,
            expert_params=128.0 * 3 * 2048 * 768 * 48,
        ),
        "gpt-oss-20b": Model(
            "gpt-oss 20B (mixture, 4 of 32)",
            *(20.9e9, 3.6e9, 24, 8, 64),
            source="20.9e9, 3.6e9 active: model card; an expert is 3 × 2880 × 2880 in each of 24 layers, config.json",
            experts=32,
            experts_active=4,
            expert_params=32.0 * 3 * 2880 * 2880 * 24,
        ),
    }
)

_SHEETS = "stas00/ml-engineering, compute/accelerator README @ 744d01e1 (a maintained table of vendor data sheets)"


def _tera(**peak: float) -> Mapping[str, float]:
    return MappingProxyType({name: value * 1e12 for name, value in peak.items()})


HARDWARE: Mapping[str, Hardware] = MappingProxyType(
    {
        "a100-80gb": Hardware("A100 80 GB SXM", 80e9, 2.0e12, _tera(bf16=312, fp16=312, int8=624), source=_SHEETS),
        "h100-sxm": Hardware(
            "H100 SXM 80 GB", 80e9, 3.35e12, _tera(bf16=989, fp16=989, fp8=1979, int8=1979), source=_SHEETS
        ),
        "h200": Hardware("H200 SXM", 141e9, 4.8e12, _tera(bf16=989, fp16=989, fp8=1979, int8=1979), source=_SHEETS),
        "b200": Hardware(
            "B200 SXM",
            *(180e9, 8.0e12, _tera(bf16=2250, fp16=2250, fp8=4500, int8=4500)),
            source=_SHEETS + "; other tables give 192 GB and 7.7 TB/s",
        ),
        "mi300x": Hardware(
            "MI300X",
            *(192e9, 5.3e12, _tera(bf16=1307, fp16=1307, fp8=2600, int8=2600)),
            source=_SHEETS + "; 8-bit peak from its second table, which rounds",
        ),
        "rtx-4090": Hardware(
            "RTX 4090",
            *(24e9, 1.008e12, _tera(bf16=165, fp16=165)),
            source="secondary: a public gist (mikasenghaas) that quotes the data sheet",
        ),
    }
)
