"""Whatever comes from outside, in a real browser: addresses, typed numbers, pasted logs, words of the reader.

Random, but the same every time: one seed, a fixed number of inputs, all of them on one page that holds every widget.
The page's own ways are taken (an address that changes, a field that is left), without a navigation in between, so
hundreds of inputs take seconds. What must hold for each is in `FUZZ` and `problems`.
"""

from __future__ import annotations

import random
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Dialog

import widgets
from tests.site.conftest import Seen
from tests.site.figures import Figure
from tests.site.odd import PAGES
from tests.tools.server import serve
from widgets._kit import log_samples
from widgets._kit.params import Bars, Slider, Step, Text

SEED = 9
NAMES = [name for name, _ in PAGES["every"]]
ADDRESSES, TYPED, LOGS, ANSWERS = 150, 70, 50, 30
Input = dict[str, Any]

HOSTILE = (
    "<img src=x onerror='window.executed=1'>",
    "<script>window.executed=1</script>",
    "<svg onload='window.executed=1'>",
    "\"><b onmouseover='window.executed=1'>",
    "javascript:window.executed=1",
    "${window.executed=1}",
    "{{window.executed=1}}",
    "'; window.executed=1; //",
    "__import__('os').system('true')",
    "</textarea><iframe srcdoc='<script>parent.executed=1</script>'>",
    "&lt;img src=x onerror=window.executed=1&gt;",
)
NUMBERS = (
    *(
        "NaN",
        "nan",
        "Infinity",
        "-inf",
        "1e999",
        "-1e999",
        "1e-999",
        "-0",
        "0x10",
        "1_000",
        "١٢",
        "１２",
        "½",
        "1/2",
        "5 %",
    ),
    *(
        "0,5",
        "0.5",
        ".5",
        ",5",
        "5.",
        "1.000,5",
        "1,000.5",
        "1,000",
        "1 000",
        "1'000",
        "1.000.000",
        "+3",
        "--3",
        "−3",
        "3e0",
    ),
    *("", " ", "null", "undefined", "None", "true", "[object Object]", "9" * 400, "0." + "3" * 400, "-" * 50),
)
ODD = (
    "\x00",
    "\x07\x1b[31m",
    "\u202e\u2066",
    "\U0001f600" * 40,
    "é\u0301" * 30,
    "\n\r\n\t",
    "%",
    "%00%ff",
    "&&==",
    "a" * 20_000,
)
KEYS = ("__proto__", "constructor", "toString", "", "a.b", "data-part", "<b>", "view", "p;q", "\x00")

#: Applies one input to its figure, waits until Python has answered, and tells what can be seen of it.
FUZZ = """async ({ figure: id, query, param, index, text }) => {
  const figure = document.getElementById(id);
  if (!window.python) {
    const start = document.querySelector("script[src*='live/start.js']").src;
    const { python } = await import(new URL(`./${figure.dataset.live}/python.js`, start));
    const ask = python.ask.bind(python);
    window.replies = [];
    python.ask = (who, widget, params, hear, files) => {
      const note = (reply) => { replies.push(reply); hear(reply); };
      ask(who, widget, params, note, files);
    };
    window.python = python;
  }
  replies.length = 0;
  if (query !== undefined) {
    history.replaceState(history.state, "", `${location.pathname}?${query}`);
    dispatchEvent(new Event("sd-address"));
  } else {
    const field = figure.querySelectorAll(`[data-param="${param}"] :is(.sd-typed, textarea)`)[index];
    field.value = text;
    field.dispatchEvent(new Event("change", { bubbles: true }));
  }
  const end = performance.now() + 20000;
  while (python.busy(figure) && performance.now() < end) await new Promise((done) => setTimeout(done, 2));
  const views = replies.flatMap(({ view }) => (view ? Object.values(view) : []));
  const inert = views.map((html) => new DOMParser().parseFromString(html, "text/html").body);
  const foreign = (element) =>
    (/^(script|iframe|img|object|embed|base|form|meta|link|style)$/.test(element.localName) &&
      !element.matches(".sd-controls")) ||
    [...element.attributes].some(({ name, value }) => /^on/.test(name) || /^\\s*javascript:/i.test(value));
  const all = [figure, ...inert].flatMap((root) => [...root.querySelectorAll("*")]);
  const control = param && figure.querySelector(`[data-param="${param}"]`);
  return {
    busy: python.busy(figure),
    drawn: views.length > 0,
    state: figure.dataset.state,
    told: [...figure.querySelectorAll(".sd-notice, .sd-problem")].map((place) => place.textContent).join(" ").trim(),
    faults: replies.flatMap(({ error }) => (error ? [error.kind] : [])),
    texts: inert.map((body) => body.textContent).join(" "),
    strange: all.filter(foreign).map((element) => element.outerHTML.slice(0, 80)),
    spoken: [...figure.querySelectorAll("[aria-valuetext]")].map((range) => range.getAttribute("aria-valuetext")),
    typed: control ? [...control.querySelectorAll(".sd-typed")].map((field) => field.value) : [],
    executed: typeof window.executed,
  };
}"""


