package advice

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/millicore/millicore/test/testkit"
)

// fpmProgram is PHP-FPM with a fixed number of children behind an nginx, both under the
// one limit, as in many images.
func fpmProgram(name string, children int) program {
	return program{
		name: name, paths: []string{cpu, wait},
		start: func(t *testing.T, dir, port string) (command, env []string) {
			all, _ := filepath.Glob("/usr/sbin/php-fpm*")
			if len(all) == 0 {
				t.Skip("php-fpm is not installed")
			}
			within := strings.NewReplacer("DIR", dir, "PORT", port, "NGINX", installed(t, "nginx"), "FPM", all[0])
			if _, err := os.Stat(filepath.Join(dir, "fpm.conf")); err != nil {
				write(t, filepath.Join(dir, "fpm.conf"), within.Replace(`[global]
error_log = DIR/fpm.log
daemonize = no
[www]
listen = DIR/fpm.sock
user = root
group = root
pm = static
pm.max_children = `+strconv.Itoa(children)+"\n"))
			}
			write(t, filepath.Join(dir, "index.php"), `<?php $wait = $_SERVER["SCRIPT_NAME"] == "/wait"; if ($wait) usleep(20000);
$b = str_repeat("\0", 4096); for ($i = 0; $i < ($wait ? 30 : 300); $i++) { $b = sha1($b, true) . substr($b, 20); } echo bin2hex(substr($b, 0, 20));`)
			write(t, filepath.Join(dir, "nginx.conf"), within.Replace(`worker_processes 1;
pid DIR/pid; error_log DIR/error;
events {}
http {
 access_log off;
 client_body_temp_path DIR/a; proxy_temp_path DIR/b; fastcgi_temp_path DIR/c; uwsgi_temp_path DIR/d; scgi_temp_path DIR/e;
 server { listen 127.0.0.1:PORT; location / {
  fastcgi_pass unix:DIR/fpm.sock; fastcgi_param SCRIPT_FILENAME DIR/index.php; fastcgi_param SCRIPT_NAME $uri;
  fastcgi_param REQUEST_METHOD $request_method; fastcgi_param QUERY_STRING $query_string;
 } }
}
`))
			return []string{"/bin/sh", "-c", within.Replace(`NGINX -c DIR/nginx.conf -g 'daemon off; user root;' & exec FPM -R -y DIR/fpm.conf`)}, nil
		},
		set: func(t *testing.T, dir, setting, value string) {
			replace(t, filepath.Join(dir, "fpm.conf"), maxChildren, setting+" = "+value)
		},
	}
}

// postgresProgram is PostgreSQL with its default settings. Each request is one query on a
// connection of a pool that is as large as the number of users.
func postgresProgram(name string) program {
	return program{
		name: name, paths: []string{cpu, wait},
		start: func(t *testing.T, dir, port string) (command, env []string) {
			all, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
			owner, err := user.Lookup("postgres")
			if len(all) == 0 || err != nil {
				t.Skip("PostgreSQL is not installed")
			}
			as := []string{installed(t, "setpriv"), "--reuid", owner.Uid, "--regid", owner.Gid, "--clear-groups"}
			data := filepath.Join(dir, "data")
			if _, err := os.Stat(data); err != nil {
				uid, _ := strconv.Atoi(owner.Uid)
				gid, _ := strconv.Atoi(owner.Gid)
				reachable(t, dir)
				if err := os.Mkdir(data, 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.Chown(data, uid, gid); err != nil {
					t.Fatal(err)
				}
				made := exec.Command(as[0], append(as[1:], filepath.Join(filepath.Dir(all[0]), "initdb"), "-D", data, "-A", "trust", "-U", "postgres", "--no-sync")...)
				made.Dir = "/"
				if out, err := made.CombinedOutput(); err != nil {
					t.Fatalf("initdb: %v: %s", err, out)
				}
			}
			return append(as, all[0], "-D", data, "-p", port, "-c", "unix_socket_directories="), nil
		},
		front: postgresFront,
	}
}

func postgresFront(t *testing.T, port string) string {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), "postgres://postgres@127.0.0.1:"+port+"/postgres?sslmode=disable&pool_max_conns=32")
	if err != nil {
		t.Fatal(err)
	}
	queries := map[string]string{
		cpu:  "SELECT sum(sqrt(i))::text FROM generate_series(1, 20000) i",
		wait: "SELECT pg_sleep(0.02)::text",
	}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var sum string
		if err := pool.QueryRow(r.Context(), queries[r.URL.Path]).Scan(&sum); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		fmt.Fprintln(w, sum)
	}))
	t.Cleanup(func() { front.Close(); pool.Close() })
	testkit.Until(t, "PostgreSQL answers", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		return pool.Ping(ctx) == nil
	})
	return front.URL
}

// reachable lets other users pass through a folder and those above it that are the test's.
func reachable(t *testing.T, dir string) {
	t.Helper()
	for ; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}
