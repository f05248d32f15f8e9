"""What every widget promises, checked over a grid of states: valid, pure, repeatable, readable without its picture."""

import ast
import copy
import os
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import widgets
from tests.widgets.states import ROOT, draw, starter, states
from widgets._kit.render import parts

NAMES = widgets.names()
STYLED = set(re.findall(r"\.(sd-[\w-]+)", (ROOT / "widgets" / "_browser" / "widget.css").read_text(encoding="utf-8")))
KIT = sorted((ROOT / "widgets" / "_kit").glob("*.py"))
QUOTING = [("real_pair", part) for part in ("tokens", "table", "summary")]
"""Parts that quote what a model writes: Python's `None` may be a word in it."""
FILES = [ROOT / "widgets" / f"{name}.py" for name in NAMES]


@pytest.fixture(params=NAMES)
def widget(request):
    return widgets.load(request.param)


def test_there_are_widgets():
    assert "pass_cost" in NAMES
    assert "draft_verify" in NAMES


def test_every_state_draws_valid_markup(widget):
    for values in states(widget):
        drawn = parts(widget, draw(widget, values))
        for name, fragment in drawn.items():
            try:
                ET.fromstring(f"<part>{fragment}</part>")
            except ET.ParseError as error:
                pytest.fail(f"{widget.name} {values}: part {name} is not well-formed: {error}")
            if (widget.name, name) not in QUOTING:
                assert not re.search(r"\b(nan|inf|None)\b", fragment), f"{values}: {name} shows a missing number"


def test_pictures_keep_the_drawing_rules(widget):
    """No ids (a page may hold the figure twice), no style attributes (a strict content security policy drops them), no
    colours of their own, one decimal at most, a spoken name.
    """
    for values in states(widget):
        svg = draw(widget, values).svg
        if svg is None:
            continue
        assert " id=" not in svg
        assert "style=" not in svg
        assert {name for names in re.findall(r'class="([^"]*)"', svg) for name in names.split()} <= STYLED
        assert not re.search(r"#[0-9a-fA-F]{3,8}\b|rgb\(", svg)
        places = re.findall(r'\b(?:x|y|x1|x2|y1|y2|cx|cy|dx|width|height)="([^"]*)"', svg)
        assert all(re.fullmatch(r"-?\d+(\.\d)?%?", place) for place in places)
        outer = ET.fromstring(f"<p>{svg}</p>").findall("svg")
        assert outer
        assert all(chart.get("role") == "img" and chart.get("aria-label") for chart in outer)


def test_the_same_state_gives_the_same_view_and_leaves_its_arguments_alone(widget):
    for values in states(widget)[:12]:
        before = copy.deepcopy(values)
        first = draw(widget, values)
        assert values == before
        assert draw(widget, values) == first


def test_every_state_says_what_it_shows(widget):
    for values in states(widget):
        view = draw(widget, values)
        assert view.summary.rstrip().endswith((".", "?", "”"))
        assert "!" not in view.summary, "no hype"


def test_the_readout_keeps_its_rows_while_the_state_changes(widget):
    """Nothing jumps: the same keys in the same order. A figure without numbers at rest may show some later."""
    keys = {tuple(row.key for row in draw(widget, values).readout) for values in states(widget)}
    assert len(keys - {()}) <= 1


def test_the_table_holds_what_the_readout_says(widget):
    """The text twin is of this state: at least two of the readout's numbers stand in it, in the same words."""
    for values in states(widget):
        view = draw(widget, values)
        if view.svg is None or view.table is None or not view.readout:
            continue
        cells = {cell for row in view.table.rows for cell in row}
        shared = [row.key for row in view.readout if row.text in cells]
        assert len(shared) >= 2, f"{widget.name} {values}: only {shared} of the readout in the table"


def test_values_survive_the_way_through_the_address(widget):
    for values in states(widget):
        for name, param in widget.params.items():
            if not param.private:
                assert param.read(param.address(values[name])) == values[name]
                assert param.show(values[name])


def test_a_view_is_quick(widget):
    """A formula widget answers in 8 ms in the browser, where Python is about six times slower than here."""
    if widget.needs or widget.steps:
        pytest.skip("works in steps or with NumPy")
    values = states(widget)[0]
    best = min(_seconds(widget, values) for _ in range(7))
    assert best < 0.008


def _seconds(widget, values):
    start = time.perf_counter()
    parts(widget, draw(widget, values))
    return time.perf_counter() - start


def test_a_widget_that_measures_rests_until_its_switch_is_on():
    """`MEASURES` names a switch that is off at first: nothing runs a reader's machine hot because a page was opened."""
    switches = {name: starter(widgets.load(name)) for name in NAMES}
    assert [name for name, switch in switches.items() if switch] == ["real_pair", "your_machine"]
    for name, switch in switches.items():
        if switch:
            param = widgets.load(name).params[switch]
            assert (param.kind, param.default) == ("toggle", False)
            assert all(values[switch] is False for values in states(widgets.load(name)))


