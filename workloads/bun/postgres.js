// The store in PostgreSQL, by the client that is part of Bun: it is what a
// service on Bun would use, and costs a third of the CPU that pg costs there.

import { SQL } from 'bun';

import { createTable, insertTimeout, within } from '../javascript/store.js';

export function open({ url, connections }) {
  // One connection each. On a client with several connections, Bun sends further
  // statements on one that still waits for an answer, which no other service does.
  const connect = () => new SQL(url, {
    max: 1,
    connectionTimeout: insertTimeout / 1000,
    idleTimeout: 0, // connections stay, as those of every other runtime's pool
    maxLifetime: 0,
  });
  const pool = new Pool(connections, connect);
  return {
    prepare: () => pool.use((client) => client.unsafe(createTable)),
    insert: ({ id, mac, firmware }) =>
      pool.use((client) => client`insert into devices (id, mac, firmware) values (${id}, ${mac}, ${firmware})`),
    close: () => pool.close(),
  };
}

/** Clients, each used by one statement at a time; the one that was used last comes first. */
class Pool {
  #connect;
  #free;
  #waiting = new Set(); // functions that take a client, in the order of their arrival

  /** connect makes a client, which connects with its first statement. */
  constructor(size, connect) {
    this.#connect = connect;
    this.#free = Array.from({ length: size }, connect);
  }

  /**
   * Awaits a client and the statement that it makes, together for insertTimeout. After an
   * error the client is replaced: its answer may still be under way.
   */
  async use(statement) {
    const begun = performance.now();
    let client = await this.#take();
    try {
      const left = insertTimeout - (performance.now() - begun);
      return await within(Math.max(1, left), statement(client));
    } catch (error) {
      client.close({ timeout: 0 }).catch(() => {});
      client = this.#connect();
      throw error;
    } finally {
      this.#give(client);
    }
  }

  close() {
    return Promise.all(this.#free.map((client) => client.close()));
  }

  #take() {
    const client = this.#free.pop();
    if (client) return client;
    return new Promise((resolve, reject) => {
      const take = (free) => {
        clearTimeout(timer);
        resolve(free);
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(take);
        reject(new Error(`no connection was free within ${insertTimeout / 1000} s`));
      }, insertTimeout);
      this.#waiting.add(take);
    });
  }

  #give(client) {
    const [take] = this.#waiting;
    if (!take) {
      this.#free.push(client);
      return;
    }
    this.#waiting.delete(take);
    take(client);
  }
}
