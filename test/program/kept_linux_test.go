package program

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/test/testkit"
)

// A server that closes each connection after 20 requests, as nginx does with
// keepalive_requests 20, costs no request: with HTTP/1.1 it announces the end in the answer,
// with HTTP/2 by GOAWAY. As many connections are made as these requests take, and at most one
// more for each of those that are open at the end.
func TestAServerThatClosesConnectionsAfterTwentyRequests(t *testing.T) {
	testkit.Long(t, "a whole program under load")
	nginx, err := exec.LookPath("nginx")
	if err != nil {
		t.Skip("nginx is not installed")
	}
	var addrs []string
	for range 2 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		addrs = append(addrs, l.Addr().String())
		l.Close()
	}
	dir := t.TempDir()
	conf := filepath.Join(dir, "nginx.conf")
	text := fmt.Sprintf(`daemon off; master_process off; worker_processes 1; pid %[1]s/pid; error_log stderr crit;
events {}
http {
  access_log off; keepalive_requests 20;
  client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fastcgi; uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
  server { listen %[2]s; listen %[3]s http2; location / { return 200 "kept"; } }
}
`, dir, addrs[0], addrs[1])
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	testkit.Start(t, exec.Command(nginx, "-e", "stderr", "-p", dir, "-c", conf))
	for i, protocol := range [][]string{nil, {"--http2"}} {
		testkit.Value(t, "nginx accepts connections", func() (net.Conn, error) { return net.Dial("tcp", addrs[i]) }).Close()
		out := filepath.Join(t.TempDir(), "record")
		const requests, at = 2000, 8
		r := load(t, 0, append(protocol, "-n", fmt.Sprint(requests), "-c", fmt.Sprint(at), "--warmup", "0s", "--out", out, "http://"+addrs[i]+"/")...)
		if r.Requests != requests || *r.Availability != 100 {
			t.Errorf("%v: %d requests, %v%% good; want %d, all of them good", protocol, r.Requests, *r.Availability, requests)
		}
		read, err := record.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		var connects int64
		for f, err := range read.Frames() {
			if err != nil {
				t.Fatal(err)
			}
			if f.Client != nil {
				connects += f.Client.Connects
			}
		}
		if connects < requests/20 || connects > requests/20+at {
			t.Errorf("%v: %d connections; want %d to %d", protocol, connects, requests/20, requests/20+at)
		}
	}
}
