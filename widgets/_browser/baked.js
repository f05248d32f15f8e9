/**
 * The answers that were baked for a figure when the site was built (`widgets/_page/baked.py`): what a control shows
 * before Python is there.
 *
 * A state is looked up by what it changes, and its parts are cut together from those of the page's own state: the
 * strings that Python would send, byte for byte. A site built without them is no worse, only slower to answer, so a file
 * that cannot be had counts as empty. This file must not know what parts or parameters mean.
 */

/** @typedef {(number | string)[]} Patch  kept, left out, put in; kept, left out, put in; … the rest is kept */
/** @typedef {Record<string, string>} Fragments */

export class Baked {
  /** @type {Promise<void> | null} */
  #loading = null;
  /** @type {Fragments} */
  #own = {};
  /** @type {Map<string, Record<string, Patch>>} */
  #states = new Map();

  /** @param {string | undefined} name of the file, without which there is nothing to fetch */
  constructor(name) {
    this.name = /^[0-9a-f]{12}$/.test(name ?? "") ? name : "";
  }

  /** Fetches the answers once; done when they are there, or cannot be had. */
  load() {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  async #load() {
    if (!this.name) return;
    try {
      const response = await fetch(new URL(`../../baked/${this.name}.json`, import.meta.url));
      if (!response.ok) return;
      const { own, states } = await response.json();
      this.#states = new Map(Object.entries(states));
      this.#states.set("", {});
      this.#own = own;
    } catch {
      // Python answers, as it would without this file.
    }
  }

  /**
   * The parts of the state that changes this, or undefined.
   * @param {string} changes as in the page's address, in the order of the controls; "" is the page's own state
   * @returns {Fragments | undefined}
   */
  find(changes) {
    const state = this.#states.get(changes);
    return state && Object.fromEntries(
      Object.entries(this.#own).map(([part, text]) => [part, state[part] ? patched(text, state[part]) : text]),
    );
  }
}

/** @param {string} old @param {Patch} patch */
export function patched(old, patch) {
  let at = 0;
  let made = "";
  for (let entry = 0; entry < patch.length; entry += 3) {
    const kept = at + Number(patch[entry]);
    made += old.slice(at, kept) + patch[entry + 2];
    at = kept + Number(patch[entry + 1]);
  }
  return made + old.slice(at);
}
