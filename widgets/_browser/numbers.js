/**
 * Numbers as people type them, and the stops of a slider.
 *
 * The same rules as `widgets/_kit/params.py`, because the reader wants the answer while typing, before Python is there;
 * `tests/js/numbers.test.js` and `tests/widgets/test_answer.py` read one list of examples. This file must not know the
 * page: text in, number or a sentence out.
 */

/** @typedef {[value: number, typed: string, shown: string]} Stop  a value, how it is typed, what the reader sees */
/** @typedef {{value: number} | {problem: string}} Read */

const NUMERIC = /^[+-]?(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?$/;
// 1,000 and 1.000,5: a separator between thousands for one reader is a decimal sign for another.
const GROUPED = /^[+-]?(?:[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]*)?|[0-9]{1,3}(?:\.[0-9]{3})+,[0-9]*)$/;
const TOLERANCE = 1e-10;

/**
 * A number from text: 0.5, .5, 1e-1 and 0,5 are read; what could mean two numbers is refused, never guessed.
 * @param {string} text
 * @returns {Read}
 */
export function readNumber(text) {
  const word = text.trim().replace("\u2212", "-");
  if (GROUPED.test(word)) {
    return { problem: `“${brief(text)}” could mean two numbers; write it without separators between thousands` };
  }
  if (!NUMERIC.test(word)) return { problem: word ? `“${brief(text)}” is not a number` : "no number was given" };
  const value = Number(word.replace(",", "."));
  if (!Number.isFinite(value)) return { problem: `“${brief(text)}” is larger than any number here` };
  return { value: value === 0 ? 0 : value }; // -0 is 0
}

/**
 * The index of the stop that `value` is (within rounding), or -1.
 * @param {readonly Stop[]} stops
 * @param {number} value
 */
export function stopAt(stops, value) {
  const index = nearestStop(stops, value);
  const stop = stops[index][0];
  return Math.abs(stop - value) <= TOLERANCE * Math.max(1, Math.abs(stop)) ? index : -1;
}

/**
 * The index of the stop nearest to `value`; of two equally near ones the smaller.
 * @param {readonly Stop[]} stops
 * @param {number} value
 */
export function nearestStop(stops, value) {
  let best = 0;
  for (let index = 1; index < stops.length; index += 1) {
    if (Math.abs(stops[index][0] - value) < Math.abs(stops[best][0] - value) - TOLERANCE) best = index;
  }
  return best;
}

/**
 * A sentence if `value` lies outside the stops, else null.
 * @param {readonly Stop[]} stops
 * @param {number} value
 */
export function outside(stops, value) {
  const first = stops[0];
  const last = stops[stops.length - 1];
  const slack = TOLERANCE * Math.max(1, Math.abs(value));
  if (value >= first[0] - slack && value <= last[0] + slack) return null;
  return `${value} is outside ${first[1]} to ${last[1]}`;
}

/**
 * Shares as hundredths from address text: `count` whole hundredths that add up to 1.
 * @param {string} text
 * @param {number} count
 * @returns {{parts: number[]} | {problem: string}}
 */
export function readShares(text, count) {
  const parts = [];
  for (const word of text.split(",")) {
    const found = readNumber(word);
    if ("problem" in found) return found;
    const part = Math.round(found.value * 100);
    if (part < 0 || part > 100 || Math.abs(found.value * 100 - part) > 1e-7) {
      return { problem: `“${brief(word)}” is not a share from 0 to 1 in whole hundredths` };
    }
    parts.push(part);
  }
  if (parts.length !== count) return { problem: `“${brief(text)}” has ${parts.length} shares, not ${count}` };
  const total = parts.reduce((sum, part) => sum + part, 0);
  return total === 100 ? { parts } : { problem: `“${brief(text)}” adds up to ${total / 100}, not to 1` };
}

/**
 * The shares after one of them was moved: the others give way in proportion, and all stay whole and add up to 100.
 * What rounding leaves over goes to the largest remainders, of equal ones to the first.
 * @param {readonly number[]} parts
 * @param {number} index
 * @param {number} wanted
 */
export function giveWay(parts, index, wanted) {
  const others = parts.map((part, place) => (place === index ? 0 : part));
  const total = others.reduce((sum, part) => sum + part, 0);
  const weights = total > 0 ? others : others.map((_, place) => (place === index ? 0 : 1));
  const weight = weights.reduce((sum, part) => sum + part, 0);
  const rest = 100 - wanted;
  const found = weights.map((part) => Math.floor((part * rest) / weight));
  const order = weights.map((part, place) => ({ place, over: (part * rest) % weight }));
  order.sort((a, b) => b.over - a.over || a.place - b.place);
  const missing = rest - found.reduce((sum, part) => sum + part, 0);
  for (const { place } of order.slice(0, missing)) found[place] += 1;
  found[index] = wanted;
  return found;
}

/**
 * Text cut to what fits into a sentence.
 * @param {string} text
 */
export function brief(text) {
  const word = text.trim();
  return word.length > 24 ? `${word.slice(0, 24)}…` : word;
}
