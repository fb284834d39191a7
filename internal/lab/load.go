package lab

import (
	"context"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/load/serviceclient"
	"github.com/millicore/millicore/internal/platform"
)

// load runs the traffic until it ends, or ctx does, and records what is measured. The
// first error is a failure of the trial, the second one of Millicore.
func (t *trial) load(ctx context.Context) (failure, err error) {
	t.violation.ends(t.agents.stop)
	begin := time.Now().Add(t.agents.lead())
	if err := t.agents.start(begin); err != nil {
		return err, nil
	}
	var failures failures
	if t.cell.Load.Find {
		t.recorder.search = t.newSearcher(&failures)
		t.recorder.search.now = func() time.Time { return steady(begin, time.Now()) }
	}
	events := make(chan event, 64)
	frame := func(f *signals.Frame) { events <- event{frame: f} }
	loaded, over := context.WithCancel(ctx) // ends with the last agent

	var agents, others sync.WaitGroup
	for i, a := range t.agents.running {
		agents.Go(func() {
			if err := a.follow(begin, t.exp.Measure.Interval, frame); err != nil && !t.agents.abandoned.Load() {
				events <- event{lost: &loss{agent: i, err: err}}
			}
		})
	}
	agentsDone := make(chan struct{})
	others.Go(func() { agents.Wait(); close(agentsDone); over() })
	others.Go(func() { t.sampler(begin, events).run(agentsDone) })
	others.Go(func() { failures.add(t.act(loaded, begin)) })
	others.Go(func() { followReplicas(loaded, t.deployment.service, t.agents) })
	others.Go(func() { t.endIfEvicted(loaded) })
	for _, s := range t.scrapers(begin, frame) {
		others.Go(func() {
			if err := s.run(loaded); err != nil {
				t.note("%v; the time that the slow tail spent in the dependency is not known", err)
			}
		})
	}
	if t.profile != nil {
		others.Go(func() {
			t.profile.take(loaded, begin.Add(t.exp.Measure.Warmup), t.deployment.service.Replicas()[0].Address())
		})
	}
	others.Go(func() { t.watcher(begin, func(w *signals.Window) { events <- event{window: w} }).run(loaded.Done()) })
	go func() { others.Wait(); close(events) }()
	defer context.AfterFunc(ctx, t.agents.stop)()
	defer context.AfterFunc(t.lab.leaving, t.agents.abandon)()

	if err = t.recorder.record(events); err != nil {
		t.agents.stop()
		for range events { // until all senders have ended
		}
	}
	failures.add(t.agents.allLost())
	return failures.joined(), err
}

// sampler returns the sampler of everything that the trial started.
func (t *trial) sampler(begin time.Time, events chan<- event) *sampler {
	machines, _ := platform.As[platform.MachineSampler](t.lab.Platform)
	t.neighbours = newNeighbours(t.lab)
	return &sampler{trial: t.number, cell: t.cell.Index, began: begin,
		sources: append(t.deployment.sources, t.agents.sources()...), scale: newScale(t.cell.Service.Name, t.deployment.service),
		out:     func(f *signals.Frame) { events <- event{frame: f} },
		sampled: func(seq int) { events <- event{sampled: &seq} }, violated: t.violation.saw,
		held: func(s *source) { events <- event{held: &s.index} },
		cut:  cut(t.exp, t.cell), noHost: t.lab.NoHost, machines: machines, neighbours: t.neighbours}
}

// scrapers returns a scraper of each replica whose service has metrics.
func (t *trial) scrapers(begin time.Time, out func(*signals.Frame)) []*scraper {
	s := &t.cell.Service
	if s.Metrics == nil {
		return nil
	}
	var all []*scraper
	for i, r := range t.deployment.service.Replicas() {
		all = append(all, &scraper{trial: t.number, cell: t.cell.Index, of: s.Name, index: i, replica: r, metrics: s.Metrics,
			protocol: t.cell.Load.Protocol, client: serviceclient.Client(t.cell.Load.Protocol, 0),
			every: t.exp.Measure.Interval, cut: cut(t.exp, t.cell), began: begin, out: out})
	}
	return all
}

// evictedEvery is the time between checks for evictions.
const evictedEvery = 250 * time.Millisecond

// endIfEvicted ends the traffic when a replica is evicted: a cluster evicted it, or
// lost a node. The service did not fail, but what remains of it is not what the
// experiment specifies, so the trial ends and is repeated.
func (t *trial) endIfEvicted(ctx context.Context) {
	tick := time.NewTicker(evictedEvery)
	defer tick.Stop()
	for t.deployment.evicted() == "" {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
	t.agents.stop()
}
