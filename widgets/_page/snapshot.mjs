/**
 * Starts Python once in Node, imports what every figure needs, and writes the interpreter's memory to a file:
 *
 *   node widgets/_page/snapshot.mjs <folder with pyodide.mjs and site.zip> <file to write, packed as gzip> [<wheel> <file>]
 *
 * A browser that starts from this memory skips Python's own start and all imports. The file system is not part of it:
 * the worker unpacks site.zip as well, and Python's library comes only when something in it was not imported here.
 *
 * What travels is made small. Descriptions and annotations of functions go, and the library's line numbers; freed memory is zeroed; and the constants that come with
 * the interpreter anyway are left out: every word is stored xor the word that a fresh interpreter has there (boot.js
 * undoes it); and only pages that hold something are written. The file: four numbers (words with such constants, bytes
 * of Pyodide's snapshot, pages of it that are written, 0), the numbers of these pages, the pages.
 * With a wheel of NumPy, that is packed afterwards, in the same Python: what the memory lacks is known here (packed.mjs).
 * `widgets/_page/snapshot.py` calls this; it must not know the browser.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

import { packed } from "./packed.mjs";

const [folder, target, wheel, pack] = process.argv.slice(2).map((path) => resolve(path));
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`).href);

/** The memory of a fresh interpreter: a copy, made between its compilation and its first step. */
let fresh = new Uint8Array();
const { instantiate } = WebAssembly;
WebAssembly.instantiate = async (/** @type {any} */ source, /** @type {any} */ imports) => {
  const result = /** @type {any} */ (await instantiate(source, imports));
  const { memory } = (result.instance ?? result).exports;
  if (memory && !fresh.length) fresh = new Uint8Array(memory.buffer).slice();
  return result;
};
const pyodide = await loadPyodide({ indexURL: `${folder}/`, _makeSnapshot: true });
if (!fresh.length) throw new Error("the interpreter's memory was not seen before its start");

pyodide.unpackArchive(new Uint8Array(readFileSync(`${folder}/site.zip`)), "zip", { extractDir: "/site" });
pyodide.runPython(`
import ast, importlib, pathlib, pkgutil, sys
sys.path.insert(0, "/site")
import sim, widgets
import widgets._kit.answer
for name in widgets.names():
    widgets.load(name)
# What they import on the way (in an error's path, say) is to be there without the library's file.
for path in sorted(pathlib.Path("/site").rglob("*.py")):
    for node in ast.walk(ast.parse(path.read_text())):
        wanted = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        wanted += [node.module] if isinstance(node, ast.ImportFrom) and node.module and not node.level else []
        for name in wanted:
            if name.partition(".")[0] in sys.stdlib_module_names:
                importlib.import_module(name)
for found in pkgutil.walk_packages(sim.__path__, "sim."):
    try:
        importlib.import_module(found.name)
    except ModuleNotFoundError:  # NumPy is not in the snapshot
        pass
`);
pyodide.runPython(`
import functools, gc, linecache, re, sys, types

_DOCSTRING = 0x4000000  # co_flags: the first constant is one

def one_line(units):
    """A table of positions that gives every step of a function its first line: entries for up to eight steps."""
    return b"".join(bytes((0x80 | 13 << 3 | min(units - at, 8) - 1, 0)) for at in range(0, units, 8))

def thin(code):
    consts = tuple(thin(c) if isinstance(c, types.CodeType) else c for c in code.co_consts)
    flags = code.co_flags
    if flags & _DOCSTRING and consts and isinstance(consts[0], str):
        consts, flags = (None, *consts[1:]), flags & ~_DOCSTRING
    # In the library's own functions nobody looks for a mistake; of ours, authors want to know the line.
    ours = code.co_filename.startswith("/site/")
    table = code.co_linetable if ours else one_line(len(code.co_code) // 2)
    return code.replace(co_consts=consts, co_flags=flags, co_linetable=table)  # anew: without what it learnt by running

for item in gc.get_objects():
    if isinstance(item, types.FunctionType):
        item.__doc__ = None
        item.__code__ = thin(item.__code__)
        if item.__annotate__ is not None:  # a function that would make the annotations
            item.__annotate__ = None
    elif isinstance(item, (type, types.ModuleType)):
        try:
            item.__doc__ = None
        except (AttributeError, TypeError):  # made in C
            pass
linecache.clearcache()
re.purge()
del thin, one_line, item, node, wanted, path, found, name
gc.collect()
gc.freeze()  # what is here stays: a collection in the browser need not walk over it
`);
zeroFreed();

/** @type {Uint8Array} */
const whole = pyodide.makeMemorySnapshot();
const heap = new Uint32Array(whole.buffer, whole.byteOffset + new Uint32Array(whole.buffer, whole.byteOffset, 2)[1]);
const constants = new Uint32Array(fresh.buffer);
let last = Math.min(constants.length, heap.length);
while (last > 0 && constants[last - 1] === 0) last -= 1;
for (let word = 0; word < last; word += 1) heap[word] ^= constants[word];
const PAGE = 4096;
const pages = [...Array(Math.ceil(whole.length / PAGE)).keys()].filter((page) => whole.subarray(page * PAGE, (page + 1) * PAGE).some(Boolean));
const written = new Uint8Array(16 + pages.length * (4 + PAGE));
new Uint32Array(written.buffer).set([last, whole.length, pages.length, 0, ...pages]);
pages.forEach((page, place) => written.set(whole.subarray(page * PAGE, (page + 1) * PAGE), 16 + pages.length * 4 + place * PAGE));
writeFileSync(target, gzipSync(written, { level: 9 }));
if (wheel) writeFileSync(pack, packed(pyodide, new Uint8Array(readFileSync(wheel))));

/** Takes all freed pieces of memory, largest first and without growing it, zeroes them and gives them back. */
function zeroFreed() {
  const { _malloc, _free, HEAPU8 } = pyodide._module;
  /** @type {number[]} */
  const held = [];
  let top = 0; // from here on nothing has ever been used
  for (let size = 1 << 18; size >= 16; size = size > 64 ? Math.floor(size * 0.75) & ~7 : size - 8) {
    for (;;) {
      const piece = _malloc(size);
      held.push(piece);
      HEAPU8.fill(0, piece, piece + size);
      if (piece + size <= top) continue;
      top = piece + size;
      break;
    }
  }
  for (const piece of held) _free(piece);
}
