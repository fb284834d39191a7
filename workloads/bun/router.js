// The resources on the router of Bun.serve.

import { callOf, parameterOf, pathOf } from './server.js';

/** The options of Bun.serve that answer requests. */
export function routed(resources, unknown) {
  return {
    routes: Object.fromEntries(resources.map((resource) => [pathOf(resource), handler(resource)])),
    fetch: () => respond(unknown()),
  };
}

/** What answers all methods of a resource. */
function handler(resource) {
  const name = parameterOf(resource);
  return async (request) => respond(await resource.answer(request.method, callOf(request, request.params[name])));
}

function respond({ status, headers, body }) {
  return new Response(body, { status, headers }); // Bun adds the Content-Length
}
