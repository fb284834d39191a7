// The store in memory.

/** How many devices are kept: some 2 MB when full. */
const kept = 10_000;

/**
 * Keeps the newest devices and forgets the oldest, so that what grows under
 * overload is the queue of requests, which is what an experiment wants to see,
 * and not a list that grows at any load.
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
