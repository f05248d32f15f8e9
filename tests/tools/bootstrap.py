"""Make `.venv` on a fresh machine: ``python3 tests/tools/bootstrap.py .venv``.

Why it exists: two things go wrong on a bare machine, and both deserve a sentence instead of a traceback: a Python that
is too old, and Debian's Python without `ensurepip`. Runs under whatever `python3` is, so the syntax stays old.

Must not know: anything about the packages; constraints.txt names pip's version, the Makefile installs the rest.
"""

import os
import subprocess
import sys

OLDEST = (3, 11, 2)


def main(folder: str) -> int:
    """Create ``folder`` (or mend a half-made one) and bring its pip to the locked version; exit code."""
    if sys.version_info[:3] < OLDEST:
        have, need = (".".join(map(str, version)) for version in (sys.version_info[:3], OLDEST))
        return stop("Python %s is too old, this needs %s or newer: make serve PYTHON=python3.12" % (have, need))
    python = os.path.join(folder, "Scripts" if os.name == "nt" else "bin", "python")
    if not works(python):
        try:
            import ensurepip  # noqa: F401
            import venv
        except ImportError:
            return stop(
                "This Python (%s) cannot make virtual environments.\n"
                "On Debian and Ubuntu:  apt install python3-venv\n"
                "Or name another Python: make serve PYTHON=python3.12" % sys.executable
            )
        print("making %s with Python %s …" % (folder, sys.version.split()[0]), flush=True)
        venv.EnvBuilder(with_pip=True, clear=True, symlinks=os.name != "nt").create(folder)
    command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-c", "constraints.txt", "pip"]
    return subprocess.call(command)


def works(python: str) -> bool:
    """True when that interpreter runs and has pip (a run that was interrupted leaves one without)."""
    nowhere = subprocess.DEVNULL
    try:
        return subprocess.call([python, "-m", "pip", "--version"], stdout=nowhere, stderr=nowhere) == 0
    except OSError:
        return False


def stop(text: str) -> int:
    """Say it and give the exit code of a failure."""
    sys.stderr.write(text + "\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ".venv"))
