package inspect

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseNames(t *testing.T) {
	names, err := parseNames(strings.NewReader(`[{"Id": "` + dockerID + `", "Names": ["/web", "/alias"], "Image": "x"}, {"Id": "abc", "Names": []}]`))
	if err != nil || len(names) != 1 || names[dockerID] != "web" {
		t.Errorf("got %v, %v", names, err)
	}
	if names, err := parseNames(strings.NewReader(`{"message": "no"}`)); err == nil {
		t.Errorf("got %v", names)
	}
}

// A container is found by the name that its engine reports.
func TestNamesOfAnEngine(t *testing.T) {
	short, err := os.MkdirTemp("", "mc") // the path of a socket has 108 bytes at most
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(short)
	if err := os.MkdirAll(filepath.Join(short, "run"), 0o755); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", filepath.Join(short, "run/docker.sock"))
	if err != nil {
		t.Skipf("needs a socket: %v", err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/containers/json" {
			http.NotFound(w, r)
			return
		}
		w.Write([]byte(`[{"Id": "` + dockerID + `", "Names": ["/web"]}]`))
	})}
	go server.Serve(listener)
	defer server.Close()

	h := newTree(t)
	h.root = short
	h.host()
	h.group("/docker/"+dockerID, 1, 0, 0)
	h.process(10, 1, "a", "/docker/"+dockerID, "", "a")
	host := h.scan(Only{Container: "web"})
	if len(host.Processes) != 1 || host.Processes[0].Container != "web" || host.Processes[0].Label() != "web/a" {
		t.Errorf("got %+v", host.Processes)
	}
}

func TestTheEngineOfTheEnvironment(t *testing.T) {
	for host, want := range map[string]string{
		"unix:///tmp/mine.sock": "/run/docker.sock /run/podman/podman.sock /tmp/mine.sock",
		"tcp://192.0.2.1:2375":  "/run/docker.sock /run/podman/podman.sock",
		"":                      "/run/docker.sock /run/podman/podman.sock",
	} {
		t.Setenv("DOCKER_HOST", host)
		if got := strings.Join(New("").engines(), " "); got != want {
			t.Errorf("DOCKER_HOST=%s: %s, want %s", host, got, want)
		}
	}
}

func TestPod(t *testing.T) {
	for environ, want := range map[string]string{
		"A=B\x00HOSTNAME=cart-7d9f\x00":         "cart-7d9f",
		"HOSTNAME=" + dockerID[:12] + "\x00X=Y": "",
		"A=B":                                   "",
		"":                                      "",
	} {
		if got := pod([]byte(environ), dockerID); got != want {
			t.Errorf("%q: got %q, want %q", environ, got, want)
		}
	}
}
