"""The controls a widget may have. Each knows its values, how to read them from YAML, JSON, an address or a typed word,
and what the reader sees beside its label.

Why here and not in JavaScript: one rule for what is allowed, told in the same words by the builder's terminal, the
page's notice and the tests. It must not know how a control is drawn.

Over 400 lines: seven kinds of one thing, which read best side by side.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar, TypeAlias

from .text import exact, number
from .upload import Upload

__all__ = ["Bars", "Choice", "File", "Param", "Slider", "Step", "Text", "Toggle", "closest"]

Number: TypeAlias = int | float

_TOLERANCE = 1e-10
_NUMERIC = re.compile(r"[+-]?(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?")
_GROUPED = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]*)?|[+-]?[0-9]{1,3}(?:\.[0-9]{3})+,[0-9]*")
_TRUE, _FALSE = ("on", "true", "yes", "1"), ("off", "false", "no", "0")


def closest(word: str, known: Sequence[str]) -> str | None:
    """The known word most like `word`, if one is near; for "did you mean"."""
    from difflib import get_close_matches  # only on the way to an error message

    lowered = {name.lower(): name for name in known}
    near = get_close_matches(word.lower(), list(lowered), n=1)
    return lowered[near[0]] if near else None


def _read_number(text: str) -> Number:
    """A number as people type it. A decimal comma is read; digit groups are not, since 1,000 means two things."""
    word = text.strip().replace("\u2212", "-")
    if _GROUPED.fullmatch(word):
        raise ValueError(f"{text.strip()!r} could mean two numbers; write it without separators between thousands")
    if not _NUMERIC.fullmatch(word):
        raise ValueError(f"{text.strip()!r} is not a number")
    word = word.replace(",", ".")
    return int(word) if re.fullmatch(r"[+-]?[0-9]{1,15}", word) else float(word)


def _not(value: Any, what: str) -> ValueError:
    return ValueError(f"{value!r} is not {what}")


def _nearest(value: Number, stops: tuple[Number, ...]) -> Number | None:
    """The stop that `value` is, within rounding."""
    best = min(stops, key=lambda stop: abs(stop - value))
    return best if abs(best - value) <= _TOLERANCE * max(1.0, abs(best)) else None


def _refuse_number(value: Number, stops: tuple[Number, ...], unit: str) -> ValueError:
    lo, hi = stops[0], stops[-1]
    tail = f" {unit}" if unit else ""
    said = number(value) if math.isfinite(value) else repr(value)
    if not lo <= value <= hi:
        return ValueError(f"{said} is outside {number(lo)} to {number(hi)}{tail}")
    below = max(stop for stop in stops if stop <= value)
    above = min(stop for stop in stops if stop >= value)
    return ValueError(f"{said} is not one of the stops; the nearest are {number(below)} and {number(above)}{tail}")


def _check_stop(value: Any, stops: tuple[Number, ...], unit: str) -> Number:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or math.isnan(value):
        raise _not(value, f"a number from {number(stops[0])} to {number(stops[-1])}")
    stop = _nearest(value, stops)
    if stop is None:
        raise _refuse_number(value, stops, unit)
    return stop


@dataclass(frozen=True)
class Slider:
    """A number on a track of stops. `extend` (a larger end, or more stops) opens on the reader's request.

    `stops` replaces the even steps, for a logarithmic track. If every stop is whole, values are `int`, else `float`.
    `one` is the unit's word for exactly one ("token" beside "tokens").
    """

    label: str
    min: Number
    max: Number
    step: Number
    default: Number
    unit: str = field(default="", kw_only=True)
    one: str = field(default="", kw_only=True)
    help: str = field(default="", kw_only=True)
    extend: Number | tuple[Number, ...] | None = field(default=None, kw_only=True)
    stops: tuple[Number, ...] = field(default=(), kw_only=True)
    all_stops: tuple[Number, ...] = field(default=(), init=False, repr=False)

    kind: ClassVar[str] = "slider"
    private: ClassVar[bool] = False

    def __post_init__(self) -> None:
        short = list(self.stops) or _even(self.min, self.max, self.step)
        more: list[Number] = []
        if isinstance(self.extend, tuple):
            more = list(self.extend)
        elif self.extend is not None:
            more = _even(self.min, self.extend, self.step)[len(short) :]
        every = [exact(stop) for stop in short + more]
        if len(every) < 2 or any(b <= a for a, b in pairwise(every)):
            raise ValueError(f"slider {self.label!r}: stops must be two or more, rising")
        whole = all(stop == int(stop) for stop in every)
        clean: tuple[Number, ...] = tuple(int(stop) for stop in every) if whole else tuple(every)
        object.__setattr__(self, "all_stops", clean)
        object.__setattr__(self, "stops", clean[: len(short)])
        object.__setattr__(self, "default", self.check(self.default))

    def check(self, value: Any) -> Number:
        """The stop that `value` is; ValueError says what is allowed."""
        return _check_stop(value, self.all_stops, self.unit)

    def read(self, text: str) -> Number:
        """The stop that typed or address text means."""
        return self.check(_read_number(text))

    def address(self, value: Any) -> str:
        """`value` for the page address, and for the field where it is typed."""
        return number(value)

    def show(self, value: Any) -> str:
        """What stands beside the label."""
        if not self.unit:
            return number(value)
        return f"{number(value)} {self.one if self.one and value == 1 else self.unit}"


def _even(lo: Number, hi: Number, step: Number) -> list[Number]:
    if step <= 0 or hi <= lo:
        raise ValueError(f"stops from {lo} to {hi} by {step}: need a positive step and a larger end")
    steps = int((hi - lo) / step + 0.5)
    if abs(lo + steps * step - hi) > _TOLERANCE * max(1.0, abs(hi)):
        raise ValueError(f"stops from {lo} by {step} do not arrive at {hi}")
    return [lo + i * step for i in range(steps + 1)]


@dataclass(frozen=True)
class Choice:
    """One of a few named options, as `{value: what the reader sees}`."""

    label: str
    options: Mapping[str, str]
    default: str
    help: str = field(default="", kw_only=True)

    kind: ClassVar[str] = "choice"
    private: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not self.options:
            raise ValueError(f"choice {self.label!r} has no options")
        self.check(self.default)

    def check(self, value: Any) -> str:
        """The option `value`; YAML's `devices: 2` means the option "2"."""
        word = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
        if isinstance(word, str) and word in self.options:
            return word
        near = closest(word, list(self.options)) if isinstance(word, str) else None
        hint = f" (did you mean {near}?)" if near else ""
        raise ValueError(f"{value!r} is not one of {', '.join(self.options)}{hint}")

    def read(self, text: str) -> str:
        """The option that address text names."""
        return self.check(text.strip())

    def address(self, value: Any) -> str:
        """The option's key."""
        return str(value)

    def show(self, value: Any) -> str:
        """The option's text."""
        return self.options[value]


