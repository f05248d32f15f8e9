"""The speed figure of parse_log on a small log: what is written is what is read, and the rows are sound."""

from bench.log_speed import MIXES, main, measure, write_log
from sim.logs import parse_log


def test_the_log_holds_what_it_says(tmp_path):
    path = tmp_path / "mixed.log"
    write_log(path, 0.5, 0.5, seed=1)
    text = path.read_text(encoding="utf-8")
    assert 0.45e6 < len(text) < 0.51e6
    log = parse_log(text)
    assert log.tool == "mixed"
    assert 0.4 < len(log.runs) / text.count("\n") < 0.6
    assert {problem.kind for problem in log.problems} <= {"biased", "ambiguous", "mixed"}


def test_the_same_seed_writes_the_same_log(tmp_path):
    for name in "ab":
        write_log(tmp_path / name, 0.1, 0.05, seed=3)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_the_rows_say_what_was_measured_and_how_often():
    rows = measure(megabytes=0.2, repeats=2, lines=(200, 600))
    assert len(rows) == 5 * len(MIXES)
    ratio = next(row for row in rows if row["id"] == "parse-log-server-ratio")
    assert ratio["unit"] == "×"
    assert ratio["n"] == 2
    assert ratio["value"] > 1


def test_the_command_prints_the_figure(monkeypatch, capsys):
    monkeypatch.setattr("bench.log_speed.measure", lambda megabytes: [
        {"id": "parse-log-server-ratio", "value": 12.0, "unit": "×", "quantity": f"of {megabytes:g} MB"}
    ])  # fmt: skip
    assert main(["5"]) == 1
    assert "12.000 ×   of 5 MB" in capsys.readouterr().out
