/**
 * Packs NumPy so that a browser imports it without compiling anything: used by snapshot.mjs, in the Python it has started.
 *
 * A wheel holds Python's source, and Python's library beside it is source as well: compiling both was half of the time
 * that NumPy took to load in a browser, and unpacking the wheel in Python a sixth. The pack holds compiled modules
 * (without docstrings and assertions, as `python -OO` makes them), NumPy's WebAssembly modules as they are, and those
 * modules of the library and of `sim` that need NumPy or are needed by it. What a page never uses is left out. The
 * file, before gzip: 4 bytes, the length of the list; the list, JSON [[path, bytes], …]; the files.
 * It must not know the browser, which takes the wheel itself where it cannot use this file.
 */

import { gzipSync } from "node:zlib";

const PACK = `
import importlib, importlib.util, json, pathlib, pkgutil, sys
import importlib._bootstrap_external as external
import sim

SKIPPED = {"tests", "f2py", "_pyinstaller", "distutils", "include", "conftest.py", "mypy_plugin.py"}
ROOT = pathlib.Path("/wheel")

def compiled(source, path, optimize=2):
    code = compile(source, path, "exec", dont_inherit=True, optimize=optimize)
    return bytes(external._code_to_hash_pyc(code, bytes(8), False))  # False: nobody looks for the source

known = set(sys.modules)
sys.path.insert(0, str(ROOT))
import numpy, numpy.fft, numpy.random, numpy.typing
for found in pkgutil.walk_packages(sim.__path__, "sim."):
    importlib.import_module(found.name)
files = {}
for name in sorted(set(sys.modules) - known):
    spec = getattr(sys.modules[name], "__spec__", None)
    origin = str(spec and spec.origin)
    if origin.startswith("/lib/python314.zip/"):
        files[origin.removeprefix("/lib/python314.zip/") + "c"] = compiled(spec.loader.get_source(name), origin)
    elif origin.startswith("/site/sim/"):  # the source is in site.zip; Python looks for this beside it
        cached = importlib.util.cache_from_source(origin).removeprefix("/site/")
        files[cached] = compiled(pathlib.Path(origin).read_bytes(), origin, 0)
for path in sorted(ROOT.rglob("*")):
    inner = path.relative_to(ROOT)
    if inner.parts[0] != "numpy" or SKIPPED.intersection(inner.parts):
        continue
    if path.suffix == ".py":
        files[f"{inner}c"] = compiled(path.read_bytes(), f"/site/{inner}")
    elif path.suffix == ".so":
        files[str(inner)] = path.read_bytes()
listed = json.dumps([[name, len(content)] for name, content in files.items()]).encode()
len(listed).to_bytes(4, "little") + listed + b"".join(files.values())
`;

/**
 * The pack of this wheel, as gzip.
 * @param {any} pyodide with everything imported that is in the snapshot, and nothing else
 * @param {Uint8Array} wheel
 */
export function packed(pyodide, wheel) {
  pyodide.unpackArchive(wheel, "zip", { extractDir: "/wheel" });
  return gzipSync(pyodide.runPython(PACK).toJs(), { level: 9 });
}
