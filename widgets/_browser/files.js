/**
 * A figure's large files: fetched when it runs, once for the visit, told as they come in, given up when nobody waits.
 *
 * A reader on a slow line sees how far it is and can stop it; bytes that are not those of the build are refused and
 * fetched past the browser's cache the next time. This file must not know what is in a file, nor what Python does with it.
 */

import { FetchProblem, beside, get, words } from "./fetching.js";

/** @typedef {{name: string, bytes: number, sha256: string}} Listed  a line of assets.json */

const TELL_MS = 100;
const GRACE_MS = 1000; // a reader who moves another control asks anew, and wants the same files

export class Files {
  /** @type {Set<number>} requests that wait */
  #waiting = new Set();
  /** @type {Map<string, Promise<void>>} files that are there or on their way */
  #coming = new Map();
  /** @type {Map<string, {got: number, size: number}>} */
  #parts = new Map();
  /** @type {Set<string>} files that were wrong when they were last fetched */
  #doubtful = new Set();
  #giveUp = new AbortController();
  #told = 0;

  /**
   * @param {(content: Uint8Array, listed: Listed) => void} keep throws for a file that is not the one of the build
   * @param {(id: number, done: number, text: string) => void} tell a waiting request how far it is
   */
  constructor(keep, tell) {
    this.keep = keep;
    this.tell = tell;
  }

  /** Resolves once Python has all of `names`. @param {string[]} names @param {number} id */
  async bring(names, id) {
    this.#waiting.add(id);
    try {
      await Promise.all(names.map((name) => this.#coming.get(name) ?? this.#fetch(name)));
    } finally {
      this.#waiting.delete(id);
    }
  }

  /** The request `id` no longer waits. @param {number} id */
  leave(id) {
    if (this.#waiting.delete(id)) setTimeout(() => this.#giveUpUnlessWanted(), GRACE_MS);
  }

  #giveUpUnlessWanted() {
    if (this.#waiting.size) return;
    for (const name of this.#parts.keys()) this.#coming.delete(name);
    this.#parts.clear();
    this.#giveUp.abort();
    this.#giveUp = new AbortController();
  }

  /** @param {string} name */
  #fetch(name) {
    const part = { got: 0, size: 0 };
    this.#parts.set(name, part);
    const coming = this.#take(name, part, this.#giveUp.signal).finally(() => {
      if (this.#parts.get(name) === part) this.#parts.delete(name);
    });
    this.#coming.set(name, coming);
    coming.catch(() => {
      this.#doubtful.add(name);
      if (this.#coming.get(name) === coming) this.#coming.delete(name);
    });
    return coming;
  }

  /** @param {string} name @param {{got: number, size: number}} part @param {AbortSignal} signal */
  async #take(name, part, signal) {
    const listed = await listing(name);
    part.size = listed.bytes;
    const cache = this.#doubtful.has(name) ? "reload" : "no-cache";
    this.keep(await this.#read(name, part, cache, signal), listed);
    this.#doubtful.delete(name);
  }

  /**
   * @param {string} name @param {{got: number, size: number}} part @param {RequestCache} cache @param {AbortSignal} signal
   */
  async #read(name, part, cache, signal) {
    const { body } = await get(name, cache, signal);
    if (!body) throw new FetchProblem(`${beside(name)} came back empty`, [name]);
    /** @type {Uint8Array[]} */
    const pieces = [];
    try {
      for (const reader = body.getReader(); ; ) {
        const { done, value } = await reader.read();
        if (done) break;
        pieces.push(value);
        part.got += value.length;
        this.#say();
      }
    } catch (error) {
      throw new FetchProblem(`${beside(name)} was cut off on its way (${words(error)})`, [name]);
    }
    const whole = new Uint8Array(part.got);
    let at = 0;
    for (const piece of pieces) {
      whole.set(piece, at);
      at += piece.length;
    }
    return whole;
  }

  /** Not more often than an eye follows. */
  #say() {
    if (Date.now() - this.#told < TELL_MS) return;
    this.#told = Date.now();
    const parts = [...this.#parts.values()];
    const got = parts.reduce((sum, part) => sum + part.got, 0);
    const size = Math.max(1, parts.reduce((sum, part) => sum + part.size, 0));
    const mb = (/** @type {number} */ bytes) => (bytes / 1e6).toFixed(1);
    for (const id of this.#waiting) this.tell(id, Math.min(1, got / size), `Fetching files, ${mb(got)} of ${mb(size)} MB:`);
  }
}

/** What the build says of `name`. @param {string} name @returns {Promise<Listed>} */
async function listing(name) {
  /** @type {Listed[]} */
  const rows = await (await get("assets.json")).json();
  const found = rows.find((row) => row.name === name);
  if (!found) throw new FetchProblem(`${beside(name)} is not part of this site`, [name]);
  return found;
}
