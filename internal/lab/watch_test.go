package lab

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	thresholds "github.com/millicore/millicore/internal/analysis/disturbance"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/local"
	"github.com/millicore/millicore/internal/platform/meter"
	"github.com/millicore/millicore/test/testkit"
)

// busyService is the argument that makes the test's program a service. The service
// listens, and has a busy child with one thread while a file exists.
const busyService = "__busy-service"

func init() {
	local.Shim(os.Args)
	if len(os.Args) == 3 && os.Args[1] == busyService {
		serveBusy(os.Args[2])
	}
}

func serveBusy(while string) {
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	if err != nil {
		os.Exit(1)
	}
	go func() {
		for {
			if c, err := listener.Accept(); err == nil {
				c.Close()
			}
		}
	}()
	for ; ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(while); err != nil {
			continue
		}
		busy := exec.Command("/bin/sh", "-c", `while [ -e "$0" ]; do i=0; while [ $i -lt 10000 ]; do i=$((i+1)); done; done`, while)
		if err := busy.Run(); err != nil {
			os.Exit(1)
		}
	}
}

// scripted is a replica with given samples.
type scripted struct {
	mu     sync.Mutex
	calls  int
	sample func(n int) (signals.ThrottleSample, error)
}

func (s *scripted) ThrottleSample() (signals.ThrottleSample, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	return s.sample(s.calls)
}
func (*scripted) Address() string { return "" }
func (*scripted) PIDs() []int     { return nil }
func (*scripted) Counters() (signals.Counters, error) {
	return signals.Counters{}, errors.ErrUnsupported
}

func TestTheWatcherProducesWindowsOfEachReplica(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		// The first replica is throttled in the second half of every period, and cannot
		// be read for some time. The second one is down from 300 ms on.
		first := &scripted{sample: func(int) (signals.ThrottleSample, error) {
			at := time.Since(began)
			if at > 410*time.Millisecond && at < 480*time.Millisecond {
				return signals.ThrottleSample{}, errors.New("not now")
			}
			n := int64(at / (100 * time.Millisecond))
			throttled := time.Duration(n) * 50 * time.Millisecond
			return signals.ThrottleSample{At: time.Now(), Periods: &n, ThrottledPeriods: &n, Throttled: &throttled, Up: true}, nil
		}}
		second := &scripted{sample: func(int) (signals.ThrottleSample, error) {
			return signals.ThrottleSample{At: time.Now(), Up: time.Since(began) < 300*time.Millisecond}, nil
		}}
		var got []signals.Window
		w := &watcher{trial: 7, cell: 2, began: began, out: func(v *signals.Window) { got = append(got, *v) }}
		w.add("go", []platform.Replica{first, second}, experiment.Limits{CPUMillis: 500})
		stop := make(chan struct{})
		time.AfterFunc(time.Second+20*time.Millisecond, func() { close(stop) })
		w.run(stop)

		if n := first.calls; n < 100 || n > 104 {
			t.Errorf("%d samples in 1.02 s, want one in 10 ms", n)
		}
		down := signals.Window{Trial: 7, Cell: 2, Of: "go", Index: 1, Kind: signals.Down, Start: began.Add(300 * time.Millisecond).UnixNano(), End: time.Now().UnixNano()}
		last := got[len(got)-1]
		if off := time.Duration(last.Start - down.Start); off < 0 || off > 15*time.Millisecond {
			t.Errorf("down since %v after it was", off)
		}
		last.Start = down.Start
		if d := cmp.Diff(down, last); d != "" {
			t.Error(d)
		}
		if len(got) != 11 {
			t.Fatalf("%d windows, want ten of the first replica and one of the second", len(got))
		}
		for i, v := range got[:10] {
			want := signals.Window{Trial: 7, Cell: 2, Of: "go", Kind: signals.Throttled, Start: v.End - 50e6, End: v.End, Throttled: 50e6, CPUs: 1}
			if d := cmp.Diff(want, v); d != "" {
				t.Errorf("window %d: %s", i, d)
			}
			end := began.Add(time.Duration(i+1) * 100 * time.Millisecond).UnixNano()
			if off := time.Duration(v.End - end); off.Abs() > 7*time.Millisecond {
				t.Errorf("window %d ends %v beside its period", i, off)
			}
		}
	})
}

