package dial

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"time"
)

// Patience of who dials.
const (
	// patience is how long a conductor may be away: its container is started
	// again, or its node is slow.
	patience = 5 * time.Minute
	// First and longest pause between two dials that failed.
	firstPause   = 200 * time.Millisecond
	longestPause = 5 * time.Second
	// brief is how short a stream is that counts as a failure: one that is taken
	// and dropped at once must not make a storm of dials.
	brief = time.Second
)

// Serve dials the conductor and gives each stream that it gets to serve, one
// after another, until the run is over (nil) or ctx ends (its cause). Where the
// conductor cannot be reached for minutes, or refuses, the error says so. The
// stream is closed when serve returns, or when ctx ends; note is told what went
// wrong in between.
func Serve(ctx context.Context, o Options, note func(error), serve func(net.Conn) error) error {
	l := loop{options: o, note: note, serve: serve, patience: patience, first: firstPause}
	return l.run(ctx)
}

type loop struct {
	options  Options
	note     func(error)
	serve    func(net.Conn) error
	patience time.Duration
	first    time.Duration
}

func (l *loop) run(ctx context.Context) error {
	met := time.Now() // when the conductor was met last
	said := ""        // the last note: one cause is told once
	for pause := l.first; ; {
		stream, err := l.options.connect(ctx)
		if err == nil {
			began := time.Now()
			if err = l.options.wait(ctx, stream); err == nil {
				err = l.use(ctx, stream)
			}
			met = time.Now()
			if met.Sub(began) >= brief {
				pause = l.first
				if err == nil {
					said = ""
					continue
				}
			}
		}
		switch {
		case errors.Is(err, ErrOver):
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.As(err, new(*RefusedError)):
			return err
		case time.Since(met) > l.patience:
			return fmt.Errorf("no conductor for %v: %w", l.patience, err)
		}
		if err != nil && err.Error() != said {
			said = err.Error()
			l.note(err)
		}
		select {
		case <-time.After(pause/2 + rand.N(pause)):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		pause = min(2*pause, longestPause)
	}
}

func (l *loop) use(ctx context.Context, stream net.Conn) error {
	defer stream.Close()
	defer context.AfterFunc(ctx, func() { stream.Close() })()
	return l.serve(stream)
}
