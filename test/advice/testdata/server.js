// A Node.js server for the matrix of advice: server.js PORT MODE, where MODE is single,
// threads2 or cluster2. /cpu computes, /wait computes little and waits, /garbage
// allocates 4 MiB of heap that nothing keeps.
const http = require('node:http');
const crypto = require('node:crypto');
const threads = require('node:worker_threads');
const cluster = require('node:cluster');

function work(rounds) {
  let block = Buffer.alloc(4096);
  let sum;
  for (let i = 0; i < rounds; i++) {
    sum = crypto.createHash('sha1').update(block).digest();
    sum.copy(block);
  }
  return sum.toString('hex');
}

if (!threads.isMainThread) {
  threads.parentPort.on('message', (id) => threads.parentPort.postMessage([id, work(300)]));
} else {
  const [port, mode] = process.argv.slice(2);
  const n = Number(mode.replace(/\D/g, '')) || 1;
  if (mode.startsWith('cluster') && cluster.isPrimary) {
    for (let i = 0; i < n; i++) cluster.fork();
  } else {
    let compute = (done) => done(work(300));
    if (mode.startsWith('threads')) {
      const waiting = new Map();
      const pool = Array.from({ length: n }, () => new threads.Worker(__filename));
      let next = 0;
      for (const worker of pool) {
        worker.on('message', ([id, text]) => { waiting.get(id)(text); waiting.delete(id); });
      }
      compute = (done) => { waiting.set(next, done); pool[next % n].postMessage(next); next++; };
    }
    let kept;
    http.createServer((req, res) => {
      if (req.url === '/wait') return void setTimeout(() => res.end(work(30)), 20);
      if (req.url === '/garbage') {
        kept = Array.from({ length: 16 }, () => new Array(1 << 15).fill(1.5));
        return void res.end('ok\n');
      }
      compute((text) => res.end(text));
    }).listen(Number(port), '127.0.0.1');
  }
}
