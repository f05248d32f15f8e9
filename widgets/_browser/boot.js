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
const SITE = "/site";
const PAGE = 4096; // bytes: the unit in which snapshot.bin says what is not zero
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
    if (start === "snapshot") await unpackMissing(pyodide, site);
    else {
      pyodide.unpackArchive(site, "zip", { extractDir: SITE });
      pyodide.runPython(`import sys; sys.path.insert(0, "${SITE}")`);
    }
    return { answer: pyodide.pyimport("widgets._kit.answer"), load: (name) => loadPackage(pyodide, name, start === "snapshot"), start };
  } catch (error) {
    self.fetch = plainFetch; // Pyodide waits for ever for an interpreter that cannot be compiled, without its files
    const { text, files } = await diagnose(CORE);
    if (error instanceof FetchProblem && !text) throw error;
    throw new FetchProblem(text || words(error), files);
  }
}

/**
 * Writes the site's packages into Python's file system after a start from memory, which holds what was imported and no
 * files. A module that is in memory is never read again, so an empty file is enough to show that it is there: unpacking
 * all of them in Python was a quarter of the start.
 * @param {any} pyodide
 * @param {ArrayBuffer} site
 */
async function unpackMissing(pyodide, site) {
  const { FS } = pyodide;
  const loaded = new Set(pyodide.runPython("import sys; ' '.join(sys.modules)").split(" "));
  for (const { name, packed, bytes } of entries(site)) {
    const path = `${SITE}/${name}`;
    FS.mkdirTree(path.slice(0, path.lastIndexOf("/")));
    const there = loaded.has(name.replace(/(\/__init__)?\.py$/, "").replaceAll("/", "."));
    FS.writeFile(path, there ? "" : packed ? await inflated(bytes) : bytes);
  }
}

/** @param {Uint8Array<ArrayBuffer>} bytes */
async function inflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/**
 * The files in a zip archive, by the list at its end (https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT).
 * @param {ArrayBuffer} zip
 * @returns {{name: string, packed: boolean, bytes: Uint8Array<ArrayBuffer>}[]}
 */
function entries(zip) {
  const view = new DataView(zip);
  const end = zip.byteLength - 22; // the last record, without a comment: we write none
  if (end < 0 || view.getUint32(end, true) !== 0x06054b50) throw new Error("site.zip is no zip archive");
  let at = view.getUint32(end + 16, true);
  return Array.from({ length: view.getUint16(end + 10, true) }, () => {
    const [size, offset] = [view.getUint32(at + 20, true), view.getUint32(at + 42, true)];
    const [named, extra, comment] = [28, 30, 32].map((place) => view.getUint16(at + place, true));
    const name = new TextDecoder().decode(new Uint8Array(zip, at + 46, named));
    const packed = view.getUint16(at + 10, true) !== 0;
    at += 46 + named + extra + comment;
    const start = offset + 30 + view.getUint16(offset + 26, true) + view.getUint16(offset + 28, true);
    return { name, packed, bytes: new Uint8Array(zip, start, size) };
  });
}

