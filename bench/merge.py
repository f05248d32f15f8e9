"""`python -m bench merge FILE… --out FILE`: shards of one suite, or one suite from two devices, as one file."""

from __future__ import annotations

import argparse
from pathlib import Path

from sim.data import DataError, parse

from .store import Conflict, dump, load, merge, save

__all__ = ["main"]


def main(arguments: list[str]) -> int:
    """0, or 1 with the reason in words."""
    parser = argparse.ArgumentParser(prog="python -m bench merge", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--out", type=Path, required=True, help="the file to write; may be one of the others")
    given = parser.parse_args(arguments)
    try:
        made = merge([(path.name, load(path)) for path in given.files])
        parse(dump(made), given.out.name)
    except (Conflict, DataError, OSError) as error:
        print(f"not merged: {error}")
        return 1
    save(given.out, made)
    print(f"{given.out}: {len(made['rows'])} rows from {len(given.files)} files")
    return 0
