"""A widget that shows a row of a data file, for the tests of the page builder. Never shipped."""

from widgets._kit.view import View

TITLE = "Reader"
PARAMS: dict = {}
DATA = ("published",)


def view(*, data):
    return View(f"Row a-1 was measured in {data['published'].rows['a-1'].year}.")
