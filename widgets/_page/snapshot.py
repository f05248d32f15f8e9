"""Python's memory just after its start, with every widget imported: what makes the first answer come in under a second.

Why it exists: a plain start runs Python's own start-up and all imports in the reader's browser, each time. Node does
that once here (snapshot.mjs) and writes the memory down. Two runs do not give the same bytes (the memory holds
addresses and hash seeds), so the folder of the assets is named without it and it is made once per folder. NumPy is
packed by the same run of Node, compiled, for figures that need it (packed.mjs).

Must not know: the browser, which falls back to a plain start when it cannot use the file.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

__all__ = ["NAME", "PACK", "SCRIPTS", "SnapshotError", "make"]

#: Not ".gz": some hosts would then send it as a packed page, which the browser unpacks once more.
NAME = "snapshot.bin"
PACK = "numpy.bin"
SCRIPTS = (Path(__file__).with_suffix(".mjs"), Path(__file__).with_name("packed.mjs"))
"""What the files are made by: the first is run, and imports the second."""
_LIMIT_S = 300


class SnapshotError(RuntimeError):
    """The snapshot could not be made; the message holds Node's last words."""


def make(node: list[str], folder: Path) -> list[Path]:
    """Write ``snapshot.bin`` into ``folder``, from the Pyodide files and the site.zip there, and ``numpy.bin`` where a
    wheel of NumPy lies there too; return what was written.

    ``node`` is the command that starts Node. Raises SnapshotError.
    """
    words = [*node, str(SCRIPTS[0]), str(folder), str(folder / NAME)]
    wheels = sorted(folder.glob("numpy-*.whl"))
    if wheels:
        words += [str(wheels[0]), str(folder / PACK)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=_LIMIT_S, check=False)
    made = [folder / NAME, *([folder / PACK] if wheels else [])]
    if done.returncode or not all(path.is_file() for path in made):
        last = "\n".join(line[:300] for line in done.stderr.strip().splitlines()[-6:])
        raise SnapshotError(f"Node could not write Python's memory down:\n{last}")
    return made
