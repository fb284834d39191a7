// The resources on Node's http alone: it has no router, so this finds the route.

import { callOf, splitURL } from './server.js';

/** What answers requests of Node's http; beforeHead is that of newServer. */
export function routed(resources, unknown, beforeHead) {
  const find = finder(resources);
  return async (request, response) => {
    const { resource, call } = find(request);
    const { status, headers, body } = resource ? await resource.answer(request.method, call) : unknown();
    beforeHead(request, response);
    response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) });
    response.end(body);
  };
}

/**
 * Finds the resource of a request, and makes the call for it. Only the last
 * segment of a path can be a parameter, and none is empty.
 */
function finder(resources) {
  const paths = new Map(resources.map((resource) => [resource.path.replace(/\{.*\}$/, ''), resource]));
  return (request) => {
    const [path, query] = splitURL(request.url);
    const parameterAt = path.lastIndexOf('/') + 1;
    const parameter = path.slice(parameterAt);
    const resource = paths.get(path) ?? paths.get(path.slice(0, parameterAt));
    if (!resource || (resource.path !== path && parameter === '')) return {};
    return { resource, call: callOf(request, parameter, query) };
  };
}