@pytest.fixture(scope="module")
def fuzzed(browser: Browser, odd_site: Path) -> Iterator[Callable[[Input], dict[str, Any]]]:
    """Puts an input to the page that holds every widget, and gives what is to be seen then."""
    with serve(odd_site, "/sub/") as host:
        context = browser.new_context()
        page = context.new_page()
        seen = Seen(host)
        seen.watch(page)
        page.goto(f"{host.url}lessons/odd-every/")
        first = Figure(page, "pass_cost")
        first.press("positions", "ArrowRight")
        first.is_state("live")

        def put(given: Input) -> dict[str, Any]:
            found: dict[str, Any] = page.evaluate(FUZZ, given)
            assert seen.problems == [], given
            return found

        def dialog(opened: Dialog) -> None:
            seen.problems.append(f"dialog: {opened.message}")
            opened.dismiss()

        page.on("dialog", dialog)
        yield put
        context.close()


@pytest.fixture
def rng() -> random.Random:
    print(f"seed {SEED}")
    return random.Random(SEED)


def problems(given: Input, found: dict[str, Any]) -> list[str]:
    """What must never be, whatever was put in."""
    wrong = [f"{key}: {found[key]!r}" for key in ("busy", "strange") if found[key]]
    if found["executed"] != "undefined":
        wrong.append("something was executed")
    if found["state"] not in ("static", "live") or set(found["faults"]) - {"param"}:
        wrong.append(f"state {found['state']}, faults {found['faults']}, told {found['told']!r}")
    for text in (found["texts"], *found["spoken"]):
        wrong += [
            word for word in ("NaN", "undefined", "None", "null", "[object") if word in text and word not in echo(given)
        ]
    return [f"{given}: {what}"[:600] for what in wrong]


def echo(given: Input) -> str:
    """What a figure may repeat: it quotes the reader's words."""
    return str(given.get("text", "")) + str(given.get("query", ""))


def spoilt(rng: random.Random, text: str) -> str:
    """A text with a few things done to it that happen on the way, or are done on purpose."""
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(text) + 1)
        piece = rng.choice([*HOSTILE, *NUMBERS, *ODD[:-1], "9", ",", ":", "\n"])
        cut = at + rng.randint(0, 30)
        text = rng.choice([text[:at] + piece + text[at:], text[:at] + text[cut:], text[:cut] + text[at:], text[:at]])
    return text


def test_addresses(fuzzed: Callable[[Input], dict[str, Any]], rng: random.Random) -> None:
    wrong, drawn = [], 0
    for turn in range(ADDRESSES):
        name = NAMES[turn % len(NAMES)]
        params = widgets.load(name).params
        pairs = []
        for _ in range(rng.choice([1, 2, 5])):
            key = rng.choice(list(params)) if rng.random() < 0.9 else rng.choice(KEYS)
            param = params.get(key)
            stops = getattr(param, "all_stops", None) or getattr(param, "options", None) or ("on", "off")
            known = [str(rng.choice(list(stops)))] * 5
            value = rng.choice([*known, rng.choice(NUMBERS), rng.choice(NUMBERS), rng.choice([*HOSTILE, *ODD])])
            pairs.append(f"{name}.{quote(key)}={value if rng.random() < 0.2 and value.isprintable() else quote(value)}")
        given = {"figure": name, "query": "&".join(pairs * rng.choice([1, 1, 1, 2]))}
        found = fuzzed(given)
        drawn += found["drawn"]
        wrong += problems(given, found)
    assert wrong == []
    assert drawn > ADDRESSES / 3, "hardly an address reached Python: this tests little"


