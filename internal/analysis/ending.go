package analysis

import (
	"time"

	"github.com/millicore/millicore/internal/data/signals"
)

// ending is how a service was when its trial ended: a death, or a service that hangs, in
// the last second is in no restart and in few requests.
type ending struct {
	seq      int                     // the last interval with frames of the service
	replicas map[int]*signals.Server // in that interval
	answered int64                   // end of the last interval in which an agent got an answer
	unheard  map[int64]int64         // by the end of an interval: requests that got none in time
	used     map[int64]cpuOver       // by the start of an interval: the CPU time of the replicas
	failed   bool                    // a CPU time was not measured
}

// cpuOver is CPU time over a time.
type cpuOver struct{ cpu, seconds float64 }

func (e *ending) add(f *signals.Frame, service string) {
	switch {
	case f.Client != nil:
		k := f.Client
		if k.Good > 0 || k.Failed > 0 || k.BadStatus() > 0 {
			e.answered = max(e.answered, f.End)
		}
		if k.Timeouts > 0 {
			if e.unheard == nil {
				e.unheard = map[int64]int64{}
			}
			e.unheard[f.End] += k.Timeouts
		}
	case f.Server != nil && f.Of == service:
		e.server(f)
	}
}

func (e *ending) server(f *signals.Frame) {
	if e.replicas == nil || f.Seq > e.seq {
		e.seq, e.replicas = f.Seq, map[int]*signals.Server{}
	}
	if f.Seq == e.seq {
		e.replicas[f.Index] = f.Server
	}
	if f.Phase == signals.Drain {
		return // no request is sent: those that time out are older ones
	}
	if f.Server.CPU == nil {
		e.failed = true
		return
	}
	if e.used == nil {
		e.used = map[int64]cpuOver{}
	}
	u := e.used[f.Start]
	e.used[f.Start] = cpuOver{u.cpu + *f.Server.CPU, u.seconds + f.Seconds()}
}

// down reports whether a replica was down at the end.
func (e *ending) down() bool {
	for _, r := range e.replicas {
		if !r.Up {
			return true
		}
	}
	return false
}

// held reports whether a signal held a replica at the end.
func (e *ending) held() bool {
	for _, r := range e.replicas {
		if r.Stopped {
			return true
		}
	}
	return false
}

const (
	// hangs is how long a service must neither answer nor use CPU.
	hangs = time.Second
	// idleCores is the use of CPU below which it uses none. Runtimes wake up now and then.
	idleCores = 0.005
)

// hung reports whether the replicas, which were up, neither answered a request nor used CPU
// from a time on until the end, while requests timed out. A service that is overloaded,
// or throttled, uses CPU.
func (e *ending) hung() bool {
	var unheard int64
	for end, n := range e.unheard {
		if end > e.answered {
			unheard += n
		}
	}
	var all cpuOver
	for start, u := range e.used {
		if start >= e.answered {
			all.cpu, all.seconds = all.cpu+u.cpu, all.seconds+u.seconds
		}
	}
	return unheard > 0 && !e.failed && !e.down() && all.seconds >= hangs.Seconds() && all.cpu < idleCores*all.seconds
}
