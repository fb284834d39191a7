package local

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/host/proc"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/test/testkit"
)

// changes are the ways in which a limit of a service stops to hold. The service makes them
// itself here: as root it can do what a daemon of the host does.
var changes = map[string]func() error{
	"leave-all": func() error { return leave(cgroup.CPU, cgroup.CPUAcct, cgroup.Memory, cgroup.PIDs, cgroup.Unified) },
	"lift-quota": func() error {
		return rewrite(cgroup.CPU, map[string]string{"cpu.cfs_quota_us": "-1"}, map[string]string{"cpu.max": "max"})
	},
	"raise-memory": func() error {
		if err := rewrite(cgroup.Memory, map[string]string{"memory.memsw.limit_in_bytes": "-1"}, nil); err != nil { // which must not be lower
			return err
		}
		return rewrite(cgroup.Memory, map[string]string{"memory.limit_in_bytes": "-1"}, map[string]string{"memory.max": "max"})
	},
	// The same CPU limit in another period, rounded to a microsecond.
	"same-limit": func() error {
		return rewrite(cgroup.CPU, map[string]string{"cpu.cfs_quota_us": "16666", "cpu.cfs_period_us": "33333"}, map[string]string{"cpu.max": "16666 33333"})
	},
	"go-below":        goBelow,
	"lower-cpu-above": func() error { return rewriteAbove(cgroup.CPU, nil, map[string]string{"cpu.max": "20000 100000"}) },
	"lower-memory-above": func() error {
		return rewriteAbove(cgroup.Memory, map[string]string{"memory.limit_in_bytes": "134217728"}, map[string]string{"memory.max": "134217728"})
	},
	// A child in another group and with another environment, as systemd-run --scope makes one.
	"child-elsewhere": func() error { return child("elsewhere", []string{"A=1"}).Start() },
	// A daemon in another group, whose parent ends. It keeps the environment.
	"daemon": func() error { return child("daemon", os.Environ()).Run() },
}

func child(does string, env []string) *exec.Cmd {
	c := exec.Command("/proc/self/exe", helper, does)
	c.Env, c.SysProcAttr = env, &syscall.SysProcAttr{Setsid: true}
	c.Stdout = os.Stdout
	return c
}

func init() {
	helpers["elsewhere"] = func([]string) {
		if err := changes["leave-all"](); err != nil {
			fmt.Println(err)
			exit(3)
		}
		stubbornHelper()
	}
	helpers["daemon"] = func([]string) {
		if err := child("elsewhere", os.Environ()).Start(); err != nil {
			fmt.Println(err)
			exit(3)
		}
	}
	helpers["watching-lab"] = func(args []string) { watchingLabHelper(args[0], args[1]) }
	for name, do := range changes {
		http.HandleFunc("/"+name, func(w http.ResponseWriter, _ *http.Request) {
			if err := do(); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
			}
		})
	}
}

// watchingLabHelper is a millicore that starts a service, and says which limit is broken.
func watchingLabHelper(state, logs string) {
	p, err := New(Options{State: state})
	if err == nil {
		var u platform.Unit
		if u, err = p.Start(context.Background(), server(logs)); err == nil {
			fmt.Println("up", u.Replicas()[0].Address())
			v, _ := platform.As[platform.LimitVerifier](u.Replicas()[0])
			for why := ""; ; time.Sleep(10 * time.Millisecond) {
				if now := v.LimitBroken(); now != why {
					why = now
					fmt.Println(why)
				}
			}
		}
	}
	fmt.Println(err)
	exit(1)
}

