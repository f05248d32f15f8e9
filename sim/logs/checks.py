"""Whether a record can be true: its counts, rates, lengths and positions against each other.

Why it exists: every engine's parser hands its figures to `run`, so one place decides what is impossible (the record is
refused) and what merely contradicts itself (the counts win, and a problem says so).

It must not know: the text shapes of any engine.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from sim.logs.record import LARGEST, Measured, Refused, Scope, Sink

__all__ = ["fraction", "real", "run", "whole"]


def whole(name: str, value: object) -> int:
    """A count from text or JSON, or Refused: NaN, infinity, fractions and negative numbers are not counts."""
    try:
        number: int = int(value)  # type: ignore[call-overload]
        if value.__class__ is not str and (value.__class__ is bool or number != value):
            raise ValueError
    except (ValueError, TypeError, OverflowError):
        number = -1
        if isinstance(value, str):
            amount = real(name, value)
            number = int(amount) if amount == int(amount) else -1
        if number == -1:
            raise Refused("impossible", f"{name} is {_shown(value)}, which is not a count") from None
    if not 0 <= number <= LARGEST:
        raise Refused("impossible", f"{name} is {_shown(value)}, which is not a count")
    return number


def real(name: str, value: object) -> float:
    """A finite number from text or JSON, or Refused."""
    try:
        if isinstance(value, bool):
            raise ValueError
        number = float(value)  # type: ignore[arg-type]
    except (ValueError, TypeError, OverflowError):
        raise Refused("impossible", f"{name} is {_shown(value)}, which is not a number") from None
    if not math.isfinite(number):
        raise Refused("impossible", f"{name} is {_shown(value)}, which is not a number")
    return number


def fraction(name: str, value: object, percent: bool = False) -> float:
    """A rate as a fraction from 0 to 1, or Refused."""
    number = real(name, value)
    if percent:
        number /= 100
    if not 0 <= number <= 1:
        raise Refused(
            "impossible",
            f"{name} is {_shown(value)}{'%' if percent else ''}, outside 0 to {'100%' if percent else '1'}",
        )
    return number


def _shown(value: object) -> str:
    text = str(value) if isinstance(value, str | int | float) else type(value).__name__
    return text if len(text) <= 40 else text[:37] + "..."


def run(
    sink: Sink,
    line: int,
    group: str,
    tool: str,
    *,
    engine: str | None = None,
    rounds: int | None = None,
    drafted: int | None = None,
    accepted: int | None = None,
    emitted: int | None = None,
    rate: float | None = None,
    rate_slack: float = 5e-4,
    length: float | None = None,
    length_slack: float = 5e-3,
    per_position: Sequence[float] | None = None,
    position_slack: float = 5e-4,
    depth: int | None = None,
    scope: Scope = "run",
    bonus: bool | None = None,
    independent: bool = False,
    estimated: tuple[str, ...] = (),
    extra: Mapping[str, Any] | None = None,
) -> None:
    """Check one record, bring it into the normal form and hand it to the sink; Refused when it is impossible.

    rate and length are as printed, the slacks half a unit of their last printed digit; `depth` is the constant draft
    length where the text states one; `bonus` says whether the printed length counts the bonus token, None asks the
    numbers. What the counts give wins over what was printed; a contradiction is a problem "inconsistent".
    """
    if drafted == 0:
        if accepted:
            raise Refused("impossible", f"{accepted} tokens accepted of 0 drafted")
        sink.problem(line, "no-drafts", "no drafts: nothing was proposed, so there is no acceptance rate")
        sink.add(
            Measured(
                engine,
                rounds,
                0,
                accepted,
                emitted,
                None,
                None,
                None,
                scope,
                bonus,
                "prefix",
                (),
                MappingProxyType(dict(extra or {})),
                line,
            ),
            group,
            tool,
        )
        return
    if drafted is not None and accepted is not None:
        if accepted > drafted:
            raise Refused("impossible", f"{accepted} tokens accepted of {drafted} drafted")
        exact = accepted / drafted
        if rate is not None and abs(rate - exact) > rate_slack + 1e-9:
            sink.problem(
                line, "inconsistent", f"rate {rate:.4g} is printed, but {accepted} of {drafted} is {exact:.4g}"
            )
        rate = exact
    if per_position is not None and not independent:
        before = 1.0
        for place, share in enumerate(per_position):
            if not 0 <= share <= 1:
                raise Refused("impossible", f"position {place} is kept in {share:.4g} of the rounds, outside 0 to 1")
            if share > before + 1e-12:
                raise Refused(
                    "impossible",
                    f"position {place} is kept more often ({share:.4g}) than the one before "
                    f"it ({before:.4g}): a kept token needs all earlier ones kept",
                )
            before = share
    if length is not None:
        if bonus is None and per_position is not None:
            gap = length - math.fsum(per_position)
            near = length_slack + position_slack * len(per_position) + 1e-9
            bonus = True if abs(gap - 1) <= near else False if abs(gap) <= near else None
        if bonus is None and rounds and accepted is not None:
            gap = length - accepted / rounds
            bonus = True if abs(gap - 1) <= length_slack + 1e-9 else False if abs(gap) <= length_slack + 1e-9 else None
        if bonus is False:
            length += 1
        if length < 1 - length_slack - 1e-9:
            raise Refused("impossible", f"length {length:.4g}: a round emits at least 1 token")
        if depth and length > depth + 1 + length_slack + 1e-9:
            raise Refused(
                "impossible",
                f"length {length:.4g} from {depth} drafted tokens a round: at most {depth + 1} are possible",
            )
        if bonus is None and per_position is not None:
            sink.problem(
                line,
                "inconsistent",
                f"length {length:.4g} is printed, but the positions add up to "
                f"{1 + math.fsum(per_position):.4g} with the extra token",
            )
    if rounds is None and drafted is not None and accepted is not None and length is not None and not independent:
        rounds, guessed = _rounds(drafted, accepted, length, length_slack, per_position, position_slack)
        if guessed:
            estimated += ("rounds",)
    if rounds and accepted is not None and not independent:
        guessed = "rounds" in estimated
        if depth and not guessed:
            for name, count in (("accepted", accepted), ("drafted", drafted)):
                if count is not None and count > rounds * depth:
                    raise Refused("impossible", f"{count} tokens {name} in {rounds} rounds of at most {depth} drafts")
        exact = 1 + accepted / rounds
        if length is None:
            length = exact
        elif not guessed:
            if abs(length - exact) > length_slack + 1e-9:
                told = f"{accepted} tokens accepted in {rounds} rounds make {exact:.4g}"
                sink.problem(line, "inconsistent", f"length {length:.4g} is printed, but {told}")
            length = exact
    elif rate and length is not None and rounds is None and not independent:
        _fit(sink, line, rate, rate_slack, length, length_slack, depth or len(per_position or ()))
    if bonus and length is not None and per_position and not independent:
        complete = drafted is None or not rounds or len(per_position) >= drafted / rounds - 1e-9
        gap = length - 1 - math.fsum(per_position)
        if complete and abs(gap) > length_slack + position_slack * len(per_position) + 1e-9:
            told = f"the positions add up to {1 + math.fsum(per_position):.4g}"
            sink.problem(line, "inconsistent", f"length {length:.4g}, but with the extra token {told}")
    if group == "request" and not estimated and emitted is None:
        if sink.counted(tool, group, drafted, accepted, rounds, per_position):
            return
    sink.add(
        Measured(
            engine,
            rounds,
            drafted,
            accepted,
            emitted,
            rate,
            length,
            tuple(per_position) if per_position is not None else None,
            scope,
            bonus,
            "independent" if independent else "prefix",
            estimated,
            MappingProxyType(dict(extra)) if extra else MappingProxyType({}),
            line,
        ),
        group,
        tool,
    )


def _fit(sink: Sink, line: int, rate: float, rate_slack: float, length: float, slack: float, depth: int) -> None:
    """A rate and a length without counts: with a constant draft length they determine each other."""
    if not depth:
        return
    mean = (length - 1) / rate
    if abs(mean - depth) > (slack + depth * rate_slack) / rate + 1e-9:
        told = f"that rate gives {1 + rate * depth:.4g}, unless a round drafted only {mean:.3g} on average"
        if mean > depth:
            told = f"that rate gives at most {1 + rate * depth:.4g}"
        sink.problem(line, "inconsistent", f"rate {rate:.4g} and length {length:.4g} do not fit {depth} drafts: {told}")


def _rounds(
    drafted: int,
    accepted: int,
    length: float,
    slack: float,
    per_position: Sequence[float] | None,
    fine: float,
) -> tuple[int | None, bool]:
    """Rounds behind a printed mean, and whether that is an estimate: exact when only one whole number fits."""
    depth = len(per_position) if per_position else 0
    if depth and drafted % depth == 0:
        rounds = drafted // depth
        if abs(1 + accepted / rounds - length) <= slack + 1e-9:
            return rounds, accepted == 0
    kept = length - 1
    if accepted == 0 or kept <= slack:
        return None, False
    low, high = accepted / (kept + slack), accepted / (kept - slack)
    guess = accepted / kept
    if per_position:
        total = math.fsum(per_position)
        if total > fine * depth and abs(total - kept) <= slack + fine * depth + 1e-9:
            low, high = max(low, accepted / (total + fine * depth)), min(high, accepted / (total - fine * depth))
            guess = min(max(guess, low), high)
    first, last = math.ceil(low - 1e-9), math.floor(high + 1e-9)
    if first == last:
        return first, False
    nearest = round(guess)
    return (nearest, True) if nearest > 0 else (None, False)
