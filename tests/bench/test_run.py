"""The runner: every suite at small size, going on after a stop, shards, merging, and what it says if it cannot run."""

import json
import shutil
from pathlib import Path

import jsonschema
import pytest

from bench import quiet, schema
from bench.check import check
from bench.merge import main as merge_main
from bench.run import _measured, main
from bench.store import Conflict, dump, empty, load, merge
from bench.suites import NAMES, suite
from sim.data import parse
from sim.fitting import samples


def run(*arguments):
    return main([*arguments, "--device", "cpu", "--size", "small"])


@pytest.mark.parametrize("name", NAMES)
def test_a_suite_writes_a_file_that_keeps_the_schema_and_has_no_findings(name, small_run):
    path = small_run / f"{name}-cpu.json"
    text = path.read_text(encoding="utf-8")
    jsonschema.validate(json.loads(text), schema.build())
    levels = [finding for finding in check(text, path.name) if finding.level != "question"]  # a busy machine is asked
    assert levels == []
    whole = parse(text, path.name)
    assert whole.suite == name
    assert whole.notes == ()
    assert whole.rows


def test_every_row_says_how_it_was_made(small_run):
    for name in NAMES:
        for row in parse((small_run / f"{name}-cpu.json").read_text(encoding="utf-8")).rows.values():
            assert row.hardware.startswith("CPU ")
            assert row.command.startswith("python -m bench run all --device cpu --size small --out ")
            assert "/" not in row.command.split("--out ")[1], "a path of this machine says nothing to others"
            assert row.commit
            assert row.warmup >= 1
            assert row.n >= 5
            assert row.software["numpy"]
            assert row.min <= row.q1 <= row.value <= row.q3 <= row.max
    small = json.loads((small_run / "pass-cost-cpu.json").read_text(encoding="utf-8"))
    assert "no measurement" in small["note"]


def test_a_pass_states_what_it_reads_and_computes(small_run):
    whole = parse((small_run / "pass-cost-cpu.json").read_text(encoding="utf-8"))
    found = samples(whole, model="a shape for tests")
    assert len(found) == 9
    one = found[0]
    layer = 64 * (4 + 2 * 2) * 16 + 4 * 16 * 64 + 3 * 64 * 160
    assert one.weight_bytes == 2 * layer * 4  # two of four layers ran, in float32, without the output matrix
    assert [item.operations for item in found[:3]] == [2.0 * 2 * layer * n for n in (1, 2, 8)]
    cached = next(item for item in found if item.context)
    assert cached.kv_bytes == 2 * 16 * 2 * 2 * 16 * 4
    row = whole.rows[one.id]
    assert (row.layers_run, row.layers) == (2, 4)
    assert "output matrix left out" in row.note


def test_the_share_of_the_copy_bandwidth_is_reported(small_run):
    rows = parse((small_run / "pass-cost-cpu.json").read_text(encoding="utf-8")).rows
    shares = [row for row in rows.values() if row.unit == "fraction"]
    assert [row.quantity for row in shares] == [
        "share of copy bandwidth",
        "share of copy bandwidth, matrices alone",
    ]
    copy = rows["pass-cost-cpu-copy"]
    one = rows["pass-cost-cpu-tiny-float32-b1-ctx0-n1"]
    assert shares[0].value == pytest.approx(one.weight_bytes / (1e6 * one.value) / copy.value, rel=1e-3)


def test_speculation_is_marked_synthetic_and_carries_its_prediction(small_run):
    rows = parse((small_run / "speculate-cpu.json").read_text(encoding="utf-8")).rows.values()
    speeds = [row for row in rows if row.quantity == "speed-up"]
    assert len(speeds) == 8
    for row in speeds:
        assert row.synthetic == "synthetic acceptance"
        assert 1 <= row.tokens_per_pass <= row.gamma + 1
        said = row.tokens_per_pass / (row.gamma * row.c + row.verify_ratio)
        assert row.predicted == pytest.approx(said, rel=1e-5)


