"""parse_log as text in, numbers out: one test for each shape that an engine printed, and for each fault others met.

Over 400 lines: engines printed many shapes.

The names B04, B25, ... are rows of the list of public reports that this project works through.
"""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.logs import Log, LogReader, Measured, parse_log
from sim.logs.record import MAX_PROBLEMS, MAX_RUNS

V0 = (
    "INFO 08-12 10:11:12 metrics.py:392] Speculative metrics: Draft acceptance rate: {}, System efficiency: {}, "
    "Number of speculative tokens: {}, Number of accepted tokens: {}, Number of draft tokens: {}, "
    "Number of emitted tokens: {}."
)
A = "Speculative metrics: Draft acceptance rate: 1.000, Number of accepted tokens: 66, Number of draft tokens: 66, "
B = "SpecDecoding metrics: Draft acceptance rate: 100.0%, Accepted: 66 tokens, Drafted: 66 tokens"
C = (
    "INFO 06-05 12:00:00 [metrics.py:86] SpecDecoding metrics: Draft acceptance rate: 38.8%, Mean acceptance length: "
    "2.16, Accepted: 150 tokens, Drafted: 387 tokens, Per-position acceptance rate: 0.543, 0.357, 0.264"
)
D = (
    "SpecDecoding metrics: Draft acceptance rate: 88.8%, Mean acceptance length: 5.44, Accepted throughput: 4.37 "
    "tokens/s, Drafted throughput: 4.92 tokens/s, Accepted: 262 tokens, Drafted: 295 tokens, Per-position acceptance "
    "rate: 0.983, 0.949, 0.915, 0.881, 0.712"
)
E = (
    "(APIServer pid=7) INFO 11-02 09:08:07 [metrics.py:96] SpecDecoding metrics: Mean acceptance length: 2.91, "
    "Accepted throughput: 0.72 tokens/s, Drafted throughput: 2.64 tokens/s, Accepted: 44 tokens, Drafted: 161 tokens, "
    "Per-position acceptance rate: 0.739, 0.478, 0.261, 0.174, 0.130, 0.087, 0.043, Avg Draft acceptance rate: 27.3%"
)
NOISE = '(APIServer pid=7) INFO:     10.0.0.1:5050 - "POST /v1/completions HTTP/1.1" 200 OK'


def only(text: str) -> Measured:
    """The one run of a text that gives no cause for complaint."""
    log = parse_log(text)
    assert log.problems == ()
    assert len(log.runs) == 1
    return log.runs[0]


def kinds(log: Log) -> list[tuple[int, str]]:
    return [(problem.line, problem.kind) for problem in log.problems]


# vLLM


@pytest.mark.parametrize(
    ("line", "rounds", "drafted", "accepted", "length", "bonus"),
    [
        (A, None, 66, 66, None, None),
        (B, None, 66, 66, None, None),
        (C, 129, 387, 150, 2.16, True),
        (D, 59, 295, 262, 5.44, True),
        (E, 23, 161, 44, 2.91, True),
    ],
    ids="abcde",
)
def test_B25_five_line_shapes_of_vllm_v1(line, rounds, drafted, accepted, length, bonus):
    one = only(f"{NOISE}\n{line}\n")
    assert (one.rounds, one.drafted, one.accepted, one.counts_bonus) == (rounds, drafted, accepted, bonus)
    assert one.rate == accepted / drafted
    assert one.length is None if length is None else one.length == pytest.approx(length, abs=0.005)
    assert one.scope == "interval"
    assert one.line == 2
    assert one.estimated == ()


def test_B25_a_sixth_shape_is_refused_with_its_line():
    log = parse_log(f"{NOISE}\nSpecDecoding metrics: Acceptance: 0.4 of 100 tokens\n")
    assert log.runs == ()
    assert log.total is None
    assert kinds(log) == [(2, "unknown-shape")]


def test_positions_count_from_zero_as_share_of_rounds():
    one = only(E)
    assert one.per_position == (0.739, 0.478, 0.261, 0.174, 0.130, 0.087, 0.043)
    assert math.fsum(one.per_position) == pytest.approx(one.length - 1, abs=0.01)


