// The settings from flags and environment; workloads/README.md has the table. Both
// runtimes use this code, so that a setting has the same meaning.

import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';

import { wholeNumber } from './numbers.js';

/** A flag or a variable of no meaning: the process ends with 2. */
export class WrongUsage extends Error {}

/** How to write the URL of each store that needs one. */
const databaseURLs = {
  postgres: /^postgres(ql)?:\/\//,
  mongodb: /^mongodb(\+srv)?:\/\//,
};

/**
 * Reads flags and environment; flags override variables, and an empty variable counts as
 * not set. frameworks are the values of FRAMEWORK, the default first. Throws WrongUsage.
 */
export function readSettings(args, env, frameworks) {
  const flags = readFlags(args);
  if (flags.help) return { help: true };
  return {
    host: flags.host ?? env.HOST ?? '',
    port: portOf(flags.port || env.PORT || '8080'),
    framework: frameworkOf(env, frameworks),
    store: storeOf(env),
    workers: numberOf(env, 'WORKERS', 1, 1024) ?? availableParallelism(),
    cluster: numberOf(env, 'CLUSTER', 1, 64),
  };
}

/** The answer to --help. */
export function usage(name) {
  return `Usage: ${name} [--host ADDRESS] [--port N]
  --host ADDRESS  address to listen on; empty for all interfaces (env HOST)
  --port N        port to listen on; 0 for any that is free (env PORT, default 8080)
`;
}

function readFlags(args) {
  const options = {
    help: { type: 'boolean', short: 'h' },
    host: { type: 'string' },
    port: { type: 'string' },
  };
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    throw new WrongUsage(`${error.message}; see --help`);
  }
}

function portOf(text) {
  const port = wholeNumber(text, 0, 65535);
  if (port === undefined) {
    throw new WrongUsage(`port ${JSON.stringify(text)}: give a number from 0 to 65535 as --port or PORT`);
  }
  return port;
}

function frameworkOf(env, frameworks) {
  const framework = env.FRAMEWORK || frameworks[0];
  if (!frameworks.includes(framework)) {
    throw new WrongUsage(`FRAMEWORK=${framework}: set it to ${frameworks.join(' or ')}, or leave it out`);
  }
  return framework;
}

function numberOf(env, name, low, high) {
  if (!env[name]) return undefined;
  const n = wholeNumber(env[name], low, high);
  if (n === undefined) {
    throw new WrongUsage(`${name}=${env[name]}: set it to a whole number from ${low} to ${high}, or leave it out`);
  }
  return n;
}

function storeOf(env) {
  const kind = env.STORE || 'memory';
  const connections = numberOf(env, 'DATABASE_CONNECTIONS', 1, 1000) ?? 10;
  if (kind === 'memory') return { kind };
  if (!Object.hasOwn(databaseURLs, kind)) {
    throw new WrongUsage(`STORE=${kind}: set it to memory, postgres or mongodb, or leave it out`);
  }
  const url = env.DATABASE_URL || '';
  // The URL is not quoted: it may hold a password.
  if (!databaseURLs[kind].test(url)) {
    throw new WrongUsage(`STORE=${kind} needs a DATABASE_URL that begins with ${kind}://`);
  }
  return { kind, url, connections };
}
