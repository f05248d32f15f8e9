/**
 * Starts Python once in Node, imports what every figure needs, and writes the interpreter's memory to a file:
 *
 *   node widgets/_page/snapshot.mjs <folder with pyodide.mjs and site.zip> <file to write, packed as gzip>
 *
 * A browser that starts from this memory skips Python's own start and all imports. The file system is not part of it:
 * the worker unpacks site.zip as well. `widgets/_page/snapshot.py` calls this; it must not know the browser.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

const [folder, target] = process.argv.slice(2).map((path) => resolve(path));
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`).href);
const pyodide = await loadPyodide({ indexURL: `${folder}/`, _makeSnapshot: true });
pyodide.unpackArchive(new Uint8Array(readFileSync(`${folder}/site.zip`)), "zip", { extractDir: "/site" });
pyodide.runPython(`
import gc, sys
sys.path.insert(0, "/site")
import widgets
import widgets._kit.answer
for name in widgets.names():
    widgets.load(name)
gc.collect()
`);
writeFileSync(target, gzipSync(pyodide.makeMemorySnapshot(), { level: 9 }));
