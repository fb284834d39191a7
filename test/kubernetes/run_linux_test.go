package kubernetes

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/kubernetes/launch"
	"github.com/millicore/millicore/test/chaos"
	"github.com/millicore/millicore/test/testkit"
)

// The command line: `millicore run --on kubernetes`.

// small is an experiment that fits on a node with two CPUs.
const small = `
name: small
services: {go: {workload: go, env: {GOMAXPROCS: "${procs}"}}}
vary: {procs: [1, 2]}
limits: {cpu: 300m, memory: 128Mi}
load: {request: {path: /isPrime/66667}, users: 8, agents: 2}
measure: {warmup: 1s, duration: 6s, repeats: 1}
kubernetes:
  image: ` + ownImage + `
  requests: {cpu: 20m}
  agents: {cpu: 20m, memory: 64Mi}
  conductor: {cpu: 20m, memory: 256Mi}
`

func TestMain(m *testing.M) {
	chaos.Helper()
	code := m.Run()
	os.RemoveAll(programs)
	os.Exit(code)
}

// programs is the folder of the programs that program builds.
var programs = filepath.Join(os.TempDir(), fmt.Sprintf("millicore-test-program-%d", os.Getpid()))

// program builds millicore for the user's machine.
var program = sync.OnceValues(func() (string, error) {
	path := filepath.Join(programs, "millicore")
	return path, run(filepath.Join("..", ".."), append(os.Environ(), "CGO_ENABLED=0"), "go", "build", "-o", path, "./cmd/millicore")
})

// laptop is a user's machine, with a namespace of the test.
type laptop struct {
	api     *kube.Client
	program string
	dir     string
	// kubeconfig is that of the user; newLaptop sets the administrator's.
	kubeconfig string
}

func newLaptop(t *testing.T) *laptop {
	t.Helper()
	return newLaptopAt(t, "restricted")
}

// newLaptopAt uses a namespace with this Pod Security level.
func newLaptopAt(t *testing.T, level string) *laptop {
	t.Helper()
	l := &laptop{api: within(t, level), dir: t.TempDir()}
	l.kubeconfig = bench.kubeconfig
	var err error
	if l.program, err = program(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(l.dir, "small.yaml"), []byte(small), 0o644); err != nil {
		t.Fatal(err)
	}
	return l
}

var (
	clusterRoles        = kube.Kind[rbacv1.ClusterRole]{Group: "rbac.authorization.k8s.io/v1", Name: "ClusterRole", Plural: "clusterroles", Global: true}
	clusterRoleBindings = kube.Kind[rbacv1.ClusterRoleBinding]{Group: "rbac.authorization.k8s.io/v1", Name: "ClusterRoleBinding", Plural: "clusterrolebindings", Global: true}
)

// metricsRole is the name in docs/kubernetes.yaml of what all namespaces share. Tests run
// beside each other, so each has its own.
const metricsRole = "millicore-metrics"

func (l *laptop) metricsRole() string { return metricsRole + "-" + l.api.Namespace }

// allowed does what an administrator does with docs/kubernetes.yaml.
func (l *laptop) allowed(t *testing.T) *laptop {
	t.Helper()
	text, err := os.ReadFile("../../docs/kubernetes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	names := strings.NewReplacer(metricsRole+"}", l.metricsRole()+"}", "NAMESPACE", l.api.Namespace)
	for _, part := range strings.Split(names.Replace(string(text)), "\n---\n") {
		asJSON, err := yaml.YAMLToJSON([]byte(part))
		if err != nil {
			t.Fatal(err)
		}
		var kind metav1.TypeMeta
		if err := json.Unmarshal(asJSON, &kind); err != nil {
			t.Fatal(err)
		}
		switch kind.Kind {
		case "ServiceAccount":
			apply(t, l.api, kube.ServiceAccounts, asJSON)
		case "Role":
			apply(t, l.api, kube.Roles, asJSON)
		case "ClusterRole":
			apply(t, l.api, clusterRoles, asJSON)
		case "ClusterRoleBinding":
			apply(t, l.api, clusterRoleBindings, asJSON)
		default:
			t.Fatalf("docs/kubernetes.yaml has a %q, which this does not apply", kind.Kind)
		}
	}
	return l
}

