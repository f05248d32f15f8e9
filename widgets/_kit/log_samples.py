"""What engines print, made up in their shapes: the samples that `diagnose` opens on.

A module of its own because it is data. The shapes are those `sim.logs` reads; the numbers are plausible and nobody's.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["SAMPLES"]

_V1 = (
    "INFO 09-02 10:00:01 [metrics.py:96] SpecDecoding metrics: Mean acceptance length: {length}, Accepted throughput:"
    " {fast} tokens/s, Drafted throughput: 30.00 tokens/s, Accepted: {kept} tokens, Drafted: {drafted} tokens, "
    "Per-position acceptance rate: {places}, Avg Draft acceptance rate: {rate}%"
)


def _v1(kept: str, drafted: str, length: str, rate: str, places: str) -> str:
    """A line as vLLM has printed it since 2025, with these numbers in it."""
    words = {"fast": "13.60", "kept": kept, "drafted": drafted, "length": length, "rate": rate}
    line = _V1
    for name, word in {**words, "places": places}.items():
        line = line.replace("{" + name + "}", word)
    return line


SAMPLES: Mapping[str, tuple[str, str]] = {
    "vllm": (
        "vLLM, chat, a trained head",
        "\n".join(
            (
                _v1("136", "300", "2.36", "45.3", "0.680, 0.420, 0.260"),
                _v1("152", "330", "2.38", "46.1", "0.682, 0.427, 0.273"),
                _v1("118", "270", "2.31", "43.7", "0.656, 0.411, 0.244"),
            )
        ),
    ),
    "lookup": (
        "vLLM, code edits, n-gram look-up",
        _v1("1448", "7000", "2.45", "20.7", "0.263, 0.241, 0.222, 0.203, 0.186, 0.172, 0.161"),
    ),
    "sglang": (
        "SGLang’s scheduler, before April 2026",
        "\n".join(
            f"Decode batch, #running-req: 1, #token: 1{place}00, token usage: 0.01, accept len: {length}, accept rate:"
            f" {rate}, cuda graph: True, gen throughput (token/s): 244.10, #queue-req: 0, "
            for place, length, rate in (("2", "2.71", "0.68"), ("3", "2.64", "0.66"), ("4", "2.80", "0.70"))
        ),
    ),
    "llamacpp": (
        "llama.cpp’s server, one request",
        "prompt eval time = 300.11 ms / 20 tokens ( 15.01 ms per token, 66.64 tokens per second)\n"
        "slot print_timing: id  1 | task 0 | draft acceptance = 0.64479 (  167 accepted /   259 generated), mean"
        " acceptance length =  2.92, acceptance rate per position = (0.805, 0.632, 0.483)",
    ),
    "counters": (
        "one snapshot of vLLM’s counters",
        "\n".join(
            f'vllm:spec_decode_num_{name}{{engine="0",model_name="m"{place}}} {value}.0'
            for name, place, value in (
                ("drafts_total", "", "5000"),
                ("draft_tokens_total", "", "15000"),
                ("accepted_tokens_total", "", "6900"),
                ("accepted_tokens_per_pos_total", ',position="0"', "3300"),
                ("accepted_tokens_per_pos_total", ',position="1"', "2200"),
                ("accepted_tokens_per_pos_total", ',position="2"', "1400"),
            )
        ),
    ),
    "random": (
        "a benchmark on random tokens",
        "Namespace(backend='vllm', dataset_name='random', random_input_len=1024, ignore_eos=True)\n"
        "{" + '"duration": 83.2, "completed": 80, "dataset_name": "random", "output_throughput": 410.61,'
        ' "mean_tpot_ms": 7.01, "spec_decode_acceptance_rate": 31.3, "spec_decode_acceptance_length": 1.94,'
        ' "spec_decode_num_drafts": 42172, "spec_decode_draft_tokens": 126516, "spec_decode_accepted_tokens": 39598,'
        ' "spec_decode_per_position_acceptance_rates": [0.5415, 0.259, 0.1385]' + "}",
    ),
}
"""By key: what the reader sees in the list, and the text itself."""
