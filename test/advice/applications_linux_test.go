package advice

// appPy is an application for WSGI (app) and ASGI (asgi) that computes for some milliseconds.
var appPy = map[string]string{"app.py": testdata("app.py")}

const rack = `require 'digest'
run lambda { |env|
  b = "\0" * 4096
  300.times { d = Digest::SHA1.digest(b); b = d + b[20..] }
  [200, {'Content-Type' => 'text/plain'}, [b[0, 20].unpack1('H*')]]
}
`

const psgi = `use Digest::SHA 'sha1'; my $app = sub { my $b = "\0" x 4096; for (1..300) { $b = sha1($b) . substr($b, 20) } [200, ['Content-Type' => 'text/plain'], [unpack('H*', substr($b, 0, 20))]] };
`

// expressApp computes as the others do.
const handler = `const { createHash } = require('crypto')
function work () { let b = Buffer.alloc(4096); for (let i = 0; i < 300; i++) { createHash('sha1').update(b).digest().copy(b) } return b.toString('hex', 0, 20) }
`

// applications are servers of applications; the application is of some lines.
var applications = []entry{
	{
		name: "gunicorn, 1 sync worker", from: "pip gunicorn==23.0.0", path: cpu, files: appPy,
		command:   []string{"HOME/venv/bin/gunicorn", "--bind", "127.0.0.1:PORT", "--chdir", "DIR", "app:app"},
		expertEnv: "WEB_CONCURRENCY=2", why: "one worker cannot use more than one CPU",
	},
	{
		name: "gunicorn, 8 workers", from: "pip gunicorn==23.0.0", path: cpu, files: appPy,
		command: []string{"HOME/venv/bin/gunicorn", "--workers", "8", "--bind", "127.0.0.1:PORT", "--chdir", "DIR", "app:app"},
	},
	{
		name: "gunicorn, 8 threads", from: "pip gunicorn==23.0.0", path: cpu, files: appPy,
		command: []string{"HOME/venv/bin/gunicorn", "--threads", "8", "--bind", "127.0.0.1:PORT", "--chdir", "DIR", "app:app"},
	},
	{
		name: "uWSGI, 8 threads", from: "apt uwsgi-core uwsgi-plugin-python3", path: cpu, files: appPy,
		command: []string{"/usr/bin/uwsgi", "--plugin", "http,python3", "--http-socket", "127.0.0.1:PORT", "--threads", "8", "--chdir", "DIR", "--wsgi", "app:app"},
	},
	{
		name: "uWSGI, 8 processes", from: "apt uwsgi-core uwsgi-plugin-python3", path: cpu, files: appPy,
		command: []string{"/usr/bin/uwsgi", "--plugin", "http,python3", "--http-socket", "127.0.0.1:PORT", "--master", "--processes", "8", "--chdir", "DIR", "--wsgi", "app:app"},
	},
	{
		name: "Waitress", from: "pip waitress==3.0.2", path: cpu, files: appPy,
		command: []string{"HOME/venv/bin/waitress-serve", "--listen=127.0.0.1:PORT", "app:app"}, env: []string{"PYTHONPATH=DIR"},
	},
	{
		name: "CherryPy's Cheroot", from: "pip cheroot==10.0.1", path: cpu, files: appPy,
		command: []string{"HOME/venv/bin/cheroot", "--bind", "127.0.0.1:PORT", "app:app"}, env: []string{"PYTHONPATH=DIR"},
	},
	{
		name: "Uvicorn", from: "pip uvicorn==0.34.0", path: cpu, files: appPy,
		command: []string{"HOME/venv/bin/uvicorn", "--host", "127.0.0.1", "--port", "PORT", "--log-level", "warning", "--app-dir", "DIR", "app:asgi"},
	},
	{
		name: "Hypercorn", from: "pip hypercorn==0.17.3", path: cpu, files: appPy,
		command: []string{"HOME/venv/bin/hypercorn", "--bind", "127.0.0.1:PORT", "app:asgi"}, env: []string{"PYTHONPATH=DIR"},
	},
	{
		name: "Daphne", from: "pip daphne==4.1.2", path: cpu, files: appPy,
		command: []string{"HOME/venv/bin/daphne", "-b", "127.0.0.1", "-p", "PORT", "app:asgi"}, env: []string{"PYTHONPATH=DIR"},
	},
	{
		name: "Granian, 8 threads", from: "pip granian==1.7.6", path: cpu, files: appPy,
		command: []string{"HOME/venv/bin/granian", "--interface", "asgi", "--host", "127.0.0.1", "--port", "PORT", "--threads", "8", "app:asgi"}, env: []string{"PYTHONPATH=DIR"},
	},
	{
		name: "Sanic", from: "pip sanic==24.12.0", path: "/", files: map[string]string{"s.py": "from sanic import Sanic, response\napp = Sanic('x')\n@app.get('/')\nasync def h(r):\n  h = 7\n  for i in range(20000): h = (h * 31 + i) & 0xffffffff\n  return response.text(str(h))\n"},
		command:       []string{"HOME/venv/bin/python", "-m", "sanic", "s.app", "-H", "127.0.0.1", "-p", "PORT", "--no-access-logs"},
		expertCommand: []string{"HOME/venv/bin/python", "-m", "sanic", "s.app", "-H", "127.0.0.1", "-p", "PORT", "--no-access-logs", "--workers", "{N}"},
		why:           "one worker cannot use more than one CPU",
	},
	{
		name: "Robyn, 2 processes", from: "pip robyn==0.72.2", path: "/",
		files:   map[string]string{"r.py": "import os\nfrom robyn import Robyn\napp = Robyn(__file__)\n@app.get('/')\ndef h():\n  h = 7\n  for i in range(20000): h = (h * 31 + i) & 0xffffffff\n  return str(h)\napp.start(host='127.0.0.1', port=int(os.environ['AT']))\n"},
		command: []string{"HOME/venv/bin/python", "DIR/r.py", "--processes", "2", "--workers", "4"}, env: []string{"AT=PORT"},
	},
	{
		name: "Tornado", from: "pip tornado==6.4.2", path: "/",
		files:   map[string]string{"t.py": "import sys, tornado.ioloop, tornado.web\nclass H(tornado.web.RequestHandler):\n  def get(self): self.write('ok')\ntornado.web.Application([('/', H)]).listen(int(sys.argv[1]), '127.0.0.1')\ntornado.ioloop.IOLoop.current().start()\n"},
		command: []string{"HOME/venv/bin/python", "DIR/t.py", "PORT"},
	},
	{
		name: "aiohttp", from: "pip aiohttp==3.11.11", path: "/",
		files:   map[string]string{"a.py": "import sys\nfrom aiohttp import web\nasync def h(r): return web.Response(text='ok')\na = web.Application(); a.router.add_get('/', h)\nweb.run_app(a, host='127.0.0.1', port=int(sys.argv[1]), access_log=None)\n"},
		command: []string{"HOME/venv/bin/python", "DIR/a.py", "PORT"},
	},
	{
		name: "numpy with 8 threads of OpenBLAS, over HTTP", from: "pip numpy==2.2.1", path: "/",
		files: map[string]string{"n.py": "import sys, http.server, numpy\na = numpy.random.rand(300, 300)\nclass H(http.server.BaseHTTPRequestHandler):\n  protocol_version = 'HTTP/1.1'\n" +
			"  def do_GET(self):\n    b = str((a @ a @ a).sum()).encode(); self.send_response(200); self.send_header('Content-Length', str(len(b))); self.end_headers(); self.wfile.write(b)\n  def log_message(self, *a): pass\n" +
			"http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), H).serve_forever()\n"},
		command: []string{"HOME/venv/bin/python", "DIR/n.py", "PORT"}, env: []string{"OPENBLAS_NUM_THREADS=8"},
		expertEnv: "OPENBLAS_NUM_THREADS={N}", why: "the threads spin while they wait for each other",
	},
	{
		name: "Puma, 5 threads", from: "apt puma", path: "/", files: map[string]string{"config.ru": rack},
		command: []string{"puma", "-t", "5:5", "-b", "tcp://127.0.0.1:PORT", "DIR/config.ru"},
	},
	{
		name: "Puma, 8 workers", from: "apt puma", path: "/", files: map[string]string{"config.ru": rack},
		command: []string{"puma", "-w", "8", "-b", "tcp://127.0.0.1:PORT", "DIR/config.ru"},
	},
	{
		name: "Unicorn", from: "apt unicorn", path: "/", files: map[string]string{"config.ru": rack},
		command: []string{"unicorn", "-l", "127.0.0.1:PORT", "DIR/config.ru"},
	},
	{
		name: "Thin", from: "apt thin", path: "/", files: map[string]string{"config.ru": rack},
		command: []string{"thin", "-a", "127.0.0.1", "-p", "PORT", "-R", "DIR/config.ru", "start"},
	},
	{
		name: "Starman, 8 workers", from: "apt starman", path: "/", files: map[string]string{"app.psgi": psgi},
		command: []string{"starman", "--workers", "8", "--listen", "127.0.0.1:PORT", "DIR/app.psgi"},
	},
	{
		name: "Twiggy", from: "apt twiggy", path: "/", files: map[string]string{"app.psgi": psgi},
		command: []string{"twiggy", "--listen", "127.0.0.1:PORT", "DIR/app.psgi"},
	},
	{
		name: "php -S", from: "apt php-cli", path: "/index.php",
		files:   map[string]string{"index.php": `<?php $b = str_repeat("\0", 4096); for ($i = 0; $i < 300; $i++) { $b = sha1($b, true) . substr($b, 20); } echo bin2hex(substr($b, 0, 20));`},
		command: []string{"php", "-S", "127.0.0.1:PORT", "-t", "DIR"},
	},
	{
		name: "Express", from: "npm express@4.21.2", path: "/",
		files:   map[string]string{"e.js": handler + "const a = require('HOME/node_modules/express')(); a.get('/', (q, r) => r.send(work())); a.listen(process.argv[2], '127.0.0.1')\n"},
		command: []string{"node", "DIR/e.js", "PORT"},
	},
	{
		name: "Fastify", from: "npm fastify@5.2.0", path: "/",
		files:   map[string]string{"f.js": handler + "const f = require('HOME/node_modules/fastify')(); f.get('/', async () => work()); f.listen({ port: +process.argv[2], host: '127.0.0.1' })\n"},
		command: []string{"node", "DIR/f.js", "PORT"},
	},
	{
		name: "Koa", from: "npm koa@2.15.3", path: "/",
		files:   map[string]string{"k.js": handler + "const K = require('HOME/node_modules/koa'); const k = new K(); k.use(c => { c.body = work() }); k.listen(process.argv[2], '127.0.0.1')\n"},
		command: []string{"node", "DIR/k.js", "PORT"},
	},
	{
		name: "hapi", from: "npm @hapi/hapi@21.3.12", path: "/",
		files:   map[string]string{"h.js": handler + "const s = require('HOME/node_modules/@hapi/hapi').server({ port: process.argv[2], host: '127.0.0.1' }); s.route({ method: 'GET', path: '/', handler: work }); s.start()\n"},
		command: []string{"node", "DIR/h.js", "PORT"},
	},
	{
		name: "workerpool, 8 threads", from: "npm workerpool@9.2.0", path: "/",
		files: map[string]string{"w.js": "const p = require('HOME/node_modules/workerpool').pool({ workerType: 'thread', maxWorkers: +process.argv[3] }); const f = n => { let h = 7; for (let i = 0; i < n; i++) h = (h * 31 + i) & 0xffffff; return h }\n" +
			"require('http').createServer(async (q, r) => r.end(String(await p.exec(f, [2000000])))).listen(process.argv[2], '127.0.0.1')\n"},
		command:       []string{"node", "DIR/w.js", "PORT", "8"},
		expertCommand: []string{"node", "DIR/w.js", "PORT", "{N}"}, why: "as many threads as CPUs",
	},
	{
		name: "Piscina", from: "npm piscina@4.8.0", path: "/",
		files: map[string]string{
			"w.js": handler + "module.exports = work\n",
			"p.js": "const P = require('HOME/node_modules/piscina'); const p = new P({ filename: 'DIR/w.js' }); require('http').createServer(async (q, r) => r.end(await p.run())).listen(process.argv[2], '127.0.0.1')\n",
		},
		command: []string{"node", "DIR/p.js", "PORT"},
	},
	{
		name: "deno serve", from: "npm deno@2.1.4", path: "/",
		files:   map[string]string{"d.ts": "import { createHash } from 'node:crypto'; import { Buffer } from 'node:buffer'\nexport default { fetch () { let b = Buffer.alloc(4096); for (let i = 0; i < 100; i++) createHash('sha1').update(b).digest().copy(b); return new Response(b.toString('hex', 0, 20)) } }\n"},
		command: []string{"HOME/node_modules/deno/deno", "serve", "--port", "PORT", "--host", "127.0.0.1", "DIR/d.ts"},
	},
	{
		name: "Deno", from: "npm deno@2.1.4", path: "/",
		files:   map[string]string{"d.ts": "import { createHash } from 'node:crypto'; import { Buffer } from 'node:buffer'\nDeno.serve({ port: +Deno.args[0], hostname: '127.0.0.1' }, () => { let b = Buffer.alloc(4096); for (let i = 0; i < 100; i++) createHash('sha1').update(b).digest().copy(b); return new Response(b.toString('hex', 0, 20)) })\n"},
		command: []string{"HOME/node_modules/deno/deno", "run", "-A", "DIR/d.ts", "PORT"},
	},
	{
		name: "Bun", from: "npm bun@1.1.42", path: "/",
		files:   map[string]string{"b.js": "import { createHash } from 'crypto'\nBun.serve({ port: +process.argv[2], hostname: '127.0.0.1', fetch () { let b = Buffer.alloc(4096); for (let i = 0; i < 100; i++) createHash('sha1').update(b).digest().copy(b); return new Response(b.toString('hex', 0, 20)) } })\n"},
		command: []string{"HOME/node_modules/bun/bin/bun.exe", "DIR/b.js", "PORT"},
	},
	{
		name: "JVM, 16 threads", from: "apt openjdk-17-jdk-headless", path: "/cpu", files: map[string]string{"Server.java": testdata("Server.java")}, once: "javac -d DIR DIR/Server.java",
		command: []string{"java", "-Dsun.net.httpserver.nodelay=true", "-cp", "DIR", "Server", "PORT", "16"},
	},
	{
		name: "WireMock", from: "maven org.wiremock:wiremock-standalone:3.9.1", path: "/",
		files:   map[string]string{"mappings/a.json": `{"request":{"method":"GET","url":"/"},"response":{"status":200,"body":"ok {{randomValue length=2000}}","transformers":["response-template"]}}`},
		command: []string{"java", "-jar", "HOME/jars/wiremock-standalone-3.9.1.jar", "--port", "PORT", "--bind-address", "127.0.0.1", "--root-dir", "DIR", "--no-request-journal", "--disable-request-logging"},
	},
	{
		name: "Go 1.26, GOMAXPROCS=8", from: "apt ca-certificates", path: "/cpu", files: map[string]string{"main.go": testdata("main.go"), "go.mod": "module server\n\ngo 1.26\n"},
		once: "cd DIR && GOWORK=off GOFLAGS=-trimpath go build -o server .", command: []string{"DIR/server", "PORT"}, env: []string{"GOMAXPROCS=8"},
		expertEnv: "GOMAXPROCS=2", why: "2 threads are enough for less than 2 CPUs",
	},
}
