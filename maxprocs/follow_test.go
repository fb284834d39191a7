package maxprocs

import (
	"context"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/cgroup/testkit"
)

func TestFollow(t *testing.T) {
	begin(t, 7)
	f := newFixture(t)
	f.limit("300000")
	r, undo := f.set(Follow(context.Background()))
	if !r.Following {
		t.Error("it is not followed")
	}
	wantProcs(t, 3)

	f.limit("450000")
	untilProcs(t, 5)
	f.limitPod("100000")
	untilProcs(t, 2)
	f.limitPod("400000")
	untilProcs(t, 4)
	f.write("proc/self/cgroup", "0::/pod/other\n") // the process was moved
	f.write("sys/fs/cgroup/pod/other/cpu.max", "50000 100000\n")
	f.limitPod("400000")
	f.write("sys/fs/cgroup/pod/other/cpu.max", "200000 100000\n")
	untilProcs(t, 2)

	undo()
	wantProcs(t, 7)
}

func TestFollowALimitThatComesAndGoes(t *testing.T) {
	begin(t, 7)
	f := newFixture(t)
	r, undo := f.set(Follow(context.Background()))
	if r.Why != NoLimit || !r.Following {
		t.Errorf("got %+v, want no limit, followed", r)
	}
	f.limit("300000")
	untilProcs(t, 3)
	f.limit("max")
	untilProcs(t, 8)
	f.limit("400000")
	untilProcs(t, 4)
	undo()
	wantProcs(t, 7)
}

// passes waits until the limit has been looked at twice more, so that whatever
// was to come of it has come.
func (f *fixture) count() (passes func()) {
	looks := make(chan struct{})
	affinity := f.host.affinity
	f.host.affinity = func() int {
		select {
		case looks <- struct{}{}:
		default:
		}
		return affinity()
	}
	return func() {
		for range [3]int{} { // the first may have begun before
			<-looks
		}
	}
}

func TestFollowKeepsWhatCannotBeRead(t *testing.T) {
	begin(t, 7)
	f := newFixture(t)
	passes := f.count()
	f.limit("300000")
	f.set(Follow(context.Background()))
	f.limit("garbage")
	passes()
	wantProcs(t, 3)
	os.RemoveAll(f.path("proc"))
	passes()
	wantProcs(t, 3)
	f.write("proc/self/cgroup", "0::/pod/box\n")
	f.write("proc/1/mountinfo", mountinfoV2)
	f.limit("200000")
	untilProcs(t, 2)
}

// A group above that can no longer be read may still have its lower limit.
func TestFollowDoesNotRaiseWhatIsOnlyPartlyKnown(t *testing.T) {
	begin(t, 7)
	f := newFixture(t)
	passes := f.count()
	f.limit("500000")
	f.limitPod("300000")
	f.set(Follow(context.Background()))
	wantProcs(t, 3)
	f.limitPod("garbage")
	passes()
	wantProcs(t, 3)
	f.limit("200000")
	untilProcs(t, 2)
	f.limit("500000")
	f.limitPod("400000")
	untilProcs(t, 4)
}

func TestFollowLeavesTheProgramsOwnCall(t *testing.T) {
	begin(t, 7)
	f := newFixture(t)
	passes := f.count()
	f.limit("300000")
	f.set(Follow(context.Background()))
	runtime.GOMAXPROCS(5)
	passes()
	wantProcs(t, 5)
	f.limit("400000")
	untilProcs(t, 4)
}

func TestFollowEndsWithItsContext(t *testing.T) {
	begin(t, 7)
	f := newFixture(t)
	f.limit("300000")
	ctx, cancel := context.WithCancel(context.Background())
	_, undo := f.set(Follow(ctx))
	f.limit("400000")
	untilProcs(t, 4)
	cancel()
	testkit.Until(t, "following ends", func() (bool, any) {
		mu.Lock()
		defer mu.Unlock()
		return inForce.timer == nil, runtime.GOMAXPROCS(0)
	})
	wantProcs(t, 4) // as it then was
	undo()
	wantProcs(t, 7)

	r, _ := f.set(Follow(ctx))
	if r.Following || r.After != 4 {
		t.Errorf("got %+v, want it set once, by a context that had ended", r)
	}
}

