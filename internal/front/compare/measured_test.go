package compare

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/test/testkit"
)

// measuring makes benchmarks of a selection's cells: the p99 of each trial is the
// time of Sort.
func measuring(s *Selection) *Selection {
	for i := range s.Cells {
		c := &s.Cells[i]
		c.Plan.Load = experiment.Load{Benchmark: true}
		sort := summary.Benchmark{Name: "Sort/n=10", Unit: "sec/op"}
		for k := range c.Figures.PerTrial {
			t := &c.Figures.PerTrial[k]
			sort.Values = append(sort.Values, *t.P99/1000)
			*t = summary.TrialFigures{Trial: t.Trial, Throttled: t.Throttled}
		}
		memory := summary.Benchmark{Name: "Sort/n=10", Unit: "B/op", Values: []float64{16, 17}} // of two trials only
		other := summary.Benchmark{Name: "Map", Unit: "sec/op", Values: sort.Values[:1]}
		c.Figures.Benchmarks = []summary.Benchmark{sort, memory, other}
	}
	return s
}

func TestWhatMeasuredItselfHasItsOwnNames(t *testing.T) {
	var b bytes.Buffer
	if err := Benchmarks(&b, measuring(fixture("x", map[string][]float64{"1": quick, "6": slow}))); err != nil {
		t.Fatal(err)
	}
	names, values := read(t, b.Bytes())
	if len(names) != 2*(6+1) || names[0] != "Sort/n=10/service=go/procs=1" || names[6] != "Map/service=go/procs=1" || names[7] != "Sort/n=10/service=go/procs=6" {
		t.Errorf("%q", names)
	}
	if v := values["Sort/n=10/service=go/procs=6 sec/op"]; v != 0.715 {
		t.Errorf("last value %v", v)
	}
	if v := values["Sort/n=10/service=go/procs=1 B/op"]; v != 17 {
		t.Errorf("B/op %v", v)
	}
	if v := values["Sort/n=10/service=go/procs=1 throttled-%"]; v != 17.2 {
		t.Errorf("throttled %v", v)
	}
	if _, there := values["Map/service=go/procs=1 throttled-%"]; there {
		t.Error("one of six trials has its throttling: whose it is, is not known")
	}
}

func TestBenchstatReadsWhatMeasuredItself(t *testing.T) {
	testkit.Long(t, "builds benchstat")
	dir := t.TempDir()
	benchstat := filepath.Join(dir, "benchstat")
	if out, err := exec.Command("go", "build", "-o", benchstat, "golang.org/x/perf/cmd/benchstat").CombinedOutput(); err != nil {
		t.Skipf("benchstat cannot be built here: %v: %s", err, out)
	}
	file := func(name string, write func(*bytes.Buffer) error) string {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	both := func() *Selection { return measuring(fixture("x", map[string][]float64{"1": quick, "6": slow})) }
	one := file("one.txt", func(b *bytes.Buffer) error { return Benchmarks(b, both()) })
	pair := file("pair.txt", func(b *bytes.Buffer) error {
		s := both()
		return BenchmarkMatches(b, []Match{{s.Cells[0], s.Cells[1]}})
	})
	for _, args := range [][]string{{"-col", "/procs", one}, {"-col", "side", pair}} {
		out, err := exec.Command(benchstat, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("benchstat %v: %v\n%s", args, err, out)
		}
		if !strings.Contains(string(out), "+324.10% (p=0.002 n=6)") { // 166 to 704 ms
			t.Errorf("benchstat %v:\n%s", args, out)
		}
	}
}

func TestTrafficIsNotComparedWithABenchmark(t *testing.T) {
	a, b := fixture("a", map[string][]float64{"1": quick}), measuring(fixture("b", map[string][]float64{"1": quick}))
	_, err := Compare(matched(t, a, b), false)
	if err == nil || !strings.Contains(err.Error(), "load: A: closed loop, constant; B: none: it measures itself") {
		t.Errorf("error %v", err)
	}
}
