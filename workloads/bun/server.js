// Bun's HTTP server in front of the service's resources: it finds the route
// itself; here the body is read and the answer written.

import { maxBody, tooLarge } from '../javascript/devices.js';

/** Listens; returns Bun's server. */
export function serve(resources, unknown, { host, port }) {
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
    routes: Object.fromEntries(resources.map(route)),
    fetch: () => respond(unknown()),
  });
}

/** A resource as Bun's router takes it: its path, with :name for {name}, and what answers all methods. */
function route({ path, answer }) {
  const [, name] = /\{(.*)\}$/.exec(path) ?? [];
  return [
    path.replace(/\{(.*)\}$/, ':$1'),
    async (request) => respond(await answer(request.method, callOf(request, request.params[name]))),
  ];
}

// Getters, because these values are expensive and not always needed.
function callOf(request, parameter) {
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

function respond({ status, headers, body }) {
  return new Response(body, { status, headers }); // Bun adds the Content-Length
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
