package tunnel

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"time"
)

// Waits of a client.
const (
	// patience is how long a conductor may be unavailable: its container restarts, or
	// its node is slow.
	patience = 5 * time.Minute
	// First and longest pause between two failed connections.
	firstPause   = 200 * time.Millisecond
	longestPause = 5 * time.Second
	// brief is the length below which a stream counts as a failure, so that streams
	// which end immediately do not cause a storm of connections.
	brief = time.Second
)

// Serve connects to the conductor and calls serve with each stream, one after
// another, until the run is over (nil) or ctx ends (its cause). It returns an error
// if the conductor cannot be reached for minutes, or refuses. The stream is closed
// when serve returns, or when ctx ends. note receives errors that are retried.
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
	met := time.Now() // the last connection to the conductor
	said := ""        // the last note: the same cause is noted once
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
			return fmt.Errorf("no connection to the conductor for %v: %w", l.patience, err)
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
