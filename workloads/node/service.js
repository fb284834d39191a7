// A service with its store, its threads and its server.

import { Metrics } from '../javascript/metrics.js';
import { grace } from '../javascript/program.js';
import { resourcesOf, unknownOf } from '../javascript/service.js';
import { openStore } from '../javascript/store.js';
import { Workers } from '../javascript/workers.js';
import { newServer } from './server.js';
import { startThread } from './threads.js';

/** What keeps devices outside the process. */
const drivers = {
  postgres: () => import('./postgres.js'),
  mongodb: () => import('../javascript/mongodb.js'),
};

/** What makes of resources a handler of Node's http. */
const frameworks = {
  http: () => import('./router.js'),
  fastify: () => import('./fastify.js'),
};

export class Service {
  metrics = new Metrics();
  #settings;
  #program;
  #serving;

  constructor(settings, program) {
    this.#settings = settings;
    this.#program = program;
  }

  /** Opens the store, then listens; returns the server's {address, port}. */
  async listen() {
    const { host, port, framework, store: chosen, workers: count } = this.#settings;
    const store = await openStore(chosen, drivers, (message) => this.#program.warn(message));
    const workers = new Workers(count, (reply) => startThread(reply, (error) => this.#program.fail(error)));
    const resources = resourcesOf({ store, workers, metrics: this.metrics });
    const { routed } = await frameworks[framework]();
    const serving = newServer();
    serving.server.on('request', await routed(resources, unknownOf(this.metrics), serving.beforeHead));
    await new Promise((resolve, reject) => {
      serving.server.once('error', (error) => {
        reject(new Error(`${error.message}; choose another address with --host and --port`));
      });
      serving.server.listen({ host: host || undefined, port }, resolve);
    });
    this.#serving = serving;
    return serving.server.address();
  }

  /** Stops accepting, awaits the requests in flight, and cuts off what is left. */
  stop() {
    if (!this.#serving) return undefined; // not yet listening: nothing is in flight
    setTimeout(() => {
      this.#program.warn(`cut off the connections still open ${grace / 1000} s after the signal`);
      this.#serving.server.closeAllConnections();
    }, grace);
    return this.#serving.close();
  }
}