def test_intervals_add_up_to_a_run():
    log = parse_log("\n".join([C, NOISE, C, C]))
    assert len(log.runs) == 3
    total = log.total
    assert (total.rounds, total.drafted, total.accepted, total.scope) == (387, 1161, 450, "run")
    assert total.length == pytest.approx(1 + 450 / 387)
    assert total.per_position == pytest.approx((0.543, 0.357, 0.264))


def test_a_log_of_two_depths_adds_counts_but_has_no_common_positions():
    total = parse_log(f"{C}\n{D}").total
    assert (total.drafted, total.accepted, total.rounds) == (682, 412, 188)
    assert total.per_position is None


def test_lines_wrapped_by_a_log_collector_are_read():
    one = only('{"time": "2025-11-02", "log": "' + E + '\\n", "stream": "stderr"}\n')
    assert one.accepted == 44


def test_B16_the_V0_line_counts_agreement_after_a_rejection():
    one = only(V0.format("0.067", "0.167", 5, 1, 15, 3))
    assert (one.rounds, one.accepted, one.drafted, one.emitted) == (3, 1, 15, 3)
    assert one.rule == "independent"
    assert one.length == 1.0  # emitted / rounds; 1 + accepted / rounds would be 1.33
    assert one.scope == "lifetime"


@pytest.mark.parametrize(
    ("values", "rounds", "length"),
    [(("0.607", "0.510", 4, 32594, 53716, 34244), 13429, 2.550), (("0.655", "0.649", 4, 1735, 2648, 2149), 662, 3.246)],
)
def test_V0_lines_of_the_threads(values, rounds, length):
    one = only(V0.format(*values))
    assert one.rounds == rounds
    assert one.length == pytest.approx(length, abs=0.001)
    assert one.length / (values[2] + 1) == pytest.approx(float(values[1]), abs=0.0005)  # the printed efficiency


def test_B16_V0_and_prefix_counts_are_not_mixed():
    log = parse_log(V0.format("0.655", "0.649", 4, 1735, 2648, 2149) + "\n" + C)
    assert {run.rule for run in log.runs} == {"independent", "prefix"}
    assert log.total.rule == "prefix"
    assert log.total.drafted == 387


def test_B16_V0_counters_run_since_the_start_so_the_last_line_is_the_total():
    early, late = V0.format("0.500", "0.400", 4, 20, 40, 20), V0.format("0.550", "0.500", 4, 44, 80, 50)
    assert parse_log(f"{early}\n{late}").total.drafted == 80
    log = parse_log(f"{late}\n{early}")
    assert log.total is None
    assert (2, "restart") in kinds(log)


def test_B02_lengths_with_and_without_the_bonus_token_become_one():
    places = "0.800, 0.640, 0.512, 0.488"  # add up to 2.44
    line = (
        "SpecDecoding metrics: Draft acceptance rate: 61.0%, Mean acceptance length: {}, Accepted: 2440 tokens, "
        f"Drafted: 4000 tokens, Per-position acceptance rate: {places}"
    )
    without, with_bonus = only(line.format("2.44")), only(line.format("3.44"))
    assert (without.counts_bonus, with_bonus.counts_bonus) == (False, True)
    assert without.length == with_bonus.length == pytest.approx(3.44)


def test_B24_a_rate_and_a_length_that_do_not_fit_are_reported():
    log = parse_log(
        '{"duration": 1.0, "output_throughput": 5.0, "spec_decode_acceptance_rate": 65.0, '
        '"spec_decode_acceptance_length": 3.25, "spec_decode_per_position_acceptance_rates": '
        "[0.75, 0.6, 0.45, 0.3, 0.15]}"
    )
    assert kinds(log) == [(1, "inconsistent")]
    assert "4.25" in log.problems[0].message
    assert log.runs[0].rate == 0.65


