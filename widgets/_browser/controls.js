/**
 * The controls of a figure: one class a kind, all alike from outside.
 *
 * A control turns what the reader does into a value and says so; it shows the value at once, in the same words the
 * builder wrote beside it (`data-stops`). What a value does to the picture is Python's business: nothing here knows.
 * Over 400 lines: every file is a request more before a figure can be moved.
 */

import { Player } from "./player.js";
import { brief, giveWay, nearestStop, outside, readNumber, readShares, stopAt } from "./numbers.js";

/** @typedef {import("./numbers.js").Stop} Stop */
/** @typedef {{name: string, size: number, stamp: number}} FileNote  what Python is told of a file; the rest it reads */
/** @typedef {number | string | boolean | FileNote | null} Value */
/** @typedef {{value: Value} | {problem: string}} Read */
/** @typedef {{changed: (control: Control) => void, busy: () => boolean, signal: AbortSignal}} Host */

const TYPING_MS = 400;

/** What all controls have in common. */
export class Control {
  /** Never in an address, in storage or in a link. */
  private = false;
  /** @type {Value} */
  value = "";
  /** @type {File | null} the reader's own file, for the one kind that has it */
  file = null;

  /** @param {HTMLElement} root @param {Host} host */
  constructor(root, host) {
    this.root = root;
    this.host = host;
    this.name = root.dataset.param ?? "";
    this.label = root.querySelector(".sd-label")?.textContent?.trim() || this.name;
    this.problem = /** @type {HTMLElement | null} */ (root.querySelector(".sd-problem"));
    this.problem?.setAttribute("role", "status");
  }

  /** Shows `value` without telling the figure. @param {Value} value */
  show(value) {
    this.value = value;
  }

  /** What the page's own element holds: a hand may have been quicker than this script. @returns {Value} */
  held() {
    return this.value;
  }

  /** The value that address text means, or a sentence. @param {string} text @returns {Read} */
  read(text) {
    return { value: text };
  }

  /** The value as address text. */
  text() {
    return String(this.value);
  }

  /** Ends whatever moves by itself. */
  rest() {}

  /** A word at the control, "" for none. @param {string} text */
  say(text) {
    if (!this.problem) return;
    this.problem.textContent = text;
    this.problem.hidden = text === "";
  }

  /** The reader chose `value`. @param {Value} value */
  choose(value) {
    const changed = value !== this.value;
    this.show(value);
    if (changed) this.host.changed(this);
  }

  /**
   * @template {keyof HTMLElementEventMap} K
   * @param {Element | null} element @param {K} type @param {(event: HTMLElementEventMap[K]) => void} listener
   */
  on(element, type, listener) {
    const handler = /** @type {EventListener} */ (listener);
    element?.addEventListener(type, handler, { signal: this.host.signal });
  }
}

/** A range over the indexes of stops, with a field to type in. Also the base of `StepControl`. */
class SliderControl extends Control {
  /** @param {HTMLElement} root @param {Host} host */
  constructor(root, host) {
    super(root, host);
    /** @type {Stop[]} */
    this.stops = JSON.parse(root.dataset.stops ?? "[]");
    this.range = /** @type {HTMLInputElement} */ (root.querySelector(".sd-range"));
    this.typed = /** @type {HTMLInputElement | null} */ (root.querySelector(".sd-typed"));
    this.unit = root.querySelector(".sd-unit");
    this.more = /** @type {HTMLElement | null} */ (root.querySelector("[data-do=extend]"));
    this.on(this.range, "input", () => this.take(Number(this.range.value)));
    // A finger that means to scroll may begin on the track; the browser moves the thumb before it finds that out.
    let before = this.range.value;
    this.on(this.range, "pointerdown", () => {
      before = this.range.value;
    });
    this.on(this.range, "pointercancel", () => {
      if (this.range.value !== before) this.take(Number(before));
    });
    this.on(this.typed, "change", () => this.type()); // also fired by Enter
    this.on(this.more, "click", () => {
      this.extend();
      this.range.focus();
    });
  }

