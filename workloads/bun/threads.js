// Worker threads of Bun, for the pool in ../javascript/workers.js. The file is
// both sides: what the main thread calls, and what the thread runs.

import { work } from '../javascript/loop.js';

/** Starts a thread that gives what it answers to reply; returns what posts a task to it. */
export function startThread(reply, fail) {
  const thread = new Worker(import.meta.url);
  thread.addEventListener('message', ({ data }) => reply(data));
  thread.addEventListener('error', fail); // has a message, as an Error has
  return (task) => thread.postMessage(task);
}

if (!Bun.isMainThread) {
  self.addEventListener('message', ({ data }) => self.postMessage(work(data)));
}
