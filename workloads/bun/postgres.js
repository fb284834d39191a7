// The store in PostgreSQL, by the client that is part of Bun: it is what a
// service on Bun would use, and costs a third of the CPU that pg costs there.

import { SQL } from 'bun';

import { createTable, insertTimeout, within } from '../javascript/store.js';

export function open({ url, connections }) {
  const sql = new SQL(url, {
    max: connections,
    connectionTimeout: insertTimeout / 1000,
    idleTimeout: 0, // connections stay, as those of every other runtime's pool
    maxLifetime: 0,
  });
  return {
    prepare: () => within(insertTimeout, sql.unsafe(createTable)),
    insert: (device) => insert(sql, device),
    close: () => sql.close(),
  };
}

async function insert(sql, { id, mac, firmware }) {
  const query = sql`insert into devices (id, mac, firmware) values (${id}, ${mac}, ${firmware})`;
  try {
    await within(insertTimeout, query);
  } catch (error) {
    query.cancel(); // one that still waits for a connection is not to be sent any more
    throw error;
  }
}
