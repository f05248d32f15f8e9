/**
 * The state of figures in the page's address: `?<id>.<param>=<value>` for changed parameters, nothing else.
 *
 * The query is handled as text, piece by piece, so that keys of others (Material's `h` and `q`), their spelling, the
 * fragment and `history.state` stay exactly as they are. Writing waits until the reader has been quiet: Safari refuses
 * more than 100 changes in 30 seconds. This file must not know what a parameter means.
 */

/** @typedef {{name: string, text: string}} Entry  one `<id>.<name>=<text>` of the address */

const QUIET_MS = 300;

/**
 * The pieces of a query between the `&`, with the figure's own ones marked.
 * @param {string} query with or without the leading `?`
 * @param {string} id
 * @returns {{raw: string, entry: Entry | null}[]}
 */
function pieces(query, id) {
  return query.replace(/^\?/, "").split("&").filter(Boolean).map((raw) => {
    const cut = raw.indexOf("=");
    const key = plain(cut < 0 ? raw : raw.slice(0, cut));
    if (!key.startsWith(`${id}.`)) return { raw, entry: null };
    return { raw, entry: { name: key.slice(id.length + 1), text: plain(cut < 0 ? "" : raw.slice(cut + 1)) } };
  });
}

/**
 * Percent decoding that never throws: a broken escape stays as written.
 * @param {string} text
 */
function plain(text) {
  const spaced = text.replace(/\+/g, " ");
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced;
  }
}

/**
 * What the address says about figure `id`, in order, duplicates included.
 * @param {string} query
 * @param {string} id
 * @returns {Entry[]}
 */
export function readQuery(query, id) {
  return pieces(query, id).flatMap(({ entry }) => (entry ? [entry] : []));
}

/**
 * The query with the entries of figure `id` replaced by `entries`; everything else byte for byte as it was.
 * @param {string} query
 * @param {string} id
 * @param {readonly Entry[]} entries
 */
export function writeQuery(query, id, entries) {
  const others = pieces(query, id).filter(({ entry }) => !entry).map(({ raw }) => raw);
  const own = entries.map(({ name, text }) => `${id}.${name}=${encodeURIComponent(text)}`);
  const all = [...others, ...own];
  return all.length ? `?${all.join("&")}` : "";
}

/** Writes what changed into the address once the reader is quiet. One for the whole visit. */
export class AddressWriter {
  /** @type {Map<string, {path: string, entries: readonly Entry[]}>} */
  #pending = new Map();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {string} id
   * @param {readonly Entry[]} entries
   */
  put(id, entries) {
    this.#pending.set(id, { path: location.pathname, entries });
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.flush(), QUIET_MS);
  }

  /**
   * Forgets what `id` wanted to write: its page is gone.
   * @param {string} id
   */
  drop(id) {
    this.#pending.delete(id);
  }

  /** Writes at once. A change made on a page that has been left is not written to the next one. */
  flush() {
    clearTimeout(this.#timer);
    let query = location.search;
    for (const [id, { path, entries }] of this.#pending) {
      if (path === location.pathname) query = writeQuery(query, id, entries);
    }
    this.#pending.clear();
    if (query === location.search) return;
    try {
      history.replaceState(history.state, "", location.pathname + query + location.hash);
    } catch {
      // A browser that counts such calls refuses; the picture is right all the same, only the address lags.
    }
  }
}
