"""Makes the token files: `python -m bench.train corpus`. The work is in `corpus`; this is its command line."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from bench.train import corpus


def main(arguments: Sequence[str]) -> int:
    """See the module."""
    asked = argparse.ArgumentParser(prog="python -m bench.train corpus", description=__doc__)
    asked.add_argument("--package", type=Path, required=True, help="folder with the unpacked r-cran-janeaustenr")
    asked.add_argument("--library", type=Path, default=Path("/usr/lib/python3.11"), help="Python's standard library")
    asked.add_argument("--out", type=Path, required=True)
    given = asked.parse_args(arguments)
    print(json.dumps(corpus.prepare(given.package, given.library, given.out), indent=1))
    return 0
