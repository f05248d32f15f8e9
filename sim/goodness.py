"""Do these counts follow that row? The chi-square test, and how far honest draws stray by chance.

Why it exists: "the histogram looks right" is how broken samplers pass. A lab that draws 100,000 tokens must say how
sure that makes it, in numbers that can be checked. It must not know what was counted, or draw anything itself.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sim._numbers import number, row, whole

__all__ = ["Fit", "chi_square", "noise_floor", "total_variation", "upper_gamma"]

FEWEST = 5.0
"""Cells that expect fewer counts than this are taken together, the usual condition of the chi-square test."""


@dataclass(frozen=True)
class Fit:
    """Counts against a row. `statistic` is Pearson's chi-square over `degrees` degrees of freedom.

    `p_value`: the chance that draws from the row itself stray at least as far; None when nothing can stray (degrees 0).
    `impossible`: counts where the row has 0; any at all make the p-value 0.
    """

    statistic: float
    degrees: int
    p_value: float | None
    impossible: int


def chi_square(counts: Sequence[int], p: Sequence[float]) -> Fit:
    """Pearson's test that `counts` were drawn from the row `p` (equally long), sum of (counts - n·p)²/(n·p).

    Cells expecting fewer than 5 counts are taken together, smallest first, until each group expects 5. ValueError for a
    bad row, negative counts, or lengths that differ.
    """
    law = row("p", p)
    seen = [whole(f"counts[{i}]", count, 0) for i, count in enumerate(counts)]
    if len(seen) != len(law):
        raise ValueError(f"counts has {len(seen)} entries; it must have {len(law)}, one for each of p")
    total = math.fsum(seen)
    impossible = int(math.fsum(count for count, share in zip(seen, law, strict=True) if share <= 0.0))
    cells = sorted((total * share, i) for i, share in enumerate(law) if share > 0.0)
    groups: list[tuple[float, float]] = []
    wanted, found = 0.0, 0.0
    for expected, i in cells:
        wanted, found = wanted + expected, found + seen[i]
        if wanted >= FEWEST:
            groups.append((wanted, found))
            wanted, found = 0.0, 0.0
    if wanted > 0.0 and groups:
        last = groups.pop()
        groups.append((last[0] + wanted, last[1] + found))
    statistic = math.fsum((got - want) ** 2 / want for want, got in groups)
    degrees = max(0, len(groups) - 1)
    p_value = 0.0 if impossible else upper_gamma(degrees / 2, statistic / 2) if degrees else None
    return Fit(statistic, degrees, p_value, impossible)


def upper_gamma(a: float, x: float) -> float:
    """The regularised upper incomplete gamma function Q(a, x), a > 0, x ≥ 0; Q(d/2, s/2) is a chi-square's p-value.

    Series below x = a + 1, continued fraction above (Abramowitz and Stegun 6.5.29, 6.5.31); relative error about 1e-12.
    """
    shape, limit = number("a", a, 0.0, open_low=True), number("x", x, 0.0)
    if limit == 0.0:
        return 1.0
    scale = math.exp(shape * math.log(limit) - limit - math.lgamma(shape))
    if limit < shape + 1.0:
        term = total = 1.0 / shape
        above = shape
        while term > total * 1e-16:
            above += 1.0
            term *= limit / above
            total += term
        return max(0.0, 1.0 - scale * total)
    # Lentz's method; the fraction's terms are positive here, so nothing cancels.
    b = limit + 1.0 - shape
    c, d = math.inf, 1.0 / b
    fraction = d
    for i in range(1, 10_000):
        part = -i * (i - shape)
        b += 2.0
        d = 1.0 / (part * d + b)
        c = b + part / c
        fraction *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return scale * fraction


def total_variation(p: Sequence[float], q: Sequence[float]) -> float:
    """Half the sum of |p - q|: the share of probability that is in the wrong place."""
    first = row("p", p)
    return 0.5 * math.fsum(abs(a - b) for a, b in zip(first, row("q", q, len(first)), strict=True))


def noise_floor(p: Sequence[float], draws: int) -> float:
    """The total variation between p and the shares of `draws` honest draws from p, on average: noise and nothing else.

    Half the sum of the mean absolute deviations of binomial shares, by de Moivre's closed form
    E|X - n·p| = 2·k·C(n, k)·p^k·(1 - p)^(n - k + 1) with k = floor(n·p) + 1.
    """
    total = whole("draws", draws, 1)
    strays = []
    for share in row("p", p):
        if 0.0 < share < 1.0:
            k = min(math.floor(total * share) + 1, total)
            choose = math.lgamma(total + 1) - math.lgamma(k + 1) - math.lgamma(total - k + 1)
            logarithm = choose + k * math.log(share) + (total - k + 1) * math.log1p(-share)
            strays.append(2.0 * k * math.exp(logarithm) / total)
    return 0.5 * math.fsum(strays)