  held() {
    return this.stops[Number(this.range.value)][0];
  }

  /** The reader chose the stop at `index`. @param {number} index */
  take(index) {
    this.say("");
    this.choose(this.stops[index][0]);
  }

  /** The reader typed something. What is no stop goes to the nearest one, and the control says so. */
  type() {
    const text = this.typed?.value ?? "";
    if (text.trim() === this.text()) return this.say("");
    const found = readNumber(text);
    const refused = "problem" in found ? found.problem : outside(this.stops, found.value);
    if (refused || "problem" in found) return this.say(`${capital(refused ?? "")}. ${this.#range()}`);
    const index = nearestStop(this.stops, found.value);
    const exact = stopAt(this.stops, found.value) >= 0;
    this.take(index);
    if (!exact) this.say(`${brief(text)} is between two stops; the nearest is ${this.stops[index][1]}.`);
  }

  #range() {
    return `It goes from ${this.stops[0][1]} to ${this.stops[this.stops.length - 1][2]}.`;
  }

  /** Opens the far part of the track. */
  extend() {
    this.range.max = String(this.stops.length - 1);
    if (this.more) this.more.hidden = true;
  }

  /** @param {Value} value */
  show(value) {
    super.show(value);
    const index = nearestStop(this.stops, Number(value));
    const [, typed, shown] = this.stops[index];
    if (index > Number(this.range.max)) this.extend();
    this.range.value = String(index);
    this.range.setAttribute("aria-valuetext", shown);
    if (this.typed) this.typed.value = typed;
    // The unit follows the number (1 token, 2 tokens), so that what is seen is what is read aloud.
    if (this.unit && shown.startsWith(typed)) this.unit.textContent = shown.slice(typed.length).trim();
  }

  /** @param {string} text @returns {Read} */
  read(text) {
    const found = readNumber(text);
    if ("problem" in found) return { problem: `${found.problem}. ${this.#range()}` };
    const index = stopAt(this.stops, found.value);
    if (index >= 0) return { value: this.stops[index][0] };
    const near = this.stops[nearestStop(this.stops, found.value)][1];
    const why = outside(this.stops, found.value) ?? `${brief(text)} is not one of the stops; the nearest is ${near}`;
    return { problem: `${why}. ${this.#range()}` };
  }

  text() {
    return this.stops[nearestStop(this.stops, Number(this.value))][1];
  }
}

/** A slider with Previous, Play and Next. */
class StepControl extends SliderControl {
  /** @param {HTMLElement} root @param {Host} host */
  constructor(root, host) {
    super(root, host);
    this.player = new Player({
      button: /** @type {HTMLButtonElement | null} */ (root.querySelector("[data-do=play]")),
      ms: Number(root.dataset.ms) || 600,
      last: this.stops.length - 1,
      at: () => Number(this.range.value),
      go: (index) => super.take(index),
      busy: host.busy,
      signal: host.signal,
    });
    this.on(root.querySelector("[data-do=previous]"), "click", () => this.take(Number(this.range.value) - 1));
    this.on(root.querySelector("[data-do=next]"), "click", () => this.take(Number(this.range.value) + 1));
  }

  /** A hand on the control takes over from Play. @param {number} index */
  take(index) {
    this.player?.pause();
    super.take(Math.min(Math.max(index, 0), this.stops.length - 1));
  }

  rest() {
    this.player.pause();
  }
}

class ChoiceControl extends Control {
  /** @param {HTMLElement} root @param {Host} host */
  constructor(root, host) {
    super(root, host);
    this.select = /** @type {HTMLSelectElement} */ (root.querySelector("select"));
    this.on(this.select, "change", () => {
      this.say("");
      this.choose(this.select.value);
    });
  }

