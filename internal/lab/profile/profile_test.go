package profile

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"
)

// cpu is a profile of two seconds: work takes 3 of 4 ns itself, of which one is
// in leaf, inlined into it.
func cpu() *profile.Profile {
	leaf := &profile.Function{ID: 1, Name: "main.leaf", Filename: "/home/a/b/leaf.go", StartLine: 7}
	work := &profile.Function{ID: 2, Name: "main.work", Filename: "/home/a/b/work.go"}
	rest := &profile.Function{ID: 3, Name: "runtime.rest"}
	inlined := &profile.Location{ID: 1, Line: []profile.Line{{Function: leaf}, {Function: work}}}
	plain := &profile.Location{ID: 2, Line: []profile.Line{{Function: work}}}
	other := &profile.Location{ID: 3, Line: []profile.Line{{Function: rest}}}
	return &profile.Profile{
		SampleType:    []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		DurationNanos: 2e9,
		Function:      []*profile.Function{leaf, work, rest},
		Location:      []*profile.Location{inlined, plain, other},
		Sample: []*profile.Sample{
			{Location: []*profile.Location{inlined, plain}, Value: []int64{1, 1e6}}, // recursive: work once
			{Location: []*profile.Location{plain}, Value: []int64{2, 2e6}},
			{Location: []*profile.Location{other}, Value: []int64{1, 1e6}},
		},
	}
}

func TestFromPprof(t *testing.T) {
	var p Profile
	if err := fromPprof(&p, cpu()); err != nil {
		t.Fatal(err)
	}
	want := []Function{
		{Name: "main.work", File: "b/work.go", SelfShare: 0.5, CumShare: 0.75, SelfMS: 2},
		{Name: "main.leaf", File: "b/leaf.go:7", SelfShare: 0.25, CumShare: 0.25, SelfMS: 1},
		{Name: "runtime.rest", File: "", SelfShare: 0.25, CumShare: 0.25, SelfMS: 1},
	}
	if diff := cmp.Diff(want, p.Top); diff != "" || p.Seconds != 2 || p.BusySeconds != 0.004 {
		t.Errorf("%v s, %v s busy:\n%s", p.Seconds, p.BusySeconds, diff)
	}
	heap := cpu()
	heap.SampleType[1].Type = "inuse_space"
	if err := fromPprof(&p, heap); err == nil || !strings.Contains(err.Error(), "not a CPU profile") {
		t.Errorf("a profile of the heap: %v", err)
	}
}

const v8 = `{"nodes":[
 {"id":1,"callFrame":{"functionName":"(root)","url":"","lineNumber":-1},"children":[2,3,5]},
 {"id":2,"callFrame":{"functionName":"(idle)","url":"","lineNumber":-1}},
 {"id":3,"callFrame":{"functionName":"handle","url":"file:///srv/app/server.js","lineNumber":9},"children":[4]},
 {"id":4,"callFrame":{"functionName":"","url":"node:internal/x","lineNumber":0}},
 {"id":5,"callFrame":{"functionName":"(garbage collector)","url":"","lineNumber":-1}}],
 "startTime":1000,"endTime":11000,"samples":[2,3,4,5,2],"timeDeltas":[0,4000,1000,2000,1000]}`

func TestCPUProfile(t *testing.T) {
	var raw cpuProfile
	if err := json.Unmarshal([]byte(v8), &raw); err != nil {
		t.Fatal(err)
	}
	made, err := raw.part()
	if err != nil {
		t.Fatal(err)
	}
	// A sample lasts until the next: idle 4 ms, handle 1, what it calls 2, the
	// collector 1, and idle to the end.
	want := []Function{
		{Name: "(anonymous)", File: "node:internal/x:1", SelfShare: 0.5, CumShare: 0.5, SelfMS: 2},
		{Name: "handle", File: "app/server.js:10", SelfShare: 0.25, CumShare: 0.75, SelfMS: 1},
		{Name: "(garbage collector)", File: "", SelfShare: 0.25, CumShare: 0.25, SelfMS: 1},
	}
	if diff := cmp.Diff(want, made.top()); diff != "" || made.seconds != 0.01 || made.total != 4e6 {
		t.Errorf("%v s, %d ns:\n%s", made.seconds, made.total, diff)
	}
	for name, change := range map[string]func(*cpuProfile){
		"a time is missing":    func(p *cpuProfile) { p.TimeDeltas = p.TimeDeltas[1:] },
		"it ends before":       func(p *cpuProfile) { p.EndTime = 0 },
		"it has no functions":  func(p *cpuProfile) { p.Nodes = nil },
		"it lasts for a month": func(p *cpuProfile) { p.EndTime = 3e12 },
	} {
		broken := raw
		change(&broken)
		if _, err := broken.part(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestReadOfSeveralProcesses(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "CPU.1.cpuprofile", v8)
	put(t, dir, "CPU.2.cpuprofile", v8)
	put(t, dir, "CPU.3.cpuprofile", v8[:200]) // cut short
	p, err := Read(os.DirFS(dir), ".")
	if err != nil {
		t.Fatal(err)
	}
	if p.BusySeconds != 0.008 || p.Top[0].SelfShare != 0.5 || len(p.Files) != 2 {
		t.Errorf("got %+v", p)
	}
	notes := strings.Join(p.Notes, "; ")
	if !strings.Contains(notes, "2 processes") || !strings.Contains(notes, "CPU.3.cpuprofile") {
		t.Errorf("notes: %s", notes)
	}
}

func TestReadOfNothing(t *testing.T) {
	if _, err := Read(os.DirFS(t.TempDir()), "."); !errors.Is(err, ErrNone) {
		t.Errorf("an empty folder: %v", err)
	}
	dir := t.TempDir()
	put(t, dir, CPUFile, "<html>")
	if _, err := Read(os.DirFS(dir), "."); err == nil || errors.Is(err, ErrNone) || !strings.Contains(err.Error(), CPUFile) {
		t.Errorf("files that are none: %v", err)
	}
}

func TestQuoteOption(t *testing.T) {
	if got := quoteOption(`/a b/"c"\d`); got != `"/a b/\"c\"\\d"` {
		t.Errorf("got %s", got)
	}
}

// FuzzRead reads folders whose files are foreign.
func FuzzRead(f *testing.F) {
	var packed bytes.Buffer
	if err := cpu().Write(&packed); err != nil {
		f.Fatal(err)
	}
	f.Add(packed.Bytes(), []byte(v8))
	f.Add([]byte{0x1f, 0x8b}, []byte("{}"))
	f.Add([]byte{}, []byte(`{"nodes":[{"id":1,"children":[1]}],"endTime":9,"samples":[1],"timeDeltas":[1]}`))
	f.Fuzz(func(t *testing.T, pprof, v8 []byte) {
		dir := t.TempDir()
		put(t, dir, CPUFile, string(pprof))
		put(t, dir, "CPU.1.cpuprofile", string(v8))
		p, err := Read(os.DirFS(dir), ".")
		if err != nil {
			return
		}
		if _, err := json.Marshal(p); err != nil {
			t.Errorf("not to be written as JSON: %v", err)
		}
		for _, f := range p.Top {
			if f.SelfShare < 0 || f.CumShare > 1.0001 || f.SelfShare > f.CumShare+1e-9 {
				t.Errorf("shares: %+v", f)
			}
		}
	})
}

func put(t testing.TB, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
