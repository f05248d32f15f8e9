/**
 * Gives Python the matrix kernel: the same memory, another multiplier.
 *
 * kernel.wasm imports the very memory that Python lives in, so arrays travel as addresses and nothing is copied. Where a
 * part of that is missing (SIMD, Pyodide's private name for its memory, the file) NumPy goes on doing the work, only
 * slower. This file must not know what is multiplied; sim/kernel.py checks every array before it gives an address.
 */

import { getBytes } from "./fetching.js";

/**
 * Plugs the kernel into `sim.kernel`, after NumPy is loaded. Never throws: without the kernel all is slower and no less.
 * @param {any} pyodide
 * @returns {Promise<boolean>} whether Python has it now
 */
export async function plugKernel(pyodide) {
  try {
    const bytes = await getBytes("kernel.wasm");
    const { instance } = await WebAssembly.instantiate(bytes, { env: { memory: pyodide._module.memory } });
    pyodide.pyimport("sim.kernel").plug(instance.exports.matmul_t);
    return true;
  } catch {
    return false;
  }
}
