"""Find Firefox and WebKit, or install them: ``python -m tests.engines.install`` as root on Debian, else it says how.

Why it exists: a reader's browser is one of three engines, and the two besides Chromium are there for one command.
Nothing is fetched from a browser maker: Debian's packages only, so that a machine without the open net has them too.

Must not know: what is tested in them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.tools import chromium

__all__ = ["COMMAND", "ensure", "main", "missing", "program"]

PACKAGES = ("firefox-esr", "webkit2gtk-driver", "xvfb")
COMMAND = f"apt-get install --no-install-recommends {' '.join(PACKAGES)}"
#: programs of each engine; the first that is there is taken
PROGRAMS = {
    "chromium": (),
    "firefox": (("firefox-esr", "firefox"),),
    "webkit": (("WebKitWebDriver",), ("MiniBrowser",), ("Xvfb",)),
}


def program(*names: str) -> str | None:
    """The path of the first program that is here. MiniBrowser lies beside its library, on no search path."""
    for name in names:
        if found := shutil.which(name):
            return found
        if name == "MiniBrowser":
            for folder in ("/usr/lib", "/usr/libexec"):
                for path in sorted(Path(folder).glob("**/webkit2gtk-4*/MiniBrowser"), reverse=True):
                    return str(path)
    return None


def missing(engine: str) -> str:
    """What keeps ``engine`` from running here, with the command that helps; empty when nothing does."""
    if engine == "chromium":
        return "" if chromium.find() else chromium.MESSAGE
    lacking = [" or ".join(names) for names in PROGRAMS[engine] if program(*names) is None]
    return f"no {', no '.join(lacking)} here; on Debian: {COMMAND}" if lacking else ""


def ensure() -> list[str]:
    """The engines that are still missing after installing what root on Debian may install, each with its reason."""
    if any(map(missing, PROGRAMS)) and hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        print(f"{COMMAND} …", file=sys.stderr, flush=True)
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "update", "-qq"], env=quiet, check=False)
        install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *PACKAGES]
        subprocess.run(install, env=quiet, check=False, stdout=subprocess.DEVNULL)
    return [f"{engine}: {why}" for engine in PROGRAMS if (why := missing(engine))]


def main() -> int:
    """Say what is missing. An error only in continuous integration; elsewhere that engine is left out, by name."""
    lacking = ensure()
    for line in lacking:
        print(line, file=sys.stderr)
    return 1 if lacking and os.environ.get("CI") == "true" else 0


if __name__ == "__main__":
    sys.exit(main())
