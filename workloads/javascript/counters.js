// The map of counters that all worker threads write to: the values are in shared memory,
// to which Atomics add, and the main thread maps keys to slots.

import { Refusal } from './refusal.js';

/** How many keys the map holds. */
const capacity = 1024;

export class Counters {
  #memory = new SharedArrayBuffer(capacity * BigInt64Array.BYTES_PER_ELEMENT);
  #values = new BigInt64Array(this.#memory);
  #slots = new Map();

  /** The slot of a key, which is created if it is new; 409 if the map is full. */
  target(key) {
    let slot = this.#slots.get(key);
    if (slot === undefined) {
      slot = this.#slots.size;
      if (slot === capacity) throw new Refusal(409, `the map holds ${capacity} keys, and no more`);
      this.#slots.set(key, slot);
    }
    return { memory: this.#memory, slot };
  }

  /** The value of a key; undefined if it does not exist. */
  value(key) {
    const slot = this.#slots.get(key);
    return slot === undefined ? undefined : Number(Atomics.load(this.#values, slot));
  }
}
