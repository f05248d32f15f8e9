"""With JavaScript off the lesson is complete: a figure shows its picture, its numbers, its sentence and its table."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

import sim

NODE_1 = "lessons/01-why-decode-is-slow/"
NODE_2 = "lessons/02-draft-and-verify/"
NODE_3 = "lessons/03-drafting-with-heads/"


def test_node_1_shows_the_weights_and_the_length_of_a_pass(open_page: Callable[..., Page]) -> None:
    figure = open_page(NODE_1, javascript=False).locator("#pass_cost")
    expect(figure.locator(".sd-readout")).to_contain_text("140 GB")
    expect(figure.locator(".sd-readout")).to_contain_text("41.8 ms")


def test_node_2_shows_tokens_passes_and_speed_up(open_page: Callable[..., Page]) -> None:
    readout = open_page(NODE_2, javascript=False).locator("#draft_verify .sd-readout")
    for text in ("3.36", "30", "2.0×"):
        expect(readout).to_contain_text(text)
    shown = {row.get_attribute("data-key"): row.get_attribute("data-value") for row in readout.locator(".sd-row").all()}
    assert float(shown["tokens"] or 0) == pytest.approx(sim.expected_tokens(0.8, 4))
    assert float(shown["speedup"] or 0) == pytest.approx(sim.speedup(0.8, 4, 0.17))


@pytest.mark.parametrize("address", [NODE_1, NODE_2, NODE_3])
def test_each_figure_is_whole_and_offers_no_dead_control(open_page: Callable[..., Page], address: str) -> None:
    page = open_page(address, javascript=False)
    figures = page.locator("sd-widget")
    assert figures.count() >= 1
    for figure in figures.all():
        expect(figure.locator(".sd-title")).not_to_be_empty()
        expect(figure.locator(".sd-summary")).not_to_be_empty()
        for control in figure.locator(".sd-controls, .sd-tools").all():
            expect(control).to_be_hidden()
        if figure.locator(".sd-picture svg").count():
            expect(figure.locator(".sd-picture svg").first).to_be_visible()
            figure.locator("summary").click()  # details open without a script
            expect(figure.locator("table").first).to_be_visible()
            assert figure.locator("tbody tr").count() >= 2


def test_the_home_page_leads_on_without_javascript(open_page: Callable[..., Page]) -> None:
    page = open_page("", javascript=False)
    for node in (NODE_1, NODE_2, NODE_3):
        expect(page.locator(f'.sd-nodes a[href$="{node}"]')).to_be_visible()
    assert page.locator(".sd-roadmap li").count() == 7