def test_experts_stand_beside_the_formula(small_run):
    rows = parse((small_run / "moe-cpu.json").read_text(encoding="utf-8")).rows
    drawn = rows["moe-cpu-tiny-moe-random-n4"]
    assert drawn.predicted == pytest.approx(8 * (1 - 0.75**4), rel=1e-5)
    assert drawn.value == pytest.approx(drawn.predicted, abs=0.5)
    assert rows["moe-cpu-tiny-moe-skewed-n4"].value < drawn.value


def test_a_run_goes_on_where_it_was(small_run, tmp_path, capsys):
    path = tmp_path / "moe-cpu.json"
    whole = load(small_run / "moe-cpu.json")
    whole["rows"] = [row for row in whole["rows"] if "skewed" not in row["id"]]
    kept = [dict(row) for row in whole["rows"]]
    path.write_text(dump(whole), encoding="utf-8")
    assert run("moe", "--out", str(tmp_path)) == 0
    said = capsys.readouterr().out
    assert said.count("there already") == 2
    after = load(path)["rows"]
    assert after[: len(kept)] == kept, "what was measured stays as it was"
    assert len(after) == 8


def test_a_file_of_another_machine_is_not_gone_on_with(small_run, tmp_path, capsys):
    whole = load(small_run / "moe-cpu.json")
    whole["provenance"]["memory_gb"] = 1.0
    path = tmp_path / "moe-cpu.json"
    path.write_text(dump(whole), encoding="utf-8")
    before = path.read_text(encoding="utf-8")
    assert run("moe", "--out", str(tmp_path)) == 2
    assert "another memory_gb" in capsys.readouterr().err
    assert path.read_text(encoding="utf-8") == before


def test_shards_share_the_cells_out_and_merge_by_id(tmp_path, capsys):
    for part in (1, 2, 3):
        assert run("pass-cost", "--out", str(tmp_path), "--shard", f"{part}/3") == 0
    parts = sorted(tmp_path.glob("*.json"))
    assert [path.name for path in parts] == [f"pass-cost-cpu.part-{part}-of-3.json" for part in (1, 2, 3)]
    out = tmp_path / "pass-cost-cpu.json"
    assert merge_main([*map(str, parts), "--out", str(out)]) == 0
    rows = parse(out.read_text(encoding="utf-8")).rows
    assert len(rows) == 12
    assert len({row.command for row in rows.values()}) == 3, "what differs between shards moves into the rows"
    assert "12 rows from 3 files" in capsys.readouterr().out


def test_one_id_with_two_values_is_refused(small_run, tmp_path, capsys):
    other = tmp_path / "moe-other.json"
    shutil.copy(small_run / "moe-cpu.json", other)
    other.write_text(other.read_text(encoding="utf-8").replace('"n": 20', '"n": 21'), encoding="utf-8")
    files = [str(small_run / "moe-cpu.json"), str(other)]
    assert merge_main([*files, "--out", str(tmp_path / "out.json")]) == 1
    assert "different values" in capsys.readouterr().out
    assert not (tmp_path / "out.json").exists()


def test_different_suites_do_not_merge():
    with pytest.raises(Conflict, match="different suites"):
        merge([(name, empty(name, "", {}, "")) for name in ("moe", "speculate")])


def test_nan_never_reaches_a_file():
    whole = empty("moe", "", {}, "")
    whole["rows"] = [{"id": "a", "value": float("nan")}]
    with pytest.raises(ValueError, match="not JSON compliant"):
        dump(whole)


@pytest.mark.parametrize("bad", ["0/2", "3/2", "1", "a/b"])
def test_a_shard_is_i_of_n(bad, tmp_path, capsys):
    with pytest.raises(SystemExit):
        run("moe", "--out", str(tmp_path), "--shard", bad)
    assert "is not i/n" in capsys.readouterr().err


