"""`python -m bench COMMAND …`: one line a command, each in a file of its own name.

It must not know what the commands do; a command whose packages are missing says so itself.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys

COMMANDS = {
    "check": ("bench.check", "FILE…  validate data files and ask about what looks wrong"),
    "import": ("bench.importer", "FILE… --tool … --hardware … --out DIR  turn an engine's log into a data file"),
    "run": ("bench.run", "SUITE|all --device cuda|cpu --out DIR  measure"),
    "merge": ("bench.merge", "FILE… --out FILE  shards of a suite, or a suite from two devices, as one file"),
    "schema": ("bench.schema", "write docs/data/schema.json"),
    "log-speed": ("bench.log_speed", "[MB]  how fast logs are read"),
    "kernel-speed": ("bench.kernel_speed", "[--engines …] [--write]  the kernel in the page, against its goals"),
    "pair-speed": ("bench.pair_speed", "[--engines …] [--write]  the real pair in the page, against its goals"),
    "acceptance": ("bench.acceptance", "[--rounds N] [--write]  how often the tiny pair's drafts are kept"),
    "traces": ("bench.traces", "record runs of the tiny pair into docs/data/traces"),
    "sim-speed": ("bench.sim_speed", "how fast sim is"),
}


def main(arguments: list[str]) -> int:
    """Dispatch; 2 for an unknown command."""
    known = {name: entry for name, entry in COMMANDS.items() if importlib.util.find_spec(entry[0]) is not None}
    if not arguments or arguments[0] not in known:
        if arguments and arguments[0] not in ("-h", "--help"):
            print(f"unknown command {arguments[0]!r}", file=sys.stderr)
        for name, (_, words) in known.items():
            print(f"python -m bench {name} {words}")
        return 0 if arguments and arguments[0] in ("-h", "--help") else 2
    result: int = importlib.import_module(known[arguments[0]][0]).main(arguments[1:])
    return result


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