/** @param {(bytes: Uint8Array) => void} print @returns {Promise<{pyodide: any, start: "snapshot" | "plain"}>} */
async function startPyodide(print) {
  const module = "./pyodide.mjs"; // named by a variable: it lies there only once the assets are made
  const script = "./pyodide.asm.mjs";
  // All at once: what comes first is unpacked or compiled while the rest is on its way.
  const memory = unzipped("snapshot.bin").then(spread).catch(() => null); // then Python starts plainly
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

/** What a file holds that was packed when the site was built. @param {string} name @param {RequestCache} [cache] */
async function unzipped(name, cache) {
  const { body } = await get(name, cache);
  if (!body) throw new Error(`${name} is empty`);
  return new Response(body.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

/** @typedef {{words: number, bytes: Uint8Array}} Memory  how many words lack a fresh interpreter's constants; the memory */

/** The memory out of the pages of it that were written (snapshot.mjs has the format). @param {ArrayBuffer} packed @returns {Memory} */
function spread(packed) {
  const [words, length, count] = new Uint32Array(packed, 0, 3);
  const pages = new Uint32Array(packed, 16, count);
  const bytes = new Uint8Array(length);
  let at = 16 + 4 * count;
  for (const page of pages) {
    const size = Math.min(PAGE, length - page * PAGE);
    bytes.set(new Uint8Array(packed, at, size), page * PAGE);
    at += PAGE;
  }
  if (length < 8 || heapStart(bytes) + 4 * words > length) throw new Error("this is no memory of Python's");
  return { words, bytes };
}

/** Where the interpreter's memory begins in Pyodide's snapshot. @param {Uint8Array} bytes */
function heapStart(bytes) {
  return new Uint32Array(bytes.buffer, 0, 2)[1];
}

/**
 * Pyodide started from its memory, or null. Python's library is in that memory as far as it is used, so the file is
 * not fetched: it stands there as a file that is read from the host when something opens it.
 * @param {(options: object) => Promise<any>} loadPyodide
 * @param {object} options
 * @param {Promise<Memory | null>} memory
 * @param {(memory: Memory) => void} restoring
 */
async function restore(loadPyodide, options, memory, restoring) {
  const given = memory.then((found) => {
    if (!found) throw new Error("no memory");
    restoring(found);
    return found.bytes;
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
 * @returns {{problem: Promise<never>, restoring: (memory: Memory) => void}}
 */
function compiling() {
  /** @type {Memory | null} */
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
  return { problem: /** @type {Promise<never>} */ (problem), restoring: (/** @type {Memory} */ given) => void (memory = given) };
}

/**
 * The written memory lacks what a fresh interpreter has anyway (see snapshot.mjs): put it in.
 * @param {Memory} memory
 * @param {WebAssembly.Memory} fresh
 */
function complete({ words, bytes }, fresh) {
  const heap = new Uint32Array(bytes.buffer, heapStart(bytes), words);
  const constants = new Uint32Array(fresh.buffer, 0, words);
  for (let word = 0; word < words; word += 1) heap[word] ^= constants[word];
}

/** @type {Set<string>} files that were wrong when they were last loaded */
const doubtful = new Set();
const COMPILED_FROM = 500_000; // bytes: WebAssembly larger than this is compiled beside everything else

/**
 * Loads and imports a package such as NumPy from this folder: as it was packed when the site was built, compiled (a
 * fifth of the time), or else from its wheel, whose file and checksum Pyodide's lock file names.
 * @param {any} pyodide
 * @param {string} name
 * @param {boolean} bare Python's library is not there yet, and a wheel needs much of it
 */
async function loadPackage(pyodide, name, bare) {
  const importing = () => pyodide.pyimport(name).destroy();
  const pack = `${name}.bin`;
  const modules = await unpack(pyodide, pack, doubtful.delete(pack) ? "reload" : "default").catch(() => null);
  if (!modules) doubtful.add(pack);
  if (modules) compiledAlready(modules, importing);
  else await loadWheel(pyodide, name, bare).then(importing);
  if (name === "numpy") await plugKernel(pyodide);
}

/**
 * Writes the files of a pack (`widgets/_page/packed.mjs`) into Python's file system, where Python looks first.
 * @param {any} pyodide
 * @param {string} file
 * @param {RequestCache} cache
 * @returns {Promise<Map<number, WebAssembly.Module>>} its large modules, compiled meanwhile, by their size in bytes
 */
async function unpack(pyodide, file, cache) {
  const buffer = await unzipped(file, cache);
  const [size] = new Uint32Array(buffer, 0, 1);
  /** @type {[string, number][]} */
  const listed = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, size)));
  /** @type {Map<number, Promise<WebAssembly.Module>>} */
  const compiling = new Map();
  let at = 4 + size;
  for (const [path, length] of listed) {
    const content = new Uint8Array(buffer, at, length);
    at += length;
    pyodide.FS.mkdirTree(`${SITE}/${path.slice(0, path.lastIndexOf("/") + 1)}`);
    pyodide.FS.writeFile(`${SITE}/${path}`, content, { canOwn: true });
    if (path.endsWith(".so") && length > COMPILED_FROM) compiling.set(length, WebAssembly.compile(content));
  }
  pyodide.runPython(`import sys; sys.path_importer_cache.pop("${SITE}", None)`); // it has looked there before
  return new Map(await Promise.all([...compiling].map(async ([length, module]) => /** @type {const} */ ([length, await module]))));
}

/**
 * Runs `work`; WebAssembly of these sizes is not compiled again while it waits.
 * @param {Map<number, WebAssembly.Module>} modules
 * @param {() => void} work
 */
function compiledAlready(modules, work) {
  const { Module } = WebAssembly;
  WebAssembly.Module = new Proxy(Module, { construct: (_, [bytes]) => modules.get(bytes.byteLength) ?? new Module(bytes) });
  try {
    work();
  } finally {
    WebAssembly.Module = Module;
  }
}

/** @param {any} pyodide @param {string} name @param {boolean} bare */
async function loadWheel(pyodide, name, bare) {
  /** @type {string[]} */
  const complaints = [];
  const quiet = { messageCallback: () => {}, errorCallback: (/** @type {string} */ text) => complaints.push(text) };
  const wheels = [...doubtful].filter((file) => file.endsWith(".whl"));
  await Promise.allSettled(wheels.map((file) => getBytes(file, "reload"))); // past the browser's cache
  for (const file of wheels) doubtful.delete(file);
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
  if (pyodide.loadedPackages[name]) return;
  const file = (await (await get("pyodide-lock.json")).json()).packages[name]?.file_name;
  const { text, files } = file ? await diagnose([file]) : { text: "", files: [] };
  for (const bad of files) doubtful.add(bad);
  throw new FetchProblem(text || `${name} could not be loaded (${complaints.join("; ")})`, files);
}
