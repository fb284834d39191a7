package profile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"golang.org/x/exp/trace"
)

// Names of waits, as reports show them.
const (
	WaitCPU     = "runnable: waiting for a CPU"
	WaitAssist  = "GC assist"
	WaitStopped = "stopped for the garbage collector"
	WaitSyscall = "syscall"
	WaitLock    = "blocked on a mutex or another lock"
	WaitChannel = "blocked on a channel"
	WaitNetwork = "blocked on the network"
	WaitSleep   = "asleep"
	WaitOther   = "blocked otherwise"
)

// reasons maps the runtime's names of wait reasons (traceBlockReason in
// runtime/traceruntime.go) to those of reports. "" is for idle goroutines of the runtime
// itself.
var reasons = map[string]string{
	"network": WaitNetwork, "select": WaitChannel, "chan send": WaitChannel, "chan receive": WaitChannel,
	"sync": WaitLock, "sync.(*Cond).Wait": WaitLock, "sleep": WaitSleep,
	"GC mark assist wait for work": WaitAssist, "wait until GC ends": WaitStopped,
	"GC weak to strong wait": WaitStopped,
	"preempted":              WaitCPU,
	"system goroutine wait":  "", "GC background sweeper wait": "", "GC worker (idle)": "",
	"forever": "", "synctest": "", "wait for debug call": "",
}

// readTrace reads a trace of Go's runtime. A truncated trace is used up to its end.
func readTrace(p *Profile, from io.Reader) error {
	waits, seconds, err := traceWaits(io.LimitReader(from, maxFile))
	if err != nil && len(waits) == 0 {
		return err
	}
	p.Waits = waits
	if err != nil {
		p.Notes = append(p.Notes, fmt.Sprintf("the trace is whole only up to %.1f s: %v", seconds, err))
	}
	if len(waits) == 0 {
		p.Notes = append(p.Notes, "the trace has no waits of goroutines; it may be truncated")
	} else {
		p.Notes = append(p.Notes, fmt.Sprintf(
			"waits are sums over all goroutines, in %.1f s of trace; those on the network and on channels include connections and workers with nothing to do", seconds))
	}
	return nil
}

// traceWaits sums the waits of goroutines by reason, and returns the length of the trace
// in seconds.
func traceWaits(from io.Reader) ([]Wait, float64, error) {
	reader, err := trace.NewReader(from)
	if err != nil {
		return nil, 0, fmt.Errorf("it is not a trace of Go's runtime: %w", err)
	}
	s := spans{
		since: map[trace.GoID]wait{}, assist: map[trace.GoID]trace.Time{}, lasted: map[string][]float64{},
	}
	for {
		event, err := reader.ReadEvent()
		if errors.Is(err, io.EOF) {
			err = nil
		} else if err == nil {
			s.take(event)
			continue
		}
		s.end()
		return s.waits(), float64(s.last-s.first) / 1e9, err
	}
}

// spans follows every goroutine through its states.
type spans struct {
	begun       bool
	first, last trace.Time
	since       map[trace.GoID]wait
	assist      map[trace.GoID]trace.Time // goroutines that help the collector
	lasted      map[string][]float64      // lengths of waits by name, nanoseconds
}

// wait is what a goroutine waits for, and from when.
type wait struct {
	name string
	from trace.Time
}

func (s *spans) take(e trace.Event) {
	if !s.begun {
		s.first, s.begun = e.Time(), true
	}
	s.last = max(s.last, e.Time())
	switch e.Kind() {
	case trace.EventStateTransition:
		if t := e.StateTransition(); t.Resource.Kind == trace.ResourceGoroutine {
			s.transition(t, e.Time())
		}
	case trace.EventRangeBegin, trace.EventRangeActive:
		if r := e.Range(); isAssist(r) {
			s.assist[r.Scope.Goroutine()] = e.Time()
		}
	case trace.EventRangeEnd:
		if r := e.Range(); isAssist(r) {
			id := r.Scope.Goroutine()
			if from, ok := s.assist[id]; ok {
				s.add(wait{WaitAssist, from}, e.Time())
				delete(s.assist, id)
			}
		}
	}
}

func isAssist(r trace.Range) bool {
	return r.Scope.Kind == trace.ResourceGoroutine && r.Name == "GC mark assist"
}

func (s *spans) transition(t trace.StateTransition, at trace.Time) {
	id := t.Resource.Goroutine()
	_, to := t.Goroutine()
	if w, ok := s.since[id]; ok {
		s.add(w, at)
		delete(s.since, id)
	}
	switch to {
	case trace.GoRunnable:
		s.since[id] = wait{WaitCPU, at}
	case trace.GoSyscall:
		s.since[id] = wait{WaitSyscall, at}
	case trace.GoWaiting:
		name, known := reasons[t.Reason]
		switch {
		case !known && strings.HasPrefix(t.Reason, "GC "):
			name = "" // a worker of the collector
		case !known:
			name = WaitOther
		}
		// A GC assist is counted by its range, which includes the waits in it.
		if _, helps := s.assist[id]; name != "" && !(helps && name == WaitAssist) {
			s.since[id] = wait{name, at}
		}
	}
}

func (s *spans) add(w wait, until trace.Time) {
	if until >= w.from {
		s.lasted[w.name] = append(s.lasted[w.name], float64(until-w.from))
	}
}

// end counts the waits that have not ended when the trace ends.
func (s *spans) end() {
	for _, w := range s.since {
		s.add(w, s.last)
	}
	for _, from := range s.assist {
		s.add(wait{WaitAssist, from}, s.last)
	}
}

func (s *spans) waits() []Wait {
	var all []Wait
	for name, lengths := range s.lasted {
		slices.Sort(lengths)
		total := 0.0
		for _, ns := range lengths {
			total += ns
		}
		all = append(all, Wait{
			Name: name, TotalMS: total / 1e6, Count: int64(len(lengths)),
			P50us: quantile(lengths, 0.50) / 1e3, P99us: quantile(lengths, 0.99) / 1e3,
		})
	}
	slices.SortFunc(all, func(a, b Wait) int {
		return cmp.Or(cmp.Compare(b.TotalMS, a.TotalMS), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// quantile is the quantile q of sorted values, by the nearest-rank method.
func quantile(sorted []float64, q float64) float64 {
	rank := int(math.Ceil(q * float64(len(sorted))))
	return sorted[max(rank, 1)-1]
}
