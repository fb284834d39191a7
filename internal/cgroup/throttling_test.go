package cgroup

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestThrottlingAt(t *testing.T) {
	const pod = "/sys/fs/cgroup/a/b"
	_, root := openFixture(t, "nested-limits")
	writeFile(t, filepath.Join(root, pod, "cpu.stat"), []byte("nr_periods 9\nnr_throttled 4\nthrottled_usec 1\n"), false)
	g, err := NewFS(root).Self()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, dir string
		periods   Value[int64]
	}{
		{"the group itself", "/sys/fs/cgroup/a/b/c", ValueOf[int64](101)},
		{"the group that sets the limit", g.CPULimit().Dir, ValueOf[int64](9)},
		{"a group without the file", "/sys/fs/cgroup/a", Value[int64]{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if s, err := g.ThrottlingAt(tt.dir); err != nil || s.Periods != tt.periods {
				t.Errorf("got %v, %v; want %v", s.Periods, err, tt.periods)
			}
		})
	}
	for _, dir := range []string{"/sys/fs/cgroup/a/other", "/sys/fs/cgroup/a/b/c/d", "", "/"} {
		if s, err := g.ThrottlingAt(dir); err == nil || s.Periods.State() != Unreadable {
			t.Errorf("%q: got %v, %v; want an error: it is not above the group", dir, s.Periods, err)
		}
	}
	if err := os.RemoveAll(filepath.Join(root, pod)); err != nil {
		t.Fatal(err)
	}
	if s, err := g.ThrottlingAt(pod); !errors.Is(err, ErrGone) || s.Throttled.State() != Unreadable {
		t.Errorf("got %v, %v; want gone", s.Throttled, err)
	}
	if _, err := (Group{}).ThrottlingAt(pod); err != nil {
		t.Errorf("a group that was not located: got %v, want it in the values", err)
	}
}

func TestSelfForSomeControllers(t *testing.T) {
	_, root := openFixture(t, "v1-split")
	all, err := NewFS(root).Self()
	if err != nil {
		t.Fatal(err)
	}
	some, err := NewFS(root).Self(CPU, Memory)
	if err != nil {
		t.Fatal(err)
	}
	for c := Controller(0); c < controllers; c++ {
		asked := c == CPU || c == Memory
		got, want := some.Place(c), all.Place(c)
		if asked && got != want || !asked && got.State() != Unreadable {
			t.Errorf("%s: got %v, of all it is %v", c, got, want)
		}
	}
	if got, want := some.CPULimit(), all.CPULimit(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestReadFileEnds(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	writeFile(t, name, make([]byte, 10_000), false)
	for _, k := range []kind{
		{usual: 1, most: 10_000},
		{usual: 10_000, most: 10_000, atOnce: true}, // no room to see the end
		{usual: 20_000, most: 10_000, atOnce: true},
	} {
		if data, err := readFile(name, k); err != nil || len(data) != 10_000 {
			t.Errorf("%+v: got %d bytes, %v", k, len(data), err)
		}
		k.most--
		if _, err := readFile(name, k); !errors.Is(err, ErrMalformed) {
			t.Errorf("%+v: got %v, want it refused as longer than the kernel's file can be", k, err)
		}
	}
}
