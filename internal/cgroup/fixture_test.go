package cgroup

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A fixture is a host layout as a text archive in testdata: its files, and in
// the file "want" what the package must answer for the process "self".

func TestFixtures(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			root, want := extract(t, name)
			if got := describe(t, root); got != want {
				t.Errorf("got\n%s\n%s", got, diff(want, got))
			}
		})
	}
}

// extract writes a fixture's files below a new directory. A name that ends in
// a slash is a directory, which is how to have a file that exists and cannot
// be read, also by root.
func extract(t *testing.T, name string) (root, want string) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	root = t.TempDir()
	for _, f := range parseTxtar(data) {
		if f.name == "want" {
			want = string(f.data)
			continue
		}
		writeFile(t, filepath.Join(root, filepath.FromSlash(f.name)), f.data, strings.HasSuffix(f.name, "/"))
	}
	return root, want
}

func writeFile(t testing.TB, name string, data []byte, isDir bool) {
	t.Helper()
	dir := filepath.Dir(name)
	if isDir {
		dir = name
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if isDir {
		return
	}
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

type txtarFile struct {
	name string
	data []byte
}

// parseTxtar parses the txtar format: a comment, then files that each begin
// with a line "-- NAME --".
func parseTxtar(b []byte) []txtarFile {
	var files []txtarFile
	for _, line := range bytes.SplitAfter(b, []byte("\n")) {
		mark := strings.TrimSpace(string(line))
		if len(mark) > 6 && strings.HasPrefix(mark, "-- ") && strings.HasSuffix(mark, " --") {
			files = append(files, txtarFile{name: mark[3 : len(mark)-3]})
		} else if n := len(files); n > 0 {
			files[n-1].data = append(files[n-1].data, line...)
		}
	}
	return files
}

// describe is everything that the package says about the process self of a
// host, one answer a line.
func describe(t *testing.T, root string) string {
	t.Helper()
	host := NewFS(root)
	g, err := host.Self()
	if err != nil {
		return strings.ReplaceAll(fmt.Sprintf("error: %v\n", err), root, "")
	}
	var b strings.Builder
	for c := Controller(0); c < controllers; c++ {
		place := g.Place(c)
		if p, ok := place.Get(); ok {
			fmt.Fprintf(&b, "%s: %s %s of %s\n", c, p.Version, p.Dir, p.Top)
		} else {
			fmt.Fprintf(&b, "%s: %s\n", c, place)
		}
	}
	describeLimits(&b, host, g)
	describeCounters(t, &b, g)
	return strings.ReplaceAll(shorten(b.String(), g), root, "")
}

// shorten replaces why a controller's place is unreadable by the controller's
// name wherever that is repeated.
func shorten(s string, g Group) string {
	for c := Controller(0); c < controllers; c++ {
		if err := g.Place(c).Err(); err != nil {
			first := strings.Index(s, err.Error()) + len(err.Error())
			s = s[:first] + strings.ReplaceAll(s[first:], err.Error(), "as "+c.String())
		}
	}
	return s
}

func describeLimits(b *strings.Builder, host FS, g Group) {
	for _, l := range []struct {
		name  string
		limit CPULimit
	}{{"cpu limit", g.CPULimit()}, {"own cpu limit", g.OwnCPULimit()}} {
		fmt.Fprintf(b, "%s: %s", l.name, l.limit.State)
		if l.limit.State == Limited {
			fmt.Fprintf(b, " to %v by %s", l.limit.CPUs, l.limit.Dir)
		}
		fmt.Fprintf(b, ", quota %v, period %v, burst %v", l.limit.Quota, l.limit.Period, l.limit.Burst)
		describeDoubt(b, l.limit.Hidden, l.limit.Err)
	}
	m := g.MemoryLimit()
	fmt.Fprintf(b, "memory limit: %s", m.State)
	if m.State == Limited {
		fmt.Fprintf(b, " to %d by %q", m.Bytes, m.Dir)
	}
	describeDoubt(b, m.Hidden, m.Err)
	fmt.Fprintf(b, "cpus: %v\naffinity: %v\n", g.CPUs(), host.Affinity(0))
}

func describeDoubt(b *strings.Builder, hidden bool, err error) {
	if hidden {
		b.WriteString(", ancestors hidden")
	}
	if err != nil {
		fmt.Fprintf(b, ", error: %v", err)
	}
	b.WriteByte('\n')
}

func describeCounters(t *testing.T, b *strings.Builder, g Group) {
	t.Helper()
	r, err := g.Open()
	if err != nil {
		fmt.Fprintf(b, "open: %v\n", err)
		return
	}
	defer r.Close()
	var cpu CPUStat
	var mem MemoryStat
	var psi Pressure
	for _, err := range []error{r.ReadCPU(&cpu), r.ReadMemory(&mem), r.ReadPressure(&psi)} {
		if err != nil {
			t.Errorf("read: %v", err)
		}
	}
	for _, line := range []struct {
		name  string
		value fmt.Stringer
	}{
		{"usage", cpu.Usage}, {"user", cpu.User}, {"system", cpu.System},
		{"periods", cpu.Periods}, {"throttled periods", cpu.ThrottledPeriods},
		{"throttled", cpu.Throttled}, {"throttled local", cpu.ThrottledLocal},
		{"bursts", cpu.Bursts}, {"burst", cpu.Burst},
		{"current", mem.Current}, {"peak", mem.Peak}, {"working set", mem.WorkingSet()},
		{"anon", mem.Anon}, {"file", mem.File}, {"inactive file", mem.InactiveFile},
		{"oom kills local", mem.OOMKillsLocal}, {"oom kills", mem.OOMKills},
		{"cpu some", psi.CPU.Some}, {"cpu full", psi.CPU.Full},
		{"memory some", psi.Memory.Some}, {"memory full", psi.Memory.Full},
		{"io some", psi.IO.Some}, {"io full", psi.IO.Full},
	} {
		fmt.Fprintf(b, "%s: %v\n", line.name, line.value)
	}
}

// diff lists the lines in which two texts differ.
func diff(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	var b strings.Builder
	for i := 0; i < len(w) || i < len(g); i++ {
		var wl, gl string
		if i < len(w) {
			wl = w[i]
		}
		if i < len(g) {
			gl = g[i]
		}
		if wl != gl {
			fmt.Fprintf(&b, "-%s\n+%s\n", wl, gl)
		}
	}
	return b.String()
}