@dataclass(frozen=True)
class Toggle:
    """On or off."""

    label: str
    default: bool
    help: str = field(default="", kw_only=True)

    kind: ClassVar[str] = "toggle"
    private: ClassVar[bool] = False

    def __post_init__(self) -> None:
        self.check(self.default)

    def check(self, value: Any) -> bool:
        """True or False; nothing else is a yes."""
        if isinstance(value, bool):
            return value
        raise ValueError(f"{value!r} is neither true nor false")

    def read(self, text: str) -> bool:
        """`on` or `off` (also true/false, yes/no, 1/0)."""
        word = text.strip().lower()
        if word in _TRUE:
            return True
        if word in _FALSE:
            return False
        raise ValueError(f"{text.strip()!r} is neither on nor off")

    def address(self, value: Any) -> str:
        """`on` or `off`."""
        return "on" if value else "off"

    def show(self, value: Any) -> str:
        """`on` or `off`."""
        return "on" if value else "off"


@dataclass(frozen=True)
class Step:
    """A slider from 0 to `max` with Previous, Play and Next; `ms` is the pause between stops while playing."""

    label: str
    max: int
    ms: int
    default: int
    unit: str = field(default="", kw_only=True)
    help: str = field(default="", kw_only=True)

    kind: ClassVar[str] = "step"
    private: ClassVar[bool] = False
    min: ClassVar[int] = 0

    def __post_init__(self) -> None:
        if self.max < 1 or self.ms < 50:
            raise ValueError(f"step {self.label!r}: needs at least one stop after 0 and 50 ms between stops")
        self.check(self.default)

    @property
    def stops(self) -> tuple[int, ...]:
        """Every stop, 0 first."""
        return tuple(range(self.max + 1))

    @property
    def all_stops(self) -> tuple[int, ...]:
        """The same: a step is never extended."""
        return self.stops

    def check(self, value: Any) -> int:
        """The stop that `value` is."""
        return int(_check_stop(value, self.stops, self.unit))

    def read(self, text: str) -> int:
        """The stop that typed or address text means."""
        return self.check(_read_number(text))

    def address(self, value: Any) -> str:
        """The stop's number."""
        return number(value)

    def show(self, value: Any) -> str:
        """Where we are, and how far it goes."""
        return f"{number(value)} of {number(self.max)}" + (f" {self.unit}" if self.unit else "")


