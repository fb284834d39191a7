package inspect

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/host/memory"
)

// Each bound that counts for a process is read with the use of the group that sets it, before
// and after the watch.
func TestMemoryBounds(t *testing.T) {
	h := newTree(t)
	h.group("/", 0, 0, 0)
	h.group("/pod", 0, 0, 0)
	h.group("/pod/c", 0, 0, 0)
	h.process(10, 1, "api", "/pod/c", "", "/app/api")
	h.write("sys/fs/cgroup/memory.max", "max\n")
	use := func(dir string, current, active, refaults, major, high, stalled string) {
		h.write(dir+"/memory.current", current+"\n")
		h.write(dir+"/memory.stat", "anon 1\ninactive_file 1000\nactive_file "+active+"\nslab_reclaimable 24\nworkingset_refault_anon 5\nworkingset_refault_file "+refaults+"\npgmajfault "+major+"\n")
		h.write(dir+"/memory.events.local", "low 0\nhigh "+high+"\nmax 0\noom 0\noom_kill 2\n")
		h.write(dir+"/memory.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total="+stalled+"\nfull avg10=0.00 avg60=0.00 avg300=0.00 total="+stalled+"\n")
	}
	const pod, own = "sys/fs/cgroup/pod", "sys/fs/cgroup/pod/c"
	h.write(pod+"/memory.max", "300000\n")
	h.write(own+"/memory.max", "200000\n")
	h.write(own+"/memory.high", "150000\n")
	use(pod, "280000", "2000", "100", "10", "0", "1000000")
	use(own, "149000", "3000", "200", "20", "30", "2000000")
	s := New(h.root)
	now := time.Unix(1000, 0)
	s.now = func() time.Time { return now }
	s.sleep = func(_ context.Context, d time.Duration) {
		now = now.Add(d)
		use(pod, "290000", "2500", "700", "510", "0", "1500000")
		use(own, "149500", "3500", "900", "420", "36", "4000000")
	}
	host, err := s.Scan(context.Background(), Only{}, 4*time.Second)
	if err != nil || len(host.Processes) != 1 {
		t.Fatalf("%+v, %v", host, err)
	}
	n := func(n int64) *int64 { return &n }
	d := func(d time.Duration) *time.Duration { return &d }
	ofOwn := &memory.Change{Length: 4 * time.Second, Some: d(2 * time.Second), Full: d(2 * time.Second), Refaults: n(700), MajorFaults: n(400), Held: n(6)}
	ofPod := &memory.Change{Length: 4 * time.Second, Some: d(500 * time.Millisecond), Full: d(500 * time.Millisecond), Refaults: n(600), MajorFaults: n(500), Held: n(0)}
	limit := Memory{State: Limited, Limit: 200_000, Group: "/pod/c", SetBy: "/pod/c",
		Current: n(149_500), WorkingSet: n(148_500), Unreclaimable: n(144_976), OOMKills: n(2), Over: ofOwn}
	high := limit
	high.Limit, high.High, high.OOMKills = 150_000, true, nil
	above := Memory{State: Limited, Limit: 300_000, Group: "/pod/c", SetBy: "/pod",
		Current: n(290_000), WorkingSet: n(289_000), Unreclaimable: n(286_476), OOMKills: n(2), Over: ofPod}
	p := host.Processes[0]
	if diff := cmp.Diff(limit, p.Memory); diff != "" {
		t.Errorf("the limit: -want +got\n%s", diff)
	}
	if diff := cmp.Diff([]Memory{high, above}, p.Bounds); diff != "" {
		t.Errorf("the others: -want +got\n%s", diff)
	}
	if rate := p.Memory.Over.Again(); rate != 100 {
		t.Errorf("%v pages a second", rate)
	}
}

// A group that is far from its bounds is not read again after a short watch.
func TestAGroupWithMemoryToSpareIsReadOnce(t *testing.T) {
	for watch, again := range map[time.Duration]bool{10 * time.Second: false, time.Minute: true} {
		h := newTree(t)
		h.group("/a", 0, 0, 0)
		h.process(10, 1, "api", "/a", "", "/app/api")
		s := New(h.root)
		now := time.Unix(1000, 0)
		s.now = func() time.Time { return now }
		s.sleep = func(_ context.Context, d time.Duration) {
			now = now.Add(d)
			h.write("sys/fs/cgroup/a/memory.current", "268435456\n")
		}
		host, err := s.Scan(context.Background(), Only{}, watch)
		if err != nil {
			t.Fatal(err)
		}
		if m := host.Processes[0].Memory; (m.Over != nil) != again || (*m.Current == 256<<20) != again {
			t.Errorf("watched for %s: %d bytes, %+v", watch, *m.Current, m.Over)
		}
	}
}
