package advice

import "regexp"

// asPostgres runs a command as the user of PostgreSQL, which refuses to run as root.
func asPostgres(options ...string) []string {
	return append([]string{"setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups", "DIR/postgres", "-D", "DIR/data", "-p", "PORT",
		"-c", "unix_socket_directories="}, options...)
}

const initdb = `ln -s $(ls /usr/lib/postgresql/*/bin/postgres | tail -1) postgres; mkdir -m 700 data; chown postgres data
cd / && setpriv --reuid postgres --regid postgres --clear-groups $(ls /usr/lib/postgresql/*/bin/initdb | tail -1) -D DIR/data -A trust -U postgres --no-sync >/dev/null`

// bench runs a query of q.sql by 8 clients.
const bench = `cd DIR; until psql -q -h 127.0.0.1 -p PORT -U postgres -c 'create table if not exists big as select generate_series(1, 200000) i' >/dev/null 2>&1; do sleep 0.2; done
pgbench -n -h 127.0.0.1 -p PORT -U postgres -f q.sql -c 8 -T SECONDS postgres`

var tps = regexp.MustCompile(`tps = ([\d.]+)`)

const mysqlLoad = `sysbench --db-driver=mysql --mysql-host=127.0.0.1 --mysql-port=PORT --mysql-user=root --mysql-db=mysql --threads=8 --time=SECONDS DIR/q.lua run`

var dnsRate = regexp.MustCompile(`Queries per second:\s+([\d.]+)`)

const dnsLoad = `echo 'x.test A' > DIR/queries; dnsperf -s 127.0.0.1 -p PORT -d DIR/queries -l SECONDS -c 8 -q 200`

var redisRate = regexp.MustCompile(`rps=[\d.]+ \(overall: ([\d.]+)`)

// redisLoad ends the client, which has no duration, after some seconds.
const redisLoad = `until redis-cli -p PORT ping >/dev/null 2>&1; do sleep 0.1; done; timeout SECONDS redis-benchmark -p PORT -t get -c 50 -n 100000000 | tr '\r' '\n'`

