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

const LIBRARY = "python_stdlib.zip";
const LIBRARY_PATH = "/lib/python314.zip";
const INTERPRETER = "pyodide.asm.wasm"; // fetched and compiled here, see `compiling`
const HEAD = 16; // bytes of our own before Pyodide's snapshot
const CORE = ["pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json", "site.zip"];

/**
 * The Python end of the contract (`widgets/_kit/answer.py`). Text in, text out.
 * @typedef {{
 *   begin(text: string, read?: (name: string, start: number, stop: number) => Uint8Array): string, proceed(id: number): string, stop(id: number): string, unfinished(id: number): boolean,
 *   needs(widget: string): string, set_data(name: string, text: string): string,
 *   set_file(name: string, content: Uint8Array, size: number, sha256: string): string,
 * }} Answer
 */

const plainFetch = self.fetch;

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
    return { answer: pyodide.pyimport("widgets._kit.answer"), load: (name) => loadPackage(pyodide, name, start === "snapshot"), start };
  } catch (error) {
    self.fetch = plainFetch; // Pyodide waits for ever for an interpreter that cannot be compiled, without its files
    const { text, files } = await diagnose(CORE);
    if (error instanceof FetchProblem && !text) throw error;
    throw new FetchProblem(text || words(error), files);
  }
}

