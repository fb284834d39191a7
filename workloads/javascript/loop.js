// The large loop that workers share: what each of them computes.

/** The largest n that is taken. */
export const maxLoop = 100_000_000_000;

/** Which iterations of n worker i of count makes: from on, and before to. */
export function share(n, i, count) {
  return { from: Math.floor((n * i) / count), to: Math.floor((n * (i + 1)) / count) };
}

/**
 * Makes the iterations of one worker, which begins with x = index + 1, and
 * returns its last x as a number without a sign. Math.imul and |0 are integer
 * arithmetic modulo 2^32 in every compiler; with * and % it would be that of
 * floating point, and measure fmod.
 */
export function iterate(index, from, to) {
  let x = index + 1;
  for (let i = from; i < to; i++) {
    x = (Math.imul(x, 1664525) + 1013904223) | 0;
  }
  return x >>> 0;
}

/**
 * What a worker thread does with a task {id, index, from, to} and, where the
 * task adds to a counter, its memory and its slot. Returns the reply.
 */
export function work({ id, index, from, to, memory, slot }) {
  const x = iterate(index, from, to);
  if (memory) Atomics.add(new BigInt64Array(memory), slot, BigInt(to - from));
  return { id, x };
}
