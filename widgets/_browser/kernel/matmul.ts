/**
 * The kernel: out = x · Wᵀ in float32, on memory that is not its own. AssemblyScript, compiled by `widgets/_page/kernel.py`.
 *
 * NumPy in WebAssembly multiplies without SIMD and reads the weights once for every row of x, so a pass over five
 * positions costs five passes. Here a weight that has come from memory serves all rows before the next ones are
 * fetched, so a pass is bound by memory, as on a GPU.
 *
 * Order of additions, the same for every pair of a row and an output, whatever goes with them: four running sums, sum l
 * over the columns l, l + 4, l + 8, …; then (sum 0 + sum 1) + (sum 2 + sum 3); then the columns left over, one by one.
 * A product is rounded before it is added. So a row's bits do not depend on how many rows go with it.
 *
 * All three arrays are C-contiguous; addresses are bytes. It must not know Python, and it trusts its arguments:
 * `sim/kernel.py` checks them. No arrays or texts of its own: those would be written over Python's memory.
 */

/**
 * x (rows, inner), w (outer, inner), out (rows, outer), which overlaps neither.
 * Four outputs at a time: their weights stay in the nearest cache until the last row has used them. Two rows go together,
 * because eight sums and what they are fed with fit the sixteen registers of most machines, and more would not.
 */
export function matmul_t(x: usize, w: usize, out: usize, rows: u32, inner: u32, outer: u32): void {
  const line: usize = <usize>inner << 2; // bytes of a row of x and of w
  const step: usize = <usize>outer << 2; // bytes of a row of out
  let o: u32 = 0;
  for (; o + 4 <= outer; o += 4) {
    const weights = w + <usize>o * line;
    let r: u32 = 0;
    for (; r + 4 <= rows; r += 4) four_by_four(x + <usize>r * line, weights, out + <usize>r * step + (<usize>o << 2), inner, line, step);
    for (; r + 2 <= rows; r += 2) two_by_four(x + <usize>r * line, weights, out + <usize>r * step + (<usize>o << 2), inner, line, step);
    if (r < rows) one_by_four(x + <usize>r * line, weights, out + <usize>r * step + (<usize>o << 2), inner, line);
  }
  for (; o < outer; o++) {
    for (let r: u32 = 0; r < rows; r++) {
      one_by_one(x + <usize>r * line, w + <usize>o * line, out + <usize>r * step + (<usize>o << 2), inner);
    }
  }
}

/** Bytes of each row of w between two turns: four cache lines, well within what is fetched ahead. */
const STRETCH: usize = 256;

/** Four running sums, then the columns left over: the one place where a pair's result is put together. */
// @ts-ignore: decorators are AssemblyScript's
@inline
function put(to: usize, sums: v128, x: usize, w: usize, from: u32, inner: u32): void {
  let total = (f32x4.extract_lane(sums, 0) + f32x4.extract_lane(sums, 1)) + (f32x4.extract_lane(sums, 2) + f32x4.extract_lane(sums, 3));
  for (let i = from; i < inner; i++) total += load<f32>(x + (<usize>i << 2)) * load<f32>(w + (<usize>i << 2));
  store<f32>(to, total);
}

// @ts-ignore
@inline
function add(sums: v128, x: v128, w: v128): v128 {
  return f32x4.add(sums, f32x4.mul(x, w));
}

function one_by_one(x: usize, w: usize, out: usize, inner: u32): void {
  const whole = inner & ~3;
  let a = f32x4.splat(0);
  for (let i: usize = 0, end = <usize>whole << 2; i < end; i += 16) a = add(a, v128.load(x + i), v128.load(w + i));
  put(out, a, x, w, whole, inner);
}

function one_by_four(x: usize, w: usize, out: usize, inner: u32, line: usize): void {
  const whole = inner & ~3;
  const w1 = w + line, w2 = w1 + line, w3 = w2 + line;
  let a = f32x4.splat(0), b = a, c = a, d = a;
  for (let i: usize = 0, end = <usize>whole << 2; i < end; i += 16) {
    const v = v128.load(x + i);
    a = add(a, v, v128.load(w + i));
    b = add(b, v, v128.load(w1 + i));
    c = add(c, v, v128.load(w2 + i));
    d = add(d, v, v128.load(w3 + i));
  }
  put(out, a, x, w, whole, inner);
  put(out + 4, b, x, w1, whole, inner);
  put(out + 8, c, x, w2, whole, inner);
  put(out + 12, d, x, w3, whole, inner);
}

