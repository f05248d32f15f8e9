"""PyTorch: bf16 and, where the device has it, fp8; CUDA graphs and events on a GPU, plain calls on a CPU.

Attention with a cache is two fused calls (over the cache, over the new positions) joined by their log-sums, which is
exact and needs no mask. If the fused call is missing or wrong on this machine, plain products split over the cache are
used instead, and `notes` says so. It must not know a suite.
"""

from __future__ import annotations

import gc
import platform
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F

from sim.devices import device as named

__all__ = ["TorchBackend"]

_INNER_MS = 5.0
"""Shorter work is repeated inside one pair of events until it lasts this long, so that the launch of one is no part."""


@dataclass
class _Fp8:
    """A weight in 8 bits: numbers of size about one, and the scale that undoes it."""

    numbers: Any
    scale: Any


class TorchBackend:
    """See `bench.backend.Backend`."""

    name = "torch"

    def __init__(self, device: str, threads: int | None = None) -> None:
        from .backend import NoBackend

        if device == "cuda" and not torch.cuda.is_available():
            raise NoBackend("PyTorch is installed, but it sees no CUDA device")
        if threads:
            torch.set_num_threads(threads)
        self.device = device
        self.threads = torch.get_num_threads()
        self.graphs = device == "cuda"
        self._notes: list[str] = []
        self._chance = torch.Generator(device=device).manual_seed(20240501)
        self._one = torch.ones((), device=device)
        torch.set_grad_enabled(False)
        self.formats: tuple[str, ...] = ("bf16", "fp8") if self._has_fp8() else ("bf16",)
        self._fused = True
        self._fused = self._fused_is_right()

    def memory(self) -> float:
        """Nine tenths of what is free: graphs and logits need the rest."""
        if self.device == "cuda":
            return 0.9 * float(torch.cuda.mem_get_info()[0])
        from .numpy_backend import NumpyBackend

        return NumpyBackend().memory()

    def random(self, *shape: int, scale: float = 1.0) -> Any:
        made = torch.randn(*shape, device=self.device, dtype=torch.bfloat16, generator=self._chance)
        return made.mul_(scale) if scale != 1.0 else made

    def weight(self, rows: int, columns: int, format: str) -> Any:
        if format not in self.formats:
            raise ValueError(f"this device multiplies in {', '.join(self.formats)}, not in {format}")
        if format == "bf16":
            return self.random(rows, columns, scale=columns**-0.5)
        numbers = self.random(rows, columns).to(torch.float8_e4m3fn)
        return _Fp8(numbers, torch.full((), columns**-0.5, device=self.device))

    def weight_bytes(self, weight: Any) -> float:
        matrix = weight.numbers if isinstance(weight, _Fp8) else weight
        return float(matrix.numel() * matrix.element_size())

    def linear(self, x: Any, weight: Any) -> Any:
        if not isinstance(weight, _Fp8):
            return F.linear(x, weight)
        rows = x.shape[0]
        # the 8-bit product wants rows in sixteens
        small = (F.pad(x, (0, 0, 0, -rows % 16)) if rows % 16 else x).to(torch.float8_e4m3fn)
        made = torch._scaled_mm(
            small, weight.numbers.t(), scale_a=self._one, scale_b=weight.scale, out_dtype=torch.bfloat16
        )
        return made[:rows]

    def added(self, h: Any, x: Any, weight: Any) -> Any:
        if isinstance(weight, _Fp8):
            return h.add_(self.linear(x, weight))
        return h.addmm_(x, weight.t())

    def batched(self, x: Any, weights: Any) -> Any:
        return torch.bmm(x, weights.transpose(1, 2))

    def fresh(self, x: Any) -> Any:
        return x.clone()

    def norm(self, x: Any) -> Any:
        return F.rms_norm(x, (x.shape[-1],), eps=1e-5)

    def silu(self, x: Any) -> Any:
        return F.silu(x)

    def gate(self, both: Any) -> Any:
        half = both.shape[-1] // 2
        return F.silu(both[..., :half]).mul_(both[..., half:])

    def beside(self, left: Any, right: Any) -> Any:
        return torch.cat([left, right], dim=-1)

    # --- attention

    def attend(self, q: Any, k: Any, v: Any, cached_k: Any, cached_v: Any) -> Any:
        batch, positions, heads, size = q.shape
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        if cached_k is None:
            out = F.scaled_dot_product_attention(q, k, v, is_causal=positions > 1, enable_gqa=k.shape[1] != heads)
        elif self._fused:
            out = self._joined(q, k, v, cached_k, cached_v)
        else:
            out = self._split(q, k, v, cached_k, cached_v)
        return out.transpose(1, 2).reshape(batch, positions, heads * size)

    def _joined(self, q: Any, k: Any, v: Any, cached_k: Any, cached_v: Any) -> Any:
        """Every new position sees the whole cache (no mask), and the new ones before it; joined by their weights."""
        batch, heads, positions, size = q.shape
        kv_heads = k.shape[1]
        group = heads // kv_heads
        folded = q.reshape(batch, kv_heads, group * positions, size)  # queries that share a key stand together
        old, old_log = self._flash(folded, cached_k, cached_v, False)
        old, old_log = old.reshape(q.shape), old_log.reshape(batch, heads, positions)
        k, v = (part.repeat_interleave(group, dim=1) for part in (k, v))
        if positions == 1:  # a position sees itself with weight one
            new, new_log = v, (q.float() * k.float()).sum(-1) * size**-0.5
        else:
            new, new_log = self._flash(q, k, v, True)
        share = torch.sigmoid(old_log - new_log).unsqueeze(-1)
        return torch.lerp(new.float(), old.float(), share).to(q.dtype)

    def _flash(self, q: Any, k: Any, v: Any, causal: bool) -> tuple[Any, Any]:
        """Output and log-sum of the fused kernel."""
        if self.device == "cuda":
            made = torch.ops.aten._scaled_dot_product_flash_attention(q, k, v, 0.0, causal)
        else:
            made = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, causal)
        return made[0], made[1][..., : q.shape[2]]

    def _split(self, q: Any, k: Any, v: Any, cached_k: Any, cached_v: Any) -> Any:
        """The same from plain products; the cache is cut so that a single sequence still fills the device."""
        batch, heads, positions, size = q.shape
        kv_heads, context = cached_k.shape[1], cached_k.shape[2]
        rows, every = heads // kv_heads * positions, batch * kv_heads
        cuts = 1
        while context % (2 * cuts) == 0 and context // cuts > 256 and every * cuts * (1 + rows // 64) < 256:
            cuts *= 2
        folded = (q * size**-0.5).reshape(every, 1, rows, size)
        cut_k, cut_v = (part.reshape(every, cuts, context // cuts, size) for part in (cached_k, cached_v))
        old = torch.matmul(folded, cut_k.transpose(-1, -2)).transpose(1, 2).reshape(every, rows, context)
        new_k, new_v = (part.reshape(every, positions, size) for part in (k, v))
        later = torch.full((positions, positions), float("-inf"), device=q.device, dtype=q.dtype).triu(1)
        new = torch.bmm(folded[:, 0], new_k.transpose(1, 2)) + later.repeat(rows // positions, 1)
        weights = torch.softmax(torch.cat([old, new], dim=-1), dim=-1, dtype=torch.float32).to(q.dtype)
        cached = weights[..., :context].reshape(every, rows, cuts, context // cuts).transpose(1, 2)
        out = torch.matmul(cached, cut_v).sum(1) + torch.bmm(weights[..., context:], new_v)
        return out.reshape(batch, heads, positions, size)

    def _fused_is_right(self) -> bool:
        q, k = self.random(2, 8, 5, 64), self.random(2, 2, 5, 64)
        cached = self.random(2, 2, 256, 64), self.random(2, 2, 256, 64)
        try:
            for count in (1, 5):
                mine = q[:, :, :count], k[:, :, :count], k[:, :, :count]
                fused, split = self._joined(*mine, *cached).float(), self._split(*mine, *cached).float()
                if not bool((fused - split).norm() <= 0.03 * split.norm()):
                    raise RuntimeError("it gives another result than plain products")
        except (RuntimeError, AttributeError, NotImplementedError, TypeError) as error:
            self._notes.append(f"attention over the cache from plain products: fused call not used ({_first(error)})")
            return False
        self._notes.append("attention over the cache from two fused calls joined by their log-sums")
        return True

    def _has_fp8(self) -> bool:
        try:
            numbers = self.random(32, 64).to(torch.float8_e4m3fn)
            matrix = _Fp8(numbers, torch.ones((), device=self.device))
            x = self.random(3, 64)
            want = x.to(torch.float8_e4m3fn).double() @ numbers.double().t()
            return bool((self.linear(x, matrix).double() - want).norm() <= 0.02 * want.norm())
        except (RuntimeError, AttributeError, NotImplementedError, TypeError) as error:
            self._notes.append(f"no 8-bit products on this device ({_first(error)})")
            return False

    # --- timing

    def exact(self, x: Any) -> Any:
        if isinstance(x, _Fp8):
            return x.numbers.double().cpu().numpy() * float(x.scale)
        return x.double().cpu().numpy()

    def prepared(self, work: Callable[[], object]) -> Callable[[], object]:
        if not self.graphs:
            return work
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(2):
                work()
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            kept = work()

        def replay() -> object:
            graph.replay()
            return kept

        return replay

    def times(self, work: Callable[[], object], repeats: int, budget: float, warmup: int) -> list[float]:
        if self.device != "cuda":
            from .numpy_backend import NumpyBackend

            return NumpyBackend.times(self, work, repeats, budget, warmup)  # type: ignore[arg-type]
        for _ in range(max(1, warmup)):
            work()
        torch.cuda.synchronize()
        begun = time.perf_counter()
        work()
        torch.cuda.synchronize()
        once = 1e3 * (time.perf_counter() - begun)
        inner = max(1, min(200, round(_INNER_MS / max(once, 1e-3))))
        count = max(repeats, min(50, int(1e3 * budget / max(inner * once, 1e-3))))
        marks = []
        for _ in range(count):
            first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            first.record()
            for _ in range(inner):
                work()
            last.record()
            marks.append((first, last))
        torch.cuda.synchronize()
        return [first.elapsed_time(last) / inner for first, last in marks]

    def release(self) -> None:
        gc.collect()
        if self.device == "cuda":
            torch.cuda.empty_cache()

    def copy(self, size: float) -> tuple[Callable[[], object], float]:
        source = self.random(int(size) // 4)
        target = torch.empty_like(source)
        return (lambda: target.copy_(source)), 2.0 * source.numel() * source.element_size()

    # --- provenance

    def versions(self) -> dict[str, str]:
        found = {"python": platform.python_version(), "torch": str(torch.__version__), "threads": str(self.threads)}
        if self.device == "cuda":
            found |= {"cuda": str(torch.version.cuda or "unknown"), "cudnn": str(torch.backends.cudnn.version())}
        return found

    def notes(self) -> list[str]:
        how = "CUDA graphs, timed by events" if self.graphs else "plain calls, timed by the clock"
        return [how, *self._notes]

    def provenance(self) -> dict[str, Any]:
        if self.device != "cuda":
            from .numpy_backend import NumpyBackend

            return NumpyBackend(self.threads).provenance()
        facts: dict[str, Any] = {"hardware": named(torch.cuda.get_device_name()).name, "devices": 1}
        facts["memory_gb"] = round(torch.cuda.get_device_properties(0).total_memory / 1e9, 1)
        asked = {
            "driver": "driver_version",
            "clock_mhz": "clocks.sm",
            "power_cap_w": "power.limit",
            "temperature_c": "temperature.gpu",
        }
        for field, query in asked.items():
            answer = _smi(query)
            if field == "driver":
                facts[field] = answer or "unknown"
            elif answer is not None and answer.replace(".", "", 1).isdigit():
                facts[field] = float(answer)
        return facts


def _smi(query: str) -> str | None:
    """One value of nvidia-smi; None when it cannot be read."""
    command = ["nvidia-smi", "--id=0", f"--query-gpu={query}", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None


def _first(error: BaseException) -> str:
    """The first line of a message, short."""
    return (str(error).splitlines() or [type(error).__name__])[0][:120]
