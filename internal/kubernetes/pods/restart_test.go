package pods

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/kubernetes/logbudget"
	"github.com/millicore/millicore/internal/kubernetes/objects"
	"github.com/millicore/millicore/internal/kubernetes/podstatus"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/supervise"
	"github.com/millicore/millicore/test/testkit"
)

// state is a pod in one of its container's lives.
func state(name, container string, restarts int32, s corev1.ContainerState, last corev1.ContainerState) corev1.Pod {
	return corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{kube.LabelRun: "run", kube.LabelUnit: "go", kube.LabelTrial: "1"}},
		Spec: corev1.PodSpec{NodeName: "n1"},
		Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: objects.UnitContainer, ContainerID: container, RestartCount: restarts,
			State: s, LastTerminationState: last}}}}
}

var runningState = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}

func died(container, reason string) corev1.ContainerState {
	return terminated(corev1.ContainerStateTerminated{ContainerID: container, ExitCode: 137, Reason: reason})
}

// A replica through its lives: it serves, dies, is killed: out of memory, and
// its pod is deleted.
func TestAReplicaOverItsRestarts(t *testing.T) {
	var serving atomic.Bool
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !serving.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer service.Close()
	api, client := serve(t)
	api.put(state("p", "one", 0, runningState, corev1.ContainerState{}))
	k := &cluster{api: client, pods: podstatus.NewWatch(t.Context(), client, "")}
	api.watched()
	log, err := supervise.OpenLog(t.TempDir(), "log")
	if err != nil {
		t.Fatal(err)
	}
	r := &replica{k: k, pod: "p", address: service.Listener.Addr().String(), ready: experiment.Ready{Path: "/"}, memory: 100, log: log, kept: make(chan struct{})}
	r.stopping, r.stop = context.WithCancel(t.Context())
	r.counters.put("one", signals.Counters{At: time.Unix(1, 0), CPU: new(1.0)})
	serving.Store(true)
	if _, err := r.serve(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.rise()
	go r.keep("one")
	is := func(what string, up bool, restarts, kills int64) {
		t.Helper()
		testkit.Until(t, what, func() bool {
			c, err := r.status.Counters(signals.Counters{}, nil)
			r.mu.Lock()
			defer r.mu.Unlock()
			return err == nil && c.Up == up && c.Restarts == restarts && r.kills == kills && r.up == up
		})
	}
	is("it is up", true, 0, 0)

	serving.Store(false)
	api.put(state("p", "two", 1, runningState, died("one", "Error")))
	is("it runs again and does not serve yet", false, 1, 0)
	serving.Store(true)
	is("it serves again", true, 1, 0)
	if w := r.Windows(); len(w) != 1 || w[0].Kind != signals.Down || w[0].Start >= w[0].End {
		t.Errorf("windows %+v", w)
	}

	api.put(state("p", "two", 1, died("two", podstatus.OOMKilled), died("one", "Error")))
	is("it was killed: out of memory", false, 1, 1)
	c, err := r.Counters()
	if err != nil || c.Up || *c.OOMKills != 1 || *c.CPU != 1 {
		t.Errorf("while it is down: %+v, %v", c, err)
	}
	api.put(state("p", "two", 1, waiting("CrashLoopBackOff", "").Status.ContainerStatuses[0].State, died("two", podstatus.OOMKilled)))
	api.put(state("p", "three", 2, runningState, died("two", podstatus.OOMKilled)))
	is("it is back", true, 2, 1)

	api.drop(state("p", "three", 2, runningState, corev1.ContainerState{}))
	is("its pod was removed", false, 3, 1)
	<-r.kept
	fixed, scaled := &unit{k: k, replicas: []*replica{r}}, &unit{k: k, replicas: []*replica{r}, of: platform.UnitSpec{Autoscale: &experiment.Autoscale{}}}
	if why := fixed.Evicted(); why != "the pod p was removed: it was deleted" {
		t.Errorf("evicted: %q", why)
	}
	if why := scaled.Evicted(); why != "" {
		t.Errorf("one that is autoscaled may go: %q", why)
	}
	if len(r.Windows()) == 0 {
		t.Error("it is not down")
	}
	if err := r.end(); err != nil {
		t.Error(err)
	}
	if _, err := r.Counters(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("of one that was removed: %v", err)
	}
	text, _ := os.ReadFile(log.File.Name())
	for _, words := range []string{"as by signal 9", "out of memory", "its pod p was removed"} {
		if strings.Count(string(text), words) != 1 {
			t.Errorf("the log, without one %q:\n%s", words, text)
		}
	}
}

// A container's output is copied once, whatever ends the stream that it comes on,
// and the last words of one that died too.
func TestOutput(t *testing.T) {
	api, client := serve(t)
	answers := make(chan string, 5)
	answers <- "2026-01-01T00:00:01.000000001Z one\n2026-01-01T00:00:01.5Z two  words\n"
	answers <- "2026-01-01T00:00:01.5Z two  words\n2026-01-01T00:00:02Z three\n2026-01-01T00:00:02Z panic: no"
	since := make(chan string, 5)
	api.hand["GET "+podsPath+"/p/log"] = func(w http.ResponseWriter, r *http.Request) {
		select {
		case text := <-answers:
			since <- r.URL.Query().Get("sinceTime") + r.URL.Query().Get("previous")
			io.WriteString(w, text)
		default:
			w.WriteHeader(http.StatusBadRequest)
		}
	}
	api.put(state("p", "one", 0, runningState, corev1.ContainerState{}))
	store := podstatus.NewWatch(t.Context(), client, "")
	api.watched()
	log, err := supervise.OpenLog(t.TempDir(), "log")
	if err != nil {
		t.Fatal(err)
	}
	f := follow(client, store, "p", objects.UnitContainer, logbudget.New(logbudget.Total).Open(log))
	is := func(want string) func() bool {
		return func() bool {
			text, _ := os.ReadFile(log.File.Name())
			return string(text) == want
		}
	}
	testkit.Until(t, "two streams of the first life", is("one\ntwo  words\nthree\n"))
	select {
	case <-f.heard:
		t.Error("it is said to have ended, and runs")
	default:
	}
	api.put(state("p", "one", 0, died("one", "Error"), corev1.ContainerState{}))
	answers <- "2026-01-01T00:00:02Z three\n2026-01-01T00:00:02Z panic: no"
	<-f.heard
	if !is("one\ntwo  words\nthree\npanic: no\n")() {
		t.Error("its last words are missing")
	}
	answers <- "" // of the life before, of which all is known
	answers <- "2026-01-01T00:00:03Z of the next life\nnothing that has a time\n"
	api.put(state("p", "two", 1, runningState, died("one", "Error")))
	all := "one\ntwo  words\nthree\npanic: no\nof the next life\n"
	testkit.Until(t, "the second life", is(all))
	api.drop(state("p", "two", 1, runningState, corev1.ContainerState{}))
	f.end()
	if !is(all)() {
		t.Error("something was copied twice")
	}
	var asked []string
	for range 5 {
		asked = append(asked, <-since)
	}
	const first, second = "2026-01-01T00:00:01Z", "2026-01-01T00:00:02Z"
	if want := []string{"", first, second, second + "true", second}; !slices.Equal(asked, want) {
		t.Errorf("asked for what was written since %q, want %q", asked, want)
	}
}

// A log that grows without end is left out from some size on, and says so. Its last lines
// are there when its container has ended.
func TestALogThatIsTooLarge(t *testing.T) {
	api, client := serve(t)
	api.hand["GET "+podsPath+"/p/log"] = func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "2026-01-01T00:00:01Z one\n2026-01-01T00:00:02Z two\n2026-01-01T00:00:03Z three\n2026-01-01T00:00:04Z 4\n")
	}
	api.put(state("p", "one", 0, runningState, corev1.ContainerState{}))
	store := podstatus.NewWatch(t.Context(), client, "")
	api.watched()
	log, err := supervise.OpenLog(t.TempDir(), "log")
	if err != nil {
		t.Fatal(err)
	}
	f := follow(client, store, "p", objects.UnitContainer, logbudget.New(8).Open(log))
	api.put(state("p", "one", 0, died("one", "Error"), corev1.ContainerState{}))
	<-f.heard
	defer f.end()
	text, _ := os.ReadFile(log.File.Name())
	lines := strings.Split(string(text), "\n")
	if len(lines) != 4 || lines[0] != "one" || !strings.Contains(lines[1], " 2 lines, 0.0 MiB, left out here") || lines[2] != "4" {
		t.Errorf("%q", text)
	}
}