  held() {
    return this.select.value;
  }

  /** @param {Value} value */
  show(value) {
    super.show(value);
    this.select.value = String(value);
  }

  /** @param {string} text @returns {Read} */
  read(text) {
    const keys = [...this.select.options].map((option) => option.value);
    const word = text.trim();
    if (keys.includes(word)) return { value: word };
    return { problem: `“${brief(text)}” is not one of ${keys.join(", ")}` };
  }
}

class ToggleControl extends Control {
  /** @param {HTMLElement} root @param {Host} host */
  constructor(root, host) {
    super(root, host);
    this.box = /** @type {HTMLInputElement} */ (root.querySelector("input"));
    this.on(this.box, "change", () => {
      this.say("");
      this.choose(this.box.checked);
    });
  }

  held() {
    return this.box.checked;
  }

  /** @param {Value} value */
  show(value) {
    super.show(value);
    this.box.checked = value === true;
  }

  /** @param {string} text @returns {Read} */
  read(text) {
    const word = text.trim().toLowerCase();
    if (["on", "true", "yes", "1"].includes(word)) return { value: true };
    if (["off", "false", "no", "0"].includes(word)) return { value: false };
    return { problem: `“${brief(text)}” is neither on nor off` };
  }

  text() {
    return this.value ? "on" : "off";
  }
}

/** Shares that add up to 1, one upright range and one field each. The value is text, "0.5,0.3,0.2". */
class BarsControl extends Control {
  /** @param {HTMLElement} root @param {Host} host */
  constructor(root, host) {
    super(root, host);
    this.ranges = /** @type {HTMLInputElement[]} */ ([...root.querySelectorAll(".sd-upright")]);
    this.fields = /** @type {HTMLInputElement[]} */ ([...root.querySelectorAll(".sd-typed")]);
    /** @type {number[]} hundredths */
    this.parts = this.ranges.map((range) => Number(range.defaultValue));
    this.ranges.forEach((range) => range.style.setProperty("--at", range.defaultValue)); // not in the HTML: see frame() in drawing.py
    /** The shares before this bar began to move: a bar drawn up and down again gives the others back what they had. */
    this.before = { index: -1, parts: this.parts };
    this.ranges.forEach((range, index) => this.on(range, "input", () => this.move(index, Number(range.value))));
    this.fields.forEach((field, index) => this.on(field, "change", () => this.type(index)));
  }

  held() {
    const moved = this.ranges.findIndex((range, index) => Number(range.value) !== this.parts[index]);
    return moved < 0 ? this.value : shares(giveWay(this.parts, moved, Number(this.ranges[moved].value)));
  }

  /** The reader moved one bar. @param {number} index @param {number} wanted */
  move(index, wanted) {
    this.say("");
    const before = this.before.index === index ? this.before : { index, parts: this.parts };
    this.choose(shares(giveWay(before.parts, index, wanted)));
    this.before = before;
  }

  /** The reader typed one share. @param {number} index */
  type(index) {
    const text = this.fields[index].value;
    const found = readNumber(text);
    if ("problem" in found) return this.say(`${capital(found.problem)}. A share goes from 0 to 1.`);
    if (found.value < 0 || found.value > 1) return this.say(`${brief(text)} is outside 0 to 1.`);
    const wanted = Math.round(found.value * 100);
    this.move(index, wanted);
    if (Math.abs(found.value * 100 - wanted) > 1e-7) this.say(`Shares are whole hundredths; ${wanted / 100} is nearest.`);
  }

  /** @param {Value} value */
  show(value) {
    super.show(value);
    const read = readShares(String(value), this.ranges.length);
    if ("problem" in read) return;
    this.parts = read.parts;
    this.before = { index: -1, parts: this.parts };
    this.parts.forEach((part, index) => {
      const text = String(part / 100);
      this.ranges[index].value = String(part);
      this.ranges[index].style.setProperty("--at", String(part));
      this.ranges[index].setAttribute("aria-valuetext", text);
      this.fields[index].value = text;
    });
  }