def test_no_drafts_is_no_rate_and_neither_0_nor_nan():
    text = (
        "SpecDecoding metrics: Mean acceptance length: nan, Accepted throughput: 0.00 tokens/s, "
        "Drafted throughput: 0.00 tokens/s, Accepted: 0 tokens, Drafted: 0 tokens, "
        "Per-position acceptance rate: nan, nan, Avg Draft acceptance rate: nan%"
    )
    log = parse_log(f"{text}\n{C}")
    assert kinds(log) == [(1, "no-drafts")]
    empty = log.runs[0]
    assert (empty.drafted, empty.accepted, empty.rate, empty.length) == (0, 0, None, None)
    assert log.total.drafted == 387
    assert log.total.per_position is not None


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("Accepted: 150", "Accepted: -1", "count"),
        ("Accepted: 150", "Accepted: nan", "number"),
        ("Accepted: 150", "Accepted: 150.5", "count"),
        ("Accepted: 150", "Accepted: 388", "388 tokens accepted of 387"),
        ("38.8%", "138.8%", "outside"),
        ("38.8%", "nan%", "number"),
        ("length: 2.16", "length: 4.16", "at most 4"),
        ("length: 2.16", "length: inf", "number"),
        ("0.543, 0.357, 0.264", "0.543, 0.264, 0.357", "position 2"),
        ("0.543, 0.357, 0.264", "1.543, 0.357, 0.264", "position 0"),
        ("0.543, 0.357, 0.264", "0.543, -0.357, 0.264", "position 1"),
    ],
)
def test_impossible_values_are_refused_with_line_and_reason(old, new, word):
    log = parse_log(f"{NOISE}\n{C.replace(old, new)}\n{C}")
    assert kinds(log)[0] == (2, "impossible")
    assert word in log.problems[0].message
    assert [run.line for run in log.runs] == [3]


def test_a_printed_rate_that_contradicts_the_counts_is_reported_and_the_counts_win():
    log = parse_log(C.replace("38.8%", "48.8%"))
    assert kinds(log) == [(1, "inconsistent")]
    assert log.runs[0].rate == 150 / 387


def test_rounds_behind_a_rounded_mean_are_marked_as_estimate():
    varying = (
        "SpecDecoding metrics: Draft acceptance rate: 43.6%, Mean acceptance length: 2.31, Accepted: 15000 tokens, "
        "Drafted: 34400 tokens, Per-position acceptance rate: 0.600, 0.420, 0.290"
    )
    one = parse_log(varying).runs[0]
    assert one.estimated == ("rounds",)
    assert one.rounds == pytest.approx(11450, rel=0.01)
    assert one.length == 2.31


def test_offline_example_script():
    one = only(
        "total_num_output_tokens: 16994\nnum_drafts: 4687\nnum_draft_tokens: 46870\nnum_accepted_tokens: 12368\n"
        "mean acceptance length: 3.64\n" + "-" * 50 + "\n"
    )
    assert (one.rounds, one.drafted, one.accepted) == (4687, 46870, 12368)
    assert one.length == pytest.approx(3.64, abs=0.005)
    assert one.extra["output_tokens"] == 16994


def positions(first: int) -> str:
    lines = ["num_drafts: 100", "num_draft_tokens: 300", "num_accepted_tokens: 150", "mean acceptance length: 2.50"]
    shares = ("0.80", "0.50", "0.20")
    return "\n".join(lines + [f"acceptance at token {first + i}: {share}" for i, share in enumerate(shares)])


def test_B26_positions_labelled_from_0_and_from_1_are_the_same_positions():
    assert only(positions(0)).per_position == (0.8, 0.5, 0.2)
    shifted = parse_log(positions(1))
    assert shifted.runs[0].per_position == (0.8, 0.5, 0.2)
    assert [problem.kind for problem in shifted.problems] == ["inconsistent"]
    assert parse_log(positions(3)).runs[0].per_position is None


def test_per_request_object_of_vllm():
    one = only(
        '{"id": "x", "metrics": {"speculative_decoding": {"mean_acceptance_length": 1.2326, "draft_acceptance_rate": '
        '0.0775, "acceptance_histogram": [39,1,0,3], "num_spec_steps": 43, "num_accepted_draft_tokens": 10, '
        '"num_draft_tokens": 129, "num_spec_tokens": 3}}}'
    )
    assert (one.rounds, one.drafted, one.accepted) == (43, 129, 10)
    assert one.per_position == (4 / 43, 3 / 43, 3 / 43)
    assert one.length == 1 + 10 / 43


CONSOLE = """\
============ Serving Benchmark Result ============
Successful requests:                     80
Request rate configured (RPS):           4.00
Benchmark duration (s):                  612.40
Output token throughput (tok/s):         410.61
Mean TPOT (ms):                          7.01
---------------Speculative Decoding---------------
Acceptance rate (%):                     31.30
Acceptance length:                       1.94
Drafts:                                  42172
Draft tokens:                            126516
Accepted tokens:                         39598
Per-position acceptance (%):
  Position 0:                            54.15
  Position 1:                            26.30
  Position 2:                            13.45
==================================================
"""