// leave moves this process into the highest group of some controllers.
func leave(controllers ...cgroup.Controller) error {
	self, err := cgroup.Host().Self()
	if err != nil {
		return err
	}
	for _, c := range controllers {
		if p, ok := self.Place(c).Get(); ok {
			if err := os.WriteFile(filepath.Join(p.Top, "cgroup.procs"), []byte(strconv.Itoa(os.Getpid())), 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// rewrite writes files of this process's group: those of its version.
func rewrite(c cgroup.Controller, v1, v2 map[string]string) error { return rewriteIn("", c, v1, v2) }

// rewriteAbove writes files of the group above this process's.
func rewriteAbove(c cgroup.Controller, v1, v2 map[string]string) error {
	return rewriteIn("..", c, v1, v2)
}

func rewriteIn(from string, c cgroup.Controller, v1, v2 map[string]string) error {
	self, err := cgroup.Host().Self()
	if err != nil {
		return err
	}
	p, ok := self.Place(c).Get()
	if !ok {
		return fmt.Errorf("no %v", c)
	}
	files := v1
	if p.Version == cgroup.V2 {
		files = v2
	}
	for name, value := range files {
		if err := os.WriteFile(filepath.Join(p.Dir, from, name), []byte(value), 0); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}

// goBelow moves this process into groups below its own, whose limits still apply.
func goBelow() error {
	self, err := cgroup.Host().Self()
	if err != nil {
		return err
	}
	for _, c := range []cgroup.Controller{cgroup.CPU, cgroup.CPUAcct} {
		p, ok := self.Place(c).Get()
		if !ok || filepath.Base(p.Dir) == "below" {
			continue
		}
		dir := filepath.Join(p.Dir, "below")
		if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) { // cpu and cpuacct may be one hierarchy
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(os.Getpid())), 0); err != nil {
			return err
		}
	}
	return nil
}

// verified is a replica whose limits can be verified.
func verified(t *testing.T, r platform.Replica) platform.LimitVerifier {
	t.Helper()
	v, ok := platform.As[platform.LimitVerifier](r)
	if !ok {
		t.Fatal("its limits cannot be verified")
	}
	return v
}

func TestALimitThatNoLongerHoldsIsSeen(t *testing.T) {
	needRoot(t)
	for name, want := range map[string]string{
		"leave-all":          "left its control group: it is in /",
		"lift-quota":         "its CPU limit was changed from 500m CPU in periods of 100ms to no limit",
		"raise-memory":       "its memory limit was changed",
		"child-elsewhere":    "left its control group: it is in /",
		"lower-cpu-above":    "v2 above its control group, is 200m CPU in periods of 100ms, lower than its 500m CPU",
		"lower-memory-above": "above its control group, is 134217728 bytes, lower than its 268435456 bytes",
		"daemon":             "", // it ends with the replica
		"same-limit":         "", "go-below": "", "healthz": "",
	} {
		t.Run(name, func(t *testing.T) {
			want := onThisHost(t, want)
			p := open(t, Options{}) // what is done to the groups above must not concern the next one
			u := server(t.TempDir())
			u.Limits = experiment.Limits{Replicas: 1, CPUMillis: 500, Memory: 256 << 20}
			running := start(t, p, u)
			r := running.Replicas()[0]
			v := verified(t, r)
			if why := v.LimitBroken(); why != "" {
				t.Fatalf("at the start: %s", why)
			}
			if answer := mustGet(t, r, "/"+name); answer != "" {
				t.Fatalf("it cannot do that: %s", answer)
			}
			pid := 0
			if name == "daemon" || name == "child-elsewhere" {
				pid = otherIn(t, u.Logs)
			}
			if why := v.LimitBroken(); want == "" && why != "" || !strings.Contains(why, want) {
				t.Errorf("%q, want %q", why, want)
			}
			if err := running.Stop(t.Context()); err != nil {
				t.Error(err)
			}
			if pid != 0 && !gone(pid) {
				t.Errorf("process %d still runs", pid)
			}
		})
	}
}

// A group that somebody froze serves nothing, and can be ended.
func TestAFrozenGroupIsSeen(t *testing.T) {
	p := open(t, Options{})
	running := start(t, p, server(t.TempDir()))
	r := running.Replicas()[0].(*replica)
	frozen := false
	for _, procs := range r.group.Joins() {
		file := filepath.Join(filepath.Dir(procs), "cgroup.freeze")
		if err := os.WriteFile(file, []byte("1"), 0); err == nil {
			frozen = true
		}
	}
	if !frozen || onThisHost(t, "v2 x") == "" {
		t.Skip("cgroup v2 only")
	}
	testkit.Until(t, "it is seen", func() bool {
		c, err := r.Counters()
		return err == nil && c.Stopped
	})
	if err := running.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

// onThisHost is a sentence that may be that of one version of cgroups only, as in "v2 its
// limit was lowered".
func onThisHost(t *testing.T, want string) string {
	t.Helper()
	self, err := cgroup.Host().Self()
	if err != nil {
		t.Fatal(err)
	}
	p, _ := self.Place(cgroup.CPU).Get()
	only, text, found := strings.Cut(want, " ")
	switch {
	case !found || only != "v1" && only != "v2":
		return want
	case only == p.Version.String():
		return text
	}
	t.Skipf("cgroup %s only", only)
	return ""
}

// A period that the experiment states is a part of the limit.
func TestAStatedPeriodIsVerified(t *testing.T) {
	needRoot(t)
	p := open(t, Options{})
	u := server(t.TempDir())
	u.Limits = experiment.Limits{Replicas: 1, CPUMillis: 500, Period: 100 * time.Millisecond}
	r := start(t, p, u).Replicas()[0]
	mustGet(t, r, "/same-limit")
	if why := verified(t, r).LimitBroken(); !strings.Contains(why, "its CPU limit was changed") {
		t.Errorf("%q", why)
	}
}

func TestAResizeBreaksNoLimit(t *testing.T) {
	p := open(t, Options{})
	u := server(t.TempDir())
	u.Limits = experiment.Limits{Replicas: 1, CPUMillis: 500, Memory: 256 << 20}
	running := start(t, p, u)
	v := verified(t, running.Replicas()[0])
	for _, l := range []experiment.Limits{{CPUMillis: 900, Memory: 512 << 20}, {}, {CPUMillis: 333, Memory: 300 << 20}} {
		if err := running.(platform.Resizer).Resize(t.Context(), l); err != nil {
			t.Fatal(err)
		}
		if why := v.LimitBroken(); why != "" {
			t.Errorf("after a resize to %+v: %s", l, why)
		}
	}
}

func TestARestartBreaksNoLimit(t *testing.T) {
	p := open(t, Options{RestartAfter: 1})
	u := server(t.TempDir())
	r := start(t, p, u).Replicas()[0]
	v := verified(t, r)
	get(t, r, "/exit")
	testkit.Until(t, "up again", func() bool {
		if why := v.LimitBroken(); why != "" {
			t.Fatal(why)
		}
		c, err := r.Counters()
		return err == nil && c.Up && c.Restarts == 1
	})
}

// A killed lab cannot end what left the control groups of its service: Clean finds it by
// its mark, or because the lab had seen it.
func TestAProcessElsewhereOfAKilledRunIsSwept(t *testing.T) {
	needRoot(t)
	for path, lab := range map[string]string{"/daemon": "lab", "/child-elsewhere": "watching-lab"} {
		t.Run(lab, func(t *testing.T) {
			state, logs := t.TempDir(), t.TempDir()
			c := exec.Command("/proc/self/exe", helper, lab, state, logs)
			out, err := c.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			testkit.Start(t, c)
			lines := bufio.NewScanner(out)
			lines.Scan()
			address, up := strings.CutPrefix(lines.Text(), "up ")
			if !up {
				testkit.Missing(t, errors.New(lines.Text()))
			}
			answer, err := http.Get("http://" + address + path)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			pid := otherIn(t, logs)
			if lab == "watching-lab" && (!lines.Scan() || !strings.Contains(lines.Text(), "left its control group")) {
				t.Fatalf("the lab said %q", lines.Text())
			}
			if err := c.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			c.Wait()
			if gone(pid) {
				t.Fatal("the process ended with its lab: this test shows nothing")
			}
			cleaned, err := Clean(Options{State: state})
			if err != nil {
				t.Fatal(err)
			}
			if !gone(pid) {
				t.Errorf("process %d still runs; removed %q", pid, cleaned.Removed)
			}
			nothingLeft(t, state)
		})
	}
}

// otherIn returns the process that wrote its pid into the only log of a folder.
func otherIn(t *testing.T, logs string) int {
	t.Helper()
	return testkit.Value(t, "the pid of the process elsewhere", func() (pid int, err error) {
		_, after, found := strings.Cut(logOf(t, logs), "stubborn ")
		if !found {
			return 0, errors.New("it has not written it")
		}
		_, err = fmt.Sscan(after, &pid)
		return pid, err
	})
}

// A service that a signal stopped differs from one that is idle or busy.
func TestAStoppedServiceAndAgentAreSeen(t *testing.T) {
	p := open(t, Options{Agent: "/proc/self/exe"})
	u := server(t.TempDir())
	r := start(t, p, u).Replicas()[0]
	stopped := func() bool {
		c, err := r.Counters()
		if err != nil {
			t.Fatal(err)
		}
		return c.Stopped
	}
	for range 2 {
		if stopped() {
			t.Error("a service that runs is stopped")
		}
	}
	pid := r.PIDs()[0]
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "it is stopped", stopped)
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "it runs", func() bool { return !stopped() })

	// One that has just used CPU is stopped at the first reading: a short stop has no other.
	mustGet(t, r, "/burn")
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "the signal holds it", func() bool {
		stat, err := proc.ReadStat(pid)
		return err == nil && stat.Held()
	})
	if !stopped() {
		t.Error("a busy service that a signal holds is not stopped")
	}
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}

	a, err := p.Agent(t.Context(), 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	agent, ok := platform.As[platform.StopReporter](a)
	if !ok || agent.Stopped() {
		t.Fatalf("an agent that runs is stopped, or it is not known: %v", ok)
	}
	if err := syscall.Kill(p.agentPID(a), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "the agent is stopped", agent.Stopped)
	if err := syscall.Kill(p.agentPID(a), syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

func (*local) agentPID(a platform.Agent) int { return a.(*agent).pid }
