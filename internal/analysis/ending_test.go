package analysis

import (
	"testing"

	"github.com/millicore/millicore/internal/data/signals"
)

// second is the frames of one second of a service: the CPU that it used, the answers and
// the timeouts of an agent.
type second struct {
	cpu              float64
	good, timeouts   int64
	down, signalled  bool
	drain            bool
	unknown, another bool // the CPU was not measured; a second replica has frames too
}

func endingOf(all ...second) *ending {
	e := &ending{}
	for i, s := range all {
		f := signals.Frame{Seq: i, Start: int64(i) * 1e9, End: int64(i+1) * 1e9, Phase: signals.Measure}
		if s.drain {
			f.Phase = signals.Drain
		}
		client, server := f, f
		client.Client = &signals.Client{Good: s.good, Timeouts: s.timeouts}
		server.Of, server.Server = "a", &signals.Server{CPU: &s.cpu, Up: !s.down, Stopped: s.signalled}
		if s.unknown {
			server.Server.CPU = nil
		}
		e.add(&client, "a")
		e.add(&server, "a")
		if s.another {
			other := server
			other.Index, other.Server = 1, &signals.Server{CPU: new(float64), Up: true}
			e.add(&other, "a")
		}
	}
	return e
}

func TestTheEndOfATrial(t *testing.T) {
	busy, dead := second{cpu: 0.5, good: 100}, second{timeouts: 3}
	for name, c := range map[string]struct {
		seconds          []second
		down, held, hung bool
	}{
		"it serves":                            {[]second{busy, busy, busy}, false, false, false},
		"it died in the last second":           {[]second{busy, busy, {cpu: 0.2, good: 40, down: true}}, true, false, false},
		"one of two replicas died":             {[]second{busy, {cpu: 0.2, good: 40, down: true, another: true}}, true, false, false},
		"it died and came back":                {[]second{busy, {down: true}, busy}, false, false, false},
		"a signal stopped it":                  {[]second{busy, busy, {timeouts: 3, signalled: true}}, false, true, true},
		"a signal stopped it, and it went on":  {[]second{busy, {signalled: true}, busy}, false, false, false},
		"it hangs":                             {[]second{busy, busy, dead, dead}, false, false, true},
		"it never answered":                    {[]second{dead, dead}, false, false, true},
		"it is overloaded":                     {[]second{busy, busy, {cpu: 0.5, timeouts: 50}, {cpu: 0.5, timeouts: 50}}, false, false, false},
		"it is slow: nothing timed out":        {[]second{busy, {}, {}, {good: 1}}, false, false, false},
		"it is idle at the end of the load":    {[]second{busy, busy, {}, {}}, false, false, false},
		"its last requests time out":           {[]second{busy, busy, {drain: true}, {drain: true, timeouts: 3}}, false, false, false},
		"it is dead, which is not frozen":      {[]second{busy, {timeouts: 3, down: true}, {timeouts: 3, down: true}}, true, false, false},
		"its use of CPU is not known":          {[]second{busy, {timeouts: 3, unknown: true}, {timeouts: 3, unknown: true}}, false, false, false},
		"it hung for a while, and went on":     {[]second{busy, dead, dead, busy}, false, false, false},
		"nothing was measured of this service": {nil, false, false, false},
	} {
		e := endingOf(c.seconds...)
		if e.down() != c.down || e.held() != c.held || e.hung() != c.hung {
			t.Errorf("%s: down %v, held by a signal %v, hung %v; want %v, %v, %v", name, e.down(), e.held(), e.hung(), c.down, c.held, c.hung)
		}
	}
}
