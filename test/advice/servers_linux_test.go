package advice

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// entries are the programs of the campaign.
var entries = slices.Concat(webServers, applications, stores, workers)

func testdata(name string) string {
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		panic(err)
	}
	return string(text)
}

// text is a page of about 64 KiB that compresses well, made by the shell in DIR.
const text = `seq 1 12000 > DIR/page.txt`

const nginxConf = `worker_processes WORKERS;
pid DIR/pid; error_log DIR/error;
events {}
http {
 access_log off; gzip on; gzip_comp_level 4; gzip_types *; default_type text/plain;
 client_body_temp_path DIR/a; proxy_temp_path DIR/b; fastcgi_temp_path DIR/c; uwsgi_temp_path DIR/d; scgi_temp_path DIR/e;
 server { listen 127.0.0.1:PORT; root DIR; }
}
`

func nginxWith(workers string) map[string]string {
	return map[string]string{"nginx.conf": regexp.MustCompile("WORKERS").ReplaceAllString(nginxConf, workers)}
}

const apacheConf = `ServerRoot DIR
ServerName localhost
Listen 127.0.0.1:PORT
PidFile DIR/pid
ErrorLog DIR/error
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule mime_module /usr/lib/apache2/modules/mod_mime.so
LoadModule filter_module /usr/lib/apache2/modules/mod_filter.so
LoadModule deflate_module /usr/lib/apache2/modules/mod_deflate.so
TypesConfig /etc/mime.types
User www-data
Group www-data
DocumentRoot DIR
AddOutputFilterByType DEFLATE text/plain
`

// compressed asks for a compressed page.
var compressed = []string{"Accept-Encoding: gzip"}

