package advice

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// program is a server of the matrix.
type program struct {
	name string
	// start returns the command of a server on a port, in a folder of its own, and the
	// variables that it needs.
	start func(t *testing.T, dir, port string) (command, env []string)
	paths []string // cpu, wait or garbage
	// set changes a setting that neither the command nor a variable contains.
	set func(t *testing.T, dir, setting, value string)
	// headers of the requests.
	headers []string
	// front, of a server that is not HTTP, returns the URL of an HTTP server of this
	// process that waits for it and asks it. nil: the server is HTTP.
	front func(t *testing.T, port string) string
	// rate, of a program that is not loaded over HTTP, is what it does in a second while it is
	// loaded, or works, for so many seconds. nil: the load is HTTP.
	rate func(s *service, seconds int) float64
	// quiet: it listens on no port.
	quiet bool
}

const (
	cpu     = "/cpu"
	wait    = "/wait"
	garbage = "/garbage"
)

var programs = []program{
	goProgram("Go 1.26", "1.26"),
	goProgram("Go 1.26, GOMAXPROCS=1", "1.26", "GOMAXPROCS=1"),
	goProgram("Go 1.26, GOMAXPROCS=2", "1.26", "GOMAXPROCS=2"),
	goProgram("Go 1.26, GOMAXPROCS=8", "1.26", "GOMAXPROCS=8"),
	goProgram("Go 1.26, go line 1.24", "1.24"),
	nodeProgram("Node.js, single", "single"),
	nodeProgram("Node.js, 2 worker threads", "threads2"),
	nodeProgram("Node.js, cluster of 2", "cluster2"),
	nodeProgram("Node.js, --max-old-space-size=1024", "single", "NODE_OPTIONS=--max-old-space-size=1024"),
	javaProgram("JVM, pool by processors", "0", ""),
	javaProgram("JVM, pool of 16", "16", ""),
	javaProgram("JVM, ActiveProcessorCount=1", "0", "-XX:ActiveProcessorCount=1"),
	javaProgram("JVM, -Xmx1g", "4", "-Xmx1g"),
	gunicornProgram("gunicorn, 1 sync worker"),
	gunicornProgram("gunicorn, 4 sync workers", "--workers", "4"),
	gunicornProgram("gunicorn, 1 worker of 8 threads", "--threads", "8"),
	gunicornFile("gunicorn, 1 worker in its configuration"),
	uvicornProgram("uvicorn, 1 worker"),
	nginxProgram("nginx, auto", "auto"),
	nginxProgram("nginx, 1 worker", "1"),
	phpProgram("php -S, 1 process"),
	bunProgram("Bun, single"),
	fpmProgram("PHP-FPM, 1 child", 1),
	fpmProgram("PHP-FPM, 4 children", 4),
	postgresProgram("PostgreSQL, 16 or 32 connections"),
}

// built are executables by their go line.
var built = map[string]string{}

func goProgram(name, line string, env ...string) program {
	return program{name: name, paths: []string{cpu, wait, garbage}, start: func(t *testing.T, _, port string) (command, more []string) {
		if built[line] == "" {
			dir := filepath.Join(folder, "go"+line)
			copyTo(t, dir, "main.go")
			write(t, filepath.Join(dir, "go.mod"), "module server\n\ngo "+line+"\n")
			cmd := exec.Command("go", "build", "-o", "server", ".")
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=-trimpath")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Skipf("needs a Go toolchain: %v: %s", err, out)
			}
			built[line] = filepath.Join(dir, "server")
		}
		return []string{built[line], port}, env
	}}
}

func nodeProgram(name, mode string, env ...string) program {
	return program{name: name, paths: []string{cpu, wait, garbage}, start: func(t *testing.T, dir, port string) (command, more []string) {
		copyTo(t, dir, "server.js")
		return []string{installed(t, "node"), "server.js", port, mode}, env
	}}
}

// bunProgram is the same server on the Bun that the sample services installed, or on
// that of the path.
func bunProgram(name string) program {
	p := nodeProgram(name, "single")
	p.start = func(t *testing.T, dir, port string) (command, env []string) {
		copyTo(t, dir, "server.js")
		cache, _ := os.UserCacheDir()
		found, _ := filepath.Glob(filepath.Join(cache, "millicore", "workloads", "*", "node_modules", "bun", "bin", "bun.exe"))
		if len(found) == 0 {
			found = []string{installed(t, "bun")}
		}
		return []string{found[0], "--no-install", "--no-env-file", "server.js", port, "single"}, nil
	}
	return p
}