def test_console_of_vllm_bench_serve():
    one = only(CONSOLE)
    assert (one.rounds, one.drafted, one.accepted, one.counts_bonus) == (42172, 126516, 39598, True)
    assert one.per_position == pytest.approx((0.5415, 0.2630, 0.1345))
    assert one.rate == pytest.approx(0.313, abs=5e-4)
    assert one.scope == "run"


def test_B18_output_throughput_is_per_wall_second_and_decode_speed_comes_from_TPOT():
    extra = only(CONSOLE).extra
    assert extra["output_tokens_per_wall_second"] == 410.61
    assert extra["decode_tokens_per_second"] == pytest.approx(1000 / 7.01)
    assert "output_throughput" not in extra


BENCH = (
    '{"duration": 83.2, "completed": 80, "output_throughput": 410.61, "mean_tpot_ms": 7.01, '
    '"spec_decode_acceptance_rate": 50.0, "spec_decode_acceptance_length": 2.8, "spec_decode_num_drafts": 5, '
    '"spec_decode_draft_tokens": 18, "spec_decode_accepted_tokens": 9, '
    '"spec_decode_per_position_acceptance_rates": [1.0, 0.6, 0.2]}'
)


def test_bench_json_of_vllm_with_a_depth_that_varies():
    one = only(BENCH)
    assert (one.rounds, one.drafted, one.accepted, one.rate, one.length) == (5, 18, 9, 0.5, 2.8)
    assert one.per_position == (1.0, 0.6, 0.2)


def test_bench_json_may_be_spread_over_lines():
    import json

    assert parse_log(json.dumps(json.loads(BENCH), indent=2)).runs[0].accepted == 9
    assert parse_log(json.dumps([json.loads(BENCH)], indent=1)).runs[0].accepted == 9


def test_bench_json_without_drafts_is_unknown_not_zero():
    log = parse_log('{"duration": 83.2, "completed": 80, "output_throughput": 410.61}')
    assert log.runs[0].drafted is None
    assert kinds(log) == [(1, "missing")]


def test_B07_a_peak_below_the_mean_counts_chunks_and_is_left_out():
    log = parse_log(BENCH.replace('"completed"', '"max_output_tokens_per_s": 113.0, "completed"'))
    assert kinds(log) == [(1, "inconsistent")]
    assert "113" in log.problems[0].message
    assert "peak_output_tokens_per_second" not in log.runs[0].extra


# counters


def snapshot(engines: list[int], *, created: bool = True, prefix: str = "vllm", total: str = "_total") -> str:
    lines = ["# HELP vllm:spec_decode_num_drafts_total Number of spec decoding drafts.", "# TYPE x counter"]
    for engine, drafts in enumerate(engines):
        label = f'engine="{engine}",model_name="m"'
        for name, value in (("num_drafts", drafts), ("num_draft_tokens", 3 * drafts), ("num_accepted_tokens", drafts)):
            lines.append(f"{prefix}:spec_decode_{name}{total}{{{label}}} {float(value)}")
            if created:
                lines.append(f"{prefix}:spec_decode_{name}_created{{{label}}} 1.7e+09")
        per = f"{prefix}:spec_decode_num_accepted_tokens_per_pos{total}"
        lines.append(f'{per}{{{label},position="0"}} {float(drafts)}')
        lines.extend(f'{per}{{{label},position="{place}"}} 0.0' for place in (1, 2))
    return "\n".join(lines) + "\n"


def test_B11_eight_engines_add_up_and_created_lines_are_times():
    log = parse_log(snapshot([22, 15, 29, 20, 25, 24, 27, 26]))
    assert log.problems == ()
    assert [run.engine for run in log.runs] == list("01234567")
    assert [run.rounds for run in log.runs] == [22, 15, 29, 20, 25, 24, 27, 26]
    assert log.total.rounds == 188
    assert log.total.per_position == (1.0, 0.0, 0.0)


def test_B17_one_snapshot_describes_the_life_of_the_server():
    log = parse_log(snapshot([10]))
    assert log.runs[0].scope == log.total.scope == "lifetime"


