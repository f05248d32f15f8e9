/**
 * The page's one Python: a single module worker for the whole visit, and the queue in front of it.
 *
 * Each figure has at most one request in flight and one waiting; the newest wins. Instant navigation keeps this module
 * and so the worker. A worker that does not listen (an endless loop, a crash, a page back from the cache with its
 * worker gone) is replaced, and what others had asked is asked once more: once, so that nothing goes round for ever.
 * This file must not know the page's elements, nor what parameters or answers mean.
 */

import { beside, diagnose, words } from "./fetching.js";

/** @typedef {{kind: string, message: string, param?: string}} Fault */
/** @typedef {{done: number | null, text: string}} Progress */
/** @typedef {{id: number, view?: Record<string, string> | null, progress?: Progress, error?: Fault, output?: string}} Reply */
/** @typedef {"off" | "starting" | "ready" | "failed"} State */
/** @typedef {(state: State, text: string) => void} Listener  text: why it failed, or that it was started anew */
/** @typedef {(reply: Reply) => void} Hear */
/** @typedef {{id: number, figure: object, widget: string, params: object, hear: Hear, files?: Record<string, File>, posted: boolean, tries: number, progressed: boolean, stopping: boolean, heard: number}} Request */

const STOP_MS = 2000; // contract: a call that has not yielded so long after Stop is killed
const SILENCE_MS = 10000; // views take milliseconds, long work yields every 50: a hang or a dead worker, even on a slow phone
const LOADING_MS = 60000; // while a package is loaded: importing NumPy holds a slow phone up for longer than a view may
const TRIES = 2;
const RESTARTS = 3; // so many starts in a row without one answer: it is not going to work by itself
const SCRIPTS = ["worker.js", "boot.js", "fetching.js", "files.js", "kernel.js"]; // worker.js and all that is imported from it

export class Python {
  /** @type {State} */
  state = "off";
  /** Why it failed, in words. */
  reason = "";
  /** @type {Worker | null} */
  #worker = null;
  #lastId = 0;
  #lastPing = 0;
  #restarts = 0;
  #loading = 0;
  /** @type {string[]} files that were wrong at the last start */
  #suspects = [];
  /** @type {Map<object, {flying: Request, waiting: Request | null}>} */
  #lanes = new Map();
  /** @type {Map<number, () => void>} */
  #pings = new Map();
  /** @type {Set<string>} widgets that a reader's hand was near */
  #prepared = new Set();
  /** @type {Set<Listener>} */
  #listeners = new Set();
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #watch;

  /** @param {() => Worker} [make] tests give a worker of their own */
  constructor(make = () => new Worker(new URL("./worker.js", import.meta.url), { type: "module", name: "python" })) {
    this.make = make;
  }

