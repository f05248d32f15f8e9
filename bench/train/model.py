"""The model of the tiny pair in PyTorch: a plain pre-norm decoder, and Muon, which trains its block matrices.

RMSNorm with a gain, rotary positions (first and second half of a head), squared ReLU, no biases, output tied to the
embedding. The page's NumPy inference computes the same; this file must not know of texts, schedules or files.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

__all__ = ["Config", "Model", "Muon", "optimisers"]


@dataclass(frozen=True)
class Config:
    """The shape of a model, in the words of the weight file."""

    vocab: int = 1024
    width: int = 256
    layers: int = 4
    heads: int = 4
    hidden: int = 1024
    context: int = 256
    rope_theta: float = 10000.0
    eps: float = 1e-6

    def dict(self) -> dict[str, Any]:
        """As the file's header holds it."""
        return asdict(self)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary positions on (batch, head, position, dimension)."""
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)


class Block(nn.Module):  # type: ignore[misc]
    """Attention and a feed-forward layer, each added to what came in."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.heads, self.width, self.eps = config.heads, config.width, config.eps
        self.norm1 = nn.Parameter(torch.ones(config.width))
        self.qkv = nn.Parameter(torch.randn(3 * config.width, config.width) * config.width**-0.5)
        self.out = nn.Parameter(torch.zeros(config.width, config.width))
        self.norm2 = nn.Parameter(torch.ones(config.width))
        self.up = nn.Parameter(torch.randn(config.hidden, config.width) * config.width**-0.5)
        self.down = nn.Parameter(torch.zeros(config.width, config.hidden))

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        """(batch, position, width) to the same."""
        rows, length, _ = x.shape
        qkv = F.linear(F.rms_norm(x, (self.width,), self.norm1, self.eps), self.qkv)
        q, k, v = qkv.view(rows, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(rotate(q, cos, sin), rotate(k, cos, sin), v, is_causal=True)
        x = x + F.linear(mixed.transpose(1, 2).reshape(rows, length, self.width), self.out)
        return x + F.linear(
            F.relu(F.linear(F.rms_norm(x, (self.width,), self.norm2, self.eps), self.up)).square(), self.down
        )


class Model(nn.Module):  # type: ignore[misc]
    """Token ids to logits; `hidden` gives the residual stream after each layer too."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Parameter(torch.randn(config.vocab, config.width) * 0.02)
        self.layers = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm = nn.Parameter(torch.ones(config.width))
        half = config.width // config.heads // 2
        angles = torch.arange(4096)[:, None] * config.rope_theta ** (-torch.arange(half) / half)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def states(self, ids: Tensor) -> list[Tensor]:
        """The residual stream after the embedding and after each layer."""
        cos, sin = self.cos[: ids.shape[1]], self.sin[: ids.shape[1]]
        found = [F.embedding(ids, self.embedding)]
        for layer in self.layers:
            found.append(layer(found[-1], cos, sin))
        return found

    def head(self, x: Tensor) -> Tensor:
        """Logits from the last residual stream."""
        return F.linear(F.rms_norm(x, (self.config.width,), self.norm, self.config.eps), self.embedding)

    def forward(self, ids: Tensor) -> Tensor:
        """Logits (batch, position, vocab)."""
        return self.head(self.states(ids)[-1])


# Newton-Schulz coefficients, best for each iteration in turn (Amsel et al. 2025, "The Polar Express").
_POLAR = (
    (8.28721201814563, -23.595886519098837, 17.300387312530933),
    (4.107059111542203, -2.9478499167379106, 0.5448431082926601),
    (3.9486908534822946, -2.908902115962949, 0.5518191394370137),
    (3.3184196573706015, -2.488488024314874, 0.51004894012372),
    (2.300652019954817, -1.6689039845747493, 0.4188073119525673),
)


def orthogonal(matrices: Tensor, iterations: int) -> Tensor:
    """About the nearest matrices with singular values one, of a stack of matrices."""
    tall = matrices.shape[-2] > matrices.shape[-1]
    x = matrices.mT if tall else matrices
    x = x / (x.norm(dim=(-2, -1), keepdim=True) * 1.01 + 1e-7)
    for a, b, c in _POLAR[:iterations]:
        square = x @ x.mT
        x = a * x + (b * square + c * square @ square) @ x
    return x.mT if tall else x


class Muon(torch.optim.Optimizer):  # type: ignore[misc]
    """Momentum whose step is made orthogonal; matrices of one shape are handled as a stack."""

    def __init__(self, params: Any, lr: float = 0.02, momentum: float = 0.95, iterations: int = 4) -> None:
        super().__init__(list(params), {"lr": lr, "momentum": momentum, "iterations": iterations})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:
        """One step of every matrix."""
        for group in self.param_groups:
            shapes: dict[Any, list[tuple[Tensor, Tensor]]] = {}
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if "buffer" not in state:
                    state["buffer"] = torch.zeros_like(p)
                state["buffer"].lerp_(p.grad, 1 - group["momentum"])
                shapes.setdefault(p.shape, []).append((p, p.grad.lerp(state["buffer"], group["momentum"])))
            for shape, pairs in shapes.items():
                steps = orthogonal(torch.stack([wish for _, wish in pairs]), group["iterations"])
                scale = max(1.0, shape[0] / shape[1]) ** 0.5
                for (p, _), step in zip(pairs, steps, strict=True):
                    p.add_(step, alpha=-group["lr"] * scale)


def optimisers(model: nn.Module, matrix_lr: float, other_lr: float, iterations: int = 4) -> list[torch.optim.Optimizer]:
    """Muon for matrices, Adam for embedding and gains; each group knows its full rate as `peak`."""
    inside = [p for name, p in model.named_parameters() if p.ndim == 2 and name != "embedding"]
    rest = [p for name, p in model.named_parameters() if p.ndim != 2 or name == "embedding"]
    found: list[torch.optim.Optimizer] = [torch.optim.Adam(rest, lr=other_lr, betas=(0.9, 0.95), eps=1e-10)]
    if inside:
        found.append(Muon(inside, lr=matrix_lr, iterations=iterations))
    for optimiser in found:
        for group in optimiser.param_groups:
            group["peak"] = group["lr"]
    return found
