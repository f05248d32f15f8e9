"""How fast `sim.parse_log` reads: 100 MB of mixed server log in one pass, beside the plain reading of its lines.

Why it exists: the page reads a reader's own log in the browser, so reading must stay within a small multiple of the
time that the lines alone take, and memory must not grow with the file.
`python -m bench.log_speed [MB]` prints the figure; `measure()` returns it as rows of docs/data.

It must not know: where the rows are stored.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.rows import row
from sim.logs import parse_log

__all__ = ["MIXES", "measure", "write_log"]

MIXES = {"server": 0.05, "dense": 0.5}
"""Share of lines that state acceptance. A busy server prints one such line in ten seconds beside hundreds of others, so
5 % is already more than a log holds; 50 % shows what the lines themselves cost."""
COUNTED = "counted by tracemalloc, the same in every repeat"
LIMIT = 10.0
"""parse_log over plain reading, for the server's log."""


def _other(draw: random.Random) -> str:
    """A line of a server log that says nothing about speculation."""
    choice = draw.random()
    stamp = f"INFO 11-02 10:{draw.randrange(60):02}:{draw.randrange(60):02}"
    if choice < 0.5:
        address = f"10.0.{draw.randrange(256)}.{draw.randrange(256)}:{draw.randrange(1024, 65536)}"
        return f'(APIServer pid=4242) INFO:     {address} - "POST /v1/chat/completions HTTP/1.1" 200 OK'
    if choice < 0.8:
        prompt, output = draw.random() * 900, draw.random() * 2000
        return (
            f"(APIServer pid=4242) {stamp} [loggers.py:127] Engine 000: Avg prompt throughput: {prompt:.1f} tokens/s, "
            f"Avg generation throughput: {output:.1f} tokens/s, Running: {draw.randrange(64)} reqs, Waiting: 0 reqs, "
            f"GPU KV cache usage: {draw.random() * 100:.1f}%, Prefix cache hit rate: {draw.random() * 100:.1f}%"
        )
    if choice < 0.95:
        return (
            f"[2025-11-02 10:{draw.randrange(60):02}:{draw.randrange(60):02} TP0] Prefill batch. #new-seq: 1, "
            f"#new-token: {draw.randrange(4096)}, "
            f"#cached-token: {draw.randrange(4096)}, token usage: {draw.random():.2f}, #queue-req: 0, "
        )
    return f"{stamp} [scheduler.py:88] request-{draw.getrandbits(64):016x}: finished, reason=stop, cached=0"


def _vllm(draw: random.Random) -> str:
    depth = draw.choice((3, 5, 7))
    rounds = draw.randrange(20, 2000)
    counts = [rounds]
    for _ in range(depth):
        counts.append(sum(draw.random() < 0.7 for _ in range(counts[-1])) if counts[-1] < 60 else int(counts[-1] * 0.7))
    accepted, drafted = sum(counts[1:]), rounds * depth
    places = ", ".join(f"{count / rounds:.3f}" for count in counts[1:])
    return (
        f"(APIServer pid=4242) INFO 11-02 10:00:00 [metrics.py:100] SpecDecoding metrics: Mean acceptance length: "
        f"{1 + accepted / rounds:.2f}, Accepted throughput: {accepted / 10:.2f} tokens/s, Drafted throughput: "
        f"{drafted / 10:.2f} tokens/s, Accepted: {accepted} tokens, Drafted: {drafted} tokens, Per-position acceptance "
        f"rate: {places}, Avg Draft acceptance rate: {100 * accepted / drafted:.1f}%"
    )


def _sglang(draw: random.Random) -> str:
    kept = draw.random() * 4
    return (
        f"[2025-11-02 10:00:00 TP0] Decode batch. #running-req: {draw.randrange(1, 64)}, "
        f"#token: {draw.randrange(9000)}, token usage: 0.03, accept len: {1 + kept:.2f}, "
        f"accept rate: {(1 + kept) / 5:.2f}, cuda graph: True, gen throughput (token/s): "
        f"{draw.random() * 6000:.2f}, #queue-req: 0, "
    )


