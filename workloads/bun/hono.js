// The resources on Hono, with Bun.serve below it.

import { Hono } from 'hono';

import { callOf, parameterOf, pathOf } from './server.js';

/** The options of Bun.serve that answer requests. */
export function routed(resources, unknown) {
  const app = new Hono();
  for (const resource of resources) {
    const name = parameterOf(resource);
    app.all(pathOf(resource), async (c) => {
      const call = callOf(c.req.raw, name && c.req.param(name));
      return respond(c, await resource.answer(c.req.method, call));
    });
  }
  app.notFound((c) => respond(c, unknown()));
  return { fetch: app.fetch };
}

/** The Content-Length is set here, because Hono drops the body of HEAD before Bun sees it. */
function respond(c, { status, headers, body }) {
  return c.body(body, status, { ...headers, 'Content-Length': String(Buffer.byteLength(body)) });
}
