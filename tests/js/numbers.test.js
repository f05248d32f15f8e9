/** Numbers as people type them. The list of examples is shared with the Python reader: see numbers.json. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { nearestStop, outside, readNumber, stopAt } from "../../widgets/_browser/numbers.js";

/** @type {{read: [string, number][], refused: string[]}} */
const examples = JSON.parse(readFileSync(new URL("./numbers.json", import.meta.url), "utf8"));
const TENTHS = [...Array(11).keys()].map((i) => [i / 10, String(i / 10), `${i / 10} s`]);

test("numbers are read as people write them, in either decimal habit", () => {
  for (const [text, value] of examples.read) assert.deepEqual(readNumber(text), { value }, text);
});

test("what is no number, or could be two, is refused with a sentence", () => {
  for (const text of examples.refused) assert.ok("problem" in readNumber(text), text);
  assert.match(readNumber("1,000").problem, /two numbers.*without separators/);
  assert.match(readNumber("1.000,5").problem, /two numbers/);
  assert.match(readNumber("1e999").problem, /larger/);
  assert.match(readNumber(" ").problem, /no number/);
});

test("a long or hostile text is cut in the sentence and never read", () => {
  const { problem } = readNumber(`<img src=x onerror=alert(1)>${"9".repeat(1000)}`);
  assert.ok(problem.length < 80);
});

test("a stop is found within rounding, and nothing else is a stop", () => {
  assert.equal(stopAt(TENTHS, 0.1 + 0.2), 3);
  assert.equal(stopAt(TENTHS, 0.33), -1);
  assert.equal(stopAt([[1e-8, "1e-8", ""], [2e-8, "2e-8", ""]], 2e-8), 1);
});

test("the nearest stop, the smaller of two equally near", () => {
  assert.equal(nearestStop(TENTHS, 0.33), 3);
  assert.equal(nearestStop(TENTHS, 0.25), 2);
  assert.equal(nearestStop(TENTHS, 99), 10);
});

test("out of range names the range in the words of the control", () => {
  assert.equal(outside(TENTHS, 1.7), "1.7 is outside 0 to 1");
  assert.equal(outside(TENTHS, 1), null);
});

test("a number in any habit is read as itself or refused, never as ten times as much", () => {
  let seed = 7;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  let read = 0;
  for (let round = 0; round < 4000; round += 1) {
    const decimals = Math.floor(random() * 5);
    const value = Number((10 ** (random() * 9 - 2) * (random() < 0.2 ? -1 : 1)).toFixed(decimals));
    const useGrouping = random() < 0.5;
    const locale = ["en", "de", "fr", "de-CH", "pl", "hi-IN"][Math.floor(random() * 6)];
    const written = new Intl.NumberFormat(locale, { useGrouping, minimumFractionDigits: decimals, maximumFractionDigits: decimals });
    const text = written.format(value);
    if (locale === "de" && useGrouping && decimals === 0) continue; // 1.000 is one, as everywhere on the site
    const found = readNumber(text);
    if ("problem" in found) continue;
    read += 1;
    assert.equal(found.value, value === 0 ? 0 : value, `${locale}: ${text}`);
  }
  assert.ok(read > 1500);
});

test("whatever is typed gives a finite number or a short sentence", () => {
  let seed = 11;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  const letters = [..."0123456789.,eE+-_ \u2212\u0660naifx<&\0\ud800"];
  for (let round = 0; round < 5000; round += 1) {
    const text = Array.from({ length: Math.floor(random() * 14) }, () => letters[Math.floor(random() * letters.length)]).join("");
    const found = readNumber(text);
    if ("problem" in found) assert.ok(found.problem.length > 5 && found.problem.length < 120, text);
    else assert.ok(Number.isFinite(found.value) && !Object.is(found.value, -0), text);
  }
});
