package doctor

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/host/caches"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/runtimes"
)

// keeping is a server that uses 40 MiB of 256 and has a setting for its memory.
func keeping(c caches.Setting) inspect.Process {
	p := short()
	used := int64(40 << 20)
	p.Memory.Limit, p.Memory.Unreclaimable, p.Cache = 256<<20, &used, &c
	p.Info = runtimes.Info{Runtime: runtimes.Unknown}
	p.Exe, p.Command = "/usr/bin/memcached", []string{"memcached", "-c", "1024", "-m", "1024"}
	return p
}

func TestACacheAboveTheLimit(t *testing.T) {
	size := caches.Setting{Name: "-m", Bytes: 1 << 30, Place: "the command", Option: "1024", At: 4, Fits: 0.75}
	children := caches.Setting{Name: "pm.max_children", Children: 40, Place: "/etc/pool.conf", Fits: 0.75}
	child := func(pid int) inspect.Process {
		p := short()
		p.PID, p.Parent, p.Anon, p.Exe, p.Info = pid, 1234, 12<<20, "/usr/bin/memcached", runtimes.Info{Runtime: runtimes.Unknown}
		p.Memory = keeping(size).Memory
		return p
	}
	for _, test := range []struct {
		name   string
		of     caches.Setting
		change func(*inspect.Process)
		others []inspect.Process
		want   []string
		first  Change
	}{
		{"fits", with2(size, 230<<20), nil, nil, nil, Change{}},
		{"does not fit", with2(size, 231<<20), nil, nil, []string{"warning: -m of 231 MiB does not fit into the memory limit of 256 MiB"},
			Change{Setting: "-m", File: "the command", Text: "192", Command: []string{"memcached", "-c", "1024", "-m", "192"}}},
		{"without a limit", size, func(p *inspect.Process) { p.Memory.State = inspect.Unlimited }, nil, nil, Change{}},
		{"in a file", caches.Setting{Name: "pool", Bytes: 1 << 30, Place: "/etc/my.cnf", Fits: 0.5}, nil, nil,
			[]string{"warning: pool of 1 GiB does not fit into the memory limit of 256 MiB"}, Change{Setting: "pool", File: "/etc/my.cnf", Text: "128"}},
		{"a pool of processes", children, nil, []inspect.Process{child(2), child(3)},
			[]string{"warning: pm.max_children = 40 allows 40 processes of 12 MiB each, 480 MiB together: the memory limit is 256 MiB"},
			Change{Setting: "pm.max_children", File: "/etc/pool.conf", Value: 16}},
		{"a pool without processes", children, nil, nil, nil, Change{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := keeping(test.of)
			p.PID = 1234
			if test.change != nil {
				test.change(&p)
			}
			all := examine(append([]inspect.Process{p}, test.others...)...)
			if diff := cmp.Diff(test.want, titles(all)); diff != "" {
				t.Fatalf("-want +got\n%s", diff)
			}
			if len(all) > 0 {
				if diff := cmp.Diff(test.first, all[0].Changes[0]); diff != "" {
					t.Errorf("the change: -want +got\n%s", diff)
				}
			}
		})
	}
	// A worker has the command of its master.
	p, worker := keeping(size), keeping(size)
	p.PID, worker.PID, worker.Parent = 1234, 1235, 1234
	if all := examine(p, worker); len(all) != 1 || all[0].PID != 1234 {
		t.Errorf("a worker: %q", titles(all))
	}
}

func with2(c caches.Setting, bytes int64) caches.Setting {
	c.Bytes, c.Option = bytes, "1024"
	return c
}

// A program at its GOMEMLIMIT that uses all its CPU time, under a memory limit with room.
func TestCollecting(t *testing.T) {
	at := func(change func(*inspect.Process)) []string {
		p := short()
		used := int64(118 << 20)
		p.Memory.Limit, p.Memory.Unreclaimable, p.Anon = 256<<20, &used, 115<<20
		p.Info.Env = map[string]string{"GOMEMLIMIT": "120MiB"}
		p.Info.Parallelism.Value = 2
		cpu := 4500 * time.Millisecond * 4
		p.Throttling = &inspect.Throttling{Watch: &inspect.Counts{Length: 10 * time.Second, Periods: 100, Used: &cpu}}
		change(&p)
		var all []string
		for _, f := range examine(p) {
			if f.Rule == AtGOMEMLIMIT {
				all = append(all, f.Changes[0].String())
			}
		}
		return all
	}
	for _, test := range []struct {
		name   string
		change func(*inspect.Process)
		want   []string
	}{
		{"at its limit", func(*inspect.Process) {}, []string{"set GOMEMLIMIT=230MiB"}},
		{"below it", func(p *inspect.Process) { p.Anon = 101 << 20 }, nil},
		{"no room above it", func(p *inspect.Process) {
			p.Info.Env["GOMEMLIMIT"], p.Anon, *p.Memory.Unreclaimable = "175MiB", 175<<20, 176<<20
		}, nil},
		{"others share the limit", func(p *inspect.Process) { *p.Memory.Unreclaimable = 130 << 20 }, nil},
		{"CPU time to spare", func(p *inspect.Process) { *p.Throttling.Watch.Used = 10 * time.Second }, nil},
		{"no GOMEMLIMIT", func(p *inspect.Process) { p.Info.Env = nil }, nil},
		{"no limit", func(p *inspect.Process) { p.Memory.State = inspect.Unlimited }, nil},
	} {
		if diff := cmp.Diff(test.want, at(test.change)); diff != "" {
			t.Errorf("%s: -want +got\n%s", test.name, diff)
		}
	}
}