def test_importing_widgets_and_drawing_formulas_loads_nothing_heavy():
    code = (
        "import sys, widgets\n"
        "for name in widgets.names(): widgets.load(name)\n"
        "print(sorted({m.split('.')[0] for m in sys.modules} & {'numpy', 'yaml', 'markdown', 'mkdocs', 'pytest'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_hash_seed_changes_no_byte():
    digests = [_digest(seed) for seed in ("0", "1")]
    assert digests[0] == digests[1]
    assert len(digests[0].splitlines()) == len(NAMES)


def _digest(seed):
    return subprocess.run(
        [sys.executable, "-m", "tests.widgets.states"],
        cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip


# ------------------------------------------------------------------------------------------------- rules of the source


def broken_rules(source: str, *, writes_numbers: bool = False) -> list[str]:
    """The "same bytes" rules this source breaks. Only `_kit.text` may turn numbers into text (`writes_numbers`)."""
    found = []
    for node in ast.walk(ast.parse(source)):
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            if name == "sum":
                found.append(f"{line}: sum: use math.fsum")
            if name in ("round", "format") and not writes_numbers:
                found.append(f"{line}: {name}: numbers become text in _kit.text")
            if name.endswith(".format") and not writes_numbers:
                found.append(f"{line}: str.format: numbers become text in _kit.text")
            if name.split(".")[-1] in ("gauss", "normalvariate"):
                found.append(f"{line}: {name}: not the same on every Python")
            if name.startswith("random.") and name != "random.Random":
                found.append(f"{line}: {name}: the global generator is frozen in a snapshot")
            if name in ("Random", "random.Random") and not node.args:
                found.append(f"{line}: Random without a seed")
            if name in ("list", "tuple", "enumerate") or name.endswith(".join"):
                found += [f"{line}: order of a set" for argument in node.args if _is_set(argument)]
        if isinstance(node, (ast.For, ast.comprehension)) and _is_set(node.iter):
            found.append(f"{getattr(node.iter, 'lineno', line)}: order of a set")
        if isinstance(node, ast.FormattedValue) and node.format_spec is not None and not writes_numbers:
            found.append(f"{line}: format spec in an f-string: numbers become text in _kit.text")
        if isinstance(node, ast.ImportFrom) and node.module == "random":
            found += [f"{line}: from random import {a.name}" for a in node.names if a.name != "Random"]
    return found


def _is_set(node: ast.AST) -> bool:
    called = isinstance(node, ast.Call) and ast.unparse(node.func) in ("set", "frozenset")
    return called or isinstance(node, (ast.Set, ast.SetComp))


@pytest.mark.parametrize("path", FILES + KIT, ids=lambda path: path.stem)
def test_source_keeps_the_rules_of_the_same_bytes(path: Path):
    assert broken_rules(path.read_text(encoding="utf-8"), writes_numbers=path.name == "text.py") == []


@pytest.mark.parametrize(
    "bad",
    [
        "sum([0.1, 0.2])",
        "round(x, 2)",
        "f'{x:.2f}'",
        "'{}'.format(x)",
        "format(x, '.2f')",
        "import random\nrandom.random()",
        "from random import choice",
        "Random()",
        "Random(1).gauss(0, 1)",
        "for a in {1, 2}: pass",
        "[a for a in set(b)]",
        "', '.join({x for x in y})",
    ],
)
def test_the_rules_notice(bad):
    assert broken_rules(bad)


def test_the_rules_let_good_code_pass():
    assert broken_rules("from random import Random\nx = math.fsum(Random(3).random() for _ in range(4))") == []


def imports(path: Path, *, top_only: bool = False) -> list[str]:
    """Every module that this file imports; with `top_only`, what it imports when it is itself imported."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = tree.body if top_only else list(ast.walk(tree))
    found = []
    for node in nodes:
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.append(node.module or "")
    return found


@pytest.mark.parametrize("name", NAMES)
def test_a_widget_imports_the_standard_library_sim_and_the_kit_only(name):
    needs = widgets.load(name).needs
    for module in imports(ROOT / "widgets" / f"{name}.py"):
        root = module.split(".")[0]
        fine = root in sys.stdlib_module_names or root == "sim" or module.startswith("widgets._kit") or root in needs
        assert fine, f"{name} imports {module}"


@pytest.mark.parametrize("path", FILES + KIT, ids=lambda path: path.stem)
def test_numpy_is_never_imported_before_it_is_needed(path):
    assert not [module for module in imports(path, top_only=True) if module.split(".")[0] == "numpy"]
