/** Shares that add up to 1: what an address may say, and how the others give way when one is moved. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { giveWay, readShares } from "../../widgets/_browser/numbers.js";

test("shares are read as whole hundredths", () => {
  assert.deepEqual(readShares("0.5,0.3,0.2", 3), { parts: [50, 30, 20] });
  assert.deepEqual(readShares("1,0,0", 3), { parts: [100, 0, 0] });
  assert.deepEqual(readShares("0.29,0.57,0.14", 3), { parts: [29, 57, 14] });
});

for (const [text, words] of [
  ["0.5,0.3", "2 shares, not 3"],
  ["0.5,0.3,0.3", "adds up to 1.1, not to 1"],
  ["0.5,0.3,x", "“x” is not a number"],
  ["1.2,-0.2,0", "“1.2” is not a share"],
  ["0.333,0.333,0.334", "whole hundredths"],
  ["", "no number was given"],
]) {
  test(`“${text}” is refused`, () => {
    const found = readShares(text, 3);
    assert.ok("problem" in found && found.problem.includes(words), JSON.stringify(found));
  });
}

test("the others give way in proportion", () => {
  assert.deepEqual(giveWay([50, 30, 20], 0, 80), [80, 12, 8]);
  assert.deepEqual(giveWay([50, 30, 20], 2, 0), [63, 37, 0]);
  assert.deepEqual(giveWay([50, 30, 20], 1, 100), [0, 100, 0]);
});

test("where the others have nothing, they share evenly", () => {
  assert.deepEqual(giveWay([100, 0, 0, 0], 0, 50), [50, 17, 17, 16]);
});

test("whatever is moved, the shares stay whole, none is negative, and they add up to 1", () => {
  for (let index = 0; index < 4; index += 1) {
    for (let wanted = 0; wanted <= 100; wanted += 1) {
      const found = giveWay([33, 33, 33, 1], index, wanted);
      assert.equal(found.reduce((sum, part) => sum + part, 0), 100);
      assert.ok(found.every((part) => Number.isInteger(part) && part >= 0));
      assert.equal(found[index], wanted);
    }
  }
});
