/**
 * The worker: takes requests one by one, has Python answer them, sends the answers back. JSON text both ways.
 *
 *   page -> worker   {id, widget, params} · {stop: id} · {ping: n} · {prepare: widget}; with a file: {text, files: {parameter: File}}
 *   worker -> page   {id, view} · {id, progress, view} · {id, error} · {id, output}
 *                    {boot} · {loading: 1 or -1} · {pong: n} · {crashed}
 *
 * After each yield of a long piece of work the worker goes back to its message queue, so that a newer request or a Stop
 * is heard. Nothing of Python crosses to the page, only text. This file must not know the page, nor any widget.
 */

import { boot } from "./boot.js";
import { FetchProblem, getBytes, words } from "./fetching.js";
import { Files } from "./files.js";

/** @typedef {{id: number, widget: string, params: Record<string, unknown>}} Request */
/** @typedef {{switch: string, packages: string[], files: string[]}} Later  what must be there once a switch is on */

const OUTPUT_LIMIT = 20000; // bytes a request may print; a printing loop must not fill the reader's memory
const WARM_VIEWS = 12;
const WARM_MS = 300;

/** @type {Awaited<ReturnType<typeof boot>>} */
let python;
/** @type {number[]} ids of work that has yielded, in turn */
const turns = [];
/** @type {Map<string, Promise<Later | undefined>>} what each widget needs, loaded or loading */
const prepared = new Map();
/** @type {Map<string, Promise<void>>} packages, loaded or loading */
const packages = new Map();
const large = new Files(keepFile, (id, done, text) => post({ id, progress: { done, text }, view: null }));
/** @type {Set<string>} widgets that have been drawn for nobody, or will be */
const warmed = new Set();
/** @type {Set<number>} requests whose widget is still being prepared */
const preparing = new Set();
/** @type {{widget: string, views: number, ms: number}[]} figures to be drawn for nobody, and what that may still cost */
const cold = [];
let current = 0;
let printed = 0;

const queue = new MessageChannel();
queue.port1.onmessage = takeTurn;

self.onmessage = (event) => {
  const { text, files } = typeof event.data === "string" ? { text: event.data, files: {} } : event.data;
  const message = JSON.parse(text);
  if (message.ping) post({ pong: message.ping });
  else if (message.stop) stop(message.stop);
  else if (message.prepare) prepare(message.prepare).then(() => warm(message.prepare), () => prepared.delete(message.prepare)); // a question tells
  else answer(message, files);
};

// While Python starts, Pyodide leaves promises to fail unheard; `start` tells the page what failed, in words.
self.addEventListener("unhandledrejection", (event) => {
  if (!python) event.preventDefault();
});
start();

async function start() {
  try {
    python = await boot(print);
    post({ boot: "ready", start: python.start });
  } catch (error) {
    const files = error instanceof FetchProblem ? error.files : [];
    post({ boot: "failed", message: words(error), files });
  }
}

/** @param {Request} request @param {Record<string, File>} files */
async function answer(request, files) {
  const { id, widget, params } = request;
  preparing.add(id);
  try {
    const later = await prepare(widget);
    if (later && params[later.switch] && preparing.has(id)) {
      await Promise.all([...later.packages.map(loadPackage), large.bring(later.files.map((/** @type {string} */ name) => `data/${name}`), id)]);
    }
  } catch (error) {
    prepared.delete(widget); // so that Retry fetches anew
    if (preparing.delete(id)) post({ id, error: { kind: "data", message: words(error) } });
    return;
  }
  if (!preparing.delete(id)) return; // stopped meanwhile
  run(id, () => python.answer.begin(JSON.stringify(request), reader(files)));
}

/**
 * Reads stretches of the reader's files for Python, which asks for them as it gets on. Nothing of them goes elsewhere.
 * @param {Record<string, File>} files
 */
function reader(files) {
  const { FileReaderSync } = /** @type {any} */ (self); // only workers have it: reading without waiting
  const sync = new FileReaderSync();
  return (/** @type {string} */ name, /** @type {number} */ start, /** @type {number} */ stop) =>
    new Uint8Array(sync.readAsArrayBuffer(files[name].slice(start, stop)));
}

