/** The state of figures in the address: read, written, and everything of others left as it was. */

import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";

import { AddressWriter, readQuery, writeQuery } from "../../widgets/_browser/address.js";

/** @type {{url: string, state: unknown}[]} */
let calls;

beforeEach(() => {
  mock.timers.enable({ apis: ["setTimeout"] });
  calls = [];
  globalThis.location = { pathname: "/sub/a/", search: "", hash: "#part" };
  globalThis.history = {
    state: { y: 7 },
    replaceState(state, _title, url) {
      calls.push({ state, url });
      location.search = new URL(url, "http://x").search;
    },
  };
});
afterEach(() => mock.timers.reset());

test("a figure reads its own keys only, in order, duplicates included", () => {
  const query = "?q=a%20b&lane.gamma=8&other.gamma=2&lane.gamma=9&lane.c=0%2C5&lane=1&lane.";
  assert.deepEqual(readQuery(query, "lane"), [
    { name: "gamma", text: "8" }, { name: "gamma", text: "9" }, { name: "c", text: "0,5" }, { name: "", text: "" },
  ]);
});

test("a broken escape or a hostile key reads as text and throws nothing", () => {
  assert.deepEqual(readQuery("?lane.c=%E0%A4%A&lane.__proto__=1&&&=&%", "lane"), [
    { name: "c", text: "%E0%A4%A" }, { name: "__proto__", text: "1" },
  ]);
});

test("what belongs to others keeps its spelling", () => {
  const query = "?q=a%20b+c&h=%C3%A4&lane.gamma=8&flag";
  assert.equal(writeQuery(query, "lane", [{ name: "c", text: ".5 &" }]), "?q=a%20b+c&h=%C3%A4&flag&lane.c=.5%20%26");
  assert.equal(writeQuery("?lane.gamma=8", "lane", []), "");
});

test("twenty changes in a row are one call, 300 ms after the last", () => {
  const writer = new AddressWriter();
  for (let gamma = 1; gamma <= 20; gamma += 1) {
    writer.put("lane", [{ name: "gamma", text: String(gamma) }]);
    mock.timers.tick(100);
  }
  assert.equal(calls.length, 0);
  mock.timers.tick(200);
  assert.deepEqual(calls, [{ state: { y: 7 }, url: "/sub/a/?lane.gamma=20#part" }]);
});

test("two figures are written together", () => {
  const writer = new AddressWriter();
  writer.put("one", [{ name: "a", text: "1" }]);
  writer.put("two", [{ name: "b", text: "2" }]);
  mock.timers.tick(300);
  assert.deepEqual(calls.map(({ url }) => url), ["/sub/a/?one.a=1&two.b=2#part"]);
});

test("nothing is written when nothing changes, nor to a page that was reached meanwhile", () => {
  const writer = new AddressWriter();
  writer.put("lane", []);
  mock.timers.tick(300);
  writer.put("lane", [{ name: "gamma", text: "8" }]);
  location.pathname = "/sub/b/";
  mock.timers.tick(300);
  assert.deepEqual(calls, []);
});

test("a browser that refuses the call breaks nothing", () => {
  history.replaceState = () => {
    throw new Error("SecurityError");
  };
  const writer = new AddressWriter();
  writer.put("lane", [{ name: "gamma", text: "8" }]);
  assert.doesNotThrow(() => mock.timers.tick(300));
});
