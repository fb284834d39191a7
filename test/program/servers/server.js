// A Node.js server for tests: a port of its own choice, a small answer.
require('node:http').createServer((req, res) => res.end('hello\n')).listen(0, '127.0.0.1');
