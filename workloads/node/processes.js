// The service as several processes that share a port, by Node's cluster: the
// first one only leads, and accepts connections for the others in turn.

import cluster from 'node:cluster';

import prometheus from 'prom-client';

import { urlOf } from '../javascript/program.js';
import { Service } from './service.js';

/**
 * Leads count processes. If one ends by itself, the service ends with exit code 1, so
 * that a supervisor and a measurement notice the failure.
 */
export async function lead(program, count) {
  const aggregator = new prometheus.AggregatorRegistry();
  let stopping = false;
  const members = Array.from({ length: count }, () => cluster.fork());
  const ended = members.map((member) => new Promise((resolve) => member.once('exit', resolve)));

  cluster.on('exit', (member, code, signal) => {
    if (stopping) return;
    // It has said why, unless a signal ended it.
    if (signal) program.warn(`process ${member.process.pid} of the cluster was ended by ${signal}`);
    process.exit(code || 1);
  });
  cluster.on('message', (member, message) => {
    if (message.type !== 'expose') return;
    aggregator.clusterMetrics().then(
      (text) => member.send({ type: 'exposed', id: message.id, text }),
      (error) => member.send({ type: 'exposed', id: message.id, error: error.message }),
    );
  });
  program.onSignal(() => {
    stopping = true;
    for (const member of members) if (member.isConnected()) member.send({ type: 'stop' });
    return Promise.all(ended);
  });

  const listening = members.map((member) => new Promise((resolve) => {
    member.on('message', (message) => message.type === 'listening' && resolve(message.at));
  }));
  const [{ address, port }] = await Promise.all(listening);
  program.listens(urlOf(address, port), `node ${process.version}`);
}

/** Runs one of the processes. It stops on a message of its leader only, not on signals. */
export async function member(program, settings) {
  const service = new Service(settings, program);
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => {});
  process.on('disconnect', () => process.exit(1)); // the leader is gone
  process.on('message', (message) => {
    if (message.type === 'stop') Promise.resolve(service.stop()).then(() => process.exit(0));
  });
  exposeAll(service.metrics);
  try {
    process.send({ type: 'listening', at: await service.listen() });
  } catch (error) {
    program.fail(error);
  }
}

/** Makes metrics expose those of all processes, added up by the leader. */
function exposeAll(metrics) {
  prometheus.AggregatorRegistry.setRegistries(metrics.registry);
  void new prometheus.AggregatorRegistry(); // answers the leader's questions
  const waiting = new Map();
  let last = 0;
  process.on('message', ({ type, id, text, error }) => {
    if (type !== 'exposed') return;
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    if (error) reject(new Error(`add up the metrics of all processes: ${error}`));
    else resolve(text);
  });
  metrics.expose = () => new Promise((resolve, reject) => {
    const id = ++last;
    waiting.set(id, { resolve, reject });
    process.send({ type: 'expose', id });
  });
}