// stores are databases, caches and name servers, each loaded by its own client.
var stores = []entry{
	{
		name: "Redis, 4 I/O threads", from: "apt redis-server redis-tools", client: redisLoad, said: redisRate,
		command:       []string{"redis-server", "--port", "PORT", "--bind", "127.0.0.1", "--save", "", "--io-threads", "4", "--io-threads-do-reads", "yes", "--dir", "DIR"},
		expertCommand: []string{"redis-server", "--port", "PORT", "--bind", "127.0.0.1", "--save", "", "--io-threads", "1", "--io-threads-do-reads", "yes", "--dir", "DIR"},
		why:           "the I/O threads spin",
	},
	{
		name: "Redis", from: "apt redis-server redis-tools", client: redisLoad, said: redisRate,
		command: []string{"redis-server", "--port", "PORT", "--bind", "127.0.0.1", "--save", "", "--dir", "DIR"},
	},
	{
		name: "Redis, 8 I/O threads in its file", from: "apt redis-server redis-tools", client: redisLoad, said: redisRate,
		files:         map[string]string{"redis.conf": "port PORT\nbind 127.0.0.1\nsave \"\"\nio-threads 8\nio-threads-do-reads yes\ndir DIR\n"},
		command:       []string{"redis-server", "DIR/redis.conf"},
		expertSetting: "io-threads 1", why: "the I/O threads spin",
	},
	{
		name: "memcached, 8 threads", from: "apt memcached libmemcached-tools", said: regexp.MustCompile(`TPS: (\d+)`),
		client:        `until memcping --servers=127.0.0.1:PORT >/dev/null 2>&1; do sleep 0.1; done; memcaslap -s 127.0.0.1:PORT -T 1 -c 16 -t SECONDSs -X 64`,
		command:       []string{"memcached", "-u", "nobody", "-l", "127.0.0.1", "-p", "PORT", "-t", "8"},
		expertCommand: []string{"memcached", "-u", "nobody", "-l", "127.0.0.1", "-p", "PORT", "-t", "{N}"},
		why:           "as many threads as CPUs",
	},
	{
		name: "MariaDB", from: "apt mariadb-server sysbench", client: mysqlLoad, said: regexp.MustCompile(`queries:\s+\d+\s+\(([\d.]+) per`),
		files:   map[string]string{"q.lua": "function thread_init() drv = sysbench.sql.driver(); con = drv:connect() end\nfunction event() con:query(\"SELECT BENCHMARK(2000, MD5('x'))\") end\n"},
		once:    "mkdir data && chown mysql data && mariadb-install-db --no-defaults --user=mysql --datadir=DIR/data --auth-root-authentication-method=normal >/dev/null",
		command: []string{"/usr/sbin/mariadbd", "--no-defaults", "--user=mysql", "--datadir=DIR/data", "--port=PORT", "--bind-address=127.0.0.1", "--socket=DIR/data/s"},
	},
	{
		name: "PostgreSQL", from: "apt postgresql postgresql-contrib", client: bench, said: tps, once: initdb,
		files:   map[string]string{"q.sql": "SELECT sum(sqrt(i)) FROM generate_series(1, 20000) i;\n"},
		command: asPostgres(),
	},
	{
		name: "PostgreSQL, 4 parallel workers", from: "apt postgresql postgresql-contrib", client: bench, said: tps, once: initdb,
		files:         map[string]string{"q.sql": "SELECT sum(sqrt(i)) FROM big;\n"},
		command:       asPostgres("-c", "max_parallel_workers_per_gather=4", "-c", "min_parallel_table_scan_size=0", "-c", "parallel_setup_cost=0", "-c", "parallel_tuple_cost=0"),
		expertCommand: asPostgres("-c", "max_parallel_workers_per_gather=0", "-c", "min_parallel_table_scan_size=0", "-c", "parallel_setup_cost=0", "-c", "parallel_tuple_cost=0"),
		why:           "8 clients use all CPUs already",
	},
	{
		name: "Unbound, 8 threads", from: "apt unbound dnsperf", client: dnsLoad, said: dnsRate,
		files: map[string]string{"u.conf": "server:\n  interface: 127.0.0.1\n  port: PORT\n  num-threads: 8\n  chroot: \"\"\n  username: \"\"\n  do-daemonize: no\n  pidfile: \"DIR/pid\"\n  use-syslog: no\n" +
			"  directory: \"DIR\"\n  local-zone: \"test.\" static\n  local-data: \"x.test. A 127.0.0.1\"\nremote-control:\n  control-enable: no\n"},
		command:       []string{"/usr/sbin/unbound", "-d", "-c", "DIR/u.conf"},
		expertSetting: "num-threads {N}", why: "as many threads as CPUs",
	},
	{
		name: "BIND", from: "apt bind9 dnsperf", client: dnsLoad, said: dnsRate,
		files: map[string]string{
			"named.conf": "options { directory \"DIR\"; listen-on port PORT { 127.0.0.1; }; listen-on-v6 { none; }; recursion no; pid-file \"DIR/pid\"; session-keyfile \"DIR/key\"; };\n" +
				"controls { };\nzone \"test\" { type primary; file \"DIR/zone\"; };\n",
			"zone": "$TTL 60\n@ SOA x. x. 1 60 60 60 60\n@ NS x\nx A 127.0.0.1\n",
		},
		command:       []string{"/usr/sbin/named", "-f", "-c", "DIR/named.conf", "-n", "8"},
		expertCommand: []string{"/usr/sbin/named", "-f", "-c", "DIR/named.conf", "-n", "{N}"}, why: "as many threads as CPUs",
	},
	{
		name: "dnsmasq", from: "apt dnsmasq-base dnsperf", client: dnsLoad, said: dnsRate,
		command: []string{"/usr/sbin/dnsmasq", "-k", "-C", "/dev/null", "-p", "PORT", "-a", "127.0.0.1", "-z", "-A", "/x.test/127.0.0.1", "--user=root"},
	},
}