func javaProgram(name, threads, option string) program {
	return program{name: name, paths: []string{cpu, wait, garbage}, start: func(t *testing.T, _, port string) (command, env []string) {
		if built["java"] == "" {
			dir := filepath.Join(folder, "java")
			copyTo(t, dir, "Server.java")
			cmd := exec.Command(installed(t, "javac"), "Server.java")
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Skipf("needs a JDK: %v: %s", err, out)
			}
			built["java"] = dir
		}
		if option != "" {
			env = []string{"JAVA_TOOL_OPTIONS=" + option}
		}
		return []string{installed(t, "java"), "-Dsun.net.httpserver.nodelay=true", "-cp", built["java"], "Server", port, threads}, env
	}}
}

func gunicornProgram(name string, options ...string) program {
	return program{name: name, paths: []string{cpu, wait}, start: func(t *testing.T, dir, port string) (command, env []string) {
		copyTo(t, dir, "app.py")
		return append(append([]string{installed(t, "gunicorn"), "--bind", "127.0.0.1:" + port}, options...), "app:app"), nil
	}}
}

// gunicornFile has its workers in gunicorn.conf.py, which overrides WEB_CONCURRENCY.
func gunicornFile(name string) program {
	p := gunicornProgram(name)
	plain := p.start
	p.start = func(t *testing.T, dir, port string) (command, env []string) {
		file := filepath.Join(dir, "gunicorn.conf.py")
		if _, err := os.Stat(file); err != nil {
			write(t, file, "workers = 1\n")
		}
		return plain(t, dir, port)
	}
	p.set = func(t *testing.T, dir, setting, value string) {
		write(t, filepath.Join(dir, "gunicorn.conf.py"), setting+" = "+value+"\n")
	}
	return p
}

func uvicornProgram(name string) program {
	return program{name: name, paths: []string{cpu, wait}, start: func(t *testing.T, dir, port string) (command, env []string) {
		copyTo(t, dir, "app.py")
		return []string{installed(t, "uvicorn"), "--host", "127.0.0.1", "--port", port, "--log-level", "warning", "--app-dir", dir, "app:asgi"}, nil
	}}
}

var maxChildren = regexp.MustCompile(`pm.max_children = \w+`)

var workerProcesses = regexp.MustCompile(`worker_processes \w+;`)

// nginxProgram compresses a file of 128 KiB for each request.
func nginxProgram(name, workers string) program {
	return program{
		name: name, paths: []string{cpu}, headers: []string{"Accept-Encoding: gzip"},
		start: func(t *testing.T, dir, port string) (command, env []string) {
			file := filepath.Join(dir, "nginx.conf")
			if _, err := os.Stat(file); err != nil {
				write(t, file, strings.ReplaceAll(`worker_processes `+workers+`;
pid DIR/pid; error_log DIR/error;
events {}
http {
 access_log off; gzip on; gzip_comp_level 4; gzip_types *; default_type text/plain;
 client_body_temp_path DIR/a; proxy_temp_path DIR/b; fastcgi_temp_path DIR/c; uwsgi_temp_path DIR/d; scgi_temp_path DIR/e;
 server { listen 127.0.0.1:PORT; location = /cpu { alias DIR/text; } }
}
`, "DIR", dir))
				text := strings.Builder{}
				for i := range 16 << 10 {
					text.WriteString(strconv.Itoa(i*i) + "\n")
				}
				write(t, filepath.Join(dir, "text"), text.String()[:128<<10])
			}
			replace(t, file, regexp.MustCompile(`127.0.0.1:\w+`), "127.0.0.1:"+port)
			return []string{installed(t, "nginx"), "-c", file, "-g", "daemon off; user root;"}, nil
		},
		set: func(t *testing.T, dir, setting, value string) {
			replace(t, filepath.Join(dir, "nginx.conf"), workerProcesses, setting+" "+value+";")
		},
	}
}

// phpProgram is the server of the command line, with the workers of PHP_CLI_SERVER_WORKERS.
func phpProgram(name string) program {
	return program{name: name, paths: []string{cpu}, start: func(t *testing.T, dir, port string) (command, env []string) {
		write(t, filepath.Join(dir, "index.php"), `<?php $b = str_repeat("\0", 4096); for ($i = 0; $i < 300; $i++) { $b = sha1($b, true) . substr($b, 20); } echo bin2hex(substr($b, 0, 20));`)
		return []string{installed(t, "php"), "-S", "127.0.0.1:" + port, filepath.Join(dir, "index.php")}, nil
	}}
}

func installed(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	return path
}

func copyTo(t *testing.T, dir, name string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, name), string(text))
}

func replace(t *testing.T, file string, pattern *regexp.Regexp, text string) {
	t.Helper()
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	write(t, file, pattern.ReplaceAllString(string(old), text))
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