def test_B17_two_snapshots_give_their_difference():
    log = parse_log(snapshot([10, 5]) + snapshot([30, 6]))
    assert log.problems == ()
    assert [(run.engine, run.rounds, run.scope) for run in log.runs] == [("0", 20, "run"), ("1", 1, "run")]
    assert (log.total.rounds, log.total.drafted, log.total.scope) == (21, 63, "run")


@pytest.mark.parametrize(
    "second",
    [snapshot([4]), snapshot([30]).replace("1.7e+09", "1.8e+09")],
    ids=["smaller", "created later"],
)
def test_B17_a_restart_between_two_snapshots_is_an_error(second):
    log = parse_log(snapshot([10]) + second)
    assert log.runs == ()
    assert log.total is None
    assert [problem.kind for problem in log.problems] == ["restart"]


def test_three_snapshots_are_two_intervals():
    log = parse_log(snapshot([1]) + snapshot([4]) + snapshot([9]))
    assert [(run.rounds, run.scope) for run in log.runs] == [(3, "interval"), (5, "interval")]
    assert log.total.rounds == 8


def test_an_engine_in_one_snapshot_only_leaves_no_total():
    log = parse_log(snapshot([1]) + snapshot([4, 2]))
    assert [run.rounds for run in log.runs] == [3]
    assert log.total is None
    assert [problem.kind for problem in log.problems] == ["missing"]


def test_counters_of_llama_cpp_with_and_without_total():
    for total in ("", "_total"):
        log = parse_log(snapshot([7], created=False, prefix="llamacpp", total=total))
        assert (log.tool, log.total.rounds, log.total.drafted) == ("llama.cpp", 7, 21)


def test_a_counter_that_is_no_count_is_refused():
    log = parse_log('vllm:spec_decode_num_drafts_total{engine="0"} NaN\nvllm:spec_decode_num_drafts_total 1.5\n')
    assert kinds(log) == [(1, "impossible"), (2, "impossible")]
    assert log.runs == ()


def test_a_missing_counter_is_unknown():
    log = parse_log('vllm:spec_decode_num_accepted_tokens_total{engine="0"} 5.0\n')
    assert (log.runs[0].accepted, log.runs[0].drafted, log.runs[0].rate) == (5, None, None)
    assert kinds(log) == [(1, "missing")]


# SGLang


def sglang(length: str, rate: str, mark: str = ",") -> str:
    return (
        f"[2025-12-01 10:00:00 TP0] Decode batch{mark} #running-req: 48, #token: 3894, token usage: 0.00, accept len: "
        f"{length}, accept rate: {rate}, cuda graph: True, gen throughput (token/s): 6138.60, #queue-req: 0, "
    )


def test_B04_the_old_rate_of_SGLang_is_never_shown_as_eleven_percent():
    log = parse_log(sglang("1.00", "0.11"))
    assert log.runs[0].rate == 0.0
    assert log.runs[0].length == 1.0
    assert [problem.kind for problem in log.problems] == ["biased"]
    assert "k = 8" in log.problems[0].message


@pytest.mark.parametrize("mark", [",", "."])
def test_B04_the_rule_is_found_from_all_lines_together(mark):
    old = parse_log("\n".join([sglang("2.50", "0.50", mark), sglang("3.20", "0.64", mark)]))
    assert [run.rate for run in old.runs] == pytest.approx([1.5 / 4, 2.2 / 4])
    new = parse_log("\n".join([sglang("2.50", "0.50", mark), sglang("3.20", "0.73", mark)]))
    assert [run.rate for run in new.runs] == [0.5, 0.73]
    assert [problem.kind for problem in new.problems] == ["missing"]  # means without counts have no total


def test_B04_a_rate_that_fits_both_rules_stays_unknown_unless_the_server_states_its_depth():
    log = parse_log(sglang("2.50", "0.50"))
    assert log.runs[0].rate is None
    assert [problem.kind for problem in log.problems] == ["ambiguous"]
    server = "server_args=ServerArgs(speculative_num_steps=3, speculative_num_draft_tokens=4)\n"
    told = parse_log(server + sglang("2.50", "0.50"))
    assert told.runs[0].rate == 0.5


