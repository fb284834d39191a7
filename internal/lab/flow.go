package lab

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/load/protocol"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/serviceclient"
	"github.com/millicore/millicore/internal/signals"
)

// sight is one thing that was seen; exactly one field is set.
type sight struct {
	frame   *signals.Frame
	window  *signals.Window
	lost    *loss
	sampled *int // all that the sampler reads of an interval has been seen: its number
}

// load runs the traffic to its end, or to ctx's. The first error is a failure
// of the trial, the second one of the tool.
func (t *trial) load(ctx context.Context) (failure, err error) {
	begin := time.Now().Add(t.lead())
	for _, a := range t.agents {
		if err := a.start(begin); err != nil {
			return fmt.Errorf("start the agents: %w", err), nil
		}
	}
	var failures failures
	if t.cell.Load.Find {
		t.finder = t.newFinder(&failures)
	}
	sights := make(chan sight, 64)
	see := func(f *signals.Frame) { sights <- sight{frame: f} }
	loaded, over := context.WithCancel(ctx) // ends with the last agent

	var agents, others sync.WaitGroup
	for i, a := range t.agents {
		agents.Go(func() {
			if err := t.follow(a, begin, see); err != nil {
				sights <- sight{lost: &loss{agent: i, err: err}}
			}
		})
	}
	others.Go(func() { agents.Wait(); over() })
	others.Go(func() { t.sampler(begin, func(s sight) { sights <- s }).run(loadEnd(&agents)) })
	others.Go(func() { failures.add(t.act(loaded, begin)) })
	others.Go(func() { t.followScale(loaded) })
	others.Go(func() { t.endIfEvicted(loaded) })
	for _, s := range t.scrapers(begin, see) {
		others.Go(func() {
			if err := s.run(loaded); err != nil {
				t.lab.note("trial %d (%s): %v; the dependency's part of the tail is not known", t.number, t.cell.Label(), err)
			}
		})
	}
	if t.profile != nil {
		others.Go(func() { t.profile.take(loaded, begin.Add(t.exp.Measure.Warmup), t.services.Replicas()[0].Address()) })
	}
	others.Go(func() { t.watcher(func(w *signals.Window) { sights <- sight{window: w} }).run(loaded.Done()) })
	go func() { others.Wait(); close(sights) }()
	defer context.AfterFunc(ctx, t.stopAgents)()

	if err = t.keepAll(sights); err != nil {
		t.stopAgents()
		for range sights { // so that all ends
		}
	}
	failures.add(t.allLost())
	return failures.joined(), err
}

// loadEnd gives a channel that is closed when all agents are done.
func loadEnd(agents *sync.WaitGroup) <-chan struct{} {
	end := make(chan struct{})
	go func() { agents.Wait(); close(end) }()
	return end
}

// follow passes on an agent's frames until it is done. A healthy agent sends
// one at the end of each interval, whatever the service does; one that falls
// silent is closed, which ends it.
func (t *trial) follow(a *runningAgent, begin time.Time, see func(*signals.Frame)) error {
	patience := t.exp.Measure.Interval + grace
	ctx, giveUp := context.WithCancelCause(context.Background())
	defer giveUp(nil)
	silent := time.AfterFunc(time.Until(begin)+patience, func() {
		giveUp(fmt.Errorf("it said nothing for %v and was stopped: it got hardly any CPU; see who else uses this machine, and whether the agent has a limit", patience))
		a.process.Close()
	})
	defer silent.Stop()
	_, err := a.client.Follow(ctx, func(f *signals.Frame) error {
		silent.Reset(patience)
		a.toOurs(f)
		see(f)
		return nil
	})
	return err
}

// failures gathers what went wrong in several goroutines, in its order: what came
// first is mostly the reason of the rest.
type failures struct {
	mu   sync.Mutex
	errs []error
}

func (f *failures) add(err error) {
	if err == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.errs = append(f.errs, err)
}

// first is the failure that came first.
func (f *failures) first() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.errs) == 0 {
		return nil
	}
	return f.errs[0]
}

func (f *failures) joined() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return errors.Join(f.errs...)
}

// syncEvery is how soon what was seen is on the disk: not each frame at once, as
// those of many agents come one after another, and a disk takes milliseconds.
const syncEvery = 50 * time.Millisecond

