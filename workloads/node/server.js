// Node's http server in front of a router: what both routers need of a request, and
// how the server is closed.

import { createServer } from 'node:http';

import { maxBody, tooLarge } from '../javascript/devices.js';

// The server never closes a connection: if it closed one while a request arrives, that
// would count as unavailability. headersTimeout would also close connections without a
// request so far, which a growing load has.
const neverClosed = { keepAliveTimeout: 0, headersTimeout: 0, requestTimeout: 0 };

/** The server, which has yet to get its listener of requests, and how it is closed. */
export function newServer() {
  const unused = new Set(); // connections without a request so far, which Node does not count as idle
  const server = createServer(neverClosed, (request) => unused.delete(request.socket));
  server.on('connection', (socket) => {
    unused.add(socket);
    socket.on('close', () => unused.delete(socket));
  });
  return {
    server,
    /** To be called before the head of an answer is written. */
    beforeHead(request, response) {
      if (!server.listening) {
        response.shouldKeepAlive = false; // while it stops, an answer is its connection's last
      } else if (request.httpVersion === '1.1') {
        response.removeHeader('Connection'); // HTTP/1.1 keeps connections without it, and no other service sends it
      }
    },
    /** Stops accepting, and awaits the requests in flight. */
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
        // A first request may be on its way.
        setTimeout(() => unused.forEach((socket) => socket.destroy()), 100);
      }),
  };
}

/** The call of a request; the query is what follows the ? of its url. */
export function callOf(request, parameter, query) {
  return { parameter, query, contentType: request.headers['content-type'], readBody: () => readBody(request) };
}

/** The parts of a url before and behind its ?. */
export function splitURL(url) {
  const at = url.indexOf('?');
  return at < 0 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)];
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