def test_hybrid_models_and_cpu_builds_print_other_words_around_the_same_fields():
    line = sglang("1.80", "0.40").replace("#token: 3894, token usage", "#full token: 3894, full token usage")
    assert parse_log(line.replace("cuda graph", "cpu graph")).runs[0].length == 1.8
    assert parse_log(sglang("1.80", "0.40").replace("#running-req: 48, ", "")).runs[0].length == 1.8


def test_B30_two_length_formulas_differ_by_the_token_of_the_prefill():
    first = only(
        '{"completion_tokens":200,"spec_accept_rate":0.0117,"spec_accept_length":1.0638,"spec_verify_ct":188,'
        '"spec_accept_token_num":11,"spec_draft_token_num":940,"e2e_latency":1.7587}'
    )
    assert first.length == 1 + 11 / 188
    assert first.extra["printed_accept_length"] == 1.0638
    second = only(
        '{"usage": {"completion_tokens": 106}, "sglext": {"spec_tokens_details": {"spec_accept_rate":0.2930,'
        '"spec_accept_length":2.4651,"spec_num_correct_drafts":63,"spec_num_proposed_drafts":215,"spec_verify_ct":43,'
        '"spec_correct_drafts_histogram":[11,14,11,4,0,3]}}}'
    )
    assert second.length == pytest.approx(2.4651, abs=5e-5)
    assert second.per_position[0] == 32 / 43
    gap = parse_log(
        '{"completion_tokens":260,"spec_verify_ct":188,"spec_accept_token_num":11,"spec_draft_token_num":940}'
    )
    assert [problem.kind for problem in gap.problems] == ["inconsistent"]


def test_B32_bare_infinity_is_unbounded_and_every_line_is_read():
    line = (
        '{{"backend": "sglang", "request_rate": {}, "max_concurrency": null, "duration": 10.5, "completed": 4, '
        '"total_output_tokens": 512, "output_throughput": 48.7, "accept_length": {}}}\n'
    )
    log = parse_log(line.format("Infinity", "5.86") + line.format("4.0", "null") + line.format("Infinity", "3.1"))
    assert [run.extra["request_rate"] for run in log.runs] == ["unbounded", 4.0, "unbounded"]
    assert [run.length for run in log.runs] == [5.86, None, 3.1]
    assert [run.rate for run in log.runs] == [None, None, None]
    assert log.total is None
    assert (2, "missing") in kinds(log)


def test_B32_the_console_prints_inf_and_not_set():
    log = parse_log(
        "============ Serving Benchmark Result ============\nBackend:                                 sglang\n"
        "Traffic request rate:                    inf\nMax request concurrency:                 not set\n"
        "Benchmark duration (s):                  10.50\nAccept length:                           5.86\n" + "=" * 50
    )
    assert log.tool == "sglang"
    assert log.runs[0].length == 5.86
    assert log.runs[0].extra["request_rate"] == "unbounded"
    assert "max_concurrency" not in log.runs[0].extra


def test_gauges_and_server_info_of_SGLang():
    assert parse_log('sglang:spec_accept_length{model_name="m"} 2.31\n').runs[0].length == 2.31
    info = parse_log('{"internal_states": [{"avg_spec_accept_length": 2.5}, {"avg_spec_accept_length": 2.6}]}')
    assert [(run.engine, run.length) for run in info.runs] == [("0", 2.5), ("1", 2.6)]
    assert {run.scope for run in info.runs} == {"lifetime"}


# llama.cpp

BLOCK = """\
encoded   12 tokens in    0.514 seconds, speed:   23.325 t/s
decoded  371 tokens in   34.412 seconds, speed:   10.781 t/s

n_draft   = 16
n_predict = 371
n_drafted = 912
n_accept  = 313
accept    = 34.320%

draft:

llama_perf_context_print:        load time =     0.00 ms
llama_perf_context_print:       total time =      inf ms /    12 tokens
"""


def test_block_of_llama_speculative():
    log = parse_log(BLOCK)
    one = log.runs[0]
    assert (one.drafted, one.accepted, one.rounds, one.rate) == (912, 313, 58, 313 / 912)
    assert one.length == 371 / 58
    assert one.estimated == ("rounds", "length")
    assert [problem.kind for problem in log.problems] == ["estimate"]
    assert log.tool == "llama.cpp"


