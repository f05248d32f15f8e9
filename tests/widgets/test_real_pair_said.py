"""What the lab of the real pair, its switch and the models' card say, held to the files they speak of."""

import widgets
from sim.data import parse
from tests.widgets.states import ROOT

WIDGET = widgets.load("real_pair")
DOCS = ROOT / "docs" / "data"
ACCEPTANCE = parse((DOCS / "measured" / "acceptance.json").read_text(encoding="utf-8")).rows


def strays(kind, draft, temperature, gamma):
    """How many standard errors the counted tokens a pass lie above the formula's."""
    row = ACCEPTANCE[f"accept-{kind}-{draft}-{temperature}-g{gamma}"]
    return (row.value - row.predicted) / row.standard_error


def test_where_the_formula_holds_and_where_hits_come_in_runs():
    """The two tables of docs/labs/real-pair.md, and the sentences below them."""
    for kind in ("prose", "code"):
        for draft in WIDGET.params["draft"].options:
            assert abs(strays(kind, draft, "t07", 4)) < 2.5
    assert strays("prose", "look-up", "t00", 6) > 2
    assert strays("prose", "bigram", "t00", 6) > 2
    assert ACCEPTANCE["accept-prose-look-up-t07-g4"].value < 1.1


def test_what_the_lab_says_of_the_landed_races():
    """The table of one machine in docs/labs/real-pair.md, and the sentences below it."""
    landed = parse((DOCS / "measured" / "real-pair.json").read_text(encoding="utf-8")).rows
    engines = ("chromium", "firefox", "webkit")
    races = [landed[f"pair-speedup-{kind}-{engine}"] for kind in ("prose", "code") for engine in engines]
    assert sum(row.value < 1.3 for row in races) > len(races) / 2  # most miss the goal
    assert all(landed[f"pair-four-over-one-{engine}"].value > 1.5 for engine in engines)
    assert len({row.n for row in races}) == 1  # the text gives one number for all


def test_what_the_switch_says_it_fetches():
    size = sum((DOCS / name).stat().st_size for name in WIDGET.files)
    assert f"Fetches {size / 1e6:.0f} MB" in WIDGET.params["run"].help


def test_what_the_card_says_of_the_target_is_in_its_file():
    from sim.lm.file import read

    size = read((DOCS / "models" / "target.safetensors").read_bytes(), "target").config
    text = (DOCS.parent / "reference" / "models.md").read_text(encoding="utf-8")
    for words in (
        f"in {size['layers']} layers of width {size['width']}, {size['heads']} heads",
        f"a feed-forward layer of {size['hidden']:,}",
        f"reads up to {size['context']} tokens",
        f"has {size['vocab']:,} tokens: the 256 bytes and {size['vocab'] - 256} merges",
    ):
        assert words in text
