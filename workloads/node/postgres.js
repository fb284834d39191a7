// The store in PostgreSQL, by pg.

import pg from 'pg';

import { createTable, insertTimeout } from '../javascript/store.js';

// A name makes it a prepared statement of its connection: parsed once.
const insertDevice = {
  name: 'insert-device',
  text: 'insert into devices (id, mac, firmware) values ($1, $2, $3)',
};

export function open({ url, connections }, warn) {
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: insertTimeout, // the wait for a free connection, and for a new one
    idleTimeoutMillis: 0, // connections stay, as those of every other runtime's pool
  });
  // A connection that breaks, idle or not, emits an error here; without a listener that
  // would end the process. Its query has already failed, and the pool opens another one.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', (error) => warn(`a connection to postgres broke: ${error.message}`)));
  return {
    prepare: () => pool.query({ text: createTable, query_timeout: insertTimeout }),
    insert: (device) => insert(pool, device),
    close: () => pool.end(),
  };
}

async function insert(pool, { id, mac, firmware }) {
  const begun = performance.now();
  const client = await pool.connect();
  const left = insertTimeout - (performance.now() - begun);
  try {
    await client.query({ ...insertDevice, values: [id, mac, firmware], query_timeout: Math.max(1, left) });
  } catch (error) {
    client.release(error); // not to be used again: an answer may still be under way
    throw error;
  }
  client.release();
}