// keepAll takes all that is seen into the record, until there is no more.
func (t *trial) keepAll(sights <-chan sight) error {
	tick := time.NewTicker(syncEvery)
	defer tick.Stop()
	for dirty := false; ; {
		select {
		case s, more := <-sights:
			if !more {
				return nil // the trial's end brings the rest to the disk
			}
			if err := t.keep(s); err != nil {
				return err
			}
			dirty = true
		case <-tick.C:
			if !dirty {
				continue
			}
			if err := t.writer.Sync(); err != nil {
				return err
			}
			dirty = false
		}
	}
}

// keep takes what was seen into the record. The search acts on it.
func (t *trial) keep(s sight) error {
	switch {
	case s.window != nil:
		return t.writer.Window(s.window)
	case s.lost != nil:
		return t.lose(*s.lost)
	case s.sampled != nil:
		t.show.say()
	default:
		t.noise.Add(s.frame)
		t.show.frame(s.frame, t.cell.Service.Name)
		if err := t.writer.Frame(s.frame); err != nil {
			return err
		}
	}
	if t.finder == nil {
		return nil
	}
	find := func() (bool, error) { return t.finder.frame(s.frame) }
	if s.sampled != nil {
		find = func() (bool, error) { return t.finder.sampled(*s.sampled) }
	}
	ended, err := find()
	if ended {
		t.searched()
	}
	return err
}

// searched ends a trial whose search has ended.
func (t *trial) searched() {
	if load := t.finder.machine.Result().Load; load > 0 {
		t.lab.found[t.cell.Index] = append(t.lab.found[t.cell.Index], load)
	}
	t.finder = nil
	t.stopAgents()
}

// stopAgents tells the agents to end their traffic, once; answers in flight are
// still awaited, up to the requests' timeout.
func (t *trial) stopAgents() {
	t.stopping.Do(func() {
		for _, a := range t.agents {
			// An agent that cannot be told ends when its input is closed.
			if a.client.Stop() != nil {
				a.process.Close()
			}
		}
	})
}

// watch has the sampler read replicas. They are read a first time at once, so
// that one that dies before the load begins is counted. Those that have gone are
// nil.
func (t *trial) watch(of string, r role, replicas []platform.Replica) {
	for i, replica := range replicas {
		if replica == nil {
			continue
		}
		s := newSource(of, i, r, replica)
		if c, err := s.read(); err == nil {
			s.last, s.known = c, true
		}
		t.sources = append(t.sources, s)
	}
}

func (t *trial) sampler(begin time.Time, see func(sight)) *sampler {
	machines, _ := platform.As[platform.MachineSampler](t.lab.Platform)
	return &sampler{trial: t.number, cell: t.cell.Index, began: begin, sources: t.sources, scale: t.newScale(),
		out:     func(f *signals.Frame) { see(sight{frame: f}) },
		sampled: func(seq int) { see(sight{sampled: &seq}) },
		cut:     cut(t.exp, t.cell), blind: t.lab.Blind, machines: machines}
}

// newFinder lets a search set the load of all agents. One that cannot be told has
// ended; that of the only one is a failure of the trial.
func (t *trial) newFinder(failures *failures) *finder {
	f := newFinder(t.exp, t.cell, t.number)
	f.write = func(s signals.SearchStep) error { return t.writer.Step(&s) }
	f.tell = t.show.searching
	f.change = func(load float64, drop bool) {
		to := openEnded(load)
		to.Kind, to.Even = kindOf(t.cell), t.cell.Load.Even
		for i, a := range t.agents {
			err := a.client.Change(protocol.Change{Load: to, Drop: drop})
			switch {
			case err == nil:
			case len(t.agents) > 1: // it is lost, as whoever follows it finds out
				a.process.Close()
			default:
				failures.add(fmt.Errorf("set the load of agent %d: %w", i, err))
				t.stopAgents()
			}
		}
	}
	f.up = func() bool {
		for _, r := range t.services.Replicas() {
			if p, err := r.Pulse(); err != nil || !p.Up {
				return false
			}
		}
		return true
	}
	return f
}

func (t *trial) scrapers(begin time.Time, see func(*signals.Frame)) []*scraper {
	s := &t.cell.Service
	if s.Metrics == nil {
		return nil
	}
	var all []*scraper
	for i, r := range t.services.Replicas() {
		all = append(all, &scraper{trial: t.number, cell: t.cell.Index, of: s.Name, index: i, replica: r, metrics: s.Metrics, protocol: t.cell.Load.Protocol, client: serviceclient.Client(t.cell.Load.Protocol, 0),
			every: t.exp.Measure.Interval, cut: cut(t.exp, t.cell), began: begin, out: see})
	}
	return all
}
