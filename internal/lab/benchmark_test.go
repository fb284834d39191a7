package lab

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/platform"
)

// bare is a platform of processes without limits and counters. It runs only programs
// that end by themselves.
type bare struct {
	platform.Platform
	started func()
	dropped int64 // of each output
}

func (*bare) Name() string { return "bare" }

func (b *bare) StartOnce(_ context.Context, u platform.UnitSpec) (platform.Unit, error) {
	name := filepath.Join(u.Logs, u.Name+".log")
	out, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	p := &program{cmd: exec.Command(u.Command[0], u.Command[1:]...), output: name, dropped: b.dropped, ended: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = out, out
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { p.cmd.Wait(); close(p.ended) }()
	if b.started != nil {
		b.started()
	}
	return p, nil
}

// program is a unit and its only replica.
type program struct {
	cmd     *exec.Cmd
	output  string
	dropped int64
	ended   chan struct{}
	once    sync.Once
}

func (p *program) Replicas() []platform.Replica        { return []platform.Replica{p} }
func (p *program) Address() string                     { return "" }
func (p *program) Counters() (signals.Counters, error) { return signals.Counters{}, os.ErrNotExist }
func (p *program) ThrottleSample() (signals.ThrottleSample, error) {
	return signals.ThrottleSample{}, os.ErrNotExist
}
func (p *program) PIDs() []int            { return nil }
func (p *program) Ended() <-chan struct{} { return p.ended }
func (p *program) Output() string         { return p.output }
func (p *program) LogDropped() int64      { return p.dropped }
func (p *program) Failure() string {
	if p.cmd.ProcessState.Success() {
		return ""
	}
	return fmt.Sprintf("it ended with exit status %d", p.cmd.ProcessState.ExitCode())
}
func (p *program) Stop(context.Context) error {
	p.once.Do(func() { p.cmd.Process.Kill() }) // of one that has ended: no harm
	<-p.ended
	return nil
}

// benchmarking is an experiment with a shell script that measures itself.
func benchmarking(t *testing.T, script string, sets ...string) *experiment.Experiment {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no shell:", err)
	}
	text := fmt.Sprintf("name: bench\nservices: {mine: {command: [sh, -c, %q]}}\nload: {benchmark: true}\nmeasure: {duration: 60s, repeats: 2, interval: 100ms}\n", script)
	e, err := file.Parse("bench.yaml", []byte(text), sets)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// conducted runs an experiment and opens its record, which exists also after a failure.
func conducted(t *testing.T, ctx context.Context, p platform.Platform, e *experiment.Experiment) (*record.Record, error) {
	t.Helper()
	l := &Lab{Experiment: e, Platform: p, Dir: filepath.Join(t.TempDir(), "record")}
	runErr := l.Run(ctx)
	r, err := record.Open(l.Dir)
	if err != nil {
		t.Fatal(err, runErr)
	}
	return r, runErr
}

func TestABenchmarkIsRunToItsEndAndRead(t *testing.T) {
	e := benchmarking(t, `echo "goos: linux"; printf 'BenchmarkSort/n=10-2 \t500\t1250 ns/op\t16 B/op\n'; echo PASS; echo "to stderr" >&2`)
	r, err := conducted(t, t.Context(), &bare{}, e)
	if err != nil {
		t.Fatal(err)
	}
	var want []record.Benchmark
	for _, trial := range r.Trials {
		if trial.Outcome != record.Done && trial.Outcome != record.Disturbed { // by whoever works on this machine
			t.Errorf("trial %d: %s, %s", trial.Trial, trial.Outcome, trial.Why)
		}
		want = append(want, record.Benchmark{Trial: trial.Trial, Name: "Sort/n=10", Procs: 2, Iterations: 500,
			Values: []record.BenchmarkValue{{Value: 1.25e-6, Unit: "sec/op"}, {Value: 16, Unit: "B/op"}}})
	}
	if diff := cmp.Diff(want, printed(t, r)); diff != "" || len(want) < 2 || !r.Finished {
		t.Errorf("results of %d trials (-want +got):\n%s", len(want), diff)
	}
}

func printed(t *testing.T, r *record.Record) []record.Benchmark {
	t.Helper()
	var all []record.Benchmark
	for b, err := range r.Benchmarks() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, *b)
	}
	return all
}

func TestABenchmarkThatMeasuredNothingFailsItsTrial(t *testing.T) {
	for name, test := range map[string]struct {
		script string
		sets   []string
		want   []string
	}{
		"it ends with an error": {
			"printf 'BenchmarkA 1 5 ns/op\\n'; echo broken; exit 3", nil,
			[]string{"it ended with exit status 3; the end of ", "mine.log:\n\tBenchmarkA 1 5 ns/op\n\tbroken"},
		},
		"it prints nothing": {"true", nil, []string{"it printed no result in Go's benchmark format", "-test.bench=.; it printed nothing"}},
		"it prints something else": {
			"echo hello", nil, []string{"no result in Go's benchmark format", "log:\n\thello"},
		},
		"it does not end": {
			"echo begun; exec sleep 600", []string{"measure.duration=300ms"},
			[]string{"still running after 300ms, the time limit (measure.duration); raise it"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := conducted(t, t.Context(), &bare{}, benchmarking(t, test.script, test.sets...))
			if err == nil {
				t.Error("a run without a trial that could be completed is no error")
			}
			if len(r.Trials) != 2 || len(printed(t, r)) > 0 {
				t.Errorf("trials %+v, results %+v", r.Trials, printed(t, r))
			}
			for _, trial := range r.Trials {
				for _, want := range test.want {
					if trial.Outcome != record.Failed || !strings.Contains(trial.Why, want) {
						t.Errorf("trial %d: %s, %q; want %q in it", trial.Trial, trial.Outcome, trial.Why, want)
					}
				}
			}
		})
	}
}

// Results that were in the dropped middle of the output would be missed without a word.
func TestABenchmarkWhoseOutputWasCutFailsItsTrial(t *testing.T) {
	r, err := conducted(t, t.Context(), &bare{dropped: 5 << 20}, benchmarking(t, `printf 'BenchmarkA 1 5 ns/op\n'`))
	if err == nil || len(printed(t, r)) > 0 {
		t.Errorf("error %v, results %v; want a failed run without results", err, printed(t, r))
	}
	for _, trial := range r.Trials {
		if trial.Outcome != record.Failed || !strings.Contains(trial.Why, "5 MiB from the middle of its output") {
			t.Errorf("trial %d: %s, %q", trial.Trial, trial.Outcome, trial.Why)
		}
	}
}

func TestABenchmarkIsInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	r, err := conducted(t, ctx, &bare{started: stop}, benchmarking(t, "exec sleep 600"))
	if err != nil || len(r.Trials) != 1 || r.Trials[0].Outcome != record.Interrupted {
		t.Errorf("%v, trials %+v", err, r.Trials)
	}
}

func TestAPlatformWithoutJobsRefusesBenchmarks(t *testing.T) {
	l := &Lab{Experiment: benchmarking(t, "true"), Platform: struct{ platform.Platform }{&bare{}}, Dir: filepath.Join(t.TempDir(), "record")}
	err := l.Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), `run service "mine" as a benchmark: the platform bare runs services only`) {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(l.Dir); err == nil {
		t.Error("a record was made")
	}
}
