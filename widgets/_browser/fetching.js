/**
 * Fetches files beside this one and says in words what is wrong with them.
 *
 * Servers answer a missing file with an HTML page, proxies cut files off, caches mix two versions: "Failed to fetch"
 * helps nobody. Used by the page and by the worker. This file must not know what the files are for.
 */

/** A fetch that went wrong; `files` are worth fetching anew before the next try. */
export class FetchProblem extends Error {
  /**
   * @param {string} message
   * @param {string[]} files
   */
  constructor(message, files) {
    super(message);
    this.name = "FetchProblem";
    this.files = files;
  }
}

/**
 * The absolute address of a file in the folder of this module.
 * @param {string} name
 */
export function beside(name) {
  return new URL(name, new URL("./", import.meta.url)).href;
}

/**
 * The response for `name`, or a FetchProblem naming the address and what came back.
 * @param {string} name
 * @param {RequestCache} [cache]
 * @param {AbortSignal} [signal] ends it
 */
export async function get(name, cache = "default", signal = undefined) {
  const url = beside(name);
  let response;
  try {
    response = await fetch(url, { cache, signal });
  } catch (error) {
    throw new FetchProblem(`${url} could not be fetched (${words(error)})`, [name]);
  }
  if (!response.ok) throw new FetchProblem(`${url} came back as ${response.status} ${response.statusText}`.trim(), [name]);
  if (/^text\/html/i.test(response.headers.get("content-type") ?? "")) {
    throw new FetchProblem(`${url} came back as a web page (text/html) in place of the file`, [name]);
  }
  return response;
}

/**
 * The bytes of `name`; a connection cut half-way is told as such.
 * @param {string} name
 * @param {RequestCache} [cache]
 */
export async function getBytes(name, cache = "default") {
  const response = await get(name, cache);
  try {
    return await response.arrayBuffer();
  } catch (error) {
    throw new FetchProblem(`${beside(name)} was cut off on its way (${words(error)})`, [name]);
  }
}

/**
 * Which of `names` are not as they should be: fetched anew, compared in size with the list made at build time.
 * @param {readonly string[]} names
 * @returns {Promise<{text: string, files: string[]}>} text "" when nothing is found
 */
export async function diagnose(names) {
  const found = await Promise.all(names.map(inspect));
  const bad = found.flatMap((text, index) => (text ? [{ text, name: names[index] }] : []));
  return { text: bad.map(({ text }) => text).join("; "), files: bad.map(({ name }) => name) };
}

/** One sentence about what is wrong with `name`, or "". @param {string} name */
async function inspect(name) {
  try {
    const response = await get(name, "no-cache");
    const bytes = await response.arrayBuffer();
    const size = (await sizes()).get(name);
    const type = response.headers.get("content-type") ?? "none";
    const script = /\.m?js$/.test(name);
    if (script && new TextDecoder().decode(bytes.slice(0, 64)).trimStart().startsWith("<")) {
      return `${beside(name)} holds a web page in place of JavaScript`;
    }
    if (size !== undefined && size !== bytes.byteLength) {
      return `${beside(name)} has ${bytes.byteLength} bytes in place of ${size}`;
    }
    // Browsers run a module only under a JavaScript type.
    return script && !/javascript/i.test(type) ? `${beside(name)} came as ${type}, not as JavaScript` : "";
  } catch (error) {
    return error instanceof FetchProblem ? error.message : `${beside(name)} was cut off on its way (${words(error)})`;
  }
}

/** Sizes by name from the build's own list; empty when that cannot be read: it only sharpens a message. */
async function sizes() {
  try {
    /** @type {{name: string, bytes: number}[]} */
    const rows = await (await get("assets.json")).json();
    return new Map(rows.map(({ name, bytes }) => [name, bytes]));
  } catch {
    return new Map();
  }
}

/** @param {unknown} error */
export function words(error) {
  const text = error instanceof Error ? error.message : String(error);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