@dataclass(frozen=True)
class Bars:
    """A distribution over a few named things, as `{name: share}`: bars that are dragged or typed.

    Shares are whole hundredths that add up to exactly 1, so that an address, a link and a picture agree to the last
    digit; nothing is rescaled in silence. When a reader moves one bar, the others give way (`giveWay` in numbers.js).
    The value is a tuple of floats in the order of `default`; outside Python it travels as text, "0.5,0.3,0.2".
    `tone` is the meaning whose colour the bars have ("target", "draft" or "ink").
    """

    label: str
    default: Any
    tone: str = field(default="ink", kw_only=True)
    help: str = field(default="", kw_only=True)
    names: tuple[str, ...] = field(default=(), init=False)

    kind: ClassVar[str] = "bars"
    private: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not isinstance(self.default, Mapping) or len(self.default) < 2:
            raise ValueError(f"bars {self.label!r}: needs two or more shares by name")
        if self.tone not in ("target", "draft", "ink"):
            raise ValueError(f"bars {self.label!r}: tone {self.tone!r} is not target, draft or ink")
        object.__setattr__(self, "names", tuple(self.default))
        object.__setattr__(self, "default", self.check(list(self.default.values())))

    def check(self, value: Any) -> tuple[float, ...]:
        """The shares of a list of numbers or of text; ValueError names what is wrong with them."""
        if isinstance(value, str):
            return self.read(value)
        if not isinstance(value, (list, tuple)) or len(value) != len(self.names):
            raise _not(value, f"a list of {len(self.names)} shares ({', '.join(self.names)})")
        parts = [_hundredths(share) for share in value]
        total = int(math.fsum(parts))
        if total != 100:
            raise ValueError(f"{self._text(parts)} add up to {number(total / 100)}, not to 1")
        return tuple(part / 100 for part in parts)

    def read(self, text: str) -> tuple[float, ...]:
        """The shares in address text, with commas between them."""
        return self.check([_read_number(word) for word in text.split(",")])

    def address(self, value: Any) -> str:
        """The shares with commas between them."""
        return ",".join(number(share) for share in value)

    def show(self, value: Any) -> str:
        """Every name with its share."""
        return ", ".join(f"{name} {number(share)}" for name, share in zip(self.names, value, strict=True))

    @staticmethod
    def _text(parts: Sequence[int]) -> str:
        return ", ".join(number(part / 100) for part in parts)


def _hundredths(share: Any) -> int:
    """A share as hundredths; ValueError for what is no number from 0 to 1 in whole hundredths."""
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share <= 1:
        raise _not(share, "a share from 0 to 1")
    whole = int(share * 100 + 0.5)
    if abs(share * 100 - whole) > 1e-7:
        raise _not(share, "a whole number of hundredths")
    return whole


@dataclass(frozen=True)
class Text:
    """Words the reader writes. Private: never in an address, in storage or in a link."""

    label: str
    default: str
    max_length: int
    rows: int
    help: str = field(default="", kw_only=True)
    placeholder: str = field(default="", kw_only=True)

    kind: ClassVar[str] = "text"
    private: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self.check(self.default)

    def check(self, value: Any) -> str:
        """The text with one kind of line end; ValueError when it is too long."""
        if not isinstance(value, str):
            raise _not(value, "text")
        text = value.replace("\r\n", "\n").replace("\r", "\n")
        if len(text) > self.max_length:
            raise ValueError(f"the text has {len(text)} characters; at most {self.max_length} are read")
        return text

    def read(self, text: str) -> str:
        """The text itself."""
        return self.check(text)

    def address(self, value: Any) -> str:
        """Refused: what a reader writes stays with the reader."""
        raise ValueError(f"{self.label} is private and has no place in an address")

    def show(self, value: Any) -> str:
        """Nothing beside the label: the field shows the text."""
        return ""


@dataclass(frozen=True)
class File:
    """A file of the reader's, chosen or dropped. Private: read in the page, never in an address, storage or a link.

    Its value is None or an `Upload`. A file may be large, so a widget with one works in `steps`.
    """

    label: str
    max_bytes: int = field(default=100_000_000, kw_only=True)
    help: str = field(default="", kw_only=True)

    kind: ClassVar[str] = "file"
    private: ClassVar[bool] = True
    default: ClassVar[None] = None

    def check(self, value: Any) -> Upload | None:
        """None, or the file; ValueError when it is too large."""
        if value is None or (isinstance(value, Upload) and value.size <= self.max_bytes):
            return value
        if not isinstance(value, Upload):
            raise _not(value, "a file")
        size = f"{number(value.size / 1e6, ',.0f')} MB"
        raise ValueError(f"the file has {size}; at most {number(self.max_bytes / 1e6, ',.0f')} MB are read")

    def read(self, text: str) -> None:
        """Text is never a file."""
        raise _not(text, "a file")

    def address(self, value: Any) -> str:
        """Nothing of a file stands in an address."""
        return ""

    def show(self, value: Any) -> str:
        """The file's name."""
        return value.name if isinstance(value, Upload) else "no file"


Param: TypeAlias = Slider | Choice | Toggle | Step | Bars | Text | File
