/**
 * The one script the pages name. It finds the figures and brings in the live part from the folder of their build,
 * and the reader's progress where a page has a place for it.
 *
 * The folder's name is a hash of its contents; the page carries it in `data-live`. This file has no hash in its name,
 * may be an old copy from a cache, and so must know as little as possible.
 */

/** @type {string | undefined} the build whose live part runs on this page */
let loaded;
let broken = "";

function start() {
  // Without its marks a page is whole: a failure to load them is nobody's business.
  if (document.querySelector("[data-progress]")) import("./progress.js").then(({ show }) => show(), () => {});
  const figure = /** @type {HTMLElement | null} */ (document.querySelector("sd-widget[data-live]"));
  if (!figure) return;
  const build = figure.dataset.live ?? "";
  // The site was built anew during this visit: the old live part cannot answer for the new page. A page loaded as a
  // whole always fits, so this happens once.
  if (loaded !== undefined && loaded !== build) location.reload();
  if (broken) fail(broken);
  if (loaded !== undefined) return;
  if (!/^[0-9a-f]{12}$/.test(build)) return fail("the live part was not made when this page was built");
  loaded = build;
  const url = new URL(`./${build}/sd-widget.js`, import.meta.url).href;
  import(url).catch((error) => fail(`${url} could not be loaded (${error.message})`));
}

/** Says in every figure of the page what is missing. @param {string} why */
function fail(why) {
  broken = why;
  for (const figure of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("sd-widget"))) {
    figure.dataset.state = "failed";
    const state = figure.querySelector(".sd-state");
    if (state) state.textContent = "Python could not start";
    const notice = /** @type {HTMLElement | null} */ (figure.querySelector(".sd-notice"));
    if (!notice) continue;
    const words = document.createElement("p");
    words.textContent = `This figure cannot come alive: ${why}. The picture and its numbers stay as they are.`;
    const retry = document.createElement("button");
    retry.type = "button";
    retry.dataset.do = "retry";
    retry.textContent = "Retry";
    retry.addEventListener("click", anew);
    notice.replaceChildren(words, retry);
    notice.hidden = false;
  }
}

/**
 * Loads the page anew: a browser may remember a failed import for the page's life. Its cache may hold a bad copy for
 * longer, since a file of a build never changes, so the scripts are fetched past it first.
 */
async function anew() {
  const folder = new URL(`./${loaded}/`, import.meta.url);
  try {
    const rows = await (await fetch(new URL("assets.json", folder), { cache: "reload" })).json();
    const scripts = rows.map((/** @type {{name: string}} */ { name }) => name).filter((/** @type {string} */ name) => /\.js$/.test(name));
    await Promise.allSettled(scripts.map((/** @type {string} */ name) => fetch(new URL(name, folder), { cache: "reload" })));
  } catch {
    // The list cannot be had: another page may name another build.
  }
  location.reload();
}

// Material's instant navigation swaps pages without loading them: it says so through document$, and at once.
const pages = /** @type {any} */ (globalThis).document$;
if (pages) pages.subscribe(start);
else start();