def test_typed_numbers(fuzzed: Callable[[Input], dict[str, Any]], rng: random.Random) -> None:
    """And never ten times the value: a comma is a decimal sign, or the number is refused with a hint."""
    fields = [
        (name, key)
        for name in NAMES
        for key, param in widgets.load(name).params.items()
        if isinstance(param, (Slider, Bars)) and not isinstance(param, Step)
    ]
    wrong = []
    for turn in range(TYPED):
        name, key = fields[turn % len(fields)]
        text = rng.choice(
            [*NUMBERS, *HOSTILE, f"{rng.uniform(-9, 99):.{rng.randint(0, 6)}f}".replace(".", rng.choice(".,"))]
        )
        given: Input = {"figure": name, "param": key, "index": 0, "text": text}
        found = fuzzed(given)
        wrong += problems(given, found)
        plain = text.strip().replace(",", ".")
        try:
            meant = float(plain) if plain.count(".") < 2 and "_" not in plain and plain.isascii() else None
        except ValueError:
            meant = None
        shown = found["typed"][0]
        taken = shown != text
        if taken and (meant is None or abs(float(shown) - meant) > abs(meant) + 1) and "nearest" not in found["told"]:
            wrong.append(f"{given}: taken as {shown}, told {found['told']!r}")
        if (
            taken
            and meant is not None
            and "nearest" not in found["told"]
            and float(shown) != pytest.approx(meant, abs=1e-9)
        ):
            wrong.append(f"{given}: taken as {shown} without a word")
        if not taken and meant is None and not found["told"]:
            wrong.append(f"{given}: left standing without a word")
    assert wrong == []


@pytest.mark.parametrize(("text", "told"), [("1.000,5", "could mean two numbers"), ("1,000", "could mean two numbers")])
def test_numbers_with_two_meanings_are_refused_at_every_slider(
    fuzzed: Callable[[Input], dict[str, Any]], text: str, told: str
) -> None:
    for name in NAMES:
        for key, param in widgets.load(name).params.items():
            if isinstance(param, (Slider, Bars)) and not isinstance(param, Step):
                found = fuzzed({"figure": name, "param": key, "index": 0, "text": text})
                assert told in found["told"], (name, key)


def test_pasted_logs(fuzzed: Callable[[Input], dict[str, Any]], rng: random.Random) -> None:
    logs = [text for _, text in log_samples.SAMPLES.values()]
    assert len(logs) > 3
    wrong = []
    for turn in range(LOGS):
        name, key = ("metrics", "positions") if turn % 5 == 4 else ("diagnose", "log")
        text = rng.choice(logs) if key == "log" else "0.8, 0.6, 0.4"
        given = {"figure": name, "param": key, "index": 0, "text": spoilt(rng, text)}
        wrong += problems(given, fuzzed(given))
    assert wrong == []


def test_explanations_of_the_reader(fuzzed: Callable[[Input], dict[str, Any]], rng: random.Random) -> None:
    file = Path(__file__).resolve().parents[1] / "data" / "explanations.toml"
    said = [each["text"] for each in tomllib.loads(file.read_text(encoding="utf-8"))["answer"]]
    wrong = []
    for _ in range(ANSWERS):
        given = {"figure": "explain_back", "param": "answer", "index": 0, "text": spoilt(rng, rng.choice(said))}
        wrong += problems(given, fuzzed(given))
    assert wrong == []


def test_every_text_of_a_reader_is_tried() -> None:
    texts = {
        (name, key) for name in NAMES for key, param in widgets.load(name).params.items() if isinstance(param, Text)
    }
    assert texts == {("metrics", "positions"), ("diagnose", "log"), ("explain_back", "answer")}
