// The stores of devices. A store is {insert(device), close()}; insert resolves when the
// device is stored, and its rejection becomes the client's 503.

import { setTimeout as sleep } from 'node:timers/promises';

import { Memory } from './memory.js';
import { WrongUsage } from './settings.js';

/** How long an insert may take, with its wait for a connection, in milliseconds. */
export const insertTimeout = 5_000;

/** The table of the stores in SQL. */
export const createTable = `create table if not exists devices (
  id uuid primary key, mac text not null, firmware text not null)`;

/** How long a database may take to answer before the service listens, in milliseconds. */
const startTimeout = 30_000;

/**
 * Opens the store that the settings choose, and awaits its first answer. drivers
 * are those of the runtime by the store's name, and import a module {open} only
 * where it is used: a store in memory does not pay for them. Faults of
 * connections go to warn.
 */
export async function openStore(settings, drivers, warn) {
  if (settings.kind === 'memory') return new Memory();
  const { open } = await drivers[settings.kind]();
  const store = opened(settings, () => open(settings, warn));
  await untilReady(settings.kind, () => store.prepare());
  return store;
}

/** The promise, or a rejection where it has not settled after so many milliseconds. */
export async function within(milliseconds, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${milliseconds / 1000} s`)), milliseconds);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The driver's options from the URL; an invalid URL is wrong usage, and is not quoted. */
function opened({ kind }, open) {
  try {
    return open();
  } catch {
    throw new WrongUsage(`DATABASE_URL cannot be read as a URL of ${kind}`);
  }
}

/** Calls prepare again until it succeeds or the time is over. */
async function untilReady(kind, prepare) {
  let fault = 'it said nothing';
  let late = false;
  const answered = (async () => {
    while (!late) {
      try {
        await prepare();
        return true;
      } catch (error) {
        fault = error.message || String(error);
      }
      await sleep(200);
    }
  })();
  if (await Promise.race([answered, sleep(startTimeout, false, { ref: false })])) return;
  late = true;
  throw new Error(`${kind} at DATABASE_URL has not answered within ${startTimeout / 1000} s: ${fault}`);
}
