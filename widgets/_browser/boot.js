/**
 * Brings up Python inside the worker: Pyodide from this folder, then the site's own Python packages from site.zip.
 *
 * It starts from Python's memory as it was written down when the site was built (snapshot.bin), with every widget
 * imported: a fifth of a plain start. Where that cannot be read or restored, it starts plainly, which is slower and no less.
 * Everything comes from the folder of this file, by absolute address (Firefox cannot work it out by itself), never from
 * another host. When a start fails, the files are looked at one by one so that the message names the guilty one. This
 * file must not know widgets or messages.
 */

import { FetchProblem, beside, diagnose, get, getBytes, words } from "./fetching.js";
import { plugKernel } from "./kernel.js";

const CORE = ["pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json", "site.zip"];

/**
 * The Python end of the contract (`widgets/_kit/answer.py`). Text in, text out.
 * @typedef {{
 *   begin(text: string, read?: (name: string, start: number, stop: number) => Uint8Array): string, proceed(id: number): string, stop(id: number): string, unfinished(id: number): boolean,
 *   needs(widget: string): string, set_data(name: string, text: string): string,
 * }} Answer
 */

/**
 * Starts Python. `print` gets what Python writes, as bytes.
 * @param {(bytes: Uint8Array) => void} print
 * @returns {Promise<{answer: Answer, load: (name: string) => Promise<void>, start: "snapshot" | "plain"}>}
 */
export async function boot(print) {
  try {
    // Both at once: the zip is small and must not wait for the interpreter.
    const [{ pyodide, start }, site] = await Promise.all([startPyodide(print), getBytes("site.zip")]);
    // After a snapshot too: it holds what was imported, not the file system.
    pyodide.unpackArchive(site, "zip", { extractDir: "/site" });
    pyodide.runPython("import sys; '/site' in sys.path or sys.path.insert(0, '/site')");
    return { answer: pyodide.pyimport("widgets._kit.answer"), load: (name) => loadPackage(pyodide, name), start };
  } catch (error) {
    const { text, files } = await diagnose(CORE);
    if (error instanceof FetchProblem && !text) throw error;
    throw new FetchProblem(text || words(error), files);
  }
}

/** @param {(bytes: Uint8Array) => void} print @returns {Promise<{pyodide: any, start: "snapshot" | "plain"}>} */
async function startPyodide(print) {
  const module = "./pyodide.mjs"; // named by a variable: it lies there only once the assets are made
  // The lock file is read here: Pyodide leaves a malformed one as an unhandled rejection.
  const lockFile = get("pyodide-lock.json").then((file) => file.json());
  const [{ loadPyodide }, lock, memory] = await Promise.all([import(module), lockFile, snapshot()]);
  const here = beside("");
  const options = { indexURL: here, packageBaseUrl: here, lockFileContents: lock };
  const problem = compileProblem(); // before Pyodide reaches for WebAssembly
  const plainly = () => Promise.race([loadPyodide(options), problem]);
  const restored = memory && (await Promise.race([loadPyodide({ ...options, _loadSnapshot: memory }), problem]).catch(() => null));
  const pyodide = restored || (await plainly());
  /** @param {Uint8Array} bytes */
  const write = (bytes) => {
    print(bytes);
    return bytes.length;
  };
  pyodide.setStdout({ write });
  pyodide.setStderr({ write });
  return { pyodide, start: restored ? "snapshot" : "plain" };
}

/** Python's memory from build time, or null where it cannot be had: then Python starts plainly. */
async function snapshot() {
  try {
    const { body } = await get("snapshot.bin");
    return body && (await new Response(body.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
  } catch {
    return null;
  }
}

/**
 * Rejects when the interpreter cannot be compiled; Pyodide itself would wait for ever. A host that does not know the
 * type of .wasm files does no harm: then the bytes are compiled once they are all there.
 * @returns {Promise<never>}
 */
function compileProblem() {
  const streaming = WebAssembly.instantiateStreaming;
  return new Promise((_, reject) => {
    WebAssembly.instantiateStreaming = async (source, imports) => {
      try {
        const response = await source;
        if (/^application\/wasm/i.test(response.headers.get("content-type") ?? "")) return await streaming(response, imports);
        return await WebAssembly.instantiate(await response.arrayBuffer(), imports);
      } catch (error) {
        reject(error);
        throw error;
      }
    };
  });
}

/** @type {Set<string>} files that were wrong when they were last loaded */
const doubtful = new Set();

/**
 * Loads a package such as NumPy from this folder; Pyodide's lock file names its file and checksum.
 * @param {any} pyodide
 * @param {string} name
 */
async function loadPackage(pyodide, name) {
  /** @type {string[]} */
  const complaints = [];
  const quiet = { messageCallback: () => {}, errorCallback: (/** @type {string} */ text) => complaints.push(text) };
  await Promise.allSettled([...doubtful].map((file) => getBytes(file, "reload"))); // past the browser's cache
  doubtful.clear();
  try {
    await pyodide.loadPackage(name, quiet);
  } catch (error) {
    complaints.push(words(error));
  }
  if (pyodide.loadedPackages[name]) {
    if (name === "numpy") await plugKernel(pyodide);
    return;
  }
  const file = (await (await get("pyodide-lock.json")).json()).packages[name]?.file_name;
  const { text, files } = file ? await diagnose([file]) : { text: "", files: [] };
  for (const bad of files) doubtful.add(bad);
  throw new FetchProblem(text || `${name} could not be loaded (${complaints.join("; ")})`, files);
}
