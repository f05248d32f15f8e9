/**
 * Puts an answer's HTML fragments into the figure's `data-part` places: only those that changed.
 *
 * The summary is the figure's one live region: it is set after a quiet moment, so that a drag is read aloud once and
 * not at every stop. The fragments are written by `widgets/_kit/render.py`, which escapes what it is given. This file
 * must not know what the parts mean.
 */

const QUIET_MS = 400;

export class Parts {
  /** @type {Map<string, string>} */
  #shown = new Map();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /** @param {HTMLElement} root @param {AbortSignal} signal ends what is still waiting */
  constructor(root, signal) {
    this.root = root;
    signal.addEventListener("abort", () => clearTimeout(this.#timer));
  }

  /** @param {Record<string, string>} fragments */
  put(fragments) {
    for (const [name, html] of Object.entries(fragments)) {
      if (name !== "summary") this.#set(name, html);
    }
    const summary = fragments.summary;
    if (summary === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#set("summary", summary), QUIET_MS);
  }

  /** @param {string} name @param {string} html */
  #set(name, html) {
    if (this.#shown.get(name) === html) return;
    this.#shown.set(name, html);
    const place = this.root.querySelector(`[data-part="${name}"]`);
    if (!place) return;
    // What was scrolled stays where the reader left it; a strip that grows shows its end until then.
    const kept = [place, ...place.children].map(({ scrollLeft, scrollTop, clientHeight, scrollHeight }) => {
      return { scrollLeft, scrollTop: scrollTop + clientHeight + 2 > scrollHeight ? scrollHeight * 99 : scrollTop };
    });
    place.innerHTML = html;
    [place, ...place.children].forEach((element, index) => Object.assign(element, kept[index]));
  }
}