def test_block_of_2023():
    log = parse_log("n_draft   = 8\nn_predict = 129\nn_drafted = 132\nn_accept  = 47\naccept    = 35.606%\n")
    assert log.runs[0].rate == pytest.approx(0.35606, abs=5e-6)


def test_a_block_cut_off_before_its_counts_is_named():
    log = parse_log("n_draft   = 8\nn_predict = 129\n")
    assert kinds(log) == [(1, "missing")]


SERVER = (
    "0.06.896.015 I slot print_timing: id  1 | task 0 | draft acceptance = 0.64479 (  167 accepted /   259 generated), "
    "mean acceptance length =  2.92, acceptance rate per position = (0.805, 0.632, 0.483)"
)
STATISTICS = (
    "0.06.896.020 I statistics     draft-eagle3: #calls(b,g,a) =    1     87     87, #gen drafts =     87, "
    "#acc drafts =    70, #gen tokens =    259, #acc tokens =   167, #mean acc len = 2.92, "
    "#acc rate/pos = (0.805, 0.632, 0.483), dur(b,g,a) = 0.005, 325.555, 0.114 ms"
)


def test_server_lines_of_llama_cpp_are_counted_once():
    log = parse_log(f"{SERVER}\n{STATISTICS}\n")
    assert log.problems == ()
    assert [(run.scope, run.rounds) for run in log.runs] == [("run", 87), ("lifetime", 87)]
    assert (log.total.rounds, log.total.drafted, log.total.accepted) == (87, 259, 167)
    assert parse_log(STATISTICS).total.rounds == 87


TIMINGS = (
    '{"prompt_n":1,"prompt_ms":228.522,"predicted_n":200,"predicted_ms":11082.606,"predicted_per_second":18.046,'
    '"draft_n":347,"draft_n_accepted":65}'
)


def test_B15_rounds_are_an_estimate_where_the_timings_do_not_count_them():
    one = parse_log(f'{{"timings": {TIMINGS}}}').runs[0]
    assert one.rate == pytest.approx(0.187, abs=5e-4)
    assert one.length == pytest.approx(1.48, abs=0.005)
    assert "length" in one.estimated


def test_B13_missing_counters_are_unknown_and_zero_is_zero():
    missing = parse_log('{"timings": {"predicted_n": 200, "predicted_ms": 11082.6}}').runs[0]
    zero = parse_log('{"timings": {"predicted_n": 200, "draft_n": 0, "draft_n_accepted": 0}}')
    assert (missing.drafted, missing.accepted, missing.length) == (None, None, None)
    assert (zero.runs[0].drafted, zero.runs[0].accepted, zero.runs[0].rate) == (0, 0, None)
    assert [problem.kind for problem in zero.problems] == ["no-drafts"]
    none_kept = parse_log('{"timings": {"predicted_n": 200, "draft_n": 90, "draft_n_accepted": 0}}').runs[0]
    assert none_kept.rate == 0.0


def test_llama_bench_gives_plain_speed_and_drops_the_private_path():
    log = parse_log(
        '[\n  {\n    "build_commit": "abc", "model_filename": "/home/me/secret.gguf", "n_prompt": 0, "n_gen": 128,\n'
        '    "avg_ts": 60.984063, "stddev_ts": 0.844204\n  }\n]\n'
    )
    assert log.runs[0].extra["avg_ts"] == 60.984063
    assert "secret" not in repr(log)


# the whole text


def test_unknown_text_says_so():
    assert kinds(parse_log("")) == [(0, "nothing")]
    assert kinds(parse_log("hello\nworld")) == [(0, "nothing")]


def test_logs_of_two_tools_are_listed_but_not_added():
    log = parse_log(f"{C}\n{SERVER}")
    assert log.tool == "mixed"
    assert len(log.runs) == 2
    assert log.total is None


def test_half_a_json_file_is_named():
    assert kinds(parse_log(BENCH[:150])) == [(1, "not-json")]
    assert kinds(parse_log('{\n "spec_decode_num_drafts": 5,\n')) == [(1, "not-json")]


def test_a_broken_json_object_does_not_swallow_the_lines_after_it():
    log = parse_log('{\n "spec_decode_num_drafts": 5,\n' + C)
    assert [run.accepted for run in log.runs] == [150]


