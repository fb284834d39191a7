package kubernetes

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/test/testkit"
)

// witness reads the control groups of a namespace's services from the kernel. The test
// compares a record with that.
type witness struct {
	api  *kube.Client
	stop context.CancelFunc
	done chan struct{}

	mu    sync.Mutex
	seen  map[string]*testimony // by container
	trial map[int][]*testimony
}

// testimony holds the readings of a container.
type testimony struct {
	pod, file string
	readings  []reading
}

// reading is a container's cpu.stat between two moments.
type reading struct {
	before, after      time.Time
	periods, throttled int64
	blocked            float64 // seconds
}

// watchServices starts a witness, which runs until the test ends.
func watchServices(t *testing.T, api *kube.Client) *witness {
	w := &witness{api: api, done: make(chan struct{}), seen: map[string]*testimony{}, trial: map[int][]*testimony{}}
	ctx, stop := context.WithCancel(context.Background())
	w.stop = sync.OnceFunc(func() { stop(); <-w.done })
	t.Cleanup(w.stop)
	go func() {
		defer close(w.done)
		for last := (time.Time{}); ctx.Err() == nil; time.Sleep(20 * time.Millisecond) { // the witness's interval
			if time.Since(last) > 200*time.Millisecond {
				w.look(ctx)
				last = time.Now()
			}
			w.read()
		}
	}()
	return w
}

// look finds new containers.
func (w *witness) look(ctx context.Context) {
	pods, err := kube.Pods.List(ctx, w.api, kube.LabelPart+"="+kube.PartService)
	if err != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range pods {
		for _, s := range p.Status.ContainerStatuses {
			_, id, _ := strings.Cut(s.ContainerID, "://")
			if id == "" || w.seen[id] != nil {
				continue
			}
			file := statOf(id)
			number, err := strconv.Atoi(p.Labels[kube.LabelTrial])
			if file == "" || err != nil {
				continue
			}
			one := &testimony{pod: p.Name, file: file}
			w.seen[id], w.trial[number] = one, append(w.trial[number], one)
		}
	}
}

func (w *witness) read() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range w.seen {
		r := reading{before: time.Now()}
		text, err := os.ReadFile(one.file)
		r.after = time.Now()
		if err != nil {
			continue // it is gone
		}
		for line := range strings.Lines(string(text)) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
			n, _ := strconv.ParseInt(value, 10, 64)
			switch name {
			case "nr_periods":
				r.periods = n
			case "nr_throttled":
				r.throttled = n
			case "throttled_time": // v1: nanoseconds
				r.blocked = float64(n) / 1e9
			case "throttled_usec": // v2
				r.blocked = float64(n) / 1e6
			}
		}
		one.readings = append(one.readings, r)
	}
}

// loaded waits until a trial's service is throttled under load.
func (w *witness) loaded(t *testing.T, trial int) {
	t.Helper()
	testkit.Until(t, fmt.Sprintf("the service of trial %d is throttled", trial), func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, one := range w.trial[trial] {
			if n := len(one.readings); n > 0 && one.readings[n-1].throttled >= 5 {
				return true
			}
		}
		return false
	})
}

// statOf is the file cpu.stat of a container on this machine; "" if there is none.
func statOf(container string) string {
	pid := processIn(container)
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if pid == 0 || err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 || parts[1] != "" && !strings.Contains(","+parts[1]+",", ",cpu,") {
			continue
		}
		file := filepath.Join("/sys/fs/cgroup", parts[1], parts[2], "cpu.stat")
		if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), "nr_periods") {
			return file
		}
	}
	return ""
}

// processIn is a process of a container on this machine; 0: there is none.
func processIn(container string) int {
	all, _ := filepath.Glob("/proc/[0-9]*/cgroup")
	for _, name := range all {
		text, _ := os.ReadFile(name)
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil && strings.Contains(string(text), container) {
			return pid
		}
	}
	return 0
}

// agrees compares a record's frames with the readings. For each completed trial with one
// replica, the sum of its frames must be between the kernel's counts just inside and
// just outside of their time.
func (w *witness) agrees(t *testing.T, r *record.Record) {
	t.Helper()
	w.stop()
	sums := map[int]*signals.Frame{}
	for f, err := range r.Frames() {
		if err != nil {
			t.Fatal(err)
		}
		if f.Server == nil || f.Server.Periods == nil {
			continue
		}
		sum := sums[f.Trial]
		if sum == nil {
			sum = &signals.Frame{Start: f.Start, Server: &signals.Server{}}
			sums[f.Trial] = sum
		}
		s := sum.Server
		sum.End = f.End
		s.Periods, s.ThrottledPeriods = signals.Plus(s.Periods, f.Server.Periods), signals.Plus(s.ThrottledPeriods, f.Server.ThrottledPeriods)
		s.Throttled = signals.Plus(s.Throttled, f.Server.Throttled)
	}
	compared := 0
	for _, trial := range r.Trials {
		if trial.Outcome != record.Done && trial.Outcome != record.Disturbed {
			continue
		}
		sum, own := sums[trial.Trial], w.trial[trial.Trial]
		if sum == nil || len(own) != 1 {
			t.Errorf("trial %d: %d containers were read, want one; its frames: %v", trial.Trial, len(own), sum)
			continue
		}
		least, most, ok := own[0].between(time.Unix(0, sum.Start), time.Unix(0, sum.End))
		if !ok {
			t.Errorf("trial %d: its service was read %d times, none of them between %v and %v", trial.Trial, len(own[0].readings), time.Unix(0, sum.Start), time.Unix(0, sum.End))
			continue
		}
		compared++
		s := sum.Server
		t.Logf("trial %d: %d of %d periods throttled for %.3f s in %.1f s; by cpu.stat %d to %d of %d to %d, %.3f to %.3f s", trial.Trial,
			*s.ThrottledPeriods, *s.Periods, *s.Throttled, sum.Seconds(), least.throttled, most.throttled, least.periods, most.periods, least.blocked, most.blocked)
		// A reading takes some time: either end may be off by a period.
		const slack = 2
		if *s.Periods < least.periods-slack || *s.Periods > most.periods+slack ||
			*s.ThrottledPeriods < least.throttled-slack || *s.ThrottledPeriods > most.throttled+slack ||
			*s.Throttled < least.blocked-slack*0.1 || *s.Throttled > most.blocked+slack*0.1 {
			t.Errorf("trial %d: the frames differ from cpu.stat", trial.Trial)
		}
	}
	if compared == 0 {
		t.Error("no trial was compared")
	}
}

// between returns the least and the largest count of a container between two moments.
func (o *testimony) between(from, to time.Time) (least, most reading, ok bool) {
	at := func(holds func(reading) bool, last bool) (found reading, ok bool) {
		for _, r := range o.readings {
			if holds(r) {
				found, ok = r, true
				if !last {
					return found, true
				}
			}
		}
		return found, ok
	}
	beforeStart, _ := at(func(r reading) bool { return !r.after.After(from) }, true) // 0 if it was found later: a container begins at 0
	afterStart, a := at(func(r reading) bool { return !r.before.Before(from) }, false)
	beforeEnd, b := at(func(r reading) bool { return !r.after.After(to) }, true)
	afterEnd, c := at(func(r reading) bool { return !r.before.Before(to) }, false)
	minus := func(x, y reading) reading {
		return reading{periods: x.periods - y.periods, throttled: x.throttled - y.throttled, blocked: x.blocked - y.blocked}
	}
	return minus(beforeEnd, afterStart), minus(afterEnd, beforeStart), a && b && c
}
