"""`python -m bench import`: a log in, a data file out, and a question for everything the log does not say."""

import json

import pytest

from bench.check import check
from bench.importer import ASKED, main

LINE = (
    "SpecDecoding metrics: Draft acceptance rate: 38.8%, Mean acceptance length: 2.16, Accepted: 150 tokens, "
    "Drafted: 387 tokens, Per-position acceptance rate: 0.543, 0.357, 0.264\n"
)
SGLANG = (
    '{"backend": "sglang", "request_rate": Infinity, "duration": 1.0, "total_output_tokens": 9, "accept_length": 3.1}\n'
)
ANSWERS = {
    "hardware": "1x NVIDIA H200",
    "devices": "1",
    "model": "Llama-3.1-8B",
    "draft": "EAGLE head",
    "method": "EAGLE",
    "gamma": "3",
    "weights": "bf16",
    "temperature": "0",
    "draft-sampling": "greedy",
    "dataset": "sharegpt",
    "ignore-eos": "no",
    "concurrency": "8",
    "software": "vllm=0.9.0.1",
    "command": "vllm serve",
    "commit": "unknown",
    "date": "2026-11-01",
    "warmup": "1",
}


@pytest.fixture
def run(tmp_path, capsys):
    """Import `text` with ANSWERS changed; gives exit code, the file's JSON or None, and what was said."""

    def importing(text: str, tool: str = "vllm", extra: tuple[str, ...] = (), **changes):
        log = tmp_path / "server.log"
        log.write_text(text, encoding="utf-8")
        answers = ANSWERS | {name.replace("_", "-"): value for name, value in changes.items()}
        options = [part for name, value in answers.items() if value is not None for part in (f"--{name}", value)]
        code = main([str(log), "--tool", tool, "--out", str(tmp_path / "out"), *options, *extra])
        files = sorted((tmp_path / "out").glob("*.json"))
        return code, json.loads(files[-1].read_text(encoding="utf-8")) if files else None, capsys.readouterr().err

    return importing


def test_a_log_with_all_answers_becomes_a_sound_file(run):
    code, whole, said = run(LINE * 3)
    assert (code, said) == (0, "")
    (row,) = whole["rows"]
    assert (row["rounds"], row["drafted"], row["accepted"], row["n"]) == (387, 1161, 450, 3)
    assert row["value"] == row["tokens_per_pass"] == 2.16279
    assert row["unit"] == "tokens"
    assert (whole["provenance"]["hardware"], whole["provenance"]["commit"]) == ("NVIDIA H200", None)
    assert check(json.dumps(whole), f"{row['id']}.json") == []


def test_every_missing_answer_is_asked_for_by_name_and_none_is_filled_in(capsys):
    assert main([]) == 2
    said = capsys.readouterr().err
    assert [name for name in ASKED if f"--{name}:" not in said] == []
    assert "--tool:" in said
    assert "FILE:" in said


@pytest.mark.parametrize("name", ASKED)
def test_each_one_alone_is_enough_to_refuse(run, name):
    code, whole, said = run(LINE, **{name: None})
    assert (code, whole) == (2, None)
    assert said.count("\n") == 2
    assert f"--{name}:" in said


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"hardware": "CUDA device 0"}, "names no device"),
        ({"hardware": "unknown"}, "--hardware cannot be unknown"),
        ({"hardware": "2x H200"}, "--hardware says 2 devices, --devices says 1"),
        ({"gamma": "three"}, "--gamma is 'three'"),
        ({"gamma": "1"}, "2.16279 tokens per pass from 1 drafts"),
        ({"ignore_eos": "maybe"}, "yes or no"),
        ({"temperature": "warm"}, "--temperature is 'warm'"),
        ({"software": "vllm"}, "NAME=VERSION"),
        ({"date": "yesterday"}, "YYYY-MM-DD"),
    ],
)
def test_answers_that_cannot_be_are_refused_in_words(run, changes, words):
    code, whole, said = run(LINE, **changes)
    assert (code, whole) == (1, None)
    assert words in said


def test_B02_the_flag_of_the_bonus_token_is_stored_and_the_length_is_on_one_definition(run):
    _, whole, _ = run(LINE.replace("length: 2.16", "length: 1.16"))
    assert (whole["rows"][0]["counts_bonus"], whole["rows"][0]["tokens_per_pass"]) == (False, 2.16279)


def test_B19_random_text_is_stored_as_what_it_is(run):
    _, whole, _ = run(LINE, dataset="random", ignore_eos="yes")
    found = check(json.dumps(whole), f"{whole['rows'][0]['id']}.json")
    assert [finding.level for finding in found] == ["remark"]


def test_B22_two_ways_of_drafting_are_two_rows(run):
    _, first, _ = run(LINE, draft_sampling="greedy", extra=("--id", "acceptance-a"))
    _, second, _ = run(LINE, draft_sampling="sampled at T=1", extra=("--id", "acceptance-b"))
    assert first["provenance"]["draft_sampling"] != second["provenance"]["draft_sampling"]
    assert first["rows"][0]["id"] != second["rows"][0]["id"]


def test_two_runs_in_one_file_are_not_one_measurement(run):
    code, whole, said = run(SGLANG * 2, tool="sglang")
    assert (code, whole) == (1, None)
    assert "no total" in said


def test_B32_no_infinity_reaches_a_file(run):
    code, whole, _ = run(SGLANG, tool="sglang", extra=("--note", "length of the server's whole life"))
    assert code == 0
    assert "Infinity" not in json.dumps(whole)
    assert whole["rows"][0]["value"] == 3.1


def test_the_wrong_tool_is_noticed(run):
    code, _, said = run(LINE, tool="llama.cpp")
    assert code == 1
    assert "the log was written by vllm" in said
    assert run(LINE, tool="tgi")[0] == 2


def test_problems_of_the_log_are_shown_with_their_lines(run):
    _, _, said = run("SpecDecoding metrics: ?\n" + LINE)
    assert said.startswith("line 1: unknown-shape:")


def test_B17_two_snapshots_of_counters_are_one_run(run):
    counters = (
        "vllm:spec_decode_num_drafts_total {}\nvllm:spec_decode_num_draft_tokens_total {}\n"
        "vllm:spec_decode_num_accepted_tokens_total {}\n"
    )
    code, whole, _ = run(counters.format(10, 30, 12) + counters.format(110, 330, 132))
    assert code == 0
    assert (whole["rows"][0]["rounds"], whole["rows"][0]["tokens_per_pass"]) == (100, 2.2)
    restarted, _, said = run(counters.format(10, 30, 12) + counters.format(1, 3, 1), method="other")
    assert restarted == 1
    assert "restart" in said


def test_nothing_is_overwritten(run):
    assert run(LINE)[0] == 0
    code, _, said = run(LINE)
    assert code == 1
    assert "is there already" in said


def test_B16_counters_of_vllm_V0_keep_their_rule(run):
    line = (
        "Speculative metrics: Draft acceptance rate: 0.655, System efficiency: 0.649, Number of speculative tokens: 4, "
        "Number of accepted tokens: 1735, Number of draft tokens: 2648, Number of emitted tokens: 2149.\n"
    )
    code, whole, said = run(line, gamma="4")
    assert code == 0, said
    assert whole["provenance"]["acceptance_rule"] == "independent"
    assert whole["rows"][0]["value"] == pytest.approx(2149 / 662, abs=1e-5)