function two_by_four(x: usize, w: usize, out: usize, inner: u32, line: usize, step: usize): void {
  const whole = inner & ~3;
  const y = x + line;
  const w1 = w + line, w2 = w1 + line, w3 = w2 + line;
  let a0 = f32x4.splat(0), a1 = a0, a2 = a0, a3 = a0;
  let b0 = a0, b1 = a0, b2 = a0, b3 = a0;
  for (let i: usize = 0, end = <usize>whole << 2; i < end; i += 16) {
    const u = v128.load(x + i), v = v128.load(y + i);
    let t = v128.load(w + i);
    a0 = add(a0, u, t);
    b0 = add(b0, v, t);
    t = v128.load(w1 + i);
    a1 = add(a1, u, t);
    b1 = add(b1, v, t);
    t = v128.load(w2 + i);
    a2 = add(a2, u, t);
    b2 = add(b2, v, t);
    t = v128.load(w3 + i);
    a3 = add(a3, u, t);
    b3 = add(b3, v, t);
  }
  put(out, a0, x, w, whole, inner);
  put(out + 4, a1, x, w1, whole, inner);
  put(out + 8, a2, x, w2, whole, inner);
  put(out + 12, a3, x, w3, whole, inner);
  const next = out + step;
  put(next, b0, y, w, whole, inner);
  put(next + 4, b1, y, w1, whole, inner);
  put(next + 8, b2, y, w2, whole, inner);
  put(next + 12, b3, y, w3, whole, inner);
}

/**
 * Two pairs of rows in turns, a stretch of the weights at a time: while the second pair works on what the first has just
 * fetched, the machine is already fetching the next stretch. A sixth quicker than one pair after the other.
 */
function four_by_four(x: usize, w: usize, out: usize, inner: u32, line: usize, step: usize): void {
  const whole = inner & ~3;
  const y = x + line, p = y + line, q = p + line;
  const w1 = w + line, w2 = w1 + line, w3 = w2 + line;
  const z = f32x4.splat(0);
  let a0 = z, a1 = z, a2 = z, a3 = z;
  let b0 = z, b1 = z, b2 = z, b3 = z;
  let c0 = z, c1 = z, c2 = z, c3 = z;
  let d0 = z, d1 = z, d2 = z, d3 = z;
  const end = <usize>whole << 2;
  for (let from: usize = 0; from < end; from += STRETCH) {
    const to = min(from + STRETCH, end);
    for (let i = from; i < to; i += 16) {
      const u = v128.load(x + i), v = v128.load(y + i);
      let t = v128.load(w + i);
      a0 = add(a0, u, t);
      b0 = add(b0, v, t);
      t = v128.load(w1 + i);
      a1 = add(a1, u, t);
      b1 = add(b1, v, t);
      t = v128.load(w2 + i);
      a2 = add(a2, u, t);
      b2 = add(b2, v, t);
      t = v128.load(w3 + i);
      a3 = add(a3, u, t);
      b3 = add(b3, v, t);
    }
    for (let i = from; i < to; i += 16) {
      const u = v128.load(p + i), v = v128.load(q + i);
      let t = v128.load(w + i);
      c0 = add(c0, u, t);
      d0 = add(d0, v, t);
      t = v128.load(w1 + i);
      c1 = add(c1, u, t);
      d1 = add(d1, v, t);
      t = v128.load(w2 + i);
      c2 = add(c2, u, t);
      d2 = add(d2, v, t);
      t = v128.load(w3 + i);
      c3 = add(c3, u, t);
      d3 = add(d3, v, t);
    }
  }
  put(out + 0 * step + 0, a0, x, w, whole, inner);
  put(out + 0 * step + 4, a1, x, w1, whole, inner);
  put(out + 0 * step + 8, a2, x, w2, whole, inner);
  put(out + 0 * step + 12, a3, x, w3, whole, inner);
  put(out + 1 * step + 0, b0, y, w, whole, inner);
  put(out + 1 * step + 4, b1, y, w1, whole, inner);
  put(out + 1 * step + 8, b2, y, w2, whole, inner);
  put(out + 1 * step + 12, b3, y, w3, whole, inner);
  put(out + 2 * step + 0, c0, p, w, whole, inner);
  put(out + 2 * step + 4, c1, p, w1, whole, inner);
  put(out + 2 * step + 8, c2, p, w2, whole, inner);
  put(out + 2 * step + 12, c3, p, w3, whole, inner);
  put(out + 3 * step + 0, d0, q, w, whole, inner);
  put(out + 3 * step + 4, d1, q, w1, whole, inner);
  put(out + 3 * step + 8, d2, q, w2, whole, inner);
  put(out + 3 * step + 12, d3, q, w3, whole, inner);
}
