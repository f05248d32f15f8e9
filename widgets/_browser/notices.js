/**
 * What a figure has to say in words: notes and failures, each with its buttons, in the figure's `.sd-notice`.
 *
 * Words go in as text, never as HTML: a message may quote the address or a server. This file must not know what the
 * messages are about.
 */

/** @typedef {{label: string, run: () => void}} Action */

export class Notices {
  /** @param {HTMLElement | null} box */
  constructor(box) {
    this.box = box;
    /** @type {Map<string, HTMLElement>} */
    this.shown = new Map();
    /** @type {HTMLElement | null} where the reader was before a note appeared */
    this.back = null;
    box?.replaceChildren();
    if (box) box.hidden = true;
  }

  /**
   * Shows `text` under `key` (a second one replaces the first) and returns its element.
   * @param {string} key
   * @param {string} text
   * @param {readonly Action[]} [actions]
   */
  say(key, text, actions = [{ label: "Dismiss", run: () => this.drop(key) }]) {
    const focused = document.activeElement;
    if (focused instanceof HTMLElement && !this.box?.contains(focused)) this.back = focused;
    const note = document.createElement("div");
    note.className = "sd-note";
    note.dataset.note = key;
    const words = document.createElement("p");
    words.textContent = text;
    note.append(words);
    for (const { label, run } of actions) {
      const button = document.createElement("button");
      button.type = "button";
      button.dataset.do = label.toLowerCase().replaceAll(" ", "-");
      button.textContent = label;
      button.addEventListener("click", run);
      note.append(button);
    }
    const before = this.shown.get(key);
    if (before) before.replaceWith(note);
    else this.box?.append(note);
    this.shown.set(key, note);
    if (this.box) this.box.hidden = false;
    return note;
  }

  /** @param {string} key */
  drop(key) {
    const note = this.shown.get(key);
    const held = note?.contains(document.activeElement);
    note?.remove();
    this.shown.delete(key);
    if (held) this.back?.focus({ preventScroll: true }); // whoever pressed its button goes back to where they were
    if (this.box) this.box.hidden = this.shown.size === 0;
  }
}
