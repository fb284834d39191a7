// Bun's HTTP server in front of a router: what both routers need of a request.

import { maxBody, tooLarge } from '../javascript/devices.js';

/** Listens with the options {routes, fetch} of a router; returns Bun's server. */
export function serve(routed, { host, port }) {
  return Bun.serve({
    hostname: host || undefined,
    port,
    // The server never closes a connection: if it closed one while a request arrives,
    // that would count as unavailability.
    idleTimeout: 0,
    // Bodies are limited where they are read, with a reason; Bun's own refusal has none.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    development: false,
    // A port in use must be reported as an error; in production Bun would share it.
    reusePort: false,
    ...routed,
  });
}

/** The path of a resource as both routers take it: with :name for {name}. */
export const pathOf = ({ path }) => path.replace(/\{(.*)\}$/, ':$1');

/** The name of the path's parameter, undefined without one. */
export const parameterOf = ({ path }) => /\{(.*)\}$/.exec(path)?.[1];

/** The call of a Request. Getters, because these values are expensive and not always needed. */
export function callOf(request, parameter) {
  return {
    parameter,
    get query() {
      const at = request.url.indexOf('?');
      return at < 0 ? '' : request.url.slice(at + 1);
    },
    get contentType() {
      return request.headers.get('content-type');
    },
    readBody: () => readBody(request),
  };
}

/** Reads a body up to its limit. */
async function readBody(request) {
  const length = request.headers.get('content-length');
  if (length !== null) {
    if (Number(length) > maxBody) throw tooLarge();
    return Buffer.from(await request.arrayBuffer());
  }
  const chunks = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > maxBody) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
