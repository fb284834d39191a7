// millicore-node: the sample service on Node.js, with Node's own http or Fastify
// between the socket and the answer. CLUSTER=n makes it n processes.

import cluster from 'node:cluster';

import { Program, urlOf } from '../javascript/program.js';
import { lead, member } from './processes.js';
import { Service } from './service.js';

const program = new Program('millicore-node', ['http', 'fastify']);
const settings = program.settings();

if (!settings.cluster) {
  await serve();
} else if (cluster.isPrimary) {
  await lead(program, settings.cluster);
} else {
  await member(program, settings);
}

/** The service in this process alone. */
async function serve() {
  const service = new Service(settings, program);
  program.onSignal(() => service.stop());
  try {
    const { address, port } = await service.listen();
    program.listens(urlOf(address, port), `node ${process.version}`);
  } catch (error) {
    program.fail(error);
  }
}
