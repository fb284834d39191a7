package cgroup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// openFixture opens the group of a fixture.
func openFixture(t testing.TB, name string) (*Reader, string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	for _, f := range parseTxtar(data) {
		writeFile(t, filepath.Join(root, filepath.FromSlash(f.name)), f.data, strings.HasSuffix(f.name, "/"))
	}
	g, err := NewFS(root).Self()
	if err != nil {
		t.Fatal(err)
	}
	r, err := g.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r, root
}

// readings are all that a Reader does over and over.
func readings(r *Reader) map[string]func() error {
	var cpu CPUStat
	var mem MemoryStat
	var psi Pressure
	return map[string]func() error{
		"ReadThrottling": func() error { return r.ReadThrottling(&cpu) },
		"ReadCPU":        func() error { return r.ReadCPU(&cpu) },
		"ReadMemory":     func() error { return r.ReadMemory(&mem) },
		"ReadPressure":   func() error { return r.ReadPressure(&psi) },
	}
}

func allocatesNothing(t *testing.T, r *Reader) {
	t.Helper()
	for name, read := range readings(r) {
		if n := testing.AllocsPerRun(100, func() {
			if err := read(); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

func TestReaderAllocatesNothing(t *testing.T) {
	for _, name := range []string{"v1-split", "v2-systemd", "hybrid"} {
		t.Run(name, func(t *testing.T) {
			r, _ := openFixture(t, name)
			allocatesNothing(t, r)
		})
	}
}

func TestReaderSeesWhatIsNew(t *testing.T) {
	r, root := openFixture(t, "v2-systemd")
	file := filepath.Join(root, "sys/fs/cgroup/system.slice/web.service/cpu.stat")
	var s CPUStat
	for _, step := range []struct {
		text string
		want Value[int64]
	}{
		{"nr_periods 7\n", ValueOf[int64](7)},
		{"nr_periods 1234567890\n", ValueOf[int64](1234567890)},
		{"usage_usec 1\n", Value[int64]{}}, // the controller was switched off
	} {
		if err := os.WriteFile(file, []byte(step.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := r.ReadThrottling(&s); err != nil || s.Periods != step.want {
			t.Errorf("after %q: got %v, %v; want %v", step.text, s.Periods, err, step.want)
		}
	}
}

func TestFileLongerThanTheBuffer(t *testing.T) {
	r, root := openFixture(t, "v2-systemd")
	file := filepath.Join(root, "sys/fs/cgroup/system.slice/web.service/cpu.stat")
	if err := os.WriteFile(file, []byte(strings.Repeat("nr_periods 7\n", 1000)), 0o644); err != nil {
		t.Fatal(err)
	}
	var s CPUStat
	if err := r.ReadThrottling(&s); err != nil || !errors.Is(s.Periods.Err(), ErrMalformed) {
		t.Errorf("got %v, %v; want unreadable, not the part that fits", s.Periods, err)
	}
}

func TestClosedReader(t *testing.T) {
	r, _ := openFixture(t, "v2-systemd")
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	for name, read := range readings(r) {
		if err := read(); !errors.Is(err, os.ErrClosed) {
			t.Errorf("%s: got %v, want ErrClosed", name, err)
		}
	}
	if err := r.Close(); err != nil {
		t.Errorf("closed again: %v", err)
	}
}

func TestExplain(t *testing.T) {
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "there"), nil, true)
	host := NewFS(root)
	for _, tt := range []struct {
		name, dir string
		err       error
		want      error // nil for absent
	}{
		{"no such file in the group", "/there", syscall.ENOENT, nil},
		{"no such file, and no group", "/gone", syscall.ENOENT, ErrGone},
		{"not supported: PSI that is switched off", "/there", syscall.ENOTSUP, nil},
		{"refused", "/there", syscall.EACCES, fs.ErrPermission},
		{"a directory", "/there", syscall.EISDIR, syscall.EISDIR},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := host.explain(tt.dir, &fs.PathError{Op: "read", Path: "file", Err: tt.err})
			if tt.want == nil && err != nil || !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}
