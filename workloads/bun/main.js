// millicore-bun: the sample service on Bun, with Bun.serve, alone or under Hono,
// between the socket and the answer.

import { Metrics } from '../javascript/metrics.js';
import { grace, Program, urlOf } from '../javascript/program.js';
import { resourcesOf, unknownOf } from '../javascript/service.js';
import { WrongUsage } from '../javascript/settings.js';
import { openStore } from '../javascript/store.js';
import { Workers } from '../javascript/workers.js';
import { serve } from './server.js';
import { startThread } from './threads.js';

/** What keeps devices outside the process. */
const drivers = {
  postgres: () => import('./postgres.js'),
  mongodb: () => import('../javascript/mongodb.js'),
};

/** What makes of resources the options of Bun.serve that answer requests. */
const frameworks = {
  serve: () => import('./router.js'),
  hono: () => import('./hono.js'),
};

const program = new Program('millicore-bun', ['serve', 'hono']);
const settings = program.settings();
let server; // once it listens

program.onSignal(() => server && stop());
try {
  server = await listen();
  program.listens(urlOf(server.address.address, server.port), `bun ${Bun.version}`);
} catch (error) {
  program.fail(error);
}

/** Opens the store, then listens. */
async function listen() {
  if (settings.cluster) throw new WrongUsage('CLUSTER is of Node.js, by its module cluster; leave it out');
  const { host, port, framework, store: chosen, workers: count } = settings;
  const store = await openStore(chosen, drivers, (message) => program.warn(message));
  const workers = new Workers(count, (reply) => startThread(reply, (error) => program.fail(error)));
  const metrics = new Metrics();
  try {
    const { routed } = await frameworks[framework]();
    return serve(routed(resourcesOf({ store, workers, metrics }), unknownOf(metrics)), { host, port });
  } catch (error) {
    throw new Error(`${error.message}; choose another address with --host and --port`);
  }
}

/** Stops accepting, awaits the requests in flight, and cuts off what is left. */
function stop() {
  setTimeout(() => {
    program.warn(`cut off the connections still open ${grace / 1000} s after the signal`);
    server.stop(true);
  }, grace);
  return server.stop();
}
