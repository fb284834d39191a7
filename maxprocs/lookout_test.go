package maxprocs

import (
	"os"
	"testing"
)

func TestLookout(t *testing.T) {
	f := newFixture(t)
	f.limit("300000")
	l := f.host.lookout()
	defer l.tracker.Close()
	want := func(what string, cpus float64) {
		t.Helper()
		if got := l.look().limit; got.CPUs != cpus {
			t.Errorf("%s: got %+v, want %v CPUs", what, got, cpus)
		}
	}
	want("at first", 3)
	if n := l.tracker.Files(); n != 2 {
		t.Errorf("it reads %d files, want those of box and pod", n)
	}
	want("unchanged", 3)
	f.limit("500000")
	want("the group's own has changed", 5)
	f.limitPod("200000")
	want("that above has changed", 2)

	f.write("proc/self/cgroup", "0::/pod\n") // the process is moved, and its old group stays
	f.limitPod("400000")
	want("that above has changed again, and so the group is located again", 4)
	f.write("proc/self/cgroup", "0::/pod/box\n")
	f.limit("100000")
	want("the same group as before", 4)
	for i := 2; i < relocate; i++ {
		want("before it is time to locate the group", 4)
	}
	want("the group is located again", 1)

	f.host.affinity = func() int { return 3 }
	l.host = f.host
	if v := l.look(); v.cpus != 3 || v.limit.CPUs != 1 {
		t.Errorf("got %+v, want the present affinity with the limit", v)
	}
	os.RemoveAll(f.path("proc"))
	f.limit("garbage")
	if v := l.look(); v.limit.State == 2 || v.limit.Err == nil {
		t.Errorf("got %+v, want an unknown limit", v)
	}
	f.write("proc/self/cgroup", "0::/pod/box\n")
	f.write("proc/1/mountinfo", mountinfoV2)
	f.limit("600000")
	f.limitPod("max")
	for i := 0; i < relocate; i++ {
		l.look()
	}
	want("it can be read again", 6)
}
