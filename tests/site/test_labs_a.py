"""The labs sampler, trees and ties in a browser: shares under the reader's hands, numbers that are those of `sim`."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from sim import acceptance, overlap, pass_time, spacing, tree_tokens
from tests.site.figures import Figure
from widgets import load
from widgets._kit.view import View

Open = Callable[..., Page]
LABS = {"sampler": "labs/sampler/", "tree": "labs/trees/", "ties": "labs/ties/"}


def lab(open_page: Open, name: str, query: str = "", **options: object) -> Figure:
    page = open_page(LABS[name] + query, **options)
    expect(page.locator("sd-widget:defined").first).to_be_attached()
    return Figure(page, name)


def row(figure: Figure, key: str) -> Locator:
    return figure.root.locator(f".sd-row[data-key={key}]")


def shares(figure: Figure, name: str) -> list[str]:
    return [field.input_value() for field in figure.control(name).locator(".sd-typed").all()]


def bar(figure: Figure, name: str, index: int) -> Locator:
    return figure.control(name).locator(".sd-upright").nth(index)


def words(figure: Figure) -> str:
    """The summary of this very state, as Python writes it without a browser."""
    widget = load(figure.id)
    given = {}
    for control in figure.root.locator("[data-param]").all():
        key, kind = str(control.get_attribute("data-param")), control.get_attribute("data-kind")
        if kind == "bars":
            given[key] = widget.params[key].read(",".join(shares(figure, key)))
        elif kind == "choice":
            given[key] = control.locator("select").input_value()
        elif kind == "toggle":
            given[key] = control.locator("input").is_checked()
        else:
            given[key] = widget.params[key].read(control.locator(".sd-typed").input_value())
    values = widget.values(given)
    if widget.view is not None:
        return widget.view(data={}, **values).summary
    assert widget.steps is not None
    last = [item for item in widget.steps(data={}, **values) if isinstance(item, View)][-1]
    return last.summary


def test_shares_by_keyboard_the_others_give_way_and_python_answers(open_page: Open) -> None:
    figure = lab(open_page, "sampler")
    bar(figure, "p", 0).focus()
    for _ in range(10):
        figure.page.keyboard.press("ArrowUp")
    assert shares(figure, "p") == ["0.5", "0.21", "0.17", "0.08", "0.04"]
    expect(bar(figure, "p", 0)).to_have_attribute("aria-valuetext", "0.5")
    p, q = (0.5, 0.21, 0.17, 0.08, 0.04), (0.5, 0.1, 0.25, 0.05, 0.1)
    figure.is_state("live")
    expect(row(figure, "accepted")).to_have_attribute("data-value", str(round(overlap(p, q), 9)))
    for _ in range(10):
        figure.page.keyboard.press("ArrowDown")
    assert shares(figure, "p") == ["0.4", "0.25", "0.2", "0.1", "0.05"]  # what they gave they get back
    figure.page.keyboard.press("End")
    assert shares(figure, "p") == ["1", "0", "0", "0", "0"]


def test_shares_by_mouse_and_by_touch(open_page: Open) -> None:
    figure = lab(open_page, "sampler")
    bar(figure, "q", 1).scroll_into_view_if_needed()
    box = bar(figure, "q", 1).bounding_box()
    assert box
    middle = box["x"] + box["width"] / 2
    figure.page.mouse.move(middle, box["y"] + box["height"] * 0.9)
    figure.page.mouse.down()
    figure.page.mouse.move(middle, box["y"] + box["height"] * 0.5, steps=4)
    figure.page.mouse.up()
    assert 0.4 <= float(shares(figure, "q")[1]) <= 0.6

    phone = lab(open_page, "sampler", size="phone", has_touch=True)
    for index in range(5):
        place = bar(phone, "p", index)
        place.scroll_into_view_if_needed()
        size = place.bounding_box()
        assert size
        assert size["width"] >= 32
        assert size["height"] >= 88
    size = bar(phone, "p", 2).bounding_box()
    assert size
    phone.page.touchscreen.tap(size["x"] + size["width"] / 2, size["y"] + 4)
    assert float(shares(phone, "p")[2]) >= 0.9


@pytest.mark.parametrize(
    ("typed", "shown", "said"),
    [
        ("0,5", ["0.5", "0.21", "0.17", "0.08", "0.04"], ""),
        ("0.333", ["0.33", "0.28", "0.22", "0.11", "0.06"], "Shares are whole hundredths; 0.33 is nearest."),
        ("1.2", None, "1.2 is outside 0 to 1."),
        ("abc", None, "“abc” is not a number"),
    ],
)
def test_shares_typed(open_page: Open, typed: str, shown: list[str] | None, said: str) -> None:
    figure = lab(open_page, "sampler")
    field = figure.control("p").locator(".sd-typed").first
    field.fill(typed)
    field.press("Enter")
    if shown:
        assert shares(figure, "p") == shown
    problem = figure.control("p").locator(".sd-problem")
    expect(problem).to_contain_text(said) if said else expect(problem).to_be_hidden()


def test_shares_stand_in_the_address_and_come_back_from_it(open_page: Open) -> None:
    rows = "sampler.p=0.5,0.3,0.2,0,0&sampler.q=0.6,0.1,0.3,0,0"
    figure = lab(open_page, "sampler", f"?{rows}&sampler.rule=redraw_from_p")
    assert shares(figure, "q") == ["0.6", "0.1", "0.3", "0", "0"]
    expect(figure.part("title")).to_have_text("floor comes out 14.0 points too rarely", timeout=60_000)
    figure.says(words(figure))
    figure.button("reset").click()
    figure.page.wait_for_url(lambda url: "?" not in url)
    assert shares(figure, "q") == ["0.5", "0.1", "0.25", "0.05", "0.1"]


@pytest.mark.parametrize("text", ["0.5,0.3,0.3,0,0", "0.5,0.5", "x", "0.4999,0.5001,0,0,0"])
def test_what_is_no_distribution_is_told_and_taken_out_of_the_address(open_page: Open, text: str) -> None:
    figure = lab(open_page, "sampler", f"?sampler.p={text}")
    figure.tells("Target:")
    figure.page.wait_for_url(lambda url: "sampler.p" not in url)
    assert shares(figure, "p") == ["0.4", "0.25", "0.2", "0.1", "0.05"]


def test_a_hundred_thousand_rounds_come_with_progress_and_the_newest_wish_wins(open_page: Open) -> None:
    figure = lab(open_page, "sampler")
    figure.page.evaluate(
        """() => {
          window.said = [];
          const place = document.querySelector("#sampler .sd-state");
          new MutationObserver(() => window.said.push(place.textContent)).observe(place, {childList: true});
        }"""
    )
    figure.press("seed", "ArrowRight")
    figure.is_state("live")
    figure.says(words(figure))
    assert any("Drawing" in text and "%" in text for text in figure.page.evaluate("window.said"))
    figure.press("seed", *["ArrowRight"] * 6)
    figure.says(words(figure))
    expect(figure.words).to_have_text("Live: Python is answering", timeout=60_000)
    assert "100,000" in figure.root.inner_text()


def test_a_setting_to_try_opens_the_figure_in_that_state(open_page: Open) -> None:
    """By a click, with the page and its worker kept, and back again: no navigation takes place."""
    figure = lab(open_page, "sampler")
    figure.page.evaluate("window.kept = true")
    figure.page.get_by_role("link", name="Temperature 0").click()
    expect(figure.control("temperature").locator(".sd-typed")).to_have_value("0", timeout=30_000)
    expect(figure.part("note")).to_contain_text("the sample makes no difference", timeout=60_000)
    figure.page.get_by_role("link", name="A draft that is never right").click()
    expect(row(figure, "accepted")).to_have_attribute("data-value", "0", timeout=60_000)
    expect(figure.control("temperature").locator(".sd-typed")).to_have_value("1")
    expect(figure.root).to_be_in_viewport()
    figure.page.go_back()
    expect(figure.control("temperature").locator(".sd-typed")).to_have_value("0")
    expect(row(figure, "accepted")).to_have_attribute("data-value", "1", timeout=60_000)
    assert figure.page.evaluate("window.kept")


def test_the_sampler_says_what_sim_says_for_an_exact_and_a_wrong_rule(open_page: Open) -> None:
    p, q = (0.4, 0.25, 0.2, 0.1, 0.05), (0.5, 0.1, 0.25, 0.05, 0.1)
    figure = lab(open_page, "sampler")
    for rule in ("match", "swapped_ratio"):
        figure.control("rule").locator("select").select_option(rule)
        wanted = f"{100 * acceptance(p, q, rule):.1f}%"
        expect(row(figure, "accepted").locator(".sd-value")).to_have_text(wanted, timeout=60_000)
        figure.says(words(figure))


def test_the_tree_says_what_sim_says_and_walks_by_keyboard(open_page: Open) -> None:
    from sim import best_first_tree
    from widgets.tree import _rates

    figure = lab(open_page, "tree")
    figure.press("nodes", "ArrowRight")
    figure.press("batch", "ArrowRight", "ArrowRight")
    figure.is_state("live")
    rates = _rates(0.62, 0.3, 0.97)
    tree = best_first_tree(rates, 32)
    tokens = tree_tokens(tree, rates)
    expect(row(figure, "tree_tokens").locator(".sd-value")).to_have_text(f"{tokens:.2f}", timeout=60_000)
    cost = pass_time("8b", "h100-sxm", 33, 4).total_ms / pass_time("8b", "h100-sxm", 1, 4).total_ms
    speed = tokens / (tree.depth * 0.05 + cost)
    expect(row(figure, "tree_speed").locator(".sd-value")).to_have_text(f"{speed:.2f}×", timeout=60_000)
    figure.press("step", "Home", "ArrowRight", "ArrowRight")
    figure.says(words(figure))


def test_ties_turn_and_a_bug_is_told(open_page: Open) -> None:
    figure = lab(open_page, "ties")
    figure.control("bug").locator("label").click()
    figure.is_state("live")
    expect(figure.part("verdict")).to_contain_text("A bug, not rounding", timeout=60_000)
    figure.control("bug").locator("label").click()
    expect(figure.part("verdict")).to_contain_text("Rounding, not a bug", timeout=60_000)
    figure.control("format").locator("select").select_option("float32")
    expect(figure.part("title")).to_have_text("Both passes write the same text", timeout=60_000)
    assert float(row(figure, "step").get_attribute("data-value") or 0) == pytest.approx(spacing(8.0, "float32"))
    figure.says(words(figure))


@pytest.mark.parametrize("name", sorted(LABS))
def test_without_javascript_the_default_state_is_whole(open_page: Open, name: str) -> None:
    page = open_page(LABS[name], javascript=False)
    figure = Figure(page, name)
    expect(figure.part("picture").locator("svg").first).to_be_visible()
    widget = load(name)
    expect(figure.part("summary")).to_have_text(words_of(widget))
    expect(figure.root.locator(".sd-controls")).to_be_hidden()
    figure.root.locator("details.sd-data summary").click()
    expect(figure.root.locator("table").first).to_be_visible()


def words_of(widget: object) -> str:
    from tests.widgets.states import draw

    return draw(widget, widget.values({})).summary  # type: ignore[arg-type, attr-defined]
