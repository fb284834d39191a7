package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/quick"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/client-go/rest"

	oldrand "math/rand"

	"github.com/millicore/millicore/internal/host/doctor"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/kubernetes/fleet/fleettest"
	"github.com/millicore/millicore/internal/kubernetes/kube"
)

// written is what the pod of a node writes.
func written(t *testing.T, version string, host inspect.Host) string {
	t.Helper()
	text, err := json.Marshal(look{version, host})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func client(t *testing.T, c *fleettest.Cluster) *kube.Client {
	t.Helper()
	api, err := kube.New(&rest.Config{Host: c.URL}, "watchers")
	if err != nil {
		t.Fatal(err)
	}
	return api
}

// Each node is asked in its own pod. Those that cannot be read are named with the reason, and
// leave the others readable.
func TestCollect(t *testing.T) {
	host := inspect.Host{Online: 4, Watched: 5 * time.Second, Processes: []inspect.Process{{PID: 7, Name: strings.Repeat("long", 10000)}}}
	c := fleettest.Serve(t, false,
		fleettest.Node{Name: "b", Output: written(t, "v2", host)},
		fleettest.Node{Name: "a", Output: written(t, "v2", host)},
		fleettest.Node{Name: "old", Output: written(t, "v1", host)},
		fleettest.Node{Name: "broken", Output: "{", Said: "one\ncannot list the processes\n", Code: 1},
		fleettest.Node{Name: "cut", Output: "{"},
		fleettest.Node{Name: "full", Waiting: "0/7 nodes are available: 1 Insufficient memory"},
		fleettest.Node{Name: "without", NoPod: true})
	nodes, err := Collect(t.Context(), client(t, c), "v2", 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	want := []struct{ name, err string }{{"a", ""}, {"b", ""}, {"broken", "ended with code 1: cannot list the processes"},
		{"cut", "unexpected end of JSON"}, {"full", "Insufficient memory"},
		{"old", "pod doctor-old has version v1 of millicore, and this is v2"}, {"without", "no pod of the DaemonSet is there"}}
	if len(nodes) != len(want) {
		t.Fatalf("got %d nodes: %v", len(nodes), nodes)
	}
	for i, w := range want {
		n := nodes[i]
		if n.Name != w.name || (n.Err != nil) != (w.err != "") || n.Err != nil && !strings.Contains(n.Err.Error(), w.err) {
			t.Errorf("got %q with error %v, want %q with %q", n.Name, n.Err, w.name, w.err)
		}
		if n.Err == nil && !reflect.DeepEqual(n.Host, host) {
			t.Errorf("%s: the host was not read as it was written", n.Name)
		}
	}
	asked := c.Commands()
	slices.Sort(asked)
	const command = ": /millicore-nodeagent --look 5s"
	if diff := cmp.Diff([]string{"watchers/doctor-a" + command, "watchers/doctor-b" + command, "watchers/doctor-broken" + command,
		"watchers/doctor-cut" + command, "watchers/doctor-old" + command}, asked); diff != "" {
		t.Error(diff)
	}
}

// Without the right to list nodes those with a pod are read.
func TestCollectWithoutTheListOfNodes(t *testing.T) {
	c := fleettest.Serve(t, true, fleettest.Node{Name: "a", Output: written(t, "v", inspect.Host{})}, fleettest.Node{Name: "b", NoPod: true})
	nodes, err := Collect(t.Context(), client(t, c), "v", 0)
	if err != nil || len(nodes) != 1 || nodes[0].Name != "a" || nodes[0].Err != nil {
		t.Errorf("got %v, %v", nodes, err)
	}
}

func TestCollectOfNothing(t *testing.T) {
	c := fleettest.Serve(t, false, fleettest.Node{Name: "a", NoPod: true})
	if _, err := Collect(t.Context(), client(t, c), "v", 0); !errors.Is(err, ErrNoPods) || !strings.Contains(err.Error(), "namespace watchers") {
		t.Errorf("got %v, want ErrNoPods", err)
	}
	c = fleettest.Serve(t, false, fleettest.Node{Name: "a", Code: 1, Said: "no /proc"}, fleettest.Node{Name: "b", NoPod: true})
	if _, err := Collect(t.Context(), client(t, c), "v", 0); err == nil || !strings.Contains(err.Error(), "no node could be read; of a: ") || !strings.Contains(err.Error(), "no /proc") {
		t.Errorf("got %v, want that no node could be read", err)
	}
}

// The command can be ended while a node does not answer.
func TestCollectEndsWithItsContext(t *testing.T) {
	c := fleettest.Serve(t, false, fleettest.Node{Name: "a", Silent: true})
	ctx, stop := context.WithCancelCause(t.Context())
	ended := errors.New("Ctrl-C")
	go func() {
		for len(c.Commands()) == 0 && ctx.Err() == nil {
			runtime.Gosched()
		}
		stop(ended)
	}()
	if _, err := Collect(ctx, client(t, c), "v", 0); !errors.Is(err, ended) {
		t.Errorf("got %v, want %v", err, ended)
	}
}

// All that was read of a host arrives: a field that JSON loses would change the findings.
func TestALookArrivesWhole(t *testing.T) {
	random := oldrand.New(source{rand.New(rand.NewPCG(1, 2))})
	for range 200 {
		v, ok := quick.Value(reflect.TypeFor[inspect.Host](), random)
		if !ok {
			t.Fatal("no value")
		}
		host := v.Interface().(inspect.Host)
		var read look
		if err := json.Unmarshal([]byte(written(t, "v", host)), &read); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(host, read.Host, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	}
}

// source makes a generator of math/rand, as testing/quick needs it.
type source struct{ *rand.Rand }

func (s source) Int63() int64 { return s.Int64() }
func (s source) Seed(int64)   {}

// The look of this host is one that the collector reads.
func TestLook(t *testing.T) {
	var out bytes.Buffer
	if err := Look(t.Context(), &out, "v", 0); err != nil {
		t.Skip("no processes can be read here:", err)
	}
	var read look
	if err := json.Unmarshal(out.Bytes(), &read); err != nil || read.Version != "v" || len(read.Host.Processes) == 0 {
		t.Errorf("got version %q with %d processes, %v", read.Version, len(read.Host.Processes), err)
	}
}

// throttled is a pod's process that was throttled in so many of 100 periods, and used its limit.
func throttled(pid int, periods int64) inspect.Process {
	used := 2 * time.Second
	c := inspect.Counts{Length: 10 * time.Second, Periods: 100, Throttled: periods, Stopped: time.Second, Used: &used}
	return inspect.Process{PID: pid, Name: "api", Pod: "u", Container: "api-0", ContainerID: strings.Repeat("a", 64), Namespace: "shop", PodContainer: "api",
		CPU:        inspect.CPULimit{State: inspect.Limited, CPUs: 0.2, Period: 100 * time.Millisecond, Group: "/a", SetBy: "/a", Dir: "/c/a"},
		Throttling: &inspect.Throttling{Since: c, Watch: &c}}
}

// The worst finding of all nodes is first, and each says where it is.
func TestMerge(t *testing.T) {
	on := func(watched time.Duration, p inspect.Process) inspect.Host {
		return inspect.Host{Online: 2, Watched: watched, Processes: []inspect.Process{p}}
	}
	host, findings := Merge([]Node{{Name: "n1", Host: on(10*time.Second, throttled(7, 20))}, {Name: "n2", Err: errors.New("gone")},
		{Name: "n3", Host: on(9*time.Second, throttled(7, 90))}, {Name: "n4", Host: on(11*time.Second, throttled(8, 10))}})
	var got []string
	for _, f := range findings {
		if f.Level >= doctor.Warning {
			got = append(got, f.Process.Node)
		}
	}
	if want := []string{"n3", "n1", "n4"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want the findings of %v", got, want)
	}
	if !host.Partial || host.Watched != 9*time.Second || host.Online != 6 || len(host.Processes) != 3 || host.Processes[2].Node != "n4" {
		t.Errorf("got %+v", host)
	}
}
