package compare

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"

	"github.com/millicore/millicore/test/testkit"
)

// read parses what was written, and fails on any line that is not of the format.
func read(t *testing.T, text []byte) (names []string, values map[string]float64) {
	t.Helper()
	values = map[string]float64{}
	r := benchfmt.NewReader(bytes.NewReader(text), "test")
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.Result:
			name := rec.Name.String()
			if side := rec.GetConfig("side"); side != "" {
				name = side + " " + name
			}
			names = append(names, name)
			for _, v := range rec.Values {
				values[name+" "+v.Unit] = v.Value
			}
		case *benchfmt.UnitMetadata:
		case *benchfmt.SyntaxError:
			t.Errorf("%v", rec)
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return names, values
}

func TestBenchmarksAreOfTheGoFormat(t *testing.T) {
	var b bytes.Buffer
	s := fixture("before", map[string][]float64{"1": quick, "6": slow})
	s.Cells[1].Plan.Vary[0].Value = ptr("a b/c=d-6")
	if err := Benchmarks(&b, s); err != nil {
		t.Fatal(err)
	}
	names, values := read(t, b.Bytes())
	if len(names) != 12 || names[0] != "Millicore/service=go/procs=1" || names[6] != "Millicore/service=go/procs=a_b_c_d_6" {
		t.Errorf("%q", names)
	}
	last := "Millicore/service=go/procs=1 "
	for unit, want := range map[string]float64{"p99-sec/op": 0.172, "requests/s": 378, "available-%": 100, "cpu-sec/op": 0.00265, "throttled-%": 17.2} {
		if got := values[last+unit]; got < want*0.999999 || got > want*1.000001 {
			t.Errorf("%s: %v, want %v", unit, got, want)
		}
	}
	if _, measured := values[last+"breaking-point"]; measured {
		t.Error("a breaking point that was not searched is in the file")
	}
}

func TestBothSidesShareTheirNames(t *testing.T) {
	var b bytes.Buffer
	s := fixture("before", map[string][]float64{"1": quick, "2": slow})
	if err := BenchmarkMatches(&b, []Match{{s.Cells[0], s.Cells[1]}}); err != nil {
		t.Fatal(err)
	}
	names, _ := read(t, b.Bytes())
	if len(names) != 12 || names[0] != "A Millicore/service=go" || names[11] != "B Millicore/service=go" {
		t.Errorf("%q", names)
	}
}

// TestBenchstatReadsThem gives the files to the real benchstat.
func TestBenchstatReadsThem(t *testing.T) {
	testkit.Long(t, "builds benchstat")
	dir := t.TempDir()
	benchstat := filepath.Join(dir, "benchstat")
	if out, err := exec.Command("go", "build", "-o", benchstat, "golang.org/x/perf/cmd/benchstat").CombinedOutput(); err != nil {
		t.Skipf("benchstat cannot be built here: %v: %s", err, out)
	}
	before, after := fixture("before", map[string][]float64{"1": quick}), fixture("after", map[string][]float64{"1": slow})
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
	a := file("a.txt", func(b *bytes.Buffer) error { return Benchmarks(b, before) })
	b := file("b.txt", func(b *bytes.Buffer) error { return Benchmarks(b, after) })
	both := file("both.txt", func(b *bytes.Buffer) error { return BenchmarkMatches(b, matched(t, before, after)) })
	for _, args := range [][]string{{a, b}, {"-col", "side", both}} {
		out, err := exec.Command(benchstat, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("benchstat %v: %v\n%s", args, err, out)
		}
		// 166 to 704 ms, by benchstat's own test.
		if !strings.Contains(string(out), "+324.10% (p=0.002 n=6)") {
			t.Errorf("benchstat %v:\n%s", args, out)
		}
	}
}
