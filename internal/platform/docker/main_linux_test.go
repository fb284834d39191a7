package docker

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/local"
	"github.com/millicore/millicore/test/dockerd"
)

// image is that of the server for tests.
const image = dockerd.Image

var bench = dockerd.Bench{
	Root:    filepath.Join("..", "..", ".."),
	Build:   []string{"./cmd/millicore-go", "./cmd/millicore-agent"},
	Changes: []string{`CMD ["--contained"]`, "ENV DEPENDENCY=the-images", "EXPOSE 8123/tcp"},
}

// asRun names the folder of logs to a process of the tests that is to be a run:
// it starts a container, says so and waits to be killed.
const asRun = "MILLICORE_TEST_RUN"

func TestMain(m *testing.M) {
	local.Shim(os.Args)
	if logs := os.Getenv(asRun); logs != "" {
		run(logs)
	}
	os.Exit(bench.Run(m))
}

// open opens the platform; afterwards nothing may be left.
func open(t *testing.T, o Options) *docker {
	t.Helper()
	bench.Need(t)
	o.Programs, o.State = bench.Programs(), t.TempDir()
	if o.Note == nil {
		o.Note = func(line string) { t.Log(line) }
	}
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		bench.NothingLeft(t)
	})
	return p.(*docker)
}

// server is a unit of the server for tests.
func server(t *testing.T) platform.UnitSpec {
	return platform.UnitSpec{Trial: 1, Name: "server", Image: image, Logs: t.TempDir(), Limits: experiment.Limits{Replicas: 1}, Ready: experiment.Ready{Path: "/ok"}}
}

// start starts a unit, which is stopped with the test at the latest.
func start(t *testing.T, p platform.Platform, u platform.UnitSpec) platform.Unit {
	t.Helper()
	running, err := p.Start(t.Context(), u)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := running.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return running
}

// get asks a replica for a path, and gives the status; 0 where it breaks off.
func get(t *testing.T, r platform.Replica, path string) int {
	t.Helper()
	client := http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get("http://" + r.Address() + path)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	io.Copy(io.Discard, answer.Body)
	return answer.StatusCode
}

func logOf(t *testing.T, u platform.UnitSpec) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(u.Logs, "*.log"))
	if err != nil || len(files) == 0 {
		t.Fatalf("logs %v, %v", files, err)
	}
	var all strings.Builder
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

// run is a run of millicore that is going to be killed.
func run(logs string) {
	p, err := New(Options{Programs: os.Getenv("MILLICORE_TEST_PROGRAMS"), State: os.Getenv("MILLICORE_TEST_STATE")})
	if err == nil {
		_, _, err = p.(platform.ImageRunner).Workload(context.Background(), "go")
	}
	if err == nil {
		_, err = p.Start(context.Background(), platform.UnitSpec{Trial: 1, Name: "server", Image: image, Logs: logs, Limits: experiment.Limits{Replicas: 2}, Ready: experiment.Ready{Path: "/ok"}})
	}
	fmt.Println("started", err)
	select {}
}
