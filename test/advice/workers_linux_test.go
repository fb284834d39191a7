package advice

// workers work by themselves: compressors, encoders, simulations. Their progress is counted.
var workers = []entry{
	{
		name: "pigz, 8 threads", from: "apt pigz", works: megabytesRead,
		command: []string{"/bin/sh", "-c", "exec pigz -p 8 < /dev/zero > /dev/null"},
	},
	{
		name: "xz, 8 threads", from: "apt xz-utils", works: megabytesRead,
		command: []string{"/bin/sh", "-c", "exec xz -T8 -2 < /dev/zero > /dev/null"},
	},
	{
		name: "zstd, 8 threads", from: "apt zstd", works: megabytesRead,
		command: []string{"/bin/sh", "-c", "exec zstd -q -T8 -9 < /dev/zero > /dev/null"},
	},
	{
		name: "lbzip2, 8 threads", from: "apt lbzip2", works: megabytesRead,
		command: []string{"/bin/sh", "-c", "exec lbzip2 -n 8 < /dev/zero > /dev/null"},
	},
	{
		name: "ffmpeg with x264", from: "apt ffmpeg", works: frames,
		command: []string{"ffmpeg", "-nostdin", "-loglevel", "error", "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=30", "-c:v", "libx264", "-preset", "veryfast", "-progress", "DIR/progress", "-stats_period", "0.2", "-f", "null", "-"},
	},
	{
		name: "a loop of ImageMagick with OpenMP", from: "apt imagemagick", works: lines("done"),
		command: []string{"/bin/sh", "-c", "while :; do convert -size 300x300 plasma: -blur 0x4 null: && echo >> DIR/done; done"}, env: []string{"OMP_NUM_THREADS=8"},
		expertEnv: "OMP_NUM_THREADS={N}", why: "the threads spin while they wait for each other",
	},
	{
		name: "a loop of gzip", from: "apt gzip", works: lines("done"),
		command: []string{"/bin/sh", "-c", "while :; do head -c 2000000 /dev/zero | gzip > /dev/null; echo >> DIR/done; done"},
	},
	{
		name: "numpy with 8 threads of OpenBLAS", from: "pip numpy==2.2.1", works: lines("done"),
		files:   map[string]string{"n.py": "import numpy, sys\na = numpy.random.rand(400, 400)\nf = open(sys.argv[1], 'a', 1)\nwhile True:\n  a @ a; f.write('\\n')\n"},
		command: []string{"HOME/venv/bin/python", "DIR/n.py", "DIR/done"}, env: []string{"OPENBLAS_NUM_THREADS=8"},
		expertEnv: "OPENBLAS_NUM_THREADS={N}", why: "the threads spin while they wait for each other",
	},
	{
		name: "scikit-learn, k-means with OpenMP", from: "pip scikit-learn==1.6.0", works: lines("done"),
		files:   map[string]string{"k.py": "import numpy, sys\nfrom sklearn.cluster import KMeans\na = numpy.random.rand(3000, 8)\nf = open(sys.argv[1], 'a', 1)\nwhile True:\n  KMeans(8, n_init=1, max_iter=20).fit(a); f.write('\\n')\n"},
		command: []string{"HOME/venv/bin/python", "DIR/k.py", "DIR/done"}, env: []string{"OMP_NUM_THREADS=8"},
		expertEnv: "OMP_NUM_THREADS={N}", why: "the threads spin while they wait for each other",
	},
	{
		name: "Polars", from: "pip polars==1.18.0", works: lines("done"),
		files:   map[string]string{"p.py": "import polars, sys\na = polars.DataFrame({'k': [i % 1000 for i in range(200000)], 'v': range(200000)})\nf = open(sys.argv[1], 'a', 1)\nwhile True:\n  a.group_by('k').agg(polars.col('v').sum()).sort('v'); f.write('\\n')\n"},
		command: []string{"HOME/venv/bin/python", "DIR/p.py", "DIR/done"}, env: []string{"POLARS_MAX_THREADS=8"},
		expertEnv: "POLARS_MAX_THREADS={N}", why: "as many threads as CPUs",
	},
	{
		name: "DuckDB, 8 threads", from: "pip duckdb==1.1.3", works: lines("done"),
		files: map[string]string{"d.py": "import duckdb, sys\nc = duckdb.connect(config={'threads': int(sys.argv[2])})\nc.execute('create table t as select range%1000 k, range v from range(500000)')\nf = open(sys.argv[1], 'a', 1)\n" +
			"while True:\n  c.execute('select k, sum(v), avg(sqrt(v)) from t group by k').fetchall(); f.write('\\n')\n"},
		command:       []string{"HOME/venv/bin/python", "DIR/d.py", "DIR/done", "8"},
		expertCommand: []string{"HOME/venv/bin/python", "DIR/d.py", "DIR/done", "{N}"}, why: "as many threads as CPUs",
	},
	{
		name: "LightGBM, 8 threads in its code", from: "pip lightgbm==4.5.0", works: lines("done"),
		files: map[string]string{"l.py": "import lightgbm, numpy, sys\nx = numpy.random.rand(2000, 20); y = (x.sum(1) > 10).astype(int)\nf = open(sys.argv[1], 'a', 1)\n" +
			"while True:\n  lightgbm.train({'objective': 'binary', 'num_threads': int(sys.argv[2]), 'verbose': -1}, lightgbm.Dataset(x, y), 5); f.write('\\n')\n"},
		command:       []string{"HOME/venv/bin/python", "DIR/l.py", "DIR/done", "8"},
		expertCommand: []string{"HOME/venv/bin/python", "DIR/l.py", "DIR/done", "{N}"}, why: "the threads spin while they wait for each other",
	},
	{
		name: "sharp with libvips", from: "npm sharp@0.33.5", works: lines("done"),
		files: map[string]string{"s.js": "const sharp = require('HOME/node_modules/sharp'), fs = require('fs'); const f = fs.openSync(process.argv[2], 'a')\n" +
			"const raw = { create: { width: 500, height: 500, channels: 3, background: 'red' } }\n;(async () => { for (;;) { await sharp(raw).blur(3).jpeg().toBuffer(); fs.writeSync(f, '\\n') } })()\n"},
		command: []string{"node", "DIR/s.js", "DIR/done"},
	},
	{
		name: "Stockfish, 8 threads", from: "apt stockfish", works: nodes,
		command:       []string{"/bin/sh", "-c", "{ echo setoption name Threads value 8; echo go infinite; sleep 3600; } | exec /usr/games/stockfish > DIR/log"},
		expertCommand: []string{"/bin/sh", "-c", "{ echo setoption name Threads value {N}; echo go infinite; sleep 3600; } | exec /usr/games/stockfish > DIR/log"},
		why:           "as many threads as CPUs",
	},
	{
		name: "sysbench, 8 threads that share mutexes", from: "apt sysbench", works: lines("done"),
		command: []string{"/bin/sh", "-c", "while :; do sysbench mutex --threads=8 --mutex-locks=2000 --mutex-loops=100 run > /dev/null; echo >> DIR/done; done"},
	},
}
