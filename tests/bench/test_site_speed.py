"""The site's benchmark without a browser: rows that the checker accepts, goals, and the many pages it builds."""

from __future__ import annotations

import json
import re

import pytest
from markdown import Markdown

from bench import check, site_engines, site_page, site_pages, site_speed, store
from sim import data
from tests.engines.install import PROGRAMS
from widgets._page import drawn, inline
from widgets._page.extension import SiteExtension


def test_a_row_says_whether_its_goal_was_reached_and_why_not():
    met = site_speed.finished("boot-ratio", [0.1, 0.12, 0.11], warmup=2)
    assert (met["value"], met["goal"], met["met"], met["n"], met["min"], met["max"]) == (0.11, 0.2, True, 3, 0.1, 0.12)
    missed = site_speed.finished("live-bytes", [8.5], note="largest first")
    assert missed["met"] is False
    assert "largest first; missed: the interpreter is" in missed["note"]
    assert "one value" in missed["note"]


def test_every_goal_makes_a_file_that_the_checker_accepts(tmp_path):
    rows = [site_speed.finished(ident, [goal[2], goal[2], goal[2]]) for ident, goal in site_speed.GOALS.items()]
    rows.append(site_speed.scale("other", "for scale", "ms", [1.0, 2.0]))
    provenance = {
        "hardware": site_speed._hardware(),
        "shared": True,
        "software": {"python": "3.11"},
        "command": "make bench-site",
        "date": "2026-01-01",
    }
    path = tmp_path / "site.json"
    store.save(path, store.empty("site", "How fast", provenance, "Medians.") | {"rows": rows})
    text = path.read_text(encoding="utf-8")
    assert [finding for finding in check.check(text, path.name) if finding.level != "remark"] == []
    assert set(data.parse(text).rows) == {*site_speed.GOALS, "other"}
    assert json.loads(text)["rows"][0]["met"] is True


def test_the_issue_of_speed_asks_for_these():
    asked = (
        "boot-ratio boot-ratio-numpy first-answer-baked first-answer-touch view-p95 input-ratio read-bytes live-bytes "
        "layout-shift long-task rebuild-ratio growth boot-ratio-firefox boot-ratio-webkit"
    )
    assert set(asked.split()) <= set(site_speed.GOALS)
    assert {engine for engine in PROGRAMS if f"boot-ratio-{engine}" in site_speed.GOALS} == {*site_engines.ENGINES}


def test_starts_are_told_over_the_median_of_the_plain_ones():
    plain = [{"ready": 1000.0, "numpy": 2000.0}, {"ready": 3000.0, "numpy": 4000.0}, {"ready": 2000.0, "numpy": 3000.0}]
    ours = [{"ready": 300.0, "numpy": 1500.0}, {"ready": 400.0, "numpy": 900.0}, {"ready": 500.0, "numpy": 600.0}]
    ready, numpy = site_speed.started("-webkit", {"plain": plain, "ours": ours})
    assert (ready["id"], ready["value"], ready["min"], ready["max"]) == ("boot-ratio-webkit", 0.2, 0.15, 0.25)
    assert (numpy["id"], numpy["value"], numpy["met"]) == ("boot-ratio-numpy-webkit", 0.3, True)
    assert "400 ms over 2000 ms" in ready["note"]


def test_the_page_shows_every_row_of_the_file_and_the_reason_of_a_miss(tmp_path):
    rows = [site_speed.finished(ident, [goal[2] + 1] * 3, note="why") for ident, goal in site_speed.GOALS.items()]
    rows.append(site_speed.scale("other", "for scale", "ms", [1.0, 2.0]))
    (tmp_path / "data").mkdir()
    store.save(tmp_path / "data" / "site.json", store.empty("site", "How fast", {}, "Medians.") | {"rows": rows})
    page = site_page.PAGE.read_text(encoding="utf-8")
    made = site_page.landed(page, rows)
    part = made[made.index(site_page.TITLE) : made.index("## A published fit")]
    for ident in site_speed.GOALS:
        assert f"`#!data {ident}.value:" in part
    shown = [inline.data_value(text, tmp_path)[0] for text in re.findall(r"`#!data (\S+)`", part)]
    assert shown.count("no") == len(site_speed.GOALS)
    assert [text for text in shown if text.startswith("why")] == [row["note"] for row in rows if "goal" in row]
    assert "](../data/measured/site.json)" in part


def test_landing_twice_is_landing_once():
    page = "# Measurements\n\n## A published fit {#x}\n\nText.\n"
    first = site_page.landed(page, [site_speed.finished("boot-ratio", [0.3, 0.4])])
    second = site_page.landed(first, [site_speed.finished("growth", [1.0], note="flat")])
    assert "boot-ratio" in first
    assert "boot-ratio" not in second
    assert second.count(site_page.TITLE) == 1
    assert second.endswith("## A published fit {#x}\n\nText.\n")
    with pytest.raises(ValueError, match="where should the section stand"):
        site_page.landed("# Another page\n", [])


@pytest.mark.parametrize(("values", "expected"), [([5], 5), (range(1, 101), 95), (range(1, 21), 19)])
def test_p95_is_a_value_that_occurred(values, expected):
    assert site_speed.p95(list(values)) == expected


def test_the_table_names_every_row_its_goal_and_its_reason():
    rows = [site_speed.finished("live-bytes", [8.0, 8.0]), site_speed.scale("other", "what", "ms", [1.0, 2.0])]
    lines = site_speed.table(rows).splitlines()
    assert lines[0].split()[:2] == ["live-bytes", "8"]
    assert "≤ 7: MISSED" in lines[0]
    assert "missed: the interpreter" in lines[1]
    assert lines[2].split()[0] == "other"


def test_a_hundred_pages_hold_three_hundred_different_figures(tmp_path):
    site_pages.write(tmp_path, 100)
    bodies = []
    for path in sorted((tmp_path / "docs").glob("page-*.md")):
        text = path.read_text(encoding="utf-8")
        found = [block.split("```")[0] for block in text.split("```widget\n")[1:]]
        assert len(found) == site_pages.PER_PAGE
        bodies += found
    assert len(dict.fromkeys(bodies)) == len(bodies) == 300


@pytest.mark.parametrize("number", [0, 47, 99])
def test_a_page_of_it_is_drawn_without_a_mistake(tmp_path, number):
    drawn.forget()
    site_pages.write(tmp_path, 1)
    site = SiteExtension(docs=str(tmp_path / "docs"), quiet=True)
    html = Markdown(extensions=[site, "pymdownx.superfences"]).convert(site_pages.page(number))
    assert site.problems == []
    assert html.count("<sd-widget") == 3


def test_every_formula_widget_is_asked_warm_and_at_its_defaults():
    """What `views` leaves out: long work, NumPy, and widgets without controls. One may have no other states."""
    pytest.importorskip("playwright")
    from bench.site_browser import WARM, views_asked

    asked = {name: [json.loads(one)["params"] for one in every] for name, every in views_asked(4).items()}
    assert {"draft_verify", "pass_cost", "tree", "verdict"} <= set(asked)
    for every in asked.values():
        assert every[: WARM + 3] == [{}] * (WARM + 3)
        assert len(every) <= WARM + 3 * 5
    assert len(asked["draft_verify"]) == WARM + 3 * 5
