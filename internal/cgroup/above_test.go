package cgroup

import (
	"errors"
	"path"
	"path/filepath"
	"testing"
)

func TestAbove(t *testing.T) {
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
			above, err := g.Above(CPU, tt.dir)
			if err != nil {
				t.Fatal(err)
			}
			r, err := above.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			var s CPUStat
			if err := r.ReadCPU(&s); err != nil || s.Periods != tt.periods {
				t.Errorf("got %v, %v; want %v", s.Periods, err, tt.periods)
			}
			if p, _ := above.Place(Memory).Get(); p.Dir != tt.dir {
				t.Errorf("memory is at %s", p.Dir)
			}
		})
	}
	for _, dir := range []string{"/sys/fs/cgroup/a/other", "/sys/fs/cgroup/a/b/c/d", "/sys/fs/cgroup/a/b/", "", "/"} {
		if got, err := g.Above(CPU, dir); err == nil {
			t.Errorf("%q: got %v, want an error: it is not above the group", dir, got)
		}
	}
	if _, err := (Group{}).Above(CPU, pod); err == nil {
		t.Error("a group that was not located has one above")
	}
}

// On v1 a controller whose hierarchy has another path has no group above that is known to
// be the same.
func TestAboveOfAnotherPath(t *testing.T) {
	place := func(dir string) Value[Place] {
		return ValueOf(Place{Version: V1, Dir: dir, Top: path.Dir(path.Dir(dir))})
	}
	g := Group{located: true}
	g.places[CPU], g.places[CPUAcct], g.places[Memory] = place("/cpu/a/b"), place("/cpuacct/a/b"), place("/memory/a/c")
	above, err := g.Above(CPU, "/cpu/a")
	if err != nil {
		t.Fatal(err)
	}
	if p, _ := above.Place(CPUAcct).Get(); p.Dir != "/cpuacct/a" {
		t.Errorf("got %v, want /cpuacct/a", p)
	}
	if got := above.Place(Memory); got.State() != Unreadable {
		t.Errorf("got %v, want unreadable", got)
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
