package kubernetes

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/kubernetes/pods"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/test/testkit"
)

// opened is the platform with what it noted.
type opened struct {
	platform.ImageRunner
	api *kube.Client

	mu    sync.Mutex
	notes []string
}

func (o *opened) noted() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Join(o.notes, "\n")
}

// open opens the platform in a new namespace. Afterwards nothing of the run may be left.
func open(t *testing.T, change func(*pods.Options)) *opened {
	t.Helper()
	return openAt(t, "restricted", change)
}

func openAt(t *testing.T, level string, change func(*pods.Options)) *opened {
	t.Helper()
	c := within(t, level)
	o := &opened{api: c}
	options := pods.Options{Client: c, Run: "run", Owner: owner(t, c, "run"), Image: ownImage,
		Settings: experiment.Kubernetes{Agents: experiment.Resources{CPUMillis: 20, MemoryBytes: 64 << 20},
			Requests: experiment.Requests{CPUMillis: of(int64(20))}},
		Note: func(line string) {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.notes = append(o.notes, line)
		}}
	if change != nil {
		change(&options)
	}
	p, err := pods.New(options)
	if err != nil {
		t.Fatal(err)
	}
	o.ImageRunner = p.(platform.ImageRunner)
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Log("noted:", o.noted())
		}
		nothingLeft(t, c)
		if err := kube.ConfigMaps.Delete(context.Background(), c, options.Owner.Name, kube.Delete{}); err != nil {
			t.Error(err)
		}
		empty(t, c, kube.LabelRun+"=run", 15*time.Second)
	})
	return o
}

// nothingLeft waits until the platform has removed what it made, except Secrets, which go
// with the run: a platform that could delete them could delete those of others.
func nothingLeft(t *testing.T, c *kube.Client) {
	t.Helper()
	empty(t, c, kube.LabelRun+"=run", 15*time.Second, kube.Secrets.Name)
}

func of[T any](v T) *T { return &v }

// goService is a unit of the sample service go.
func goService(t *testing.T, p platform.Platform, limits experiment.Limits) platform.UnitSpec {
	t.Helper()
	image, arguments, err := p.(platform.ImageRunner).Workload(t.Context(), "go")
	if err != nil {
		t.Fatal(err)
	}
	return platform.UnitSpec{Trial: 1, Name: "go", Image: image, Command: arguments, Limits: limits, Logs: t.TempDir(),
		Ready: experiment.Ready{Path: "/healthz", Timeout: 30 * time.Second}}
}

// server is a unit of the server for tests.
func server(t *testing.T, limits experiment.Limits, arguments ...string) platform.UnitSpec {
	return platform.UnitSpec{Trial: 1, Name: "server", Image: serverImage, Command: arguments, Logs: t.TempDir(), Limits: limits,
		Ready: experiment.Ready{Path: "/ok", Timeout: 20 * time.Second}}
}

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

// burn requests a path of a replica until a test ends, on several connections.
func burn(t *testing.T, address, path string, users int) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for range users {
		all.Go(func() {
			for ctx.Err() == nil {
				_ = get(ctx, address, path)
			}
		})
	}
	stop = sync.OnceFunc(func() { cancel(); all.Wait() })
	t.Cleanup(stop)
	return stop
}

