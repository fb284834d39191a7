package corpus

import (
	"slices"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
)

// frames ends an interval and gives its frames: the client's, the server's, the
// host's, and the windows that ended in it.
func (t *trial) frames(seq int, start, end int64, phase signals.Phase) (frames []*signals.Frame, windows []signals.Window) {
	f := signals.Frame{Trial: t.trial, Cell: t.cell.Index, Seq: seq, Start: t.epoch + start, End: t.epoch + end, Phase: phase}
	client, server, host := f, f, f
	agent := 0
	client.Agent, client.Client = &agent, t.client()
	server.Of, server.Server = t.cell.Service.Name, t.readServer(end-start)
	host.Host = t.host(start, end, *server.Server.CPU, client.Client.CPU)
	for _, w := range t.server.windows {
		v := signals.Window{Trial: t.trial, Cell: t.cell.Index, Of: t.cell.Service.Name, Kind: signals.Throttled,
			Start: t.epoch + w.from, End: t.epoch + w.to, Throttled: (w.to - w.from) * int64(w.cpus), CPUs: w.cpus}
		if w.down {
			v.Kind, v.Throttled, v.CPUs = signals.Down, 0, 0
		}
		windows = append(windows, v)
	}
	t.server.windows = nil
	frames = []*signals.Frame{&client, &server, &host}
	if t.Service.Reports {
		waits := f
		waits.Of, waits.Waits = t.cell.Service.Name, t.waits()
		frames = append(frames, &waits)
	}
	return frames, windows
}

// waits is the histogram of the calls that began in the interval.
func (t *trial) waits() *signals.Waits {
	w := &signals.Waits{Bounds: []float64{.005, .01, .025, .05, .1, .25, .5, 1}}
	w.Counts = make([]int64, len(w.Bounds)+1)
	for _, call := range t.server.calls {
		at, _ := slices.BinarySearch(w.Bounds, call.Seconds())
		w.Counts[at]++
		w.Sum += call.Seconds()
	}
	t.server.calls = nil
	return w
}

func (t *trial) client() *signals.Client {
	k := t.part.client
	k.Slow = t.kept()
	k.InFlight, k.Waiting = int64(t.inFlight), int64(len(t.due))
	k.OpenConnections = max(k.OpenConnections, int64(t.inFlight))
	if t.open() {
		k.Rate = t.load
	} else {
		k.Users = t.load
	}
	none := 0.0
	k.RunWait = &none
	t.seen.Merge(k.Latency)
	t.above = t.seen.Quantile(0.95)
	t.part.client, t.part.slow = empty(), nil
	return &k
}

func (t *trial) readServer(took int64) *signals.Server {
	v := t.server
	now := counters{used: v.used, throttled: v.throttled, periods: v.periods, throttledPeriods: v.throttledPeriods, restarts: v.restarts, killed: v.kills}
	before := t.part.server
	t.part.server = now
	memory := t.Service.Memory
	if memory == 0 {
		memory = 50 << 20
	}
	cpu, killed := (now.used-before.used)/1e9, now.killed-before.killed
	s := &signals.Server{CPU: &cpu, Memory: &memory, MemoryPeak: &memory, OOMKills: &killed, Restarts: now.restarts - before.restarts, Up: v.up(), Threads: t.threads(took)}
	if t.cell.Limits.Memory > 0 {
		limit := t.cell.Limits.Memory
		s.MemoryLimit = &limit
	}
	if v.quota > 0 {
		limit := v.quota / float64(v.period)
		periods, throttledPeriods, throttled := now.periods-before.periods, now.throttledPeriods-before.throttledPeriods, (now.throttled-before.throttled)/1e9
		s.CPULimit, s.Periods, s.ThrottledPeriods, s.Throttled = &limit, &periods, &throttledPeriods, &throttled
	}
	return s
}

// threads reads how busy the threads were for so many ns; nil: it has none.
func (t *trial) threads(took int64) *signals.Threads {
	v := t.server
	if v.threads == nil {
		return nil
	}
	k := &signals.Threads{Seconds: float64(took) / 1e9, Count: len(v.threads)}
	for i, one := range v.threads {
		k.Top = max(k.Top, one.wanted/1e9)
		if one.wanted >= 0.9*float64(took) && one.ran >= 0.5*float64(took) {
			k.Full++
		}
		v.threads[i] = thread{}
	}
	return k
}

func (t *trial) host(start, end int64, service, agent float64) *signals.Host {
	seconds := float64(end-start) / float64(time.Second)
	h := &signals.Host{CPUs: int(t.CPUs), Services: service / seconds, Agents: agent / seconds, Lab: 0.01,
		Foreign: over(t.Foreign, start, end) / float64(end-start), Steal: over(t.Steal, start, end) / float64(end-start)}
	h.Busy = min(t.CPUs-h.Steal, h.Services+h.Agents+h.Lab+h.Foreign)
	h.Idle = max(0, t.CPUs-h.Steal-h.Busy)
	return h
}
