/** The queue in front of the one worker, told as conversations with a worker that the test plays. */

import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";

import { Python } from "../../widgets/_browser/python.js";

class FakeWorker {
  /** @type {any[]} */
  sent = [];
  alive = true;

  constructor() {
    workers.push(this);
  }

  postMessage(text) {
    this.sent.push(JSON.parse(text));
  }

  terminate() {
    this.alive = false;
  }

  say(message) {
    this.onmessage({ data: JSON.stringify(message) });
  }
}

/** @type {FakeWorker[]} */
let workers;
/** @type {any[]} */
let heard;
/** @type {Python} */
let python;
const A = { name: "figure A" };
const B = { name: "figure B" };

const newest = () => workers[workers.length - 1];
const ask = (figure, params) => python.ask(figure, "lane", params, (reply) => heard.push(reply));
const settle = () => new Promise((resolve) => setImmediate(resolve));

beforeEach(() => {
  mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"] });
  workers = [];
  heard = [];
  python = new Python(() => new FakeWorker());
});
afterEach(() => mock.timers.reset());

function live() {
  python.start();
  newest().say({ boot: "ready" });
  return newest();
}

test("a question before Python is there starts it, and only the newest is asked", () => {
  ask(A, { n: 1 });
  ask(A, { n: 2 });
  assert.equal(python.state, "starting");
  newest().say({ boot: "ready" });
  assert.deepEqual(newest().sent, [{ id: 2, widget: "lane", params: { n: 2 } }]);
  assert.equal(workers.length, 1);
});

test("one in flight, one waiting, the newest wins: of 1 to 9 only 1 and 9 are computed", () => {
  const worker = live();
  for (let n = 1; n <= 9; n += 1) ask(A, { n });
  assert.deepEqual(worker.sent.map(({ params }) => params.n), [1]);
  worker.say({ id: 1, view: { title: "1" } });
  assert.deepEqual(worker.sent.map(({ params }) => params.n), [1, 9]);
  worker.say({ id: 9, view: { title: "9" } });
  assert.deepEqual(heard.at(-1), { id: 9, view: { title: "9" } });
  assert.ok(!python.busy(A));
});

test("an answer nobody waits for is dropped", () => {
  const worker = live();
  ask(A, {});
  worker.say({ id: 77, view: {} });
  assert.deepEqual(heard, []);
});

test("figures do not wait for each other", () => {
  const worker = live();
  ask(A, { n: 1 });
  ask(B, { n: 2 });
  assert.deepEqual(worker.sent.map(({ id }) => id), [1, 2]);
});

test("long work that has yielded is stopped by a newer question; the worker lives on", () => {
  const worker = live();
  ask(A, { n: 1 });
  worker.say({ id: 1, progress: { done: 0.1, text: "" }, view: null });
  ask(A, { n: 2 });
  assert.deepEqual(worker.sent.at(-1), { stop: 1 });
  worker.say({ id: 1, error: { kind: "stopped", message: "Stopped." } });
  assert.equal(worker.sent.at(-1).params.n, 2);
  worker.say({ id: 2, view: {} });
  mock.timers.tick(60000);
  assert.ok(worker.alive);
  assert.deepEqual(heard.map(({ id }) => id), [1, 2]); // progress of 1, answer of 2; the stop is nobody's news
});

test("Stop ends what has not listened for two seconds; the others are asked again, once", () => {
  const first = live();
  ask(A, { loop: true });
  ask(B, { n: 2 });
  python.stop(A);
  mock.timers.tick(1999);
  assert.ok(first.alive);
  mock.timers.tick(1);
  assert.ok(!first.alive);
  assert.equal(heard[0].error.kind, "stopped");
  assert.match(heard[0].error.message, /started again/);
  newest().say({ boot: "ready" });
  assert.deepEqual(newest().sent, [{ id: 2, widget: "lane", params: { n: 2 } }]);
  python.stop(A); // nothing open any more
  newest().onerror({ message: "crash", preventDefault() {} });
  assert.equal(heard.at(-1).error.kind, "worker");
  assert.ok(!python.busy(B));
});

test("Stop that is heard in time kills nobody", () => {
  const worker = live();
  ask(A, {});
  worker.say({ id: 1, progress: { done: 0, text: "" }, view: null });
  python.stop(A);
  worker.say({ id: 1, error: { kind: "stopped", message: "Stopped." } });
  mock.timers.tick(60000);
  assert.ok(worker.alive);
  assert.equal(heard.at(-1).error.kind, "stopped");
});

