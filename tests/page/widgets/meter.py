"""A widget with one of every parameter, for the tests of the page builder. Never shipped."""

from widgets._kit.params import Choice, Slider, Step, Text, Toggle
from widgets._kit.view import Row, Table, View

TITLE = "A meter & its <marks>"
SOURCE = "Made up, see https://example.org/a?b=1&c=2."
PARAMS = {
    "level": Slider("Level", 0, 1, 0.1, 0.5, help="How full it is."),
    "count": Slider("Count", 1, 4, 1, 2, unit="cups", extend=8),
    "kind": Choice("Kind", {"tea": "Tea", "cup-2": "Coffee & cake"}, "tea"),
    "lid": Toggle("Lid", True),
    "turn": Step("Turn", 3, 600, 0),
    "words": Text("Words", "a <b>", max_length=40, rows=2),
}


def view(*, data, level, count, kind, lid, turn, words):
    table = Table("Cups", ("cup", "level"), (("1", f"{level:.1f}"),))
    svg = '<svg role="img" aria-label="A cup"><title>A cup</title></svg>'
    return View(
        f"{count} of {kind} at {level:.1f}.", (Row("level", "how full", level, "", f"{level:.1f}"),), svg, table,
        title=f"Level {level:.1f}", note="Roughly",
    )
