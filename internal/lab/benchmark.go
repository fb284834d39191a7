package lab

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/experiment/span"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/lab/gobench"
	"github.com/millicore/millicore/internal/platform"
)

// The trial of a benchmark has no traffic: the service is started under its limits and
// watched until it ends by itself, and its output is read.

// checkBenchmarks reports, before anything is started, that the platform cannot run the
// experiment's benchmarks.
func (l *Lab) checkBenchmarks() error {
	for i := range l.Experiment.Cells {
		c := &l.Experiment.Cells[i]
		if _, ok := platform.As[platform.JobStarter](l.Platform); c.Load.Benchmark && !ok {
			return fmt.Errorf("run service %q as a benchmark: %w", c.Service.Name, l.errNoJobs())
		}
	}
	return nil
}

func (l *Lab) errNoJobs() error {
	return fmt.Errorf("the platform %s runs services only, not benchmarks", l.Platform.Name())
}

// startJob starts a unit that ends by itself.
func (l *Lab) startJob(ctx context.Context, u platform.UnitSpec) (platform.Unit, error) {
	starter, ok := platform.As[platform.JobStarter](l.Platform)
	if !ok {
		return nil, l.errNoJobs()
	}
	return starter.StartOnce(ctx, u)
}

// benchmark takes the place of load: it watches a service that measures itself until
// it ends, and reads its output. The first error is a failure of the trial, the second
// one of Millicore.
func (t *trial) benchmark(ctx context.Context) (failure, err error) {
	program, ok := platform.As[platform.Job](t.deployment.service.Replicas()[0])
	if !ok {
		return fmt.Errorf("the platform %s does not report when a service has ended", t.lab.Platform.Name()), nil
	}
	limited, cancel := context.WithTimeout(ctx, t.exp.Measure.Duration)
	defer cancel()
	if err := t.observe(limited, cancel, program.Ended()); err != nil {
		return nil, err
	}
	select {
	case <-program.Ended():
	default:
		return gobench.WithOutput(fmt.Errorf("still running after %v, the time limit (measure.duration); raise it", span.Text(t.exp.Measure.Duration)), program.Output()), nil
	}
	if how := program.Failure(); how != "" {
		return gobench.WithOutput(errors.New(how), program.Output()), nil
	}
	if n := logDropped([]platform.Unit{t.deployment.service}); n > 0 {
		return fmt.Errorf("%s from the middle of its output are not in %s, and results may be among them; let the benchmark print less", display.Bytes(float64(n)), program.Output()), nil
	}
	results, err := gobench.ReadFile(program.Output())
	if err != nil {
		return err, nil
	}
	for i := range results {
		results[i].Trial, results[i].Cell = t.number, t.cell.Index
		if err := t.writer.Benchmark(&results[i]); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// observe records frames and windows until ended is closed or ctx ends. The error is
// that of the record, and ends ctx.
func (t *trial) observe(ctx context.Context, cancel context.CancelFunc, ended <-chan struct{}) (err error) {
	t.violation.ends(cancel)
	begin, over := time.Now(), make(chan struct{})
	events := make(chan event, 64)
	var all sync.WaitGroup
	all.Go(func() {
		defer close(over)
		select {
		case <-ended:
		case <-ctx.Done():
		}
	})
	all.Go(func() { t.sampler(begin, events).run(over) })
	watcher := t.watcher(begin, func(w *signals.Window) {
		if w.Kind != signals.Down { // the end of a benchmark is no failure
			events <- event{window: w}
		}
	})
	all.Go(func() { watcher.run(over) })
	go func() { all.Wait(); close(events) }()
	if err = t.recorder.record(events); err != nil {
		cancel()
		for range events { // until all senders have ended
		}
	}
	return err
}
