"""A widget whose view fails, for the tests of the page builder. Never shipped."""

TITLE = "Breaks"
PARAMS: dict = {}


def view(*, data):
    raise ZeroDivisionError("one over <nothing>")