// With a real group: the windows of a busy thread under a fifth of a CPU, which it gets
// on a busy machine too, are as long as the kernel's throttled time. An idle thread has
// none.
func TestWatchingAThrottledProcess(t *testing.T) {
	testkit.Long(t, "40 CFS periods that are throttled")
	p, err := local.New(local.Options{State: t.TempDir(), Note: func(s string) { t.Log(s) }})
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	while := filepath.Join(t.TempDir(), "while")
	limits := experiment.Limits{CPUMillis: 200, Replicas: 1}
	u, err := p.Start(t.Context(), platform.UnitSpec{Trial: 1, Name: "busy", Logs: t.TempDir(), Limits: limits,
		Command: []string{"/proc/self/exe", busyService, while}, Ready: experiment.Ready{Timeout: time.Minute}})
	if err != nil {
		t.Fatal(err)
	}
	r := u.Replicas()[0]
	counters := func() signals.Counters {
		c, err := r.Counters()
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	// throttledPeriods waits until the kernel has counted n more.
	throttledPeriods := func(n int64) {
		goal := *counters().ThrottledPeriods + n
		testkit.Until(t, fmt.Sprintf("the process is throttled in %d more periods", n), func() bool { return *counters().ThrottledPeriods >= goal })
	}

	busy := func() {
		if err := os.WriteFile(while, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		throttledPeriods(3) // it has begun
	}
	idle := func() {
		os.Remove(while)
		for before := counters(); ; {
			time.Sleep(250 * time.Millisecond) // two periods and more, in which nothing may happen
			now := counters()
			if *now.ThrottledPeriods == *before.ThrottledPeriods {
				return
			}
			before = now
		}
	}
	// If the hypervisor takes a CPU away while a thread is throttled on it, the thread
	// resumes later. A thread that moves is counted on both CPUs.
	steal := func() float64 {
		h, err := meter.ReadHost()
		if err != nil {
			t.Fatal(err)
		}
		return h.Steal
	}
	for seen, tries := 0, 0; seen < 2; tries++ {
		if tries == 10 {
			t.Skip("the hypervisor took much of the machine each of ten times")
		}
		busy()
		stolen, began := steal(), time.Now()
		windows, grew := watchFor(t, r, limits, func() { throttledPeriods(20) })
		quiet := !thresholds.Stolen((steal() - stolen) / time.Since(began).Seconds())
		var length, throttled time.Duration
		for _, w := range windows {
			length += time.Duration(w.End - w.Start)
			throttled += time.Duration(w.Throttled)
		}
		if throttled != grew {
			t.Errorf("the windows hold %v of %v", throttled, grew)
		}
		if length > grew {
			t.Errorf("%d windows of together %v, longer than the kernel's %v", len(windows), length, grew)
		}
		if quiet {
			seen++
			if len(windows) < 18 || length < grew*9/10 {
				t.Errorf("%d windows of together %v; the kernel counted %v", len(windows), length, grew)
			}
		}
		t.Logf("%d windows of together %v, kernel %v, quiet: %v", len(windows), length, grew, quiet)
		idle()
		if windows, _ := watchFor(t, r, limits, func() { time.Sleep(300 * time.Millisecond) /* of idleness */ }); len(windows) != 0 {
			t.Errorf("windows of an idle process: %v", windows)
		}
	}
}

// watchFor watches a replica during a function. It returns the windows, and the increase
// of throttled time from the first sample to the last.
func watchFor(t *testing.T, r platform.Replica, limits experiment.Limits, during func()) (windows []signals.Window, grew time.Duration) {
	t.Helper()
	var first, last *time.Duration
	w := &watcher{trial: 1, began: time.Now(), out: func(v *signals.Window) { windows = append(windows, *v) }}
	w.add("busy", []platform.Replica{r}, limits)
	w.watched[0].sample = func() (signals.ThrottleSample, error) {
		p, err := r.ThrottleSample()
		if err == nil && first == nil {
			first = p.Throttled
		}
		if err == nil {
			last = p.Throttled
		}
		return p, err
	}
	stop := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() { w.run(stop) })
	during()
	close(stop)
	done.Wait()
	return windows, *last - *first
}