// webServers serve a file, or a short text.
var webServers = []entry{
	{
		name: "nginx, auto", from: "apt nginx", path: "/page.txt", headers: compressed, once: text, files: nginxWith("auto"),
		command: []string{"nginx", "-c", "DIR/nginx.conf", "-g", "daemon off; user root;"},
	},
	{
		name: "nginx, 64 workers", from: "apt nginx", path: "/page.txt", headers: compressed, once: text, files: nginxWith("64"),
		command:       []string{"nginx", "-c", "DIR/nginx.conf", "-g", "daemon off; user root;"},
		expertSetting: "worker_processes {N}", why: "as many workers as CPUs",
	},
	{
		name: "nginx, 1 worker", from: "apt nginx", path: "/page.txt", headers: compressed, once: text, files: nginxWith("1"),
		command:    []string{"nginx", "-c", "DIR/nginx.conf", "-g", "daemon off; user root;"},
		expertCPUs: func(cpus float64) float64 { return min(2, 2*cpus) }, upTo: 0.7, why: "compression needs the CPU time",
	},
	{
		name: "Apache, event", from: "apt apache2-bin", path: "/page.txt", headers: compressed, once: text, files: map[string]string{"a.conf": apacheConf},
		command: []string{"/usr/sbin/apache2", "-D", "FOREGROUND", "-f", "DIR/a.conf"},
	},
	{
		name: "lighttpd", from: "apt lighttpd", path: "/page.txt", once: text,
		files:   map[string]string{"l.conf": "server.document-root = \"DIR\"\nserver.port = PORT\nserver.bind = \"127.0.0.1\"\n"},
		command: []string{"/usr/sbin/lighttpd", "-D", "-f", "DIR/l.conf"},
	},
	{
		name: "lighttpd, 16 workers", from: "apt lighttpd", path: "/page.txt", once: text,
		files:         map[string]string{"l.conf": "server.document-root = \"DIR\"\nserver.port = PORT\nserver.bind = \"127.0.0.1\"\nserver.max-worker = 16\n"},
		command:       []string{"/usr/sbin/lighttpd", "-D", "-f", "DIR/l.conf"},
		expertSetting: "server.max-worker {N}", why: "as many workers as CPUs",
	},
	{
		name: "h2o, 8 threads", from: "apt h2o", path: "/page.txt", once: text,
		files:         map[string]string{"h2o.conf": "num-threads: 8\nuser: root\npid-file: DIR/pid\nlisten:\n  port: PORT\n  host: 127.0.0.1\nhosts:\n  default:\n    paths:\n      /:\n        file.dir: DIR\n"},
		command:       []string{"h2o", "-m", "worker", "-c", "DIR/h2o.conf"},
		expertSetting: "num-threads {N}", why: "as many threads as CPUs",
	},
	{
		name: "HAProxy, 8 threads", from: "apt haproxy", path: "/",
		files: map[string]string{"h.cfg": "global\n  nbthread 8\ndefaults\n  mode http\n  timeout client 10s\n  timeout server 10s\n  timeout connect 1s\n" +
			"frontend f\n  bind 127.0.0.1:PORT\n  http-request return status 200 content-type text/plain string ok\n"},
		command:       []string{"/usr/sbin/haproxy", "-db", "-f", "DIR/h.cfg"},
		expertSetting: "nbthread {N}", why: "as many threads as CPUs",
	},
	{
		name: "Varnish", from: "apt varnish", path: "/",
		files:   map[string]string{"v.vcl": "vcl 4.1;\nbackend default none;\nsub vcl_recv { return (synth(200)); }\n"},
		command: []string{"/usr/sbin/varnishd", "-F", "-a", "127.0.0.1:PORT", "-f", "DIR/v.vcl", "-n", "DIR/work", "-s", "malloc,32M"},
	},
	{
		name: "mini-httpd, a process for each request", from: "apt mini-httpd", path: "/page.txt", once: text,
		command: []string{"/usr/sbin/mini_httpd", "-D", "-p", "PORT", "-h", "127.0.0.1", "-d", "DIR"},
	},
	{
		name: "webfs", from: "apt webfs", path: "/page.txt", once: text,
		command: []string{"webfsd", "-F", "-p", "PORT", "-i", "127.0.0.1", "-r", "DIR"},
	},
	{
		name: "Caddy", from: "apt caddy", path: "/",
		files:   map[string]string{"Caddyfile": "{\n  admin off\n}\nhttp://127.0.0.1:PORT {\n  respond ok\n}\n"},
		command: []string{"caddy", "run", "--config", "DIR/Caddyfile"}, env: []string{"HOME=DIR"},
	},
	{
		name: "Caddy, GOMAXPROCS=16", from: "apt caddy", path: "/",
		files:   map[string]string{"Caddyfile": "{\n  admin off\n}\nhttp://127.0.0.1:PORT {\n  respond ok\n}\n"},
		command: []string{"caddy", "run", "--config", "DIR/Caddyfile"}, env: []string{"HOME=DIR", "GOMAXPROCS=16"},
		expertEnv: "GOMAXPROCS=2", why: "2 threads are enough for less than 2 CPUs",
	},
	{
		name: "Prometheus", from: "apt prometheus", path: "/metrics",
		files:   map[string]string{"p.yml": "global: {}\n"},
		command: []string{"prometheus", "--config.file=DIR/p.yml", "--storage.tsdb.path=DIR/data", "--web.listen-address=127.0.0.1:PORT"},
	},
	{
		name: "Prometheus, GOMAXPROCS=8", from: "apt prometheus", path: "/metrics", env: []string{"GOMAXPROCS=8"},
		files:     map[string]string{"p.yml": "global: {}\n"},
		command:   []string{"prometheus", "--config.file=DIR/p.yml", "--storage.tsdb.path=DIR/data", "--web.listen-address=127.0.0.1:PORT"},
		expertEnv: "GOMAXPROCS=2", why: "2 threads are enough for less than 2 CPUs",
	},
	{
		name: "etcd", from: "apt etcd-server", path: "/metrics",
		command: []string{"etcd", "--data-dir", "DIR/data", "--listen-client-urls", "http://127.0.0.1:PORT", "--advertise-client-urls", "http://127.0.0.1:PORT", "--listen-peer-urls", "http://127.0.0.1:0"},
	},
	{
		name: "NATS", from: "apt nats-server", path: "/varz",
		command: []string{"nats-server", "-a", "127.0.0.1", "-p", "-1", "-m", "PORT"},
	},
	{
		name: "VictoriaMetrics", from: "apt victoria-metrics", path: "/metrics",
		command: []string{"victoria-metrics", "-storageDataPath=DIR/data", "-httpListenAddr=127.0.0.1:PORT"},
	},
	{
		name: "python3 -m http.server", from: "apt python3", path: "/page.txt", once: text,
		command: []string{"python3", "-m", "http.server", "--bind", "127.0.0.1", "--directory", "DIR", "PORT"},
	},
	{
		name: "PyPy, http.server", from: "apt pypy3", path: "/page.txt", once: text,
		command: []string{"pypy3", "-m", "http.server", "--bind", "127.0.0.1", "--directory", "DIR", "PORT"},
	},
	{
		name: "WEBrick", from: "apt ruby-webrick", path: "/page.txt", once: text,
		command: []string{"ruby", "-run", "-e", "httpd", "DIR", "--port=PORT", "--bind-address=127.0.0.1"},
	},
	{
		name: "Erlang, inets", from: "apt erlang-inets", path: "/page.txt", once: text,
		command: []string{"erl", "-noshell", "-eval", `inets:start(), {ok,_} = inets:start(httpd, [{port,PORT},{bind_address,{127,0,0,1}},{server_name,"x"},{server_root,"DIR"},{document_root,"DIR"}]).`},
	},
	{
		name: "Erlang, inets, 16 schedulers", from: "apt erlang-inets", path: "/page.txt", once: text,
		command:       []string{"erl", "+S", "16:16", "-noshell", "-eval", `inets:start(), {ok,_} = inets:start(httpd, [{port,PORT},{bind_address,{127,0,0,1}},{server_name,"x"},{server_root,"DIR"},{document_root,"DIR"}]).`},
		expertCommand: []string{"erl", "+S", "{N}:{N}", "+sbwt", "none", "-noshell", "-eval", `inets:start(), {ok,_} = inets:start(httpd, [{port,PORT},{bind_address,{127,0,0,1}},{server_name,"x"},{server_root,"DIR"},{document_root,"DIR"}]).`},
		why:           "as many schedulers as CPUs, which do not wait busily",
	},
	{
		name: "http-server of npm", from: "npm http-server@14.1.1", path: "/page.txt", once: text,
		command: []string{"node", "HOME/node_modules/.bin/http-server", "DIR", "-p", "PORT", "-a", "127.0.0.1", "-s"},
	},
	{
		name: "serve of npm", from: "npm serve@14.2.4", path: "/page.txt", once: text,
		command: []string{"node", "HOME/node_modules/.bin/serve", "-l", "tcp://127.0.0.1:PORT", "-L", "DIR"},
	},
}
