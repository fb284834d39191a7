// The pool of worker threads that /loop and /counter spread their work over.

import { share } from './loop.js';

export class Workers {
  #count;
  #start;
  #posts; // one function for each thread that sends it a task
  #jobs = new Map(); // by id: what is awaited
  #last = 0;

  /**
   * count threads, each made by start(reply), which returns a function that
   * posts a task to it; reply takes what the thread answers. They start with the
   * first request that needs them, and stay, so that other services do not need their
   * memory.
   */
  constructor(count, start) {
    this.#count = count;
    this.#start = start;
  }

  get count() {
    return this.#count;
  }

  /**
   * Spreads n iterations over all threads and returns the check: the exclusive
   * or of what they computed. With target {memory, slot} each then adds the
   * number of its iterations there.
   */
  run(n, target) {
    this.#posts ??= Array.from({ length: this.#count }, () => this.#start((reply) => this.#settle(reply)));
    const id = ++this.#last;
    return new Promise((resolve) => {
      this.#jobs.set(id, { left: this.#count, check: 0, resolve });
      this.#posts.forEach((post, index) => post({ id, index, ...share(n, index, this.#count), ...target }));
    });
  }

  #settle({ id, x }) {
    const job = this.#jobs.get(id);
    job.check ^= x;
    if (--job.left > 0) return;
    this.#jobs.delete(id);
    job.resolve(job.check >>> 0);
  }
}
