// Worker threads of Node.js, for the pool in ../javascript/workers.js. The file
// is both sides: what the main thread calls, and what the thread runs.

import { isMainThread, parentPort, Worker } from 'node:worker_threads';

import { work } from '../javascript/loop.js';

/** Starts a thread that gives what it answers to reply; returns what posts a task to it. */
export function startThread(reply, fail) {
  const thread = new Worker(new URL(import.meta.url));
  thread.on('message', reply);
  thread.on('error', fail);
  return (task) => thread.postMessage(task);
}

if (!isMainThread) {
  parentPort.on('message', (task) => parentPort.postMessage(work(task)));
}