  /**
   * Hears every change of state from now on; returns how to stop hearing.
   * @param {Listener} listener
   */
  subscribe(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** `widget` will be asked for: what it needs beyond Python (NumPy, data) is fetched meanwhile. @param {string} widget */
  prepare(widget) {
    if (this.#prepared.has(widget)) return;
    this.#prepared.add(widget);
    if (this.state === "ready") this.#worker?.postMessage(JSON.stringify({ prepare: widget }));
  }

  /** Starts Python unless it runs, is starting or has failed: a failure waits for Retry. */
  start() {
    if (this.state === "off") this.#boot("");
  }

  /** Starts anew after a failure, fetching the files that were wrong past the browser's cache. */
  async retry() {
    if (this.state !== "failed") return;
    const suspects = this.#suspects;
    this.#suspects = [];
    this.#restarts = 0;
    this.#tell("starting", "");
    await Promise.allSettled(suspects.map((name) => fetch(beside(name), { cache: "reload" })));
    if (!this.#worker) this.#boot("");
  }

  /** Gives up a start that takes too long and begins again. */
  again() {
    if (this.state !== "starting") return;
    this.#end();
    this.#boot("");
  }

  /**
   * Asks for the view of `widget` at `params` on behalf of `figure`; an older question still waiting is forgotten.
   * @param {object} figure
   * @param {string} widget
   * @param {object} params
   * @param {Hear} hear gets answers until the last one; nothing after a newer question was answered
   * @param {Record<string, File>} [files] the reader's files by parameter: handles, which the worker reads
   */
  ask(figure, widget, params, hear, files) {
    this.#lastId += 1;
    /** @type {Request} */
    const request = {
      id: this.#lastId, figure, widget, params, hear, files, posted: false, tries: 0, progressed: false, stopping: false, heard: 0,
    };
    const lane = this.#lanes.get(figure);
    if (!lane) {
      this.#lanes.set(figure, { flying: request, waiting: null });
      this.#post(request);
    } else if (!lane.flying.posted) {
      lane.flying = request;
    } else {
      lane.waiting = request;
      if (lane.flying.progressed) this.#sendStop(lane.flying);
    }
    this.start();
  }

  /**
   * Ends the work of `figure` on the reader's wish; a call that does not listen is killed with its worker.
   * @param {object} figure
   */
  stop(figure) {
    const lane = this.#lanes.get(figure);
    if (!lane) return;
    lane.waiting = null;
    if (!lane.flying.posted) this.#finish(lane.flying, { kind: "stopped", message: "Stopped." });
    else this.#sendStop(lane.flying);
  }

  /**
   * Forgets `figure`: it has left the page. Its work is ended and nobody is told. Nobody waits for it either, so a call
   * that does not listen is given the long time: it may be importing NumPy, and the next page wants this worker.
   * @param {object} figure
   */
  forget(figure) {
    const lane = this.#lanes.get(figure);
    if (!lane) return;
    lane.flying.hear = () => {};
    lane.waiting = null;
    if (!lane.flying.posted) this.#next(figure);
    else this.#worker?.postMessage(JSON.stringify({ stop: lane.flying.id }));
  }

  /** Whether something asked by `figure` is still open. @param {object} figure */
  busy(figure) {
    return this.#lanes.has(figure);
  }

  /** After the page came back from the cache: is the worker still there? If not, it is replaced. */
  async check() {
    if (this.state !== "ready" || (await this.#ping())) return;
    this.#replace("Python was started again.", null);
  }

  /** @param {string} text what to tell the reader about this start */
  #boot(text) {
    this.#tell("starting", text);
    /** @type {Worker} */
    let worker;
    try {
      if (typeof WebAssembly !== "object") throw new Error("this browser has no WebAssembly, which Python needs");
      worker = this.make();
    } catch (error) {
      this.#fail(words(error), []);
      return;
    }
    this.#worker = worker;
    worker.onmessage = (event) => {
      if (worker === this.#worker) this.#receive(JSON.parse(event.data));
    };
    worker.onerror = (event) => {
      event.preventDefault(); // told in the figure, in words
      if (worker === this.#worker) this.#broken(event.message);
    };
    worker.onmessageerror = () => {
      if (worker === this.#worker) this.#broken("an answer could not be read");
    };
  }

  /** @param {any} message */
  #receive(message) {
    if (message.boot === "ready") {
      performance.mark("python ready", { detail: message.start }); // "snapshot" or "plain": tests and benchmarks read it
      this.#tell("ready", "");
      for (const { flying } of this.#lanes.values()) this.#post(flying);
      for (const widget of this.#prepared) this.#worker?.postMessage(JSON.stringify({ prepare: widget }));
    } else if (message.boot === "failed") {
      this.#fail(message.message, message.files ?? []);
    } else if (message.crashed) {
      this.#broken(message.crashed);
    } else if (message.loading) {
      this.#loading += message.loading;
      for (const { flying } of this.#lanes.values()) flying.heard = Date.now();
    } else if (message.pong) {
      this.#pings.get(message.pong)?.();
    } else {
      this.#answer(message);
    }
  }

  /** @param {Reply} reply */
  #answer(reply) {
    const lane = [...this.#lanes.values()].find(({ flying }) => flying.id === reply.id);
    if (!lane) return; // stale
    const request = lane.flying;
    request.heard = Date.now();
    if (reply.output) {
      request.hear(reply);
    } else if (reply.progress) {
      request.progressed = true;
      if (lane.waiting) this.#sendStop(request);
      else if (!request.stopping) request.hear(reply);
    } else {
      // A picture that a newer one will follow is still shown, so that it moves along with a slow drag.
      this.#restarts = 0;
      this.#next(request.figure);
      if (!(reply.error && this.#lanes.has(request.figure))) request.hear(reply);
      if (reply.error?.kind === "memory") this.#replace("Python ran out of memory and was started again.", null);
    }
  }

  /** The figure's flying request is over; the waiting one takes its place. @param {object} figure */
  #next(figure) {
    const waiting = this.#lanes.get(figure)?.waiting;
    if (!waiting) {
      this.#lanes.delete(figure);
      if (this.#lanes.size === 0) clearInterval(this.#watch);
      return;
    }
    this.#lanes.set(figure, { flying: waiting, waiting: null });
    this.#post(waiting);
  }

  /** @param {Request} request @param {Fault} fault */
  #finish(request, fault) {
    this.#next(request.figure);
    request.hear({ id: request.id, error: fault });
  }

  /** @param {Request} request */
  #post(request) {
    if (this.state !== "ready" || !this.#worker) return;
    request.posted = true;
    request.tries += 1;
    request.heard = Date.now();
    const { id, widget, params, files } = request;
    const text = JSON.stringify({ id, widget, params });
    this.#worker.postMessage(files ? { text, files } : text);
    clearInterval(this.#watch);
    this.#watch = setInterval(() => this.#listen(), SILENCE_MS / 4);
  }

  /** @param {Request} request */
  #sendStop(request) {
    if (request.stopping) return;
    request.stopping = true;
    const worker = this.#worker;
    worker?.postMessage(JSON.stringify({ stop: request.id }));
    setTimeout(() => {
      if (worker !== this.#worker || this.#lanes.get(request.figure)?.flying !== request) return;
      this.#replace("Python did not stop in time and was started again.", request);
    }, STOP_MS);
  }

  /** Long silence with a request open: ask whether anybody is there. */
  async #listen() {
    const patience = this.#loading > 0 ? LOADING_MS : SILENCE_MS;
    const quiet = [...this.#lanes.values()].some(({ flying }) => flying.posted && Date.now() - flying.heard > patience);
    if (!quiet || this.state !== "ready") return;
    const worker = this.#worker;
    if ((await this.#ping()) || worker !== this.#worker) return;
    this.#replace("Python gave no sign of life and was started again.", null);
  }

  /** @returns {Promise<boolean>} whether the worker answers within two seconds */
  #ping() {
    this.#lastPing += 1;
    const number = this.#lastPing;
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), STOP_MS);
      this.#pings.set(number, () => {
        clearTimeout(timer);
        resolve(true);
      });
      this.#worker?.postMessage(JSON.stringify({ ping: number }));
    }).finally(() => this.#pings.delete(number));
  }

  /** @param {string} [message] */
  async #broken(message) {
    if (this.state === "ready") {
      this.#replace("Python crashed and was started again.", null);
      return;
    }
    const worker = this.#worker;
    const { text, files } = await diagnose(SCRIPTS);
    if (worker !== this.#worker) return;
    const refused = "the browser refused to start worker.js (an old browser, or a content security policy)";
    this.#fail(text || message || refused, files);
  }

  /**
   * A new worker for the one that does not listen. `culprit` is answered; others are asked again, once.
   * @param {string} text
   * @param {Request | null} culprit
   */
  #replace(text, culprit) {
    this.#end();
    const open = [...this.#lanes.values()].map(({ flying }) => flying);
    for (const request of open) Object.assign(request, { posted: false, progressed: false, stopping: false });
    this.state = "starting"; // so that nothing below is posted to a worker that is gone
    for (const request of open) {
      if (request === culprit) this.#finish(request, { kind: "stopped", message: `Stopped. ${text}` });
      else if (request.tries >= TRIES) this.#finish(request, { kind: "worker", message: `${text} This figure was asked twice.` });
    }
    this.#restarts += 1;
    if (this.#restarts > RESTARTS) this.#fail(`${text} It did so ${RESTARTS} times without an answer.`, []);
    else this.#boot(text);
  }

  /** @param {string} reason @param {string[]} files */
  #fail(reason, files) {
    this.#end();
    this.reason = reason;
    this.#suspects = files;
    this.#tell("failed", reason);
  }

  #end() {
    this.#worker?.terminate();
    this.#worker = null;
    this.#loading = 0;
    clearInterval(this.#watch);
  }

  /** @param {State} state @param {string} text */
  #tell(state, text) {
    this.state = state;
    for (const listener of [...this.#listeners]) listener(state, text);
  }
}

/** The one Python of this visit. */
export const python = new Python();