  /** @param {string} text @returns {Read} */
  read(text) {
    const read = readShares(text, this.ranges.length);
    return "problem" in read ? read : { value: shares(read.parts) };
  }
}

/** Hundredths as address text. @param {readonly number[]} parts */
function shares(parts) {
  return parts.map((part) => String(part / 100)).join(",");
}

/** Words the reader writes: private, and asked about only after a pause in typing. */
class TextControl extends Control {
  private = true;

  /** @param {HTMLElement} root @param {Host} host */
  constructor(root, host) {
    super(root, host);
    this.area = /** @type {HTMLTextAreaElement} */ (root.querySelector("textarea"));
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const take = () => {
      clearTimeout(timer);
      this.say("");
      this.choose(this.area.value);
    };
    this.on(this.area, "input", () => {
      clearTimeout(timer);
      timer = setTimeout(take, TYPING_MS);
    });
    this.on(this.area, "change", take);
    host.signal.addEventListener("abort", () => clearTimeout(timer));
  }

  held() {
    return this.area.value;
  }

  /** Never touches a field that holds this text already: the cursor would jump. @param {Value} value */
  show(value) {
    super.show(value);
    if (this.area.value !== value) this.area.value = String(value);
  }
}

/** A file of the reader's, chosen or dropped: private. Python reads it in the worker, stretch by stretch. */
class FileControl extends Control {
  private = true;
  /** @type {Value} */
  value = null;

  /** @param {HTMLElement} root @param {Host} host */
  constructor(root, host) {
    super(root, host);
    this.input = /** @type {HTMLInputElement} */ (root.querySelector("input"));
    this.zone = /** @type {HTMLElement} */ (root.querySelector(".sd-drop"));
    this.words = /** @type {HTMLElement} */ (root.querySelector(".sd-file-name"));
    this.on(this.input, "change", () => this.take(this.input.files?.[0]));
    this.on(this.zone, "dragover", (event) => {
      event.preventDefault(); // else the browser would leave the page to show the file
      this.zone.toggleAttribute("data-over", true);
    });
    this.on(this.zone, "dragleave", () => this.zone.removeAttribute("data-over"));
    this.on(this.zone, "drop", (event) => {
      event.preventDefault();
      this.zone.removeAttribute("data-over");
      this.take(event.dataTransfer?.files[0]);
    });
  }

  /** @param {File | undefined} file */
  take(file) {
    if (!file) return;
    const most = Number(this.zone.dataset.max);
    if (file.size > most) {
      this.say(`The file has ${Math.ceil(file.size / 1e6)} MB; at most ${Math.floor(most / 1e6)} MB are read.`);
      return;
    }
    this.say("");
    this.file = file;
    this.choose({ name: file.name, size: file.size, stamp: file.lastModified });
  }

  /** @param {Value} value */
  show(value) {
    super.show(value);
    if (value === null) {
      this.file = null;
      this.input.value = "";
    }
    this.words.textContent = this.file ? `Reading from ${this.file.name}, in this page only` : "or drop it here";
  }
}

/** @type {Record<string, typeof Control>} */
const KINDS = {
  slider: SliderControl, step: StepControl, choice: ChoiceControl, toggle: ToggleControl, bars: BarsControl, file: FileControl,
  text: TextControl,
};

/**
 * The controls of a form, in the order they stand there. A kind from a later build is left alone.
 * @param {ParentNode} root @param {Host} host
 */
export function controlsOf(root, host) {
  const found = /** @type {HTMLElement[]} */ ([...root.querySelectorAll("[data-param]")]);
  return found.flatMap((element) => {
    const Kind = KINDS[element.dataset.kind ?? ""];
    return Kind ? [new Kind(element, host)] : [];
  });
}

/** @param {string} text */
function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
