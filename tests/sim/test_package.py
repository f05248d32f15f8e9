"""What holds for the whole package: public names, no NumPy on import, and the rules that keep its bytes the same."""

import ast
import inspect
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

import sim

WHOLE_NUMBERS = ("data.py", "metrics.py")  # read records: what they add up are counts
SOURCES = sorted(path for path in Path(sim.__file__).parent.glob("*.py") if path.name not in WHOLE_NUMBERS)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_the_same_bytes_on_every_python(path):
    """No sum() of floats (3.12 changed it), no global generator, no gauss, no set to iterate over."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in {"sum", "set", "frozenset", "hash", "id"}, f"line {node.lineno}"
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "random":
            assert path.name == "montecarlo.py", f"line {node.lineno}"
        assert not isinstance(node, ast.Set | ast.SetComp), f"line {node.lineno}"
        if isinstance(node, ast.Attribute):
            assert node.attr != "gauss", f"line {node.lineno}"


def test_every_public_name_is_there_and_documented():
    assert len(set(sim.__all__)) == len(sim.__all__)
    for name in sim.__all__:
        value = getattr(sim, name)
        if callable(value):
            assert value.__doc__, name
        else:
            assert isinstance(value, Mapping | tuple), name


# The design's table of public names, with the names and defaults of their arguments.
SIGNATURES = {
    "expected_tokens": "(alpha, gamma)",
    "passes_for": "(tokens, alpha, gamma)",
    "speedup": "(alpha, gamma, c, verify=1.0)",
    "optimal_gamma": "(alpha, c, verify=None, max_gamma=64)",
    "operations_factor": "(alpha, gamma, c_hat)",
    "tokens_from_survival": "(survival)",
    "engine_acceptance_rate": "(alpha, gamma)",
    "alpha_from_tokens": "(tau, gamma)",
    "overlap": "(p, q)",
    "residual": "(p, q)",
    "acceptance": "(p, q, rule='lossless', **settings)",
    "output_law": "(p, q, rule='lossless', **settings)",
    "verify_round": "(p_rows, q_rows, draft, uniforms, pick)",
    "draw_rounds": "(alpha, gamma, rounds, seed)",
    "experts_touched": "(experts, active, positions)",
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_signatures_are_those_of_the_design(name):
    signature = inspect.signature(getattr(sim, name))
    bare = [parameter.replace(annotation=parameter.empty) for parameter in signature.parameters.values()]
    assert str(signature.replace(parameters=bare, return_annotation=signature.empty)) == SIGNATURES[name]


@pytest.mark.skipif(sys.platform == "emscripten", reason="WebAssembly has no subprocesses")
def test_importing_sim_does_not_import_numpy():
    code = "import sys, sim; assert 'numpy' not in sys.modules; assert 'sim.montecarlo' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(sim.__file__).parents[1])
