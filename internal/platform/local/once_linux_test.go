package local

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/test/testkit"
)

// program is a unit that does what a helper does.
func program(t *testing.T, words ...string) platform.UnitSpec {
	return platform.UnitSpec{Trial: 1, Name: "bench", Command: append([]string{"/proc/self/exe", helper}, words...), Logs: t.TempDir(), Limits: experiment.Limits{Replicas: 1}}
}

func startOnce(t *testing.T, p *local, u platform.UnitSpec) (platform.Unit, *onceReplica) {
	t.Helper()
	running, err := p.StartOnce(t.Context(), u)
	if err != nil {
		t.Fatal(err)
	}
	return running, running.Replicas()[0].(*onceReplica)
}

// ended waits for the end of a program.
func ended(t *testing.T, r *onceReplica) {
	t.Helper()
	select {
	case <-r.Ended():
	case <-time.After(testkit.Patience):
		t.Fatal("it did not end")
	}
}

func TestAProgramRunsToItsEndOnce(t *testing.T) {
	p := open(t, Options{RestartAfter: time.Millisecond})
	u := program(t, "say", "BenchmarkX 1 2 ns/op")
	u.Limits.CPUMillis = 500
	running, r := startOnce(t, p, u)
	ended(t, r)
	text, err := os.ReadFile(r.Output())
	if err != nil || r.Failure() != "" || !strings.HasPrefix(string(text), "BenchmarkX 1 2 ns/op\n") {
		t.Errorf("failure %q, output %q, %v", r.Failure(), text, err)
	}
	c, err := r.Counters() // of the group, which stays until Stop
	if err != nil || c.Up || c.Restarts != 0 || c.CPU == nil || *c.CPU <= 0 || c.CPULimit == nil || *c.CPULimit != 0.5 {
		t.Errorf("counters %+v, %v", c, err)
	}
	if err := running.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if err := running.Stop(t.Context()); err != nil {
		t.Errorf("a second time: %v", err)
	}
	if strings.Contains(logOf(t, u.Logs), "restarting it") {
		t.Error("it was started again")
	}
}

func TestTheFailureOfAProgramIsReported(t *testing.T) {
	p := open(t, Options{})
	for name, test := range map[string]struct {
		unit func() platform.UnitSpec
		want string
	}{
		"exit status":    {func() platform.UnitSpec { return program(t, "dying") }, "it ended with exit status 7"},
		"signal":         {func() platform.UnitSpec { return program(t, "suicide") }, "it was ended by signal 15"},
		"out of memory":  {func() platform.UnitSpec { u := doing(t, "hungry"); u.Limits.Memory = 32 << 20; return u }, "it was killed: out of memory: it reached its limit"},
		"left something": {func() platform.UnitSpec { return program(t, "leave", "deaf") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, r := startOnce(t, p, test.unit())
			ended(t, r)
			if got := r.Failure(); !strings.HasPrefix(got, test.want) || test.want == "" && got != "" {
				t.Errorf("failure %q, want %q", got, test.want)
			}
			if pids := r.PIDs(); len(pids) > 0 {
				testkit.Until(t, "what it left is gone", func() bool { return len(r.PIDs()) == 0 })
			}
		})
	}
}

func TestAProgramThatRunsIsUpUntilItIsStopped(t *testing.T) {
	p := open(t, Options{})
	running, r := startOnce(t, p, program(t, "deaf"))
	if c, err := r.Counters(); err != nil || !c.Up {
		t.Errorf("counters %+v, %v", c, err)
	}
	if sample, err := r.ThrottleSample(); err != nil || !sample.Up {
		t.Errorf("sample %+v, %v", sample, err)
	}
	if err := running.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	ended(t, r)
	if c, err := r.Counters(); err == nil {
		t.Errorf("counters of a group that is gone: %+v", c)
	}
}

func TestCloseEndsProgramsThatGoOn(t *testing.T) {
	p := open(t, Options{}) // closed, and looked at, by its clean-up
	startOnce(t, p, program(t, "deaf"))
}

func TestProgramsThatCannotBeRunToTheirEnd(t *testing.T) {
	p := open(t, Options{})
	for name, test := range map[string]struct {
		change func(*platform.UnitSpec)
		want   string
	}{
		"an image":        {func(u *platform.UnitSpec) { u.Command = nil }, `start "bench": no command`},
		"several at once": {func(u *platform.UnitSpec) { u.Limits.Replicas = 2 }, "2 replicas of a program that ends by itself"},
		"no such program": {func(u *platform.UnitSpec) { u.Command = []string{"./nothing-here"} }, "command "},
		"no such folder":  {func(u *platform.UnitSpec) { u.Dir = "/nonexistent" }, "/nonexistent"},
		"an unknown name": {func(u *platform.UnitSpec) { u.Command = append(u.Command, "${x}") }, "unknown name ${x}"},
	} {
		t.Run(name, func(t *testing.T) {
			u := program(t, "deaf")
			test.change(&u)
			if _, err := p.StartOnce(t.Context(), u); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q in it", err, test.want)
			}
		})
	}
}