def test_a_cell_that_fails_is_said_and_the_others_are_kept(tmp_path, capsys, monkeypatch):
    kind = suite("moe")
    real = kind.measure

    def sometimes(self, cell):
        if cell.settings["routing"] == "skewed":
            raise RuntimeError("no luck")
        return real(self, cell)

    monkeypatch.setattr(kind, "measure", sometimes)
    assert run("moe", "--out", str(tmp_path)) == 1
    assert capsys.readouterr().out.count("failed: RuntimeError: no luck") == 2
    assert len(load(tmp_path / "moe-cpu.json")["rows"]) == 4


def test_the_table_is_printed_last(tmp_path, capsys):
    assert run("ceilings", "--out", str(tmp_path)) == 0
    lines = capsys.readouterr().out.strip().splitlines()
    assert lines[-1].startswith("wrote ")
    assert any(line.startswith("copy bandwidth") for line in lines)


def test_the_full_grids_hold_what_was_promised():
    """Positions 1 to 512, batch 1 to 64, context to 32k, both models: as cells, on a GPU; nothing is run."""

    class Gpu:
        device = "cuda"
        formats = ("bf16", "fp8")

    cells = suite("pass-cost")(Gpu(), False, 7, 0.1).cells()
    keys = [cell.key for cell in cells]
    assert len(keys) == len(set(keys))
    for want in ("8b-bf16-b1-ctx0-n1", "8b-fp8-b64-ctx8192-n1", "8b-bf16-b1-ctx32768-n512", "70b-fp8-b1-ctx0-n512"):
        assert want in keys
    groups = [cell.group for cell in cells]
    assert sorted(set(groups), key=groups.index) == ["copy", "8b bf16", "8b fp8", "70b bf16", "70b fp8"]
    alphas = {cell.settings["alpha"] for cell in suite("speculate")(Gpu(), False, 7, 0.1).cells()}
    assert len(alphas) >= 3


def rows_of(spread):
    return [{"id": "a", "value": 1.0, "q1": 1.0 - spread / 2, "q3": 1.0 + spread / 2}]


def test_a_cell_that_spreads_widely_is_measured_again_and_the_nearest_quartiles_are_kept(monkeypatch):
    waited = []
    monkeypatch.setattr("bench.run.wait", waited.append)
    tries = [rows_of(0.5), rows_of(0.2), rows_of(0.3)]

    class Work:
        def measure(self, cell):
            return tries.pop(0)

    kept = _measured(Work(), None, quiet=30.0)
    assert kept[0]["q3"] == pytest.approx(1.1)
    assert kept[0]["note"] == "try 2 of 3 on a busy machine"
    assert waited == [30.0] * 3


def test_a_narrow_cell_is_measured_once_and_without_quiet_nothing_is_waited_for(monkeypatch):
    class Work:
        def measure(self, cell):
            return rows_of(0.01)

    monkeypatch.setattr("bench.run.wait", lambda most: pytest.fail("waited") if most < 30 else 0)
    assert "note" not in _measured(Work(), None, quiet=30.0)[0]
    assert "note" not in _measured(Work(), None, quiet=0.0)[0]


def test_waiting_ends_when_the_machine_is_quiet_or_the_time_is_over(monkeypatch):
    shares = [0.9, 0.05, 0.5, 0.1, 0.1, 0.9]
    monkeypatch.setattr(quiet, "busy_share", lambda: shares.pop(0))
    quiet.wait(60.0)
    assert shares == [0.9], "two quiet looks in a row"
    monkeypatch.setattr(quiet, "busy_share", lambda: 1.0)
    assert 0.02 <= quiet.wait(0.02) < 5


def test_a_system_that_does_not_tell_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(quiet, "_STAT", Path("/nowhere"))
    assert quiet.busy_share(0.0) is None
    assert quiet.wait(60.0) < 5
