"""A widget that works in steps, for the tests of the page builder. Never shipped."""

from widgets._kit.view import Progress, View

TITLE = "Patient"
PARAMS: dict = {}


def steps(*, data):
    yield Progress(0.5, "half")
    yield View("The first answer.")
    yield View("The last answer.")
