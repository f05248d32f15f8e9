/**
 * Brings up Python inside the worker: Pyodide from this folder, then the site's own Python packages from site.zip.
 *
 * Everything comes from the folder of this file, by absolute address (Firefox cannot work it out by itself), never from
 * another host. When a start fails, the files are looked at one by one so that the message names the guilty one. This
 * file must not know widgets or messages.
 */

import { FetchProblem, beside, diagnose, get, getBytes, words } from "./fetching.js";

const CORE = ["pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json", "site.zip"];

/**
 * The Python end of the contract (`widgets/_kit/answer.py`). Text in, text out.
 * @typedef {{
 *   begin(text: string): string, proceed(id: number): string, stop(id: number): string, unfinished(id: number): boolean,
 *   needs(widget: string): string, set_data(name: string, text: string): string,
 * }} Answer
 */

/**
 * Starts Python. `print` gets what Python writes, as bytes.
 * @param {(bytes: Uint8Array) => void} print
 * @returns {Promise<{answer: Answer, load: (name: string) => Promise<void>}>}
 */
export async function boot(print) {
  try {
    // Both at once: the zip is small and must not wait for the interpreter.
    const [pyodide, site] = await Promise.all([startPyodide(print), getBytes("site.zip")]);
    pyodide.unpackArchive(site, "zip", { extractDir: "/site" });
    pyodide.runPython("import sys; sys.path.insert(0, '/site')");
    return { answer: pyodide.pyimport("widgets._kit.answer"), load: (name) => loadPackage(pyodide, name) };
  } catch (error) {
    const { text, files } = await diagnose(CORE);
    if (error instanceof FetchProblem && !text) throw error;
    throw new FetchProblem(text || words(error), files);
  }
}

/** @param {(bytes: Uint8Array) => void} print @returns {Promise<any>} */
async function startPyodide(print) {
  const module = "./pyodide.mjs"; // named by a variable: it lies there only once the assets are made
  const { loadPyodide } = await import(module);
  const here = beside("");
  const pyodide = await loadPyodide({ indexURL: here, packageBaseUrl: here });
  /** @param {Uint8Array} bytes */
  const write = (bytes) => {
    print(bytes);
    return bytes.length;
  };
  pyodide.setStdout({ write });
  pyodide.setStderr({ write });
  return pyodide;
}

/**
 * Loads a package such as NumPy from this folder; Pyodide's lock file names its file and checksum.
 * @param {any} pyodide
 * @param {string} name
 */
async function loadPackage(pyodide, name) {
  /** @type {string[]} */
  const complaints = [];
  const quiet = { messageCallback: () => {}, errorCallback: (/** @type {string} */ text) => complaints.push(text) };
  try {
    await pyodide.loadPackage(name, quiet);
  } catch (error) {
    complaints.push(words(error));
  }
  if (pyodide.loadedPackages[name]) return;
  const file = (await (await get("pyodide-lock.json")).json()).packages[name]?.file_name;
  const { text, files } = file ? await diagnose([file]) : { text: "", files: [] };
  throw new FetchProblem(text || `${name} could not be loaded (${complaints.join("; ")})`, files);
}