/** @param {(bytes: Uint8Array) => void} print @returns {Promise<{pyodide: any, start: "snapshot" | "plain"}>} */
async function startPyodide(print) {
  const module = "./pyodide.mjs"; // named by a variable: it lies there only once the assets are made
  const script = "./pyodide.asm.mjs";
  // All at once: what comes first is unpacked or compiled while the rest is on its way.
  const memory = snapshot();
  const { problem, restoring } = compiling(); // before Pyodide reaches for WebAssembly
  import(script).catch(() => {}); // Pyodide imports it itself, later
  // The lock file is read here: Pyodide leaves a malformed one as an unhandled rejection.
  const lockFile = get("pyodide-lock.json").then((file) => file.json());
  const [{ loadPyodide }, lock] = await Promise.all([import(module), lockFile]);
  const here = beside("");
  const options = { indexURL: here, packageBaseUrl: here, lockFileContents: lock };
  const plainly = () => Promise.race([withoutFetching([INTERPRETER], () => loadPyodide(options)), problem]);
  const restored = await Promise.race([restore(loadPyodide, options, memory, restoring), problem]).catch(() => null);
  const pyodide = restored ?? (await plainly());
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
 * Pyodide started from its memory, or null. Python's library is in that memory as far as it is used, so the file is
 * not fetched: it stands there as a file that is read from the host when something opens it.
 * @param {(options: object) => Promise<any>} loadPyodide
 * @param {object} options
 * @param {Promise<ArrayBuffer | null>} memory
 * @param {(memory: ArrayBuffer) => void} restoring
 */
async function restore(loadPyodide, options, memory, restoring) {
  const given = memory.then((buffer) => {
    if (!buffer) throw new Error("no memory");
    restoring(buffer);
    return new Uint8Array(buffer, HEAD);
  });
  given.catch(() => {}); // Pyodide may end before it looks
  try {
    const without = [INTERPRETER, LIBRARY];
    const pyodide = await withoutFetching(without, () => loadPyodide({ ...options, _loadSnapshot: given }));
    const { FS } = pyodide;
    FS.unlink(LIBRARY_PATH);
    FS.createLazyFile("/lib", LIBRARY_PATH.replace("/lib/", ""), beside(LIBRARY), true, false);
    return pyodide;
  } catch {
    return null;
  }
}

/**
 * Runs `work` with fetches of these files answered by nothing: Pyodide asks for them whether it needs them or not.
 * @template T
 * @param {string[]} names
 * @param {() => Promise<T>} work
 */
async function withoutFetching(names, work) {
  const addresses = names.map(beside);
  self.fetch = (source, settings) => {
    const url = source instanceof Request ? source.url : String(source);
    return addresses.includes(url) ? Promise.resolve(new Response(null)) : plainFetch(source, settings);
  };
  try {
    return await work();
  } finally {
    self.fetch = plainFetch;
  }
}

/**
 * Compiles the interpreter from now on, before Pyodide asks for it. `problem` rejects when that fails: Pyodide itself
 * would wait for ever. A host that does not know the type of .wasm files does no harm: then the bytes are compiled
 * once they are all there. `restoring` is told of a memory that is about to be laid over the next interpreter.
 * @returns {{problem: Promise<never>, restoring: (memory: ArrayBuffer) => void}}
 */
function compiling() {
  /** @type {ArrayBuffer | null} */
  let memory = null;
  const compiled = (async () => {
    const response = await get(INTERPRETER);
    if (/^application\/wasm/i.test(response.headers.get("content-type") ?? "")) return WebAssembly.compileStreaming(response);
    return WebAssembly.compile(await response.arrayBuffer());
  })();
  compiled.catch(() => {}); // told through `problem`
  const problem = new Promise((_, reject) => {
    WebAssembly.instantiateStreaming = async (_, imports) => {
      try {
        const module = await compiled;
        const instance = await WebAssembly.instantiate(module, imports);
        if (memory) complete(memory, /** @type {WebAssembly.Memory} */ (instance.exports.memory));
        memory = null;
        return { module, instance };
      } catch (error) {
        reject(error);
        throw error;
      }
    };
  });
  return { problem: /** @type {Promise<never>} */ (problem), restoring: (/** @type {ArrayBuffer} */ given) => void (memory = given) };
}

/**
 * The written memory lacks what a fresh interpreter has anyway (see snapshot.mjs): put it in.
 * @param {ArrayBuffer} memory
 * @param {WebAssembly.Memory} fresh
 */
function complete(memory, fresh) {
  const [words] = new Uint32Array(memory, 0, 1);
  const [, start] = new Uint32Array(memory, HEAD, 2);
  const heap = new Uint32Array(memory, HEAD + start, words);
  const constants = new Uint32Array(fresh.buffer, 0, words);
  for (let word = 0; word < words; word += 1) heap[word] ^= constants[word];
}

/** @type {Set<string>} files that were wrong when they were last loaded */
const doubtful = new Set();

/**
 * Loads and imports a package such as NumPy from this folder; Pyodide's lock file names its file and checksum.
 * @param {any} pyodide
 * @param {string} name
 * @param {boolean} bare Python's library is not there yet, and a package needs much of it
 */
async function loadPackage(pyodide, name, bare) {
  /** @type {string[]} */
  const complaints = [];
  const quiet = { messageCallback: () => {}, errorCallback: (/** @type {string} */ text) => complaints.push(text) };
  await Promise.allSettled([...doubtful].map((file) => getBytes(file, "reload"))); // past the browser's cache
  doubtful.clear();
  // The library's file first, whole: were it still on its way when Python opens it, each would wait for the other.
  const library = bare ? await getBytes(LIBRARY).catch(() => null) : null;
  if (library) {
    pyodide.FS.unlink(LIBRARY_PATH);
    pyodide.FS.writeFile(LIBRARY_PATH, new Uint8Array(library));
  }
  try {
    await pyodide.loadPackage(name, quiet);
  } catch (error) {
    complaints.push(words(error));
  }
  if (pyodide.loadedPackages[name]) {
    pyodide.pyimport(name).destroy();
    if (name === "numpy") await plugKernel(pyodide);
    return;
  }
  const file = (await (await get("pyodide-lock.json")).json()).packages[name]?.file_name;
  const { text, files } = file ? await diagnose([file]) : { text: "", files: [] };
  for (const bad of files) doubtful.add(bad);
  throw new FetchProblem(text || `${name} could not be loaded (${complaints.join("; ")})`, files);
}
