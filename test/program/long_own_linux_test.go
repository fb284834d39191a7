package program

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/record"
)

// pages is a server in Python that reads 1,000 pages of a file of 200 MiB at random for each
// request. It writes the file itself, so that its memory limit covers the page cache.
const pages = `
import http.server, os, random, sys
size = 200 << 20
file = os.open(sys.argv[2], os.O_RDWR | os.O_CREAT | os.O_TRUNC)
for at in range(0, size, 1 << 20):
    os.pwrite(file, b"x" * (1 << 20), at)
os.fsync(file)
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        for _ in range(1000):
            os.pread(file, 4096, random.randrange(size // 4096) * 4096)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
`

// parts is a server in Python that writes the head and the body of an answer apart, with or
// without Nagle's algorithm.
const parts = `
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = sys.argv[2] == "nodelay"
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"hello")
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
`

// churn is a server in Java that keeps 24 MiB of objects, and makes 2 MiB for each request.
const churn = `
import com.sun.net.httpserver.*;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;
class Churn {
    static byte[][] kept = new byte[24 << 10][1 << 10], last;
    public static void main(String[] a) throws Exception {
        HttpServer s = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(a[0])), 128);
        s.setExecutor(Executors.newFixedThreadPool(8));
        s.createContext("/", e -> {
            last = new byte[2 << 10][1 << 10];
            e.sendResponseHeaders(200, -1);
            e.close();
        });
        s.start();
    }
}
`

// A heap that hardly holds what is kept makes the JVM collect garbage most of the time; a large
// one does not.
func TestAHeapThatIsTooSmall(t *testing.T) {
	file := filepath.Join(t.TempDir(), "Churn.java")
	if err := os.WriteFile(file, []byte(churn), 0o644); err != nil {
		t.Fatal(err)
	}
	for heap, want := range map[string]bool{"48m": true, "400m": false} {
		t.Run(heap, func(t *testing.T) {
			s, _ := run(t, `
name: heap
services: {java: {command: [java, -Xmx`+heap+`, `+strconv.Quote(file)+`, "${port}"], limits: {cpu: "1"}}}
load: {request: {path: /}, find: breaking-point}
measure: {warmup: 5s, duration: 40s, repeats: 1}
objective: {p99: 200ms}`)
			b := s.Cells[0].Breaking
			if b == nil {
				t.Fatal("no breaking point")
			}
			if got := strings.Contains(b.Evidence, "collected garbage"); got != want {
				t.Errorf("%s: %v, want %v", b.Evidence, got, want)
			}
		})
	}
}

// The service's own counters show what makes it slow, and nothing where only the cause is
// taken away. Python's server has a backlog of 5, and closes each connection.
func TestCausesByOwnCounters(t *testing.T) {
	listing := `[python3, -m, http.server, "${port}", --bind, 127.0.0.1]`
	dir := t.TempDir()
	script := filepath.Join(dir, "pages.py")
	if err := os.WriteFile(script, []byte(pages), 0o644); err != nil {
		t.Fatal(err)
	}
	reader := `[python3, ` + strconv.Quote(script) + `, "${port}", ` + strconv.Quote(filepath.Join(dir, "file")) + `]`
	two := filepath.Join(dir, "parts.py")
	if err := os.WriteFile(two, []byte(parts), 0o644); err != nil {
		t.Fatal(err)
	}
	writer := `[python3, ` + strconv.Quote(two) + `, "${port}", `
	for _, c := range []struct{ name, command, limits, load, want string }{
		{"a short accept queue", listing, "{}", "users: 200", summary.ByAcceptQueue},
		{"few connections", listing, "{}", "users: 2", ""},
		{"a file that does not fit", reader, "{memory: 64Mi}", "users: 8", summary.ByMemory},
		{"a file that fits", reader, "{memory: 512Mi}", "users: 8", ""},
		{"answers in two parts", writer + "nagle]", "{}", "users: 4", summary.ByDelayedAck},
		{"answers in two parts at once", writer + "nodelay]", "{}", "users: 4", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, dir := run(t, `
name: own
services: {python: {command: `+c.command+`}}
limits: `+c.limits+`
load: {request: {path: /}, `+c.load+`, timeout: 12s}
measure: {warmup: 2s, duration: 8s, repeats: 1}`)
			own := s.Cells[0].Own
			if got := ""; own != nil {
				got = own.By
				t.Logf("%s: %s", got, own.Evidence)
				if got != c.want {
					t.Errorf("%s (%s), want %q", got, own.Evidence, c.want)
				}
			} else if c.want != "" {
				text, _ := os.ReadFile(filepath.Join(dir, record.FramesFile))
				t.Errorf("no cause, want %s; the last frames are\n%s", c.want, text[max(0, len(text)-3000):])
			}
		})
	}
}
