// Node's http server in front of the service's resources: it finds the route,
// reads the body and writes the answer.

import { createServer } from 'node:http';

import { maxBody, tooLarge } from '../javascript/devices.js';

// The server never closes a connection: if it closed one while a request arrives, that
// would count as unavailability. headersTimeout would also close connections without a
// request so far, which a growing load has.
const neverClosed = { keepAliveTimeout: 0, headersTimeout: 0, requestTimeout: 0 };

/** The server, and how it is closed. */
export function newServer(resources, unknown) {
  const find = router(resources);
  const unused = new Set(); // connections without a request so far, which Node does not count as idle
  const server = createServer(neverClosed, async (request, response) => {
    unused.delete(request.socket);
    const { resource, call } = find(request);
    const answer = resource ? await resource.answer(request.method, call) : unknown();
    // While it stops, an answer is its connection's last.
    if (!server.listening) response.shouldKeepAlive = false;
    response.writeHead(answer.status, { ...answer.headers, 'Content-Length': Buffer.byteLength(answer.body) });
    response.end(answer.body);
  });
  server.on('connection', (socket) => {
    unused.add(socket);
    socket.on('close', () => unused.delete(socket));
  });
  return {
    server,
    /** Stops accepting, and awaits the requests in flight. */
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
        // A first request may be on its way.
        setTimeout(() => unused.forEach((socket) => socket.destroy()), 100);
      }),
  };
}

/**
 * Finds the resource of a request, and makes the call for it. Only the last
 * segment of a path can be a parameter, and none is empty.
 */
function router(resources) {
  const paths = new Map(resources.map((resource) => [resource.path.replace(/\{.*\}$/, ''), resource]));
  return (request) => {
    const [path, query] = split(request.url, '?');
    const parameterAt = path.lastIndexOf('/') + 1;
    const parameter = path.slice(parameterAt);
    const resource = paths.get(path) ?? paths.get(path.slice(0, parameterAt));
    if (!resource || (resource.path !== path && parameter === '')) return {};
    return {
      resource,
      call: { parameter, query, contentType: request.headers['content-type'], readBody: () => readBody(request) },
    };
  };
}

function split(text, separator) {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

/** Reads a body up to its limit; what is over it is read too, and dropped, so that the client hears the answer. */
function readBody(request) {
  return new Promise((resolve, reject) => {
    const chunks = [];
    let size = 0;
    request.on('data', (chunk) => {
      size += chunk.length;
      if (size <= maxBody) {
        chunks.push(chunk);
      } else {
        chunks.length = 0;
        reject(tooLarge());
      }
    });
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', reject); // the client is gone
  });
}