def test_windows_line_ends_and_lines_without_ends():
    text = f"{NOISE}\r\n{C}\r\n{BLOCK}"
    assert [run.accepted for run in parse_log(text.replace("\n", "\r\n").replace("\r\r", "\r")).runs] == [150, 313]
    assert [run.accepted for run in parse_log(text.splitlines()).runs] == [150, 313]


def test_reading_in_pieces_is_reading_at_once():
    lines = f"{C}\n{BLOCK}{CONSOLE}{snapshot([3, 4])}{SERVER}\n".splitlines(keepends=True)
    reader = LogReader()
    for start in range(0, len(lines), 7):
        reader.feed(lines[start : start + 7])
    assert reader.finish() == parse_log("".join(lines))


def test_memory_is_bounded_and_the_total_is_not_cut():
    log = parse_log(C for _ in range(MAX_RUNS + 100))
    assert len(log.runs) == MAX_RUNS
    assert log.total.accepted == 150 * (MAX_RUNS + 100)
    assert kinds(log) == [(0, "cut")]
    common = parse_log(E for _ in range(MAX_RUNS + 100))
    assert (common.total.accepted, common.total.rounds) == (44 * (MAX_RUNS + 100), 23 * (MAX_RUNS + 100))
    broken = parse_log("SpecDecoding metrics: ?" for _ in range(MAX_PROBLEMS + 9))
    assert len(broken.problems) == MAX_PROBLEMS + 1


def numbers(log: Log) -> list[float]:
    found: list[float] = []
    for one in (*log.runs, *([log.total] if log.total else [])):
        values = [one.rate, one.length, *(one.per_position or ()), *one.extra.values()]
        found.extend(value for value in values if isinstance(value, float))
    return found


SAMPLES = [A, B, C, D, E, V0.format("0.067", "0.167", 5, 1, 15, 3), BLOCK, CONSOLE, BENCH, SERVER, STATISTICS, TIMINGS]
SAMPLES += [sglang("1.00", "0.11"), snapshot([3]), positions(0)]
ODD = ["nan", "inf", "-1", "1e999", "0", "9" * 40, "", "%", '"', "{", "}", "[", "\n", "١", "Infinity", "1.2.3", "="]


@given(st.text(max_size=400))
@settings(max_examples=150, deadline=None)
def test_any_text_is_read_without_an_exception(text):
    assert all(math.isfinite(number) for number in numbers(parse_log(text)))


@given(st.data())
@settings(max_examples=250, deadline=None)
def test_known_shapes_with_anything_in_them_never_raise_and_never_give_nan(data):
    text = "\n".join(data.draw(st.lists(st.sampled_from(SAMPLES), min_size=1, max_size=3)))
    for _ in range(data.draw(st.integers(0, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 12)))
        text = text[:start] + data.draw(st.sampled_from(ODD)) + text[end:]
    log = parse_log(text)
    assert all(math.isfinite(number) for number in numbers(log))
    for one in log.runs:
        assert one.rate is None or 0 <= one.rate <= 1
        assert one.accepted is None or one.drafted is None or one.accepted <= one.drafted
        assert one.per_position is None or list(one.per_position) == sorted(one.per_position, reverse=True)


@given(st.lists(st.integers(0, 40), min_size=2, max_size=6).filter(lambda counts: sum(counts) and sum(counts[1:])))
@settings(max_examples=100, deadline=None)
def test_a_line_written_from_counts_is_read_back_to_them(histogram):
    """Any run of constant depth that vLLM could print comes back with its very counts."""
    rounds, depth = sum(histogram), len(histogram) - 1
    accepted = sum(kept * count for kept, count in enumerate(histogram))
    places = [sum(histogram[place + 1 :]) / rounds for place in range(depth)]
    line = (
        f"SpecDecoding metrics: Mean acceptance length: {1 + accepted / rounds:.2f}, "
        f"Accepted throughput: 1.00 tokens/s, Drafted throughput: 2.00 tokens/s, "
        f"Accepted: {accepted} tokens, Drafted: {rounds * depth} tokens, "
        f"Per-position acceptance rate: {', '.join(f'{share:.3f}' for share in places)}, Avg Draft acceptance rate: "
        f"{100 * accepted / (rounds * depth):.1f}%"
    )
    one = only(line)
    assert (one.rounds, one.drafted, one.accepted) == (rounds, rounds * depth, accepted)
    assert one.length == 1 + accepted / rounds
