package analysis

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/test/testkit/fixture"
)

// A database may be several processes, as FerretDB is one in front of PostgreSQL. Its
// memory is that of all of them at one time.
func TestADependencysMemoryIsThatOfAllItsProcesses(t *testing.T) {
	db := func(trial, seq, process int, memory, peak int64) *signals.Frame {
		f := fixture.Server(seq, signals.Measure, 0.1, 10, 0)
		f.Trial, f.Of, f.Index = trial, "db", process
		f.Server.Memory, f.Server.MemoryPeak = &memory, &peak
		return f
	}
	unknown := db(1, 4, 0, 0, 0)
	unknown.Server.Memory, unknown.Server.MemoryPeak = nil, nil
	for _, c := range []struct {
		name   string
		frames []*signals.Frame
		want   *int64
	}{
		{"nothing was seen of it", nil, nil},
		{"nothing was measured", []*signals.Frame{unknown}, nil},
		{"one process: the kernel's peak", []*signals.Frame{db(1, 1, 0, 100, 130), db(1, 2, 0, 110, 130)}, new(int64(130))},
		{"two: the most at one time", []*signals.Frame{
			db(1, 1, 0, 100, 100), db(1, 1, 1, 10, 10),
			db(1, 2, 0, 60, 100), db(1, 2, 1, 70, 70),
			db(1, 3, 0, 20, 100), db(1, 3, 1, 80, 80),
		}, new(int64(130))},
		{"no less than the peak of one", []*signals.Frame{db(1, 1, 0, 100, 300), db(1, 1, 1, 10, 10)}, new(int64(300))},
		{"trials are not added up", []*signals.Frame{
			db(1, 1, 0, 100, 100), db(1, 1, 1, 10, 10), db(2, 1, 0, 90, 90), db(2, 1, 1, 30, 30),
		}, new(int64(120))},
		{"one of them gave no reading", []*signals.Frame{db(1, 1, 0, 100, 100), db(1, 1, 1, 10, 10), unknown, db(1, 4, 1, 20, 20)}, new(int64(110))},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := New(fixture.Experiment(experiment.Load{Users: &experiment.Target{Value: 10}}), []Attempt{{Trial: 1, Repeat: 1}, {Trial: 2, Repeat: 2}})
			b.Add(fixture.Client(1, signals.Measure, 10, 0))
			for _, f := range c.frames {
				b.Add(f)
			}
			var got *int64
			if all := b.Cells()[0].Dependencies; len(all) > 0 {
				got = all[0].PeakBytes
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("peak (-want +got):\n%s", d)
			}
		})
	}
}