// apply creates an object, and deletes it at the end of the test if its namespace does
// not. One that exists is left as it is.
func apply[T any](t *testing.T, c *kube.Client, kind kube.Kind[T], asJSON []byte) {
	t.Helper()
	o := new(T)
	if err := json.Unmarshal(asJSON, o); err != nil {
		t.Fatal(err)
	}
	if _, err := kind.Create(t.Context(), c, o); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	if name := any(o).(metav1.Object).GetName(); kind.Global {
		t.Cleanup(func() {
			if err := kind.Delete(context.Background(), c, name, kube.Delete{}); err != nil {
				t.Error(err)
			}
		})
	}
}

// called is one call of millicore.
type called struct {
	*exec.Cmd
	out, err bytes.Buffer
}

func (l *laptop) start(t *testing.T, args ...string) *called {
	t.Helper()
	c := &called{Cmd: exec.Command(l.program, append(args, "--on", "kubernetes", "--kubeconfig", l.kubeconfig, "--namespace", l.api.Namespace)...)}
	c.Dir, c.Stdout, c.Stderr = l.dir, &c.out, &c.err
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// longest is how long a call may take.
const longest = 8 * time.Minute

// ends waits for the end of a call. Its exit code must be one of codes.
func (c *called) ends(t *testing.T, want ...int) *called {
	t.Helper()
	hangs := time.AfterFunc(longest, func() { c.Process.Kill() })
	err := c.Wait()
	if !hangs.Stop() {
		t.Errorf("it took more than %v and was killed", longest)
	}
	if got := c.ProcessState.ExitCode(); !slices.Contains(want, got) {
		t.Fatalf("%s: exit code %d (%v), want %v\n%s%s", strings.Join(c.Args[1:], " "), got, err, want, &c.out, &c.err)
	}
	return c
}

// run waits for the only run of the namespace, and returns its name.
func (l *laptop) run(t *testing.T) string {
	t.Helper()
	name := ""
	testkit.Until(t, "a run is there", func() bool {
		all, err := kube.ConfigMaps.List(t.Context(), l.api, kube.LabelRun)
		if err != nil || len(all) != 1 {
			return false
		}
		name = all[0].Labels[kube.LabelRun]
		return true
	})
	return name
}

// measures waits until the agents have pods, and so until something is measured.
func (l *laptop) measures(t *testing.T, run string) {
	t.Helper()
	testkit.Until(t, "agents are there", func() bool {
		pods, err := kube.Pods.List(t.Context(), l.api, launch.Selector(run, kube.PartAgent))
		return err == nil && len(pods) > 0
	})
}

// empty waits until no object with Millicore's labels is left.
func (l *laptop) empty(t *testing.T, within time.Duration) {
	t.Helper()
	empty(t, l.api, kube.LabelManager+"="+kube.Manager, within)
}

// outcomes are the outcomes of a record's trials.
func (l *laptop) outcomes(t *testing.T, name string) (all []record.Outcome) {
	t.Helper()
	for _, trial := range l.record(t, name).Trials {
		all = append(all, trial.Outcome)
	}
	return all
}

func (l *laptop) record(t *testing.T, name string) *record.Record {
	t.Helper()
	r, err := record.Open(filepath.Join(l.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	if r.Run.Platform != "kubernetes" {
		t.Errorf("the platform of the record is %q", r.Run.Platform)
	}
	return r
}

// trials returns the completed trials of a record.
func (l *laptop) trials(t *testing.T, name string) (done int) {
	t.Helper()
	for _, o := range l.outcomes(t, name) {
		if o == record.Done || o == record.Disturbed {
			done++
		}
	}
	return done
}

func TestARun(t *testing.T) {
	l := newLaptop(t).allowed(t)
	w := watchServices(t, l.api)
	c := l.start(t, "run", "small.yaml", "--out", "record", "--json").ends(t, 0)
	w.agrees(t, l.record(t, "record"))
	if n := l.trials(t, "record"); n < 2 {
		t.Errorf("%d trials are in the record, want 2\n%s", n, &c.err)
	}
	var printed summary.Summary
	if err := json.Unmarshal(c.out.Bytes(), &printed); err != nil {
		t.Fatalf("%v in what is printed:\n%s", err, &c.out)
	}
	for _, cell := range printed.Cells {
		if cell.Requests == 0 || cell.CPU.Cores == nil || *cell.CPU.Cores <= 0 || cell.CPU.Periods == nil || *cell.CPU.Periods == 0 {
			t.Errorf("cell %s: %d requests, CPU %+v; want figures", cell.Service, cell.Requests, cell.CPU)
		}
	}
	if !strings.Contains(c.err.String(), "[1/2] go procs=") {
		t.Errorf("the conductor's progress is not shown:\n%s", &c.err)
	}
	l.empty(t, 10*time.Second)
}

// A run continues when its client is killed; another client resumes it.
func TestAClientThatIsKilled(t *testing.T) {
	l := newLaptop(t).allowed(t)
	c := l.start(t, "run", "small.yaml")
	run := l.run(t)
	l.measures(t, run)
	c.Process.Kill()
	c.Wait()
	if words := l.start(t, "clean").ends(t, 0).out.String(); !strings.Contains(words, "kept run "+run) {
		t.Errorf("clean: %s", words)
	}
	l.start(t, "run", "--attach", run, "--out", "record").ends(t, 0)
	if n := l.trials(t, "record"); n < 2 {
		t.Errorf("%d trials are in the record, want 2", n)
	}
	l.empty(t, 10*time.Second)
	if words := l.start(t, "run", "--attach", run, "--out", "again").ends(t, 2).err.String(); !strings.Contains(words, "has no such run") {
		t.Errorf("a run that was fetched: %s", words)
	}
}

// Ctrl-C ends the run and keeps what was measured.
func TestARunThatIsInterrupted(t *testing.T) {
	t.Parallel()
	l := newLaptop(t).allowed(t)
	c := l.start(t, "run", "small.yaml", "--out", "record", "--set", "measure.repeats=20")
	l.measures(t, l.run(t))
	c.Process.Signal(os.Interrupt)
	c.ends(t, 130)
	if all := l.outcomes(t, "record"); len(all) == 0 || all[len(all)-1] != record.Interrupted {
		t.Errorf("trials %v; want that the last one was interrupted", all)
	}
	l.empty(t, 10*time.Second)
}

// Deleting the conductor's Job, as its time to live does, ends the whole run.
func TestDeletingTheJob(t *testing.T) {
	t.Parallel()
	l := newLaptop(t).allowed(t)
	run := strings.TrimSpace(l.start(t, "run", "small.yaml", "--detach", "--set", "measure.repeats=20").ends(t, 0).out.String())
	l.measures(t, run)
	if err := kube.Jobs.Delete(t.Context(), l.api, launch.Name(run), kube.Delete{Foreground: true}); err != nil {
		t.Fatal(err)
	}
	l.empty(t, 90*time.Second)
}

// A record that is not fetched is kept for the configured time, and then removed with
// the run.
func TestARunThatNobodyFetches(t *testing.T) {
	t.Parallel()
	l := newLaptop(t).allowed(t)
	l.start(t, "run", "small.yaml", "--detach", "--set", "kubernetes.keep=3s", "--set", "vary.procs=[1]", "--set", "measure.duration=3s").ends(t, 0)
	l.run(t)
	l.empty(t, 3*time.Minute)
}

func TestCleaningARun(t *testing.T) {
	t.Parallel()
	l := newLaptop(t).allowed(t)
	run := strings.TrimSpace(l.start(t, "run", "small.yaml", "--detach").ends(t, 0).out.String())
	if words := l.start(t, "clean", "--run", run).ends(t, 0).out.String(); !strings.Contains(words, "removed run "+run) {
		t.Errorf("clean: %s", words)
	}
	l.empty(t, 10*time.Second)
}

// A dry run names what is missing, and starts nothing.
func TestADryRun(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	words := l.start(t, "run", "small.yaml", "--dry-run", "--image", "No/Such:name", "--node-agent=false", "--set", "kubernetes.pull_secrets=[nowhere]").ends(t, 2).out.String()
	for _, want := range []string{
		"ok         API server: v", "ok         the run's Role: ", "ok         the pods of service go: ",
		"missing    the conductor's pod: ", "missing    right of the conductor to nodes/metrics: ", "missing    pull secret nowhere: ", "missing    image No/Such:name: ",
	} {
		if !strings.Contains(words, want) {
			t.Errorf("no %q in\n%s", want, words)
		}
	}
	words = l.start(t, "run", "small.yaml", "--dry-run", "--node-agent").ends(t, 2).out.String()
	if !strings.Contains(words, "missing    the pods of node agents: ") || strings.Contains(words, "nodes/metrics") {
		t.Errorf("with node agents:\n%s", words)
	}
	l.allowed(t)
	l.start(t, "run", "small.yaml", "--dry-run").ends(t, 0)
	l.empty(t, 10*time.Second)
}
