/**
 * Which nodes the reader has finished: kept in this browser, shown on the home page, forgotten with one button.
 *
 * Nothing is stored before the reader presses a button. Where the browser keeps nothing (blocked, full), the marks hold
 * for this visit and the page says so. start.js brings this in on pages that have a `data-progress` hook; without
 * JavaScript the hooks are empty and hidden. It must not know figures.
 */

const KEY = "sd-progress";
const ONLY_NOW = "This browser keeps nothing for this site, so the mark is gone when you leave or reload.";
const NO_PROMISE = "This browser did not let the page delete it.";

/** Marks of this visit; the browser's own copy is read anew each time, since another tab may have changed it. */
let marks = /** @type {Set<string>} */ (new Set());
/** Whether `marks` could not be stored and so are all there is. */
let unkept = false;

/** The names of the finished nodes. Whatever else stands in the browser under this key counts as none. */
function finished() {
  if (unkept) return marks;
  try {
    const found = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    marks = new Set(Array.isArray(found) ? found.filter((name) => typeof name === "string") : []);
  } catch {
    marks = new Set();
  }
  return marks;
}

/** @param {Set<string>} names @returns {boolean} whether the browser keeps it */
function keep(names) {
  marks = names;
  try {
    if (names.size) localStorage.setItem(KEY, JSON.stringify([...names]));
    else localStorage.removeItem(KEY);
    unkept = false;
  } catch {
    unkept = true;
  }
  return !unkept;
}

/** @param {string} text @param {() => void} run */
function button(text, run) {
  const made = document.createElement("button");
  Object.assign(made, { type: "button", className: "sd-mark", textContent: text });
  made.addEventListener("click", run);
  return made;
}

/** @param {string} text */
function words(text) {
  const made = document.createElement("span");
  made.className = "sd-progress-words";
  made.setAttribute("role", "status");
  made.textContent = text;
  return made;
}

/** At a lesson's end: one button. @param {HTMLElement} place */
function mark(place, said = "Remembered in this browser only.") {
  const node = place.dataset.node ?? "";
  const done = finished().has(node);
  place.classList.toggle("is-finished", done);
  const press = button(done ? "Finished ✓ – undo" : "Mark this node as finished", () => {
    const names = new Set(finished());
    if (!names.delete(node)) names.add(node);
    mark(place, keep(names) ? undefined : ONLY_NOW);
    place.querySelector("button")?.focus();
  });
  place.replaceChildren(press, words(said));
}

/** On the home page: a word at each finished node. @param {HTMLElement} place */
function badge(place) {
  const done = finished().has(place.dataset.node ?? "");
  place.classList.toggle("is-finished", done);
  place.querySelector(".sd-finished")?.remove();
  if (!done) return;
  const made = document.createElement("span");
  made.className = "sd-finished";
  made.textContent = "✓ finished";
  (place.querySelector(".sd-page-eyebrow") ?? place).append(" ", made);
}

/** On the roadmap: how many of a stop's nodes are finished. @param {HTMLElement} place */
function stop(place) {
  const nodes = (place.dataset.node ?? "").split(" ");
  const done = nodes.filter((node) => finished().has(node)).length;
  place.classList.toggle("is-finished", done === nodes.length);
  place.querySelector(".sd-finished")?.remove();
  if (!done) return;
  const made = document.createElement("span");
  made.className = "sd-finished";
  made.textContent = done === nodes.length ? "✓ finished" : `${done} of ${nodes.length} finished`;
  place.append(" ", made);
}

/** On the home page: how many of the nodes, and the way to forget them. @param {HTMLElement} place */
function total(place, said = "") {
  const nodes = (place.dataset.node ?? "").split(" ");
  const done = nodes.filter((node) => finished().has(node)).length;
  place.hidden = done === 0 && !said;
  const text = said || `You have finished ${done} of ${nodes.length} nodes. Only this browser knows.`;
  place.replaceChildren(words(text));
  if (done === 0) return;
  place.append(button("Forget my progress", () => {
    const kept = keep(new Set());
    show();
    total(place, kept ? "Your progress is forgotten." : NO_PROMISE);
    place.tabIndex = -1; // the button is gone: whoever pressed it by keyboard stays here
    place.focus();
  }));
}

/** Fills every hook of the page; may be called any number of times. */
export function show() {
  for (const place of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-progress]"))) {
    const kind = place.dataset.progress;
    if (kind === "badge") badge(place);
    if (kind === "stop") stop(place);
    if (kind === "total") total(place);
    if (kind !== "mark") continue;
    mark(place);
    place.hidden = false;
  }
}

addEventListener("storage", (event) => {
  if (event.key === KEY || event.key === null) show();
});
addEventListener("pageshow", (event) => {
  if (event.persisted) show(); // back from another page: it may have been forgotten meanwhile
});