func get(ctx context.Context, address, path string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

// counted waits for a reading of a replica that meets a condition.
func counted(t *testing.T, r platform.Replica, what string, holds func(signals.Counters) bool) signals.Counters {
	t.Helper()
	return testkit.Value(t, "a reading in which "+what, func() (signals.Counters, error) {
		c, err := r.Counters()
		if err == nil && !holds(c) {
			err = fmt.Errorf("the last reading is %+v", c)
		}
		return c, err
	})
}

func TestThrottlingIsCounted(t *testing.T) {
	p := open(t, nil)
	running := start(t, p, goService(t, p, experiment.Limits{CPUMillis: 500, Memory: 128 << 20, Replicas: 2}))
	all := running.Replicas()
	if len(all) != 2 || all[0].Address() == all[1].Address() {
		t.Fatalf("replicas %v", all)
	}
	r := all[0]
	before := counted(t, r, "CPU is counted", func(c signals.Counters) bool { return c.CPU != nil && c.Up })
	if before.CPULimit == nil || *before.CPULimit != 0.5 || before.MemoryLimit == nil || *before.MemoryLimit != 128<<20 {
		t.Errorf("limits %v, %v", before.CPULimit, before.MemoryLimit)
	}
	burn(t, r.Address(), "/isPrime/1000003", 4)
	after := counted(t, r, "periods are throttled", func(c signals.Counters) bool {
		return c.ThrottledPeriods != nil && *c.ThrottledPeriods > 10 && c.At.Sub(before.At) > 3*time.Second
	})
	used := signals.Between(before, after)
	t.Logf("in %v: %.2f CPU s, %d of %d periods throttled for %.2f s", after.At.Sub(before.At), *used.CPU, *used.ThrottledPeriods, *used.Periods, *used.Throttled)
	if after.Memory == nil || after.MemoryPeak == nil || *after.OOMKills != 0 || after.Restarts != 0 {
		t.Errorf("%+v", after)
	}
	if p, err := r.ThrottleSample(); err != nil || !p.Up || p.Throttled != nil {
		t.Errorf("sample %+v, %v; want that it is up, and nothing else", p, err)
	}
}

func TestAContainerThatDiesComesBackAtItsAddress(t *testing.T) {
	t.Parallel()
	p := open(t, nil)
	u := server(t, experiment.Limits{CPUMillis: 500, Memory: 96 << 20, Replicas: 1})
	running := start(t, p, u)
	r := running.Replicas()[0]
	counted(t, r, "it is up", func(c signals.Counters) bool { return c.Up && c.CPU != nil && *c.CPU > 0 })
	_ = get(t.Context(), r.Address(), "/exit?code=9")
	c := counted(t, r, "it has died", func(c signals.Counters) bool { return c.Restarts == 1 })
	t.Logf("after its death: %+v", c)
	counted(t, r, "it is back", func(c signals.Counters) bool { return c.Up && c.Restarts == 1 })
	if err := get(t.Context(), r.Address(), "/ok"); err != nil {
		t.Error(err)
	}
	_ = get(t.Context(), r.Address(), "/keep?mb=200")
	if down := r.(platform.WindowSource).Windows(); len(down) == 0 || down[0].Kind != signals.Down {
		t.Errorf("windows %+v", down)
	}
	c = counted(t, r, "it was killed: out of memory", func(c signals.Counters) bool { return *c.OOMKills == 1 })
	t.Logf("after the kill: %+v", c)
	counted(t, r, "it is back again", func(c signals.Counters) bool { return c.Up && c.Restarts == 2 && *c.OOMKills == 1 })
	if err := running.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(u.Logs, "trial001-server-0.log"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "server: pid"); n != 3 || !strings.Contains(string(text), "exit status 9") || !strings.Contains(string(text), "out of memory") {
		t.Errorf("the log has %d lives of 3:\n%s", n, text)
	}
}

func TestResize(t *testing.T) {
	t.Parallel()
	p := open(t, func(o *pods.Options) { o.Settings.Requests = experiment.Requests{} })
	u := goService(t, p, experiment.Limits{CPUMillis: 50, Memory: 128 << 20, Replicas: 2})
	running := start(t, p, u)
	began := time.Now()
	if err := running.(platform.Resizer).Resize(t.Context(), experiment.Limits{CPUMillis: 150, Memory: 160 << 20, Replicas: 2}); err != nil {
		t.Fatal(err)
	}
	t.Logf("resized in %v", time.Since(began))
	for _, r := range running.Replicas() {
		c := counted(t, r, "the limit is another", func(c signals.Counters) bool { return c.CPULimit != nil && *c.CPULimit == 0.15 })
		if c.Restarts != 0 || *c.MemoryLimit != 160<<20 {
			t.Errorf("%+v", c)
		}
	}
	// A smaller memory limit needs Kubernetes 1.34.
	if err := running.(platform.Resizer).Resize(t.Context(), experiment.Limits{CPUMillis: 150, Memory: 96 << 20, Replicas: 2}); err != nil {
		t.Errorf("less memory: %v", err)
	}
	err := running.(platform.Resizer).Resize(t.Context(), experiment.Limits{CPUMillis: 100_000, Memory: 160 << 20, Replicas: 2})
	t.Log(err)
	if err == nil || !strings.Contains(err.Error(), "node didn't have enough") {
		t.Errorf("100 CPUs: %v", err)
	}
}

func TestWhatIsInTheWayIsSaid(t *testing.T) {
	t.Parallel()
	p := open(t, nil)
	for _, c := range []struct {
		name   string
		change func(*platform.UnitSpec)
		want   []string
	}{
		{"it ends", func(u *platform.UnitSpec) { u.Command = []string{"--fail"} }, []string{"exit status 3", "failing as requested"}},
		{"it does not listen", func(u *platform.UnitSpec) {
			u.Command, u.Ready.Timeout = []string{"--startup", "1h"}, 2*time.Second
		}, []string{"not ready within 2s", "connection refused", "listen"}},
		{"root is refused", func(u *platform.UnitSpec) { u.Image = rootImage }, []string{"run as root", "security: baseline"}},
		{"no program", func(u *platform.UnitSpec) { u.Image, u.Command = ownImage, []string{"/nothing"} }, []string{"/nothing"}},
		{"no such name", func(u *platform.UnitSpec) { u.Image = "no/such image" }, []string{"no/such image"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			u := server(t, experiment.Limits{CPUMillis: 200, Memory: 64 << 20, Replicas: 1})
			c.change(&u)
			began := time.Now()
			_, err := p.Start(t.Context(), u)
			t.Logf("after %v: %v", time.Since(began), err)
			for _, words := range c.want {
				if err == nil || !strings.Contains(err.Error(), words) {
					t.Errorf("%v, without %q", err, words)
				}
			}
			nothingLeft(t, p.api)
		})
	}
}

func TestAQuotaIsSaid(t *testing.T) {
	t.Parallel()
	p := open(t, nil)
	_, err := kube.Quotas.Create(t.Context(), p.api, &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "small"},
		Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Start(t.Context(), server(t, experiment.Limits{CPUMillis: 200, Memory: 64 << 20, Replicas: 1}))
	t.Log(err)
	if err == nil || !strings.Contains(err.Error(), "exceeded quota") {
		t.Errorf("%v", err)
	}
}

func TestAPodThatIsEvicted(t *testing.T) {
	t.Parallel()
	p := open(t, nil)
	running := start(t, p, server(t, experiment.Limits{CPUMillis: 200, Memory: 64 << 20, Replicas: 1}))
	r, service := running.Replicas()[0], running.(platform.EvictionReporter)
	counted(t, r, "it is up", func(c signals.Counters) bool { return c.Up })
	if why := service.Evicted(); why != "" {
		t.Errorf("before it is evicted: %s", why)
	}
	evict(t, p.api, kube.LabelUnit+"=server")
	testkit.Until(t, "the platform says that it is evicted", func() bool { return service.Evicted() != "" })
	if why := service.Evicted(); !strings.Contains(why, "was removed: EvictionByEvictionAPI: ") {
		t.Error(why)
	}
	c := counted(t, r, "it is down", func(c signals.Counters) bool { return !c.Up && c.Restarts == 1 })
	t.Logf("%+v", c)
	// The pod that replaces it serves, and is another one.
	testkit.Until(t, "another pod in its place", func() bool {
		pods, err := kube.Pods.List(t.Context(), p.api, kube.LabelUnit+"=server")
		return err == nil && len(pods) == 1 && pods[0].Status.Phase == corev1.PodRunning && !strings.HasPrefix(r.Address(), pods[0].Status.PodIP+":")
	})
	if p, err := r.ThrottleSample(); err != nil || p.Up {
		t.Errorf("it is up again: %+v, %v", p, err)
	}
}

// evict evicts the only pod that matches a selector, as draining a node does.
func evict(t *testing.T, c *kube.Client, selector string) {
	t.Helper()
	pods, err := kube.Pods.List(t.Context(), c, selector)
	if err != nil || len(pods) != 1 {
		t.Fatalf("%d pods, %v", len(pods), err)
	}
	body := fmt.Sprintf(`{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":%q,"namespace":%q}}`, pods[0].Name, c.Namespace)
	k := exec.Command(filepath.Join("..", "cluster", "k.sh"), "create", "--raw",
		fmt.Sprintf("/api/v1/namespaces/%s/pods/%s/eviction", c.Namespace, pods[0].Name), "-f", "-")
	k.Stdin = strings.NewReader(body)
	if out, err := k.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	p := open(t, nil)
	cell := func(change func(*experiment.Cell)) *experiment.Experiment {
		c := experiment.Cell{Service: experiment.Service{Name: "go", Workload: "go"}, Limits: experiment.Limits{Replicas: 1},
			Load: experiment.Load{Users: &experiment.Target{Value: 1}, Agents: 1}}
		if change != nil {
			change(&c)
		}
		return &experiment.Experiment{Cells: []experiment.Cell{c}, Measure: experiment.Measure{Duration: 10 * time.Second}}
	}
	began := time.Now()
	if err := p.Check(cell(nil)); err != nil {
		t.Error(err)
	}
	t.Logf("checked in %v", time.Since(began))
	err := p.Check(cell(func(c *experiment.Cell) {
		c.Service.Autoscale = &experiment.Autoscale{Min: 1, Max: 2, CPUPercent: 50}
	}))
	t.Log(err)
	if has := hasMetrics(t, p.api); has != (err == nil) {
		t.Errorf("metrics-server: %v; %v", has, err)
	}
	t.Log(p.Versions())
}

func hasMetrics(t *testing.T, c *kube.Client) bool {
	answer, err := c.Raw(t.Context(), "/apis/metrics.k8s.io/v1beta1", nil)
	if err != nil {
		return false
	}
	return answer.Body.Close() == nil
}

func TestImages(t *testing.T) {
	t.Parallel()
	p := open(t, nil)
	digest, err := p.Fetch(t.Context(), ownImage)
	if err != nil {
		t.Fatal(err)
	}
	if digest != ownImage && !strings.Contains(digest, "sha256:") {
		t.Errorf("the image is %q, want its digest or its name", digest)
	}
}

// The kubelet restarts a container that is killed from outside.
func TestAContainerThatIsKilled(t *testing.T) {
	t.Parallel()
	p := open(t, nil)
	r := start(t, p, goService(t, p, experiment.Limits{CPUMillis: 500, Memory: 128 << 20, Replicas: 1})).Replicas()[0]
	pods, err := kube.Pods.List(t.Context(), p.api, kube.LabelUnit+"=go")
	if err != nil || len(pods) != 1 {
		t.Fatalf("%d pods, %v", len(pods), err)
	}
	if err := processOf(t, &pods[0]).Kill(); err != nil {
		t.Fatal(err)
	}
	c := counted(t, r, "it has died", func(c signals.Counters) bool { return c.Restarts == 1 && c.Up })
	if *c.OOMKills != 0 {
		t.Errorf("%+v", c)
	}
}

// processOf is a process of the only container of a pod, on this machine.
func processOf(t *testing.T, p *corev1.Pod) *os.Process {
	t.Helper()
	if len(p.Status.ContainerStatuses) != 1 {
		t.Fatalf("the pod %s has %d containers", p.Name, len(p.Status.ContainerStatuses))
	}
	_, id, _ := strings.Cut(p.Status.ContainerStatuses[0].ContainerID, "://")
	pid := processIn(id)
	if id == "" || pid == 0 {
		t.Skip("the container's process is not on this machine")
	}
	process, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	return process
}

func TestReplicasFollowTheirCPU(t *testing.T) {
	p := open(t, func(o *pods.Options) { o.Settings.Requests = experiment.Requests{} })
	if !hasMetrics(t, p.api) {
		t.Skip("the cluster has no metrics-server")
	}
	u := goService(t, p, experiment.Limits{CPUMillis: 100, Memory: 64 << 20, Replicas: 1})
	u.Autoscale = &experiment.Autoscale{Min: 1, Max: 3, CPUPercent: 50}
	running := start(t, p, u)
	if _, ok := running.(platform.Resizer); ok {
		t.Error("it can be resized")
	}
	all := running.(platform.Autoscaled).CurrentReplicas()
	if len(all) != 1 || len(running.Replicas()) != 1 {
		t.Fatalf("%d replicas", len(all))
	}
	stop := burn(t, all[0].Address(), "/isPrime/1000003", 4)
	began := time.Now()
	testkit.Within(t, 5*time.Minute, "there are 2 replicas and more", func() bool { return len(running.(platform.Autoscaled).CurrentReplicas()) > 1 })
	t.Logf("scaled after %v", time.Since(began))
	stop()
	all = running.(platform.Autoscaled).CurrentReplicas()
	if len(running.Replicas()) != 1 {
		t.Error("the first replicas have changed")
	}
	counted(t, all[1], "it is up", func(c signals.Counters) bool { return c.Up && c.CPU != nil })
	if err := get(t.Context(), all[1].Address(), "/healthz"); err != nil {
		t.Error(err)
	}
}

// A restarted conductor removes what the one before had made.
func TestWhatAConductorLeftIsRemoved(t *testing.T) {
	t.Parallel()
	var options pods.Options
	p := open(t, func(o *pods.Options) { options = *o })
	u := server(t, experiment.Limits{CPUMillis: 200, Memory: 64 << 20, Replicas: 1})
	if _, err := p.Start(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	again, err := pods.New(options)
	if err != nil {
		t.Fatal(err)
	}
	nothingLeft(t, p.api)
	running, err := again.Start(t.Context(), u) // under the same names
	if err != nil {
		t.Fatal(err)
	}
	if err := running.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}