func TestFollowNeedsControlGroups(t *testing.T) {
	f := newFixture(t)
	os.Remove(f.path("proc/self/cgroup"))
	if r, _ := f.set(Follow(context.Background())); r.Following {
		t.Error("there is nothing to follow")
	}
}

func TestOnChange(t *testing.T) {
	begin(t, 7)
	f := newFixture(t)
	f.limit("300000")
	changes := make(chan Result)
	_, undo := f.set(Follow(context.Background()), OnChange(func(r Result) { changes <- r }))
	f.limit("500000")
	if r := <-changes; r.Before != 3 || r.After != 5 || r.Why != FromLimit || r.Limit.CPUs != 5 || !r.Following {
		t.Errorf("got %+v, want 3 to 5", r)
	}
	f.limit("50000")
	if r := <-changes; r.Before != 5 || r.After != 2 || r.Why != Minimum {
		t.Errorf("got %+v, want 5 to 2", r)
	}
	runtime.GOMAXPROCS(4) // as the runtime does, or the program
	if r := <-changes; r.Before != 2 || r.After != 4 {
		t.Errorf("got %+v, want 2 to 4", r)
	}
	undo()
}

// The callback about a change may call Undo.
func TestUndoFromOnChange(t *testing.T) {
	begin(t, 7)
	f := newFixture(t)
	f.limit("300000")
	undone := make(chan struct{})
	undos := make(chan func(), 1)
	_, undo := f.set(Follow(context.Background()), OnChange(func(Result) {
		(<-undos)()
		close(undone)
	}))
	undos <- undo
	f.limit("500000")
	<-undone
	wantProcs(t, 7)
}

// A look that hangs holds up neither an undo nor another Set, and has no effect
// when it comes back.
func TestUndoWhileALookHangs(t *testing.T) {
	begin(t, 7)
	f := newFixture(t)
	f.limit("300000")
	hangs, release, back := make(chan struct{}), make(chan struct{}), make(chan struct{})
	first := true
	f.host.affinity = func() int {
		if first {
			first = false // Set's own
			return 8
		}
		close(hangs)
		<-release
		defer close(back)
		return 8
	}
	_, undo := f.set(Follow(context.Background()))
	<-hangs
	f.limit("500000")
	undo()
	wantProcs(t, 7)
	close(release)
	<-back
	mu.Lock()
	defer mu.Unlock()
	wantProcs(t, 7)
	if inForce != nil {
		t.Error("something is still in force")
	}
}

// A change is taken up by the first look that begins after it, and two looks fit
// into the second within which it is to be: that is the promise, without a clock.
func TestFollowTakesUpAChangeAtTheNextLook(t *testing.T) {
	if 2*thisHost.interval > time.Second {
		t.Errorf("a look every %v: two do not fit into a second", thisHost.interval)
	}
	begin(t, 7)
	f := newFixture(t)
	looks, look := make(chan struct{}), make(chan struct{})
	first := true
	f.host.affinity = func() int {
		if !first { // Set's own
			looks <- struct{}{}
			<-look
		}
		first = false
		return 8
	}
	f.limit("300000")
	ctx, cancel := context.WithCancel(context.Background())
	f.set(Follow(ctx))
	for i, procs := range []int{3, 5, 2, 6} {
		<-looks // the one before is over, and what came of it is done
		wantProcs(t, procs)
		f.limit([]string{"500000", "200000", "600000", "600000"}[i])
		look <- struct{}{}
	}
	<-looks
	cancel()
	look <- struct{}{}
}

// endsWith waits until no more goroutines are there than before.
func endsWith(t *testing.T, before int) {
	t.Helper()
	testkit.Until(t, "the goroutine of the look has ended", func() (bool, any) {
		now := runtime.NumGoroutine()
		return now <= before, now
	})
}

// Set leaves no goroutine behind; also while the limit is followed there is none
// between two looks.
func TestNoGoroutine(t *testing.T) {
	begin(t, 7)
	f := newFixture(t)
	f.limit("300000")
	before := runtime.NumGoroutine()
	f.set()
	endsWith(t, before)

	f.host.interval = time.Hour
	if r, _ := f.set(Follow(context.Background())); !r.Following {
		t.Error("it is not followed")
	}
	endsWith(t, before)
}
