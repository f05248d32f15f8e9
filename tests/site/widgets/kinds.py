"""One control of every kind."""

from typing import Any

from widgets._kit.params import Choice, Slider, Step, Text, Toggle
from widgets._kit.view import View

TITLE = "Kinds"
PARAMS = {
    "share": Slider("Share", 0, 1, 0.1, 0.5),
    "length": Slider("Length", 1, 8, 1, 4, unit="tokens", one="token", extend=16),
    "round": Step("Round", 5, 100, 0),
    "card": Choice("Card", {"a": "Card A", "b": "Card B"}, "a"),
    "on": Toggle("On", True),
    "words": Text("Words", "hello", 200, 2),
}


def view(*, data: Any, share: float, length: int, round: int, card: str, on: bool, words: str) -> View:
    return View(f"share {share}, length {length}, round {round}, card {card}, on {on}, words {words}")
