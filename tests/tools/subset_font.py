"""Make the one font of the site: ``python -m tests.tools.subset_font`` writes docs/assets/fonts/stix-two-math.woff2.

Why it exists: without a mathematics font browsers do not stretch brackets, and all of STIX Two Math weighs 1.5 MB. The
result is committed, so this runs only when a formula needs a character that CHARACTERS lacks (a test says so). It needs
the group ``font``: ``python -m pip install -c constraints.txt --group font``. The font itself comes inside the package
`ziamath`, unchanged from https://github.com/stipub/stixfonts.

Must not know: Markdown, or which formulas there are.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

__all__ = ["CHARACTERS", "LIMIT", "TARGET", "italic", "main"]

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "docs" / "assets" / "fonts" / "stix-two-math.woff2"
LIMIT = 60_000

_LATIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_GREEK = "ΓΔΘΛΠΣΦΨΩαβγδεζηθικλμνξπρστφχψω"
_SIGNS = (
    " \u00a0!%()*+,-./0123456789:;<=>?[]{}|~'\u2032\u2033^\u02c6\u00af\u0304\u0302\u02dc"
    "\u00b1\u00d7\u00b7\u22c5\u2212\u221a\u221d\u221e\u2211\u220f\u222b\u2200\u2203\u2208\u2229\u222a\u2202"
    "\u2248\u2260\u2264\u2265\u226a\u226b\u223c\u2190\u2192\u2194\u21d2\u27fa\u2026\u22ef\u2223\u2016"
    "\u230a\u230b\u2308\u2309\u27e8\u27e9\u2061\u2062\u2113\u1d53c\u2119"
)


def italic(character: str) -> str:
    """What browsers draw for a one-letter identifier: its mathematical italic, where there is one."""
    if character in "h":
        return "\u210e"  # Planck's constant took its place before the row was made
    if "A" <= character <= "Z":
        return chr(0x1D434 + ord(character) - ord("A"))
    if "a" <= character <= "z":
        return chr(0x1D44E + ord(character) - ord("a"))
    if "Α" <= character <= "Ω":
        return chr(0x1D6E2 + ord(character) - ord("Α"))
    if "α" <= character <= "ω":
        return chr(0x1D6FC + ord(character) - ord("α"))
    return character


CHARACTERS = "".join(dict.fromkeys(_SIGNS + _LATIN + _GREEK + "".join(map(italic, _LATIN + _GREEK))))


def main() -> int:
    """Write the font, say how large it is; 1 when it is larger than a page should have to fetch."""
    from fontTools import subset

    found = importlib.util.find_spec("ziamath")
    if found is None or found.origin is None:
        print("ziamath is missing: python -m pip install -c constraints.txt --group font", file=sys.stderr)
        return 1
    options = subset.Options()
    options.flavor = "woff2"
    options.hinting = False
    options.desubroutinize = True
    options.layout_features = ["ssty"]  # forms for scripts
    options.name_IDs = [0, 1, 2, 3, 4, 5, 6, 7, 11, 13, 14]  # who made it and under which licence stays inside
    options.drop_tables += ["DSIG"]
    font = subset.load_font(str(Path(found.origin).parent / "fonts" / "STIXTwoMath-Regular.ttf"), options)
    chosen = subset.Subsetter(options)
    chosen.populate(text=CHARACTERS)
    chosen.subset(font)
    font["head"].modified = font["head"].created  # the same bytes whenever it is made
    font.recalcTimestamp = False
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    subset.save_font(font, str(TARGET), options)
    size = TARGET.stat().st_size
    print(f"{TARGET.relative_to(ROOT)}: {size:,} bytes, {len(font.getGlyphOrder())} glyphs")
    return 0 if size <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
