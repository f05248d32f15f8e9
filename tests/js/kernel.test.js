/** The kernel and what it rests on, taken away piece by piece: each time NumPy is left to do the work, and nothing fails. */

import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { mock, test } from "node:test";

import { plugKernel } from "../../widgets/_browser/kernel.js";

const LIVE = new URL("../../docs/assets/live/", import.meta.url);
const BUILT = new URL("../../build/kernel/", import.meta.url);
/** Made by `python -m widgets assets`. */
const file = [LIVE, BUILT]
  .filter((folder) => existsSync(folder))
  .flatMap((folder) => readdirSync(folder).map((name) => new URL(name.endsWith(".wasm") ? name : `${name}/kernel.wasm`, folder)))
  .find((url) => existsSync(url));
const skip = file ? false : "the assets are not made yet";
const bytes = file ? readFileSync(file) : new Uint8Array();

/** Pyodide as far as the kernel knows it: its memory, and the Python module that takes the function. */
function pretend(memory) {
  const plug = mock.fn();
  return { _module: { memory }, pyimport: () => ({ plug }), plug };
}

/** @param {Uint8Array | null} answer the file's bytes; null: it is not there */
async function plugged(t, answer, pyodide) {
  t.mock.method(globalThis, "fetch", async () => new Response(answer, { status: answer ? 200 : 404 }));
  const said = await plugKernel(pyodide);
  assert.equal(pyodide.plug.mock.callCount(), said ? 1 : 0);
  return said;
}

test("with everything there, Python gets a function that multiplies in Python's memory", { skip }, async (t) => {
  const memory = new WebAssembly.Memory({ initial: 2 });
  const pyodide = pretend(memory);
  assert.equal(await plugged(t, bytes, pyodide), true);
  const multiply = pyodide.plug.mock.calls[0].arguments[0];
  memory.grow(1); // its old buffer is gone; the kernel never held it
  const numbers = new Float32Array(memory.buffer, 2 * 65536, 32);
  numbers.set([1, 2, 3, 4, 5, 6]); // x, of one row
  numbers.set([1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 2], 6); // w, of two
  multiply(2 * 65536, 2 * 65536 + 24, 2 * 65536 + 72, 1, 6, 2);
  assert.deepEqual([...numbers.slice(18, 21)], [21, 12, 0]);
});

test("the file is small, and brings nothing of its own into the memory", { skip }, () => {
  assert.ok(bytes.length <= 15000, `${bytes.length} bytes`);
  const module = new WebAssembly.Module(bytes);
  assert.deepEqual(WebAssembly.Module.imports(module), [{ module: "env", name: "memory", kind: "memory" }]);
  assert.deepEqual(WebAssembly.Module.exports(module).map(({ name }) => name), ["matmul_t"]);
  assert.deepEqual(sections(bytes).filter((id) => id === 8 || id === 11), [], "a start function or data");
});

/** The kinds of sections of a WebAssembly file, in turn. */
function sections(wasm) {
  const found = [];
  let at = 8;
  while (at < wasm.length) {
    found.push(wasm[at]);
    at += 1;
    let size = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = wasm[at];
      at += 1;
      size |= (byte & 127) << shift;
      if (byte < 128) break;
    }
    at += size;
  }
  return found;
}

test("without the file", async (t) => {
  assert.equal(await plugged(t, null, pretend(new WebAssembly.Memory({ initial: 1 }))), false);
});

test("without SIMD: the browser does not compile it", { skip }, async (t) => {
  t.mock.method(WebAssembly, "instantiate", async () => {
    throw new WebAssembly.CompileError("invalid opcode 0xfd");
  });
  assert.equal(await plugged(t, bytes, pretend(new WebAssembly.Memory({ initial: 1 }))), false);
});

test("without Pyodide's private name for its memory", { skip }, async (t) => {
  assert.equal(await plugged(t, bytes, pretend(undefined)), false);
  assert.equal(await plugged(t, bytes, { ...pretend(undefined), _module: undefined }), false);
});

test("with a memory of another kind", { skip }, async (t) => {
  const shared = new WebAssembly.Memory({ initial: 1, maximum: 2, shared: true });
  assert.equal(await plugged(t, bytes, pretend(shared)), false);
});

test("without a module of Python to take it", { skip }, async (t) => {
  const pyodide = pretend(new WebAssembly.Memory({ initial: 1 }));
  pyodide.pyimport = () => {
    throw new Error("ModuleNotFoundError: sim.kernel");
  };
  assert.equal(await plugged(t, bytes, pyodide), false);
});
