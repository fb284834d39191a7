package main

import (
	"fmt"
	"net/netip"
	"runtime"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/load/engine"
	"github.com/millicore/millicore/internal/load/schedule"
	"github.com/millicore/millicore/internal/load/wire"
)

// allocations counts the allocations of Millicore's engine in the steady state, inside
// this process: an interval needs some for its collector, a request none.
func (b *bench) allocations(t *target) error {
	for _, c := range []struct {
		what  string
		open  bool
		level float64
	}{{"closed loop of 64 users", false, 64}, {"open loop of 10,000 requests/s", true, 10_000}} {
		objects, requests, intervals, err := allocated(b, t, c.open, c.level)
		if err != nil {
			return fmt.Errorf("allocations: %w", err)
		}
		b.notes = append(b.notes, fmt.Sprintf("Allocations of Millicore's engine, %s: %d objects for %d requests in %d intervals, which is %.4f a request (%.1f an interval).",
			c.what, objects, requests, intervals, float64(objects)/float64(requests), float64(objects)/float64(intervals)))
	}
	return nil
}

// unsettled is the number of intervals until the memory for histograms, rings and
// samples is allocated.
const unsettled = 10

func allocated(b *bench, t *target, open bool, level float64) (objects, requests, intervals int64, err error) {
	request, err1 := (&wire.Request{Host: t.addr}).Compile()
	check, err2 := (&wire.Check{}).Compile()
	addr, err3 := netip.ParseAddrPort(t.addr)
	length := time.Duration(b.seconds) * time.Second
	curve, err4 := schedule.NewCurve([]schedule.Stage{{Length: length, From: level, To: level}})
	for _, err := range []error{err1, err2, err3, err4} {
		if err != nil {
			return 0, 0, 0, err
		}
	}
	e, err := engine.Open(engine.Plan{
		Targets:  []engine.Target{{Addr: addr, Requests: []*wire.Template{request}}},
		Kinds:    []engine.Kind{{Weight: 1, Check: check}},
		Load:     engine.Load{Open: open, Curve: curve},
		Timeout:  10 * time.Second,
		Interval: 100 * time.Millisecond,
		Agents:   1, Seed: 1,
	})
	if err != nil {
		return 0, 0, 0, err
	}
	defer e.Close()
	var before, after runtime.MemStats
	err = e.Run(time.Now(), func(i *engine.Interval) error {
		switch {
		case b.ctx.Err() != nil:
			return b.ctx.Err()
		case i.Seq < unsettled || i.Phase != signals.Measure:
		case i.Seq == unsettled:
			runtime.ReadMemStats(&before)
		default:
			requests += i.Client.Good
			intervals++
			runtime.ReadMemStats(&after)
		}
		return nil
	})
	return int64(after.Mallocs - before.Mallocs), requests, intervals, err
}
