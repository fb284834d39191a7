// The sample service without its server: its routes and their answers. The servers of
// Node.js and Bun have their own routing.
//
// It is written like an ordinary service, and not tuned for benchmarks: no answer is
// encoded in advance, and no request is rejected because of load. An overloaded instance
// queues requests, grows and is killed, as real services are.

import { randomUUID } from 'node:crypto';

import { Counters } from './counters.js';
import { decodeDevice, fixedDevices, requireJSON } from './devices.js';
import { maxLoop } from './loop.js';
import { wholeNumber } from './numbers.js';
import { isPrime, maxPrime } from './prime.js';
import { Refusal } from './refusal.js';

/** Label for what a client made up, so that it cannot make up series. */
const other = 'other';

/**
 * The resources of a service, {path, parameter, answer(method, call)} each.
 * path has at its end at most one {parameter}. A call is what a server knows of
 * a request: {parameter, query, contentType, readBody()}, with the query as text
 * and the body as a Buffer. Answers are {status, headers, body}, body a string.
 */
export function resourcesOf({ store, workers, metrics }) {
  const counters = new Counters();
  const resource = (path, endpoints) => newResource(metrics, path, endpoints);
  return [
    resource('/devices', { GET: () => json(200, fixedDevices), POST: (call) => addDevice(store, metrics, call) }),
    resource('/isPrime/{n}', { GET: answerPrime }),
    resource('/loop', { GET: (call) => answerLoop(workers, call) }),
    resource('/counter/{key}', {
      GET: (call) => readCounter(counters, call),
      POST: (call) => addToCounter(workers, counters, call),
    }),
    resource('/healthz', { GET: () => json(200, { status: 'ok' }) }),
    resource('/metrics', { GET: () => expose(metrics) }),
  ];
}

/** What answers every path that is no route. */
export function unknownOf(metrics) {
  const observer = metrics.observer(other, other, 404);
  return () => {
    const begun = performance.now();
    const answer = refuse(new Refusal(404, 'no such route'));
    observer.observe((performance.now() - begun) / 1000);
    return answer;
  };
}

/**
 * The methods of one path, timed. HEAD is answered and counted as GET; the
 * server leaves the body out.
 */
function newResource(metrics, path, endpoints) {
  const methods = new Map(Object.entries(endpoints));
  const allow = [...methods.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : method)).join(', ');
  const observe = observing(metrics, path);
  return {
    path,
    async answer(method, call) {
      const begun = performance.now();
      const label = method === 'HEAD' ? 'GET' : method;
      const serve = methods.get(label);
      if (!serve) {
        const answer = refuse(new Refusal(405, `this route takes ${allow}`));
        answer.headers.Allow = allow;
        observe(other, 405, begun); // the method is the client's word: as a label it would have no bound
        return answer;
      }
      let answer;
      try {
        answer = await serve(call);
      } catch (error) {
        answer = refuse(error);
      }
      observe(label, answer.status, begun);
      return answer;
    },
  };
}

/** Notes requests of one route; finding a histogram's labels costs more than using them. */
function observing(metrics, path) {
  const observers = new Map();
  return (method, status, begun) => {
    const key = `${method} ${status}`;
    let observer = observers.get(key);
    if (!observer) observers.set(key, (observer = metrics.observer(method, path, status)));
    observer.observe((performance.now() - begun) / 1000);
  };
}

function json(status, value) {
  return { status, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(value) };
}

/** {"error": reason}: the status of a Refusal, else 500, an error of the service. */
export function refuse(error) {
  const status = error instanceof Refusal ? error.status : 500;
  if (status === 500) console.error(error);
  return json(status, { error: error.message || String(error) });
}

async function addDevice(store, metrics, call) {
  requireJSON(call.contentType);
  const device = { id: randomUUID(), ...decodeDevice(await call.readBody()) };
  try {
    await metrics.timeInsert(() => store.insert(device));
  } catch (error) {
    throw new Refusal(503, `keep the device: ${error.message || error}`);
  }
  return json(201, device);
}

/** The loop runs here, on the event loop, as any handler that only computes. */
function answerPrime({ parameter }) {
  const n = requireNumber(parameter, 0, maxPrime);
  return json(200, { n, prime: isPrime(n) });
}

async function answerLoop(workers, { query }) {
  const n = requireLoop(query);
  return json(200, { n, workers: workers.count, check: await workers.run(n) });
}

async function addToCounter(workers, counters, { parameter, query }) {
  const key = requireKey(parameter);
  await workers.run(requireLoop(query), counters.target(key));
  return json(200, { key, value: counters.value(key) });
}

function readCounter(counters, { parameter }) {
  const key = requireKey(parameter);
  const value = counters.value(key);
  if (value === undefined) throw new Refusal(404, `no counter has the key ${key}`);
  return json(200, { key, value });
}

async function expose(metrics) {
  const body = await metrics.expose();
  return { status: 200, headers: { 'Content-Type': metrics.registry.contentType }, body };
}

function requireLoop(query) {
  return requireNumber(new URLSearchParams(query).get('n') ?? '', 1, maxLoop);
}

/** The refusal does not quote what the client sent, which may be long. */
function requireNumber(text, low, high) {
  const n = wholeNumber(text, low, high);
  if (n === undefined) throw new Refusal(400, `n must be a whole number from ${low} to ${high}, in decimal digits`);
  return n;
}

function requireKey(key) {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(key)) {
    throw new Refusal(400, 'a key must be 1 to 64 ASCII letters, digits, _ or -');
  }
  return key;
}
