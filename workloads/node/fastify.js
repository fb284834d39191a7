// The resources on Fastify, with Node's http below it.

import { maxHeaderSize, METHODS } from 'node:http';

import fastify from 'fastify';

import { Refusal } from '../javascript/refusal.js';
import { refuse } from '../javascript/service.js';
import { callOf, splitURL } from './server.js';

/** What answers requests of Node's http; beforeHead is that of newServer. */
export async function routed(resources, unknown, beforeHead) {
  // Long parameters are refused where they are read, with a reason, and so are bodies.
  const app = fastify({ exposeHeadRoutes: false, routerOptions: { maxParamLength: maxHeaderSize } });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (request, body, done) => done(null));
  app.addHook('onSend', (request, reply, _, done) => {
    beforeHead(request.raw, reply.raw);
    done();
  });
  // A known route refuses every method that it does not take, those of WebDAV too.
  for (const method of METHODS) {
    if (!app.supportedMethods.includes(method)) app.addHttpMethod(method, { hasBody: true });
  }
  for (const { path, answer } of resources) {
    const [, name] = /\{(.*)\}$/.exec(path) ?? [];
    app.all(path.replace(/\{(.*)\}$/, ':$1'), async ({ raw, params }, reply) => {
      if (params[name] === '') return respond(reply, unknown());
      const [, query] = splitURL(raw.url);
      return respond(reply, await answer(raw.method, callOf(raw, params[name], query)));
    });
  }
  app.setNotFoundHandler((_, reply) => respond(reply, unknown()));
  // Fastify refuses a content type that is none before the resource could.
  app.setErrorHandler((error, _, reply) => {
    respond(reply, refuse(error.statusCode ? new Refusal(error.statusCode, error.message) : error));
  });
  await app.ready();
  return app.routing;
}

/** Fastify adds a charset to JSON that is a string, and the Content-Length. */
function respond(reply, { status, headers, body }) {
  return reply.code(status).headers(headers).send(Buffer.from(body));
}
