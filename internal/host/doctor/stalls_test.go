package doctor

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/memory"
	"github.com/millicore/millicore/internal/host/runtimes"
)

// filled is a service whose group is at its memory limit of 400 MiB, with this much of it that
// the kernel cannot drop.
func filled(unreclaimable int64) inspect.Process {
	p := short()
	current := p.Memory.Limit
	p.Info = runtimes.Info{Runtime: runtimes.Unknown}
	p.Memory.Current, p.Memory.Unreclaimable = &current, &unreclaimable
	p.Memory.Over = &memory.Change{Length: 10 * time.Second}
	return p
}

func TestStalledForMemory(t *testing.T) {
	const mib = 1 << 20
	counted := func(n int64) *int64 { return &n }
	stall := func(p *inspect.Process, some, full time.Duration) {
		p.Memory.Over.Some, p.Memory.Over.Full = &some, &full
	}
	pages := func(p *inspect.Process, refaults, major int64) {
		p.Memory.Over.Refaults, p.Memory.Over.MajorFaults = &refaults, &major
	}
	for _, test := range []struct {
		name   string
		kept   int64
		change func(*inspect.Process)
		want   []string
	}{
		{"page cache alone", 10 * mib, func(*inspect.Process) {}, nil},
		{"page cache alone, with the kernel's word", 10 * mib, func(p *inspect.Process) { stall(p, 999*time.Millisecond, 0); pages(p, 9_000_000, 0) }, nil},
		{"the first use of a file", 10 * mib, func(p *inspect.Process) { pages(p, 0, 9_000_000) }, nil},
		{"stalls", 200 * mib, func(p *inspect.Process) { stall(p, time.Second, 100*time.Millisecond) },
			[]string{"warning: at its memory limit of 400 MiB: threads were stalled for memory for 10% of the time"}},
		{"all threads at once", 200 * mib, func(p *inspect.Process) { stall(p, 6*time.Second, 2500*time.Millisecond) },
			[]string{"critical: at its memory limit of 400 MiB: threads were stalled for memory for 60% of the time"}},
		{"below the limit: the host's shortage", 200 * mib, func(p *inspect.Process) { stall(p, 6*time.Second, 6*time.Second); *p.Memory.Current = 359 * mib }, nil},
		{"pages in use are evicted", 300 * mib, func(p *inspect.Process) { pages(p, 1000, 5000) },
			[]string{"warning: at its memory limit of 400 MiB: it read 100 pages a second again that had been evicted"}},
		{"a few of them", 300 * mib, func(p *inspect.Process) { pages(p, 999, 5000) }, nil},
		{"near its limit, which says more", 360 * mib, func(p *inspect.Process) { stall(p, 6*time.Second, 6*time.Second) },
			[]string{"warning: uses 90% of its memory limit of 400 MiB"}},
		{"memory.high, without the kernel's word", 10 * mib, func(p *inspect.Process) {
			high := p.Memory
			high.Limit, high.High, high.Unreclaimable = 200*mib, true, counted(180*mib)
			high.Over = &memory.Change{Length: 10 * time.Second, Held: counted(42)}
			p.Bounds = []inspect.Memory{high}
		}, []string{"warning: at memory.high of 200 MiB: its processes were held up 42 times during the watch"}},
		{"memory.high with page cache", 10 * mib, func(p *inspect.Process) {
			high := p.Memory
			high.Limit, high.High, high.Unreclaimable = 200*mib, true, counted(179*mib)
			high.Over = &memory.Change{Length: 10 * time.Second, Held: counted(42)}
			p.Bounds = []inspect.Memory{high}
		}, nil},
		{"memory.high, which held nothing up for long", 10 * mib, func(p *inspect.Process) {
			high, none := p.Memory, time.Duration(0)
			high.Limit, high.High, high.Unreclaimable = 200*mib, true, counted(199*mib)
			high.Over = &memory.Change{Length: 10 * time.Second, Held: counted(42), Some: &none, Full: &none}
			p.Bounds = []inspect.Memory{high}
		}, nil},
		{"memory.high without a limit", 10 * mib, func(p *inspect.Process) {
			high := p.Memory
			high.High, high.Unreclaimable = true, counted(390*mib)
			high.Over = &memory.Change{Length: 10 * time.Second, Held: counted(1)}
			p.Memory, p.Bounds = inspect.Memory{State: inspect.Unlimited, Group: "/a"}, []inspect.Memory{high}
		}, []string{"warning: at memory.high of 400 MiB: its processes were held up 1 time during the watch"}},
		{"a parent's higher limit, which others fill", 10 * mib, func(p *inspect.Process) {
			parent := p.Memory
			parent.Limit, parent.SetBy, parent.Unreclaimable, parent.Current = 600*mib, "/", counted(588*mib), counted(600*mib)
			p.Bounds = []inspect.Memory{parent}
		}, []string{"critical: uses 98% of its memory limit of 600 MiB"}},
	} {
		p := filled(test.kept)
		test.change(&p)
		if diff := cmp.Diff(test.want, titles(examine(p))); diff != "" {
			t.Errorf("%s: -want +got\n%s", test.name, diff)
		}
	}
}

// Of a shared limit the process with most memory of its own is named, once, whoever uses most
// CPU time; memory.high is nothing that an object can be given as a memory limit.
func TestWhatIsSaidOfABound(t *testing.T) {
	small, large := filled(390<<20), filled(390<<20)
	small.Used, small.Anon, large.PID, large.Anon, large.Memory.Group = time.Minute, 1<<20, 77, 380<<20, "/a/b"
	all := examine(small, large)
	if len(all) != 1 || all[0].PID != 77 || len(all[0].Changes) != 1 || all[0].Changes[0].Memory != 500<<20 {
		t.Fatalf("a shared limit: %+v", all)
	}
	files, rate := filled(300<<20), int64(5000)
	files.Info = goService(2, 2).Info // GOMEMLIMIT below the limit would leave its heap as it is
	files.Memory.Over.Refaults, files.Memory.Over.MajorFaults = &rate, &rate
	all = examine(files)
	if len(all) != 1 || !cmp.Equal(all[0].Changes, []Change{{Memory: 500 << 20}}) ||
		!cmp.Equal(all[0].Fix, []string{"raise the memory limit to 500 MiB, or use less memory: what it leaves is too little for its programs and files"}) {
		t.Errorf("files: %+v", all)
	}
	high, n := filled(390<<20), int64(7)
	high.Memory.High, high.Memory.Over.Held = true, &n
	high.Bounds, high.Memory = []inspect.Memory{high.Memory}, inspect.Memory{State: inspect.Unlimited}
	all = examine(high)
	if len(all) != 1 || len(all[0].Changes) != 0 {
		t.Fatalf("memory.high: %+v", all)
	}
	if diff := cmp.Diff([]string{"raise memory.high, or use less memory"}, all[0].Fix); diff != "" {
		t.Error(diff)
	}
	want := []string{"memory.high of 400 MiB set by its own group /a", "390 MiB in use without page cache, 400 MiB with it", "over 10 s: held up 7 times by memory.high"}
	if diff := cmp.Diff(want, all[0].Evidence); diff != "" {
		t.Error(diff)
	}
}