/**
 * Fetches what `widget` needs before its first view: packages and data files.
 * @param {string} widget
 */
function prepare(widget) {
  const known = prepared.get(widget);
  if (known) return known;
  const loading = (async () => {
    const { packages, data, later } = JSON.parse(python.answer.needs(widget));
    await Promise.all([...packages.map(loadPackage), ...data.map(loadData)]);
    return later;
  })();
  prepared.set(widget, loading);
  return loading;
}

/** @param {string} name */
function loadPackage(name) {
  const known = packages.get(name);
  if (known) return known;
  post({ loading: 1 }); // importing a package may leave no time to answer a ping
  const loading = python.load(name).finally(() => post({ loading: -1 }));
  packages.set(name, loading);
  loading.catch(() => packages.delete(name));
  return loading;
}

/** @param {Uint8Array} content @param {import("./files.js").Listed} listed */
function keepFile(content, { name, bytes, sha256 }) {
  const { error } = JSON.parse(python.answer.set_file(name.replace(/^data\//, ""), content, bytes, sha256));
  if (error) throw new FetchProblem(error.message, [name]);
}

/** @param {string} name */
async function loadData(name) {
  const file = `data/${name}.json`;
  // The folder is named by its contents, so a good copy in the cache is the right one; a bad one was answered as bad.
  const text = new TextDecoder().decode(await getBytes(file, "no-cache"));
  const { error } = JSON.parse(python.answer.set_data(name, text));
  if (error) throw new FetchProblem(error.message, [file]);
}

/** Lets Python work on `id` until it answers or yields. @param {number} id @param {() => string} work */
function run(id, work) {
  current = id;
  printed = 0;
  try {
    self.postMessage(work());
    if (!python.answer.unfinished(id)) return;
    turns.push(id);
    queue.port2.postMessage(null);
  } catch (error) {
    post({ crashed: words(error) }); // Python turns its own exceptions into answers: this is the interpreter itself
  }
}

function takeTurn() {
  const id = turns.shift();
  if (id !== undefined) run(id, () => python.answer.proceed(id));
  else warmUp();
}

/**
 * Has `widget` drawn a few times for nobody: a browser compiles well only what is used often, and until it has done so
 * a picture takes three times as long. Picture by picture, so that a question waits for one of them at most.
 * @param {string} widget
 */
function warm(widget) {
  if (warmed.has(widget)) return;
  warmed.add(widget);
  cold.push({ widget, views: WARM_VIEWS, ms: WARM_MS });
  queue.port2.postMessage(null);
}

function warmUp() {
  const next = cold[0];
  if (!next) return;
  const began = performance.now();
  printed = Infinity; // nobody asked, so nobody is told
  python.answer.begin(JSON.stringify({ id: 0, widget: next.widget, params: {} }));
  if (python.answer.unfinished(0)) python.answer.stop(0);
  next.views -= 1;
  next.ms -= performance.now() - began;
  if (next.views <= 0 || next.ms <= 0) cold.shift();
  queue.port2.postMessage(null);
}

/** @param {number} id */
function stop(id) {
  const turn = turns.indexOf(id);
  if (turn >= 0) {
    turns.splice(turn, 1);
    self.postMessage(python.answer.stop(id));
  } else if (preparing.delete(id)) {
    large.leave(id);
    post({ id, error: { kind: "stopped", message: "Stopped." } });
  }
}

/** What widgets print is for their authors: it goes to the console, up to a limit. @param {Uint8Array} bytes */
function print(bytes) {
  if (printed > OUTPUT_LIMIT) return;
  printed += bytes.length;
  console.debug(new TextDecoder().decode(bytes.subarray(0, OUTPUT_LIMIT)));
  if (printed > OUTPUT_LIMIT) post({ id: current, output: `It printed more than ${OUTPUT_LIMIT} bytes; the rest was dropped.` });
}

/** @param {object} message */
function post(message) {
  self.postMessage(JSON.stringify(message));
}