// dialler has no agents, or one.
type dialler struct{ agent chan platform.Agent }

func (d *dialler) Agent(ctx context.Context, _ int) (platform.Agent, error) {
	select {
	case a := <-d.agent:
		return a, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (d *dialler) Node(ctx context.Context, _ string) (io.ReadWriteCloser, time.Duration, error) {
	<-ctx.Done()
	return nil, 0, context.Cause(ctx)
}

func (d *dialler) Certificate() []byte          { return []byte("CERT") }
func (d *dialler) AgentToken(index int) string  { return fmt.Sprintf("token of agent %d", index) }
func (d *dialler) NodeToken(name string) string { return "token of node " + name }

type anAgent struct{ net.Conn }

func (anAgent) Counters() (signals.Counters, error) { return signals.Counters{}, nil }

func TestAnAgentThatCannotCome(t *testing.T) {
	api, client := serve(t)
	d := &dialler{agent: make(chan platform.Agent, 1)}
	p, err := New(Options{Client: client, Run: "run", Image: own, Agents: d, Conductor: "c:7443"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	api.watched()
	agent := waiting("InvalidImageName", "no name")
	agent.Name, agent.Labels = "a-1", map[string]string{kube.LabelPart: kube.PartAgent, "batch.kubernetes.io/job-completion-index": "1"}
	agent.Status.ContainerStatuses[0].Name, agent.Spec.Containers[0].Name = objects.AgentContainer, objects.AgentContainer
	api.put(*agent)
	_, err = p.Agent(t.Context(), 1, 1)
	if err == nil || err.Error() != "start agent 1: the node n1 cannot use the image shop:1: no name" {
		t.Errorf("%v", err)
	}
	if !api.made("POST /apis/batch/v1/namespaces/here/jobs") {
		t.Error("no Job was made")
	}
	d.agent <- anAgent{}
	if _, err := p.Agent(t.Context(), 1, 0); err != nil {
		t.Error(err)
	}
	if _, err := p.Agent(t.Context(), 1, 2); err == nil || err.Error() != "start agent 2: the run has 2 agents" {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Millisecond, errors.New("the user ended it"))
	defer cancel()
	if _, err := p.Agent(ctx, 1, 0); err == nil || err.Error() != "start agent 0: the user ended it" {
		t.Errorf("%v", err)
	}
	api.drop(*agent)
}

// What a unit begins and cannot bring up is removed.
func TestAUnitThatCannotStart(t *testing.T) {
	api, client := serve(t)
	p, err := New(Options{Client: client, Run: "run", Image: own})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	api.watched()
	bad := waiting("CreateContainerConfigError", "no user")
	bad.Name, bad.Labels = "go-x", map[string]string{kube.LabelRun: "run", kube.LabelUnit: "go", kube.LabelTrial: "1"}
	api.put(*bad)
	deployments := "/apis/apps/v1/namespaces/here/deployments"
	api.hand["DELETE "+deployments+"/run-t1-go"] = func(w http.ResponseWriter, r *http.Request) {
		api.drop(*bad)
		io.WriteString(w, "{}")
	}
	_, err = p.Start(t.Context(), platform.UnitSpec{Trial: 1, Name: "go", Image: "shop:1", Logs: t.TempDir()})
	if err == nil || err.Error() != `start "go": the node n1 cannot create its container: no user` {
		t.Errorf("%v", err)
	}
	for _, what := range []string{"POST " + deployments, "POST /api/v1/namespaces/here/services", "DELETE /api/v1/namespaces/here/services/run-t1-go"} {
		if !api.made(what) {
			t.Errorf("it was not asked to %s", what)
		}
	}
	for _, c := range []struct {
		unit platform.UnitSpec
		want string
	}{
		{platform.UnitSpec{Name: "go"}, `start "go": no image: commands run with --on local`},
		{platform.UnitSpec{Name: "go", Image: "i", FindPort: true}, `start "go": ` + objects.ErrFindPort.Error()},
	} {
		if _, err := p.Start(t.Context(), c.unit); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
