"""The real pair in a real browser: recordings without it, the models at work with it, and every way it can go wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from sim.data import Measurements, Trace, parse
from tests.site.conftest import ROOT, Seen
from tests.site.faults import REPORTS
from tests.site.figures import READY_MS, Figure
from tests.site.odd import broken, linked_copy, live_folder
from tests.tools.server import Host, serve
from widgets._kit.fates import shown
from widgets._kit.race import BUDGET

Open = Callable[..., Page]
PAGE = "labs/real-pair/"
RUN_MS = READY_MS + 60_000  # NumPy and the models have to be loaded, and the machine may be busy
FILES = ("target.safetensors", "drafts.safetensors")


def opened(open_page: Open, query: str = "", **options: Any) -> Figure:
    asked = "&".join(f"real_pair.{part}" for part in query.split("&") if part)
    return Figure(open_page(f"{PAGE}?{asked}" if asked else PAGE, **options), "real_pair")


def recorded(kind: str, draft: str, temperature: float) -> Trace:
    whole = parse((ROOT / "docs/data/traces/real-pair.json").read_text(encoding="utf-8"))
    for row in whole.rows.values():
        if isinstance(row, Trace) and (row.dataset, row.draft, row.temperature) == (kind, draft, temperature):
            return row
    raise LookupError((kind, draft, temperature))


def cells(figure: Figure) -> list[tuple[str, str]]:
    """Kind and text of every token of the strip."""
    found = figure.part("tokens").locator(".sd-token:not([data-kind=given])").evaluate_all(
        """(all) => all.map((one) => [one.dataset.kind,
             one.querySelector(":scope > s, :scope > span:not(.sd-glyph, .sd-said)").textContent])"""
    )
    return [(kind, text) for kind, text in found]


def told(steps: Any) -> list[tuple[str, str]]:
    """The same of recorded rounds."""
    found = []
    for one in steps:
        kept, drafts = one["accepted"], one["draft"]
        found += [("accepted" if place < kept else "rejected", shown(text)) for place, text in enumerate(drafts)]
        found.append(("correction" if kept < len(drafts) else "bonus", shown(one["token"])))
    return found


def greedy(kind: str, draft: str, gamma: int) -> list[tuple[str, str]]:
    """What CPython writes at temperature 0 after the recorded beginning: kind and text of every token."""
    pytest.importorskip("numpy")
    from sim.lm import generate, load
    from sim.lm import recorded as written

    pair = load(*((ROOT / "docs/data/models" / name).read_bytes() for name in FILES))
    run = recorded(kind, draft, 0.0)
    prompt = pair.encode(run.prompt or "")
    steps = generate(pair, draft, prompt, gamma, BUDGET, temperature=0.0, seed=run.seed or 0)
    return told([written(pair, step) for step in steps])


def kept(figure: Figure) -> Measurements:
    """The file of a finished run, as a reader gets it."""
    link = figure.part("links").locator("a[download]")
    expect(link).to_be_visible(timeout=RUN_MS)
    with figure.page.expect_download() as download:
        link.click()
    found = parse(Path(download.value.path()).read_text(encoding="utf-8"))
    assert isinstance(found, Measurements)
    return found


def number(figure: Figure, key: str) -> str:
    return figure.part("readout").locator(f"[data-key={key}]").get_attribute("data-value") or ""


# ------------------------------------------------------------------------------------------------------------- at rest


@pytest.mark.parametrize("size", ["wide", "phone"])
def test_without_javascript_it_replays_a_recording(open_page: Open, size: str) -> None:
    figure = opened(open_page, javascript=False, size=size)
    run = recorded("prose", "one-layer", 0.7)
    assert cells(figure) == told(run.steps)
    expect(figure.part("summary")).to_contain_text("A recording:")
    assert number(figure, "speedup") == ""
    assert figure.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_controls_replay_another_recording_and_no_model_is_fetched(open_page: Open, own_host: Host) -> None:
    figure = opened(open_page, on=own_host)
    figure.control("kind").locator("select").select_option("code")
    figure.control("draft").locator("select").select_option("look-up")
    figure.is_state("live")
    run = recorded("code", "look-up", 0.7)
    expect(figure.part("readout").locator("[data-key=passes] dd")).to_have_text(str(len(run.steps or ())))
    assert cells(figure) == told(run.steps)
    figure.set("step", 0)
    tokens = figure.part("tokens").locator(".sd-token")
    expect(tokens).to_have_count(1)  # the beginning
    figure.button("next").click()
    expect(tokens.nth(1)).to_be_visible()
    assert not [name for name, _ in own_host.asked if re.search("safetensors|numpy", name)]


def test_a_strip_that_grows_shows_its_end_until_the_reader_scrolls_up(open_page: Open) -> None:
    figure = opened(open_page, size="phone")
    last = len(recorded("prose", "one-layer", 0.7).steps or ())
    strip = figure.root.locator(".sd-strip")
    below = "strip => strip.scrollHeight - strip.clientHeight - strip.scrollTop"
    figure.press("step", "Home")
    figure.is_state("live")
    expect(strip.locator(".sd-token")).to_have_count(1)  # the beginning
    for step in range(last - 3, last + 1):
        figure.set("step", step)
        expect(strip.locator(".sd-round")).to_have_count(step)
        assert strip.evaluate("strip => strip.scrollTop") > 0
        assert strip.evaluate(below) < 2
    strip.evaluate("strip => strip.scrollTo({ top: 20, behavior: 'instant' })")
    figure.set("step", last - 1)
    expect(strip.locator(".sd-round")).to_have_count(last - 1)
    assert strip.evaluate("strip => strip.scrollTop") == 20


def test_a_token_tells_what_decided_it_to_pointer_finger_and_keys(open_page: Open) -> None:
    figure = opened(open_page, "kind=code&draft=bigram", has_touch=True)
    figure.is_state("live")
    detail = figure.part("tokens").locator(".sd-detail")
    token = figure.part("tokens").locator(".sd-token")
    figure.root.locator(".sd-strip").scroll_into_view_if_needed()
    before = figure.root.bounding_box()
    token.nth(1).hover()
    expect(detail).to_have_text(token.nth(1).get_attribute("data-detail") or "")
    token.nth(2).tap()
    expect(detail).to_have_text(token.nth(2).get_attribute("data-detail") or "")
    figure.root.locator(".sd-strip").focus()
    figure.page.keyboard.press("Home")
    expect(token.nth(0)).to_be_focused()
    figure.page.keyboard.press("ArrowRight")
    expect(token.nth(1)).to_be_focused()
    words = token.nth(1).get_attribute("data-detail") or ""
    assert re.search("random number|unseen", words)
    expect(detail).to_have_text(words)
    described = token.nth(1).get_attribute("aria-describedby")
    assert detail.get_attribute("id") == described
    figure.page.keyboard.press("End")
    expect(token.last).to_be_focused()
    assert figure.root.bounding_box() == before, "nothing moves"
    figure.page.keyboard.press("Tab")
    assert figure.page.evaluate("!document.activeElement.closest('.sd-strip')"), "the strip is one stop of the Tab key"


# ---------------------------------------------------------------------------------------------------------------- a run


def test_a_run_writes_the_tokens_that_cpython_writes(open_page: Open, own_host: Host) -> None:
    """At temperature 0, with the kernel: for the same beginning and length the fates and the texts of `sim.lm`."""
    wanted = greedy("code", "bigram", 4)
    figure = opened(open_page, "run=on&temperature=0&kind=code&draft=bigram&gamma=4", on=own_host)
    found = kept(figure)
    assert cells(figure) == wanted
    expect(figure.part("summary")).to_contain_text("Both lanes wrote the same text.")
    expect(figure.part("note")).not_to_contain_text("does not run the kernel")
    assert {row.method for row in found.rows.values()} == {"kernel"}
    assert float(number(figure, "speedup")) == pytest.approx(found.rows["speedup-kernel-bigram-g4"].value)
    asked = [name for name, _ in own_host.asked if name.endswith(FILES)]
    assert len(asked) == 2, "each file is fetched once"

    # Another draft writes the same greedy text; the files are there already.
    figure.control("draft").locator("select").select_option("look-up")
    expect(figure.part("links").locator("a[download*=look-up]")).to_be_visible(timeout=RUN_MS)
    expect(figure.part("summary")).to_contain_text("Both lanes wrote the same text.")
    assert [name for name, _ in own_host.asked if name.endswith(FILES)] == asked


def test_without_the_kernel_the_same_tokens_cost_more(open_page: Open) -> None:
    figure = opened(open_page, "run=on&draft=bigram&kernel=off")
    found = kept(figure)
    assert {row.method for row in found.rows.values()} == {"numpy"}
    expect(figure.part("note")).not_to_contain_text("does not run the kernel")
    expect(figure.part("verdict")).not_to_be_empty()


def test_stop_ends_a_race_within_a_second_and_the_readers_text_stays_here(open_page: Open, seen: Seen) -> None:
    figure = opened(open_page)
    figure.control("own").locator("textarea").fill("A secret beginning of mine")
    figure.control("kernel").locator("label").click()  # slower, so that there is time to stop it
    figure.control("run").locator("label").click()
    expect(figure.words).to_contain_text("Racing", timeout=RUN_MS)
    expect(figure.button("stop")).to_be_visible(timeout=RUN_MS)
    assert figure.stop() < 1000
    expect(figure.root.locator("a[download]")).to_have_count(0)
    stored = "JSON.stringify([location.href, {...localStorage}, {...sessionStorage}, document.cookie, history.state])"
    assert "ecret" not in figure.page.evaluate(stored)
    assert not [url for url in seen.requests if "ecret" in url]


@pytest.mark.parametrize("own", ["\u0001\u0007 é 中 \U0001f600 <b>&", "word " * 2000], ids=["odd bytes", "10,000"])
def test_any_beginning_gets_a_clear_answer(open_page: Open, own: str) -> None:
    figure = opened(open_page, "draft=bigram")
    figure.control("own").locator("textarea").fill(own)
    expect(figure.part("summary")).to_contain_text("Your own beginning waits", timeout=READY_MS)
    figure.control("run").locator("label").click()
    found = kept(figure)
    assert found.rows
    if len(own) > 9000:
        expect(figure.part("summary")).to_contain_text("before it had no room")
    figure.control("own").locator("textarea").fill("")
    end = shown((recorded("prose", "bigram", 0.7).prompt or "")[-20:])
    expect(figure.part("summary")).to_contain_text(end, timeout=RUN_MS)


# -------------------------------------------------------------------------------------------------------------- faults


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("target.safetensors", b"\0" * 1000, "target.safetensors has 1000 bytes in place of"),
        ("drafts.safetensors", None, "drafts.safetensors came back as 404"),
        ("drafts.safetensors", b"<!doctype html>", "drafts.safetensors has 15 bytes in place of"),
    ],
)
def test_a_broken_model_is_told_and_retry_works(
    open_page: Open, built: Path, tmp_path: Path, seen: Seen, name: str, content: bytes | None, words: str
) -> None:
    seen.expected.append(REPORTS)
    site = linked_copy(built, tmp_path / "site")
    with serve(site, "/sub/") as host:
        with broken(live_folder(site) / "data" / "models" / name, content):
            figure = opened(open_page, "draft=look-up", on=host)
            figure.is_state("live")
            figure.control("run").locator("label").click()
            expect(figure.root).to_have_attribute("data-state", "failed", timeout=RUN_MS)
            figure.tells(words)
            assert cells(figure) == told(recorded("prose", "look-up", 0.7).steps), "the recording stays"
        figure.button("retry").click()
        assert json.dumps(kept(figure).notes) == "[]"
        expect(figure.notice).to_be_hidden()
