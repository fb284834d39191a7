// The store in MongoDB, or in what speaks its protocol.

import { MongoClient } from 'mongodb';

import { insertTimeout, within } from './store.js';

export function open({ url, connections }) {
  const client = new MongoClient(url, {
    maxPoolSize: connections,
    retryWrites: false, // one insert is one round trip
    // The driver bounds each wait of an operation; their sum is bounded below.
    serverSelectionTimeoutMS: insertTimeout,
    waitQueueTimeoutMS: insertTimeout,
    connectTimeoutMS: insertTimeout,
    socketTimeoutMS: insertTimeout,
  });
  const db = client.db(databaseOf(url));
  const devices = db.collection('devices');
  return {
    prepare: () => db.command({ ping: 1 }),
    insert: ({ id, mac, firmware }) => within(insertTimeout, devices.insertOne({ _id: id, mac, firmware })),
    close: () => client.close(),
  };
}

/**
 * The database that a URL names, or millicore; the driver's own default would
 * be test. A URL of several hosts is none to the class URL.
 */
function databaseOf(url) {
  const named = /^[^:]+:\/\/[^/?]+\/([^?]+)/.exec(url);
  return named ? decodeURIComponent(named[1]) : 'millicore';
}
