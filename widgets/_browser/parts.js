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
  /** @type {WeakSet<EventTarget>} what has been scrolled: only there is asked where to, since asking lays out the page */
  #scrolled = new WeakSet();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /** @param {HTMLElement} root @param {AbortSignal} signal ends what is still waiting */
  constructor(root, signal) {
    this.root = root;
    signal.addEventListener("abort", () => clearTimeout(this.#timer));
    root.addEventListener("scroll", ({ target }) => target && this.#scrolled.add(target), { signal, capture: true, passive: true });
  }

  /** @param {Record<string, string>} fragments */
  put(fragments) {
    const { summary, ...others } = fragments;
    this.#replace(others);
    if (summary === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#replace({ summary }), QUIET_MS);
  }

  /**
   * First all that must be asked, then all that changes: a question between two changes would lay out the page anew.
   * @param {Record<string, string>} fragments
   */
  #replace(fragments) {
    const changes = Object.entries(fragments).flatMap(([name, html]) => {
      if (this.#shown.get(name) === html) return [];
      const first = !this.#shown.has(name);
      this.#shown.set(name, html);
      const place = this.root.querySelector(`[data-part="${name}"]`);
      return place ? [{ place, html, kept: [place, ...place.children].map((element) => this.#scroll(element, first)) }] : [];
    });
    for (const { place, html } of changes) place.innerHTML = html;
    for (const { place, kept } of changes) {
      [place, ...place.children].forEach((element, index) => {
        const { left = 0, top = 0 } = kept[index] ?? {};
        if (left || top) element.scrollTo({ left, top, behavior: "instant" });
      });
    }
  }

  /**
   * Where to scroll what comes in its place: as the reader left it, or to the end that it follows.
   * @param {Element} element @param {boolean} unheard it was there before this script, and may have been scrolled then
   */
  #scroll(element, unheard) {
    const follows = element.hasAttribute("data-follow");
    if (!follows && !unheard && !this.#scrolled.has(element)) return null;
    const { scrollLeft: left, scrollTop, clientHeight, scrollHeight } = element;
    const atEnd = follows && scrollTop + clientHeight + 2 > scrollHeight;
    return { left, top: atEnd ? 1e7 : scrollTop };
  }
}
