"""Token strips: what was drafted, what stayed, what the target wrote instead, pass by pass.

An ordered list of passes, each a list of cells, so that a screen reader tells the same story: position, text, verdict.
Meaning is a glyph and a word before it is a colour. It must not decide any verdict: the widget does.
"""

from __future__ import annotations

from .text import esc, number
from .view import Token

__all__ = ["GLYPHS", "strip"]

GLYPHS = {"drafted": "", "accepted": "✓", "rejected": "✗", "correction": "↻", "bonus": "+", "target": "", "given": ""}
_SAID = {
    "drafted": "drafted, not judged yet",
    "accepted": "accepted",
    "rejected": "rejected",
    "correction": "the target’s correction",
    "bonus": "the target’s extra token",
    "target": "from the target",
    "given": "given",
}


_MANY = 14
"""More passes than these do not stand one below the other: they run on, as text does."""
_HINT = "Point at a token, touch it, or go from one to the next with the arrow keys: here stands what decided it."


def strip(tokens: tuple[Token, ...]) -> str:
    """The strip as HTML; "" without tokens. Where tokens have details, the place to read them stands below it."""
    if not tokens:
        return ""
    rounds: dict[int, list[Token]] = {}
    for token in tokens:
        rounds.setdefault(token.round, []).append(token)
    passes = "".join(_round(number(key) if key else "", cells) for key, cells in rounds.items())
    looks = "sd-rounds sd-flow" if len(rounds) > _MANY else "sd-rounds"
    detailed = any(token.detail for token in tokens)
    grows = ' data-follow="end"' if detailed else ""
    return (
        f'<div class="sd-strip"{grows} tabindex="0" role="group" aria-label="Tokens, pass by pass">'
        f'<ol class="{looks}">{passes}</ol></div>' + (f'<p class="sd-detail">{_HINT}</p>' if detailed else "")
    )


def _round(name: str, cells: list[Token]) -> str:
    items = "".join(_cell(token) for token in cells)
    number_of = f'<span class="sd-pass"><span class="sd-pass-word">pass </span>{name}</span>' if name else ""
    return f'<li class="sd-round"><ol class="sd-cells">{items}</ol>{number_of}</li>'


def _cell(token: Token) -> str:
    glyph = GLYPHS[token.kind]
    mark = f'<span class="sd-glyph" aria-hidden="true">{glyph}</span>' if glyph else ""
    text = f"<s>{esc(token.text)}</s>" if token.kind == "rejected" else f"<span>{esc(token.text)}</span>"
    said = esc(token.label or _SAID[token.kind])
    more = f' data-detail="{esc(token.detail)}"' if token.detail else ""
    return f'<li class="sd-token" data-kind="{token.kind}"{more}>{mark}{text}<span class="sd-said">, {said}</span></li>'
