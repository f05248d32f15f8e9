"""Python's memory just after its start, with every widget imported: what makes the first answer come in under a second.

Why it exists: a plain start runs Python's own start-up and all imports in the reader's browser, each time. Node does
that once here (snapshot.mjs) and writes the memory down. Two runs do not give the same bytes (the memory holds
addresses and hash seeds), so the folder of the assets is named without it and it is made once per folder.

Must not know: the browser, which falls back to a plain start when it cannot use the file.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

__all__ = ["NAME", "SnapshotError", "make"]

#: Not ".gz": some hosts would then send it as a packed page, which the browser unpacks once more.
NAME = "snapshot.bin"
_LIMIT_S = 300


class SnapshotError(RuntimeError):
    """The snapshot could not be made; the message holds Node's last words."""


def make(node: list[str], folder: Path) -> Path:
    """Write ``snapshot.bin`` into ``folder``, from the Pyodide files and the site.zip there; return its path.

    ``node`` is the command that starts Node. Raises SnapshotError.
    """
    script = Path(__file__).with_suffix(".mjs")
    words = [*node, str(script), str(folder), str(folder / NAME)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=_LIMIT_S, check=False)
    if done.returncode or not (folder / NAME).is_file():
        last = "\n".join(line[:300] for line in done.stderr.strip().splitlines()[-6:])
        raise SnapshotError(f"Node could not write Python's memory down:\n{last}")
    return folder / NAME
