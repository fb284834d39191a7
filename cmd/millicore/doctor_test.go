package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/base/exit"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/kubernetes/fleet/fleettest"
)

func TestWrongUsageOfDoctorAndTop(t *testing.T) {
	for _, args := range [][]string{
		{"doctor", "api"},
		{"doctor", "--level", "loud"},
		{"doctor", "--for", "-1s"},
		{"doctor", "--pid", "0"},
		{"doctor", "--pid", "1", "--container", "api"},
		{"doctor", "--container", ""},
		{"doctor", "--baseline", "/does/not/exist"},
		{"doctor", "--suppress", "doctor_test.go"},
		{"doctor", "--baseline", "doctor_test.go"},
		{"doctor", "--on", "docker"},
		{"doctor", "--on", "kubernetes", "--pid", "1"},
		{"doctor", "--namespace", "shop"},
		{"doctor", "--manifest"}, // of a version without an image
		{"top", "api"},
		{"top", "--container", ""},
		{"top", "--sort", "size"},
		{"top", "--every", "1ms"},
		{"top", "--for", "-1s"},
	} {
		if got := run(args); got != exit.Usage {
			t.Errorf("%v: exit code %d, want %d", args, got, exit.Usage)
		}
	}
}

func TestDoctorOfOneProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux's /proc")
	}
	// This one may or may not be mis-sized: that depends on where the test runs.
	if got := run([]string{"doctor", "--for", "0", "--pid", strconv.Itoa(os.Getpid())}); got != exit.OK && got != exit.Missed && got != exit.Undecided {
		t.Errorf("exit code %d", got)
	}
	if got := run([]string{"doctor", "--for", "0", "--pid", "2147483646"}); got != exit.Usage {
		t.Errorf("no such process: exit code %d, want %d", got, exit.Usage)
	}
}

// kubeconfig writes a file that leads to an API server.
func kubeconfig(t *testing.T, url string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: {server: %q}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {}}]\n", url)
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestDoctorOfACluster(t *testing.T) {
	used := 2 * time.Second
	counts := inspect.Counts{Length: 10 * time.Second, Periods: 100, Throttled: 97, Stopped: 4 * time.Second, Used: &used}
	api := inspect.Process{PID: 7, Name: "api", Pod: "uid", Container: "cart-7d9f8b6c4-x2k9p", ContainerID: strings.Repeat("a", 64), Namespace: "shop", PodContainer: "api",
		CPU:        inspect.CPULimit{State: inspect.Limited, CPUs: 0.2, Period: 100 * time.Millisecond, Group: "/kubepods/a", SetBy: "/kubepods/a", Dir: "/host/cgroup/a"},
		Throttling: &inspect.Throttling{Since: counts, Watch: &counts}}
	look := func(all ...inspect.Process) string {
		text, err := json.Marshal(map[string]any{"Version": version, "Host": inspect.Host{Online: 2, Watched: 10 * time.Second, Processes: all}})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	busy, idle := fleettest.Node{Name: "n1", Output: look(api)}, fleettest.Node{Name: "n2", Output: look()}
	dead := fleettest.Node{Name: "n3", Waiting: "0/3 nodes are available: 1 Insufficient memory"}
	dir := t.TempDir()
	for _, tt := range []struct {
		name  string
		nodes []fleettest.Node
		args  []string
		code  int
		want  []string // parts of the output
	}{
		{"a finding", []fleettest.Node{busy, idle}, nil, exit.Missed, []string{"1 workload is mis-sized: shop/cart/api (pid 7 on n1): limit of 200m CPU used up", "2 of 2 nodes read"}},
		{"nothing, and a node that was not read", []fleettest.Node{idle, dead}, nil, exit.Undecided, []string{"Node n3 was not read: pod doctor-n3 does not run: ", "Insufficient memory", "1 of 2 nodes read"}},
		{"nothing", []fleettest.Node{idle}, nil, exit.OK, []string{"Nothing is mis-sized", "1 of 1 node read"}},
		{"for programs", []fleettest.Node{busy, dead}, []string{"--json"}, exit.Missed, []string{`"node": "n1"`, `"fingerprint": "`, `"name": "n3"`}},
		{"patches", []fleettest.Node{busy}, []string{"--patch", dir}, exit.Missed, []string{"kubectl --namespace shop patch deployment cart --patch-file " + dir + "/shop-deployment-cart.yaml"}},
		{"no DaemonSet", nil, nil, exit.Usage, []string{"no pod of the DaemonSet millicore-doctor in namespace millicore-doctor: create it with `millicore doctor --manifest | kubectl apply -f -`"}},
		{"nothing could be read", []fleettest.Node{dead}, nil, exit.Failed, []string{"no node could be read; of n3: "}},
		{"another namespace", []fleettest.Node{idle}, []string{"--namespace", "ours"}, exit.OK, nil},
	} {
		c := fleettest.Serve(t, false, tt.nodes...)
		code, output := outputOf(t, append([]string{"doctor", "--on", "kubernetes", "--kubeconfig", kubeconfig(t, c.URL)}, tt.args...)...)
		joined := strings.Join(strings.Fields(output), " ")
		if code != tt.code {
			t.Errorf("%s: exit code %d, want %d:\n%s", tt.name, code, tt.code, output)
		}
		for _, want := range tt.want {
			if !strings.Contains(joined, want) {
				t.Errorf("%s: want %q in:\n%s", tt.name, want, output)
			}
		}
		if tt.name == "another namespace" && !slices.Equal(c.Commands(), []string{"ours/doctor-n2: /millicore-nodeagent --look 10s"}) {
			t.Errorf("%s: got %v", tt.name, c.Commands())
		}
	}
	if code, output := outputOf(t, "doctor", "--manifest", "--image", "registry/millicore:1"); code != exit.OK || !strings.Contains(output, "image: registry/millicore:1\n") {
		t.Errorf("exit code %d:\n%s", code, output)
	}
}
