"""A file that does not keep the widget contract, for the tests of the page builder. Never shipped."""

TITLE = "Broken"
PARAMS = {"level": 3}


def view(*, data, level):
    return level