test("a figure that leaves the page hears nothing, and what it left running is ended", async () => {
  const worker = live();
  ask(A, { loop: true });
  python.forget(A);
  assert.deepEqual(worker.sent.at(-1), { stop: 1 });
  mock.timers.tick(12500);
  mock.timers.tick(2000);
  await settle();
  assert.ok(!worker.alive);
  assert.deepEqual(heard, []);
});

test("a figure that leaves in the middle of a slow import does not cost the next page its worker", () => {
  const worker = live();
  ask(A, { n: 1 });
  python.forget(A);
  ask(B, { n: 2 });
  mock.timers.tick(5000);
  worker.say({ id: 1, view: {} });
  worker.say({ id: 2, view: {} });
  assert.ok(worker.alive);
  assert.deepEqual(heard, [{ id: 2, view: {} }]);
  assert.ok(!python.busy(A));
});

test("a worker that died in silence is replaced and asked again", async () => {
  const first = live();
  ask(A, { n: 1 });
  mock.timers.tick(12500);
  assert.ok(first.sent.some(({ ping }) => ping));
  mock.timers.tick(2000);
  await settle();
  assert.ok(!first.alive);
  newest().say({ boot: "ready" });
  assert.deepEqual(newest().sent, [{ id: 1, widget: "lane", params: { n: 1 } }]);
});

test("a slow but living worker is left alone: it is loading something", async () => {
  const worker = live();
  ask(A, { n: 1 });
  mock.timers.tick(12500);
  for (const { ping } of worker.sent.slice(1)) worker.say({ pong: ping });
  mock.timers.tick(2000);
  await settle();
  assert.ok(worker.alive);
});

test("importing a package takes all of a worker's time: it is given a minute, and no longer", async () => {
  const worker = live();
  worker.say({ loading: 1 });
  ask(A, { n: 1 });
  mock.timers.tick(50000);
  mock.timers.tick(2000);
  await settle();
  assert.ok(worker.alive);
  mock.timers.tick(12500);
  mock.timers.tick(2000);
  await settle();
  assert.ok(!worker.alive);
  newest().say({ boot: "ready" }); // the new one loads nothing
  mock.timers.tick(12500);
  mock.timers.tick(2000);
  await settle();
  assert.ok(!workers[1].alive);
});

test("back from the cache: a dead worker is replaced, a living one kept", async () => {
  const first = live();
  const kept = python.check();
  first.say({ pong: 1 });
  await kept;
  assert.equal(workers.length, 1);
  const replaced = python.check();
  mock.timers.tick(2000);
  await replaced;
  assert.equal(workers.length, 2);
});

test("killed twenty times in a row: gives up with a sentence, and Retry works", async () => {
  live();
  ask(A, { n: 1 });
  for (let time = 0; time < 20 && python.state !== "failed"; time += 1) {
    newest().onerror({ message: "", preventDefault() {} });
    if (python.state === "starting") newest().say({ boot: "ready" });
  }
  assert.equal(python.state, "failed");
  assert.ok(workers.length <= 5);
  await python.retry();
  newest().say({ boot: "ready" });
  ask(A, { n: 3 });
  newest().say({ id: 2, view: {} });
  assert.deepEqual(heard.at(-1), { id: 2, view: {} });
});

test("a failed start is told with its reason, does not repeat itself, and Retry asks what was open", async () => {
  const states = [];
  python.subscribe((state, text) => states.push([state, text]));
  ask(A, { n: 1 });
  newest().say({ boot: "failed", message: "site.zip came back as 404", files: [] });
  ask(A, { n: 2 });
  assert.equal(workers.length, 1);
  await python.retry();
  newest().say({ boot: "ready" });
  assert.deepEqual(newest().sent.map(({ params }) => params.n), [2]);
  assert.deepEqual(states.map(([state]) => state), ["starting", "failed", "starting", "starting", "ready"]); // fetching anew, starting
  assert.equal(states[1][1], "site.zip came back as 404");
});

test("out of memory: the figure is told, and a fresh worker gives the memory back", () => {
  const first = live();
  ask(A, {});
  first.say({ id: 1, error: { kind: "memory", message: "there is not enough memory for this" } });
  assert.equal(heard[0].error.kind, "memory");
  assert.ok(!first.alive);
  assert.equal(workers.length, 2);
});

test("a browser that cannot start a worker fails in words", () => {
  const refused = new Python(() => {
    throw new Error("workers are refused here");
  });
  refused.start();
  assert.equal(refused.state, "failed");
  assert.equal(refused.reason, "workers are refused here");
});