def _llama(draw: random.Random) -> str:
    rounds = draw.randrange(20, 300)
    counts = [int(rounds * share) for share in (0.8, 0.6, 0.45)]
    accepted, drafted = sum(counts), rounds * 3
    places = ", ".join(f"{count / rounds:.3f}" for count in counts)
    return (
        f"0.06.896.015 I slot print_timing: id  1 | task 0 | draft acceptance = {accepted / drafted:.5f} ("
        f"{accepted:5d} accepted / {drafted:5d} generated), mean acceptance length = {1 + accepted / rounds:5.2f}, "
        f"acceptance rate per position = ({places})"
    )


def write_log(path: Path, megabytes: float, share: float, seed: int = 0) -> None:
    """A log of that size in which `share` of the lines state acceptance, in the shapes of three engines."""
    draw = random.Random(seed)
    block = []
    size = 0
    while size < 1_000_000:
        stated = draw.random() < share
        line = draw.choice((_vllm, _vllm, _sglang, _llama))(draw) if stated else _other(draw)
        block.append(line)
        size += len(line) + 1
    text = "\n".join(block) + "\n"
    with path.open("w", encoding="utf-8", newline="\n") as out:
        left = int(megabytes * 1e6)
        while left > 0:
            out.write(text if left >= len(text) else text[: text.index("\n", min(left, len(text) - 1)) + 1])
            left -= len(text)


# Processor time, not the wall clock: both sides are pure computing, and a busy neighbour would only add noise.


def _plain(path: Path) -> float:
    start = time.process_time()
    with path.open(encoding="utf-8") as lines:
        for _ in lines:
            pass
    return time.process_time() - start


def _parsed(path: Path) -> float:
    start = time.process_time()
    with path.open(encoding="utf-8") as lines:
        parse_log(lines)
    return time.process_time() - start


def _peak(path: Path, lines_read: int) -> float:
    """Highest memory of Python objects while reading the first lines, in MB."""

    def some() -> Iterator[str]:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines):
                if number == lines_read:
                    return
                yield line

    tracemalloc.start()
    parse_log(some())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def measure(
    megabytes: float = 100.0, repeats: int = 5, lines: tuple[int, int] = (150_000, 450_000)
) -> list[dict[str, Any]]:
    """Rows for docs/data/measured: seconds for reading and for parsing, their quotient, and the peak memory."""
    rows: list[dict[str, Any]] = []
    for name, share in MIXES.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "mixed.log"
            write_log(path, megabytes, share)
            _plain(path)  # warm the file cache
            pairs = [(_plain(path), _parsed(path)) for _ in range(repeats)]
            about = f"{megabytes:g} MB of log, {share:.0%} of the lines state acceptance"
            for key, what, unit, values in (
                ("read", f"reading the lines of {about}, processor time", "s", [plain for plain, _ in pairs]),
                ("parse", f"parse_log over {about}, processor time", "s", [parsed for _, parsed in pairs]),
                ("ratio", f"parse_log over plain reading, {about}", "×", [parsed / plain for plain, parsed in pairs]),
            ):
                rows.append(row(f"parse-log-{name}-{key}", what, unit, values, warmup=1))
            for count in lines:
                what = f"peak memory of Python objects in parse_log after {count:,} lines, {share:.0%} state acceptance"
                rows.append(
                    row(f"parse-log-{name}-memory-{count}", what, "MB", [_peak(path, count)], warmup=0, note=COUNTED)
                )
    return rows


def main(arguments: list[str]) -> int:
    """Print the figure; exit 1 when parsing takes more than ten times the reading."""
    rows = measure(float(arguments[0]) if arguments else 100.0)
    for one in rows:
        print(f"{one['value']:10.3f} {one['unit']:<3} {one['quantity']}")
    slow = [one for one in rows if one["id"] == "parse-log-server-ratio" and one["value"] > LIMIT]
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
