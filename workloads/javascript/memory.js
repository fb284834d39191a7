// The store in memory.

/** How many devices are kept: some 2 MB when full. */
const kept = 10_000;

/**
 * Keeps the newest devices and drops the oldest, so that under overload only the queue
 * of requests grows, which experiments measure, and not a list of devices.
 */
export class Memory {
  #devices = []; // a ring once it is full
  #oldest = 0;

  async insert(device) {
    this.#devices[this.#oldest] = device;
    this.#oldest = (this.#oldest + 1) % kept;
  }

  async close() {}
}
