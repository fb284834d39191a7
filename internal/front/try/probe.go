package try

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/front/probe"
	"github.com/millicore/millicore/internal/host/runtimes"
	"github.com/millicore/millicore/internal/load/serviceclient"
	"github.com/millicore/millicore/internal/platform"
)

// settleFor is how long the workers of a server may take to be there, so that
// their number is not read while it still grows.
const settleFor = 3 * time.Second

// Probe starts the server once under its limits, asks it a few times, warms it up, returns
// its runtime and the least time that a request took, and stops it. The error says
// what the user can change. The cell is the one of the server as it is.
func Probe(ctx context.Context, on platform.Platform, c *experiment.Cell, objective *experiment.Objective, logs string) (seen Seen, err error) {
	err = whileRunning(ctx, on, c, logs, func(r platform.Replica, start signals.Start) (err error) {
		seen.Start = start
		first, err := probe.Ask(ctx, r.Address(), &c.Load)
		if err == nil {
			err = first.Unusable()
		}
		if err != nil {
			var no *probe.Refused
			if errors.As(err, &no) {
				no.Ready = c.Service.Ready.Path != ""
			}
			return err
		}
		seen.warmth = warm(ctx, r, &c.Load, cpusOf(c.Limits))
		// Bad answers to these requests are no mistake of the user's: the server has given good
		// ones, and may still shed the load of the warm-up.
		second, err := probe.Ask(ctx, r.Address(), &c.Load)
		if err != nil {
			return err
		}
		seen.Least, seen.Doubt = first.Least, first.And(&second).Words()
		if reporter, ok := platform.As[platform.EndReporter](r); ok && seen.Doubt == "" {
			if how, _ := reporter.LastEnd(); how != "" { // it serves again
				seen.Doubt = "the server died while it was warmed up, and was restarted: " + how
			}
		}
		if second.Good() > 0 {
			seen.Least = min(first.Least, second.Least)
		}
		if err := objectiveBelow(seen.Least, &c.Load, objective); err != nil {
			return err
		}
		seen.Info = detect(func() (runtimes.Info, error) { return runtimes.DetectTree(r.PIDs(), 0) })
		serverVersion(&seen.Info, cmp.Or(second.Server, first.Server))
		if at, err := netip.ParseAddrPort(r.Address()); err == nil {
			seen.Listens = int(at.Port())
		}
		if c.Service.FindPort {
			seen.Port = seen.Listens
		}
		return nil
	})
	return seen, err
}

// objectiveBelow is the error of an objective that no request can meet.
func objectiveBelow(least time.Duration, l *experiment.Load, o *experiment.Objective) error {
	if o.Quantile == "" || least <= o.Latency {
		return nil
	}
	what := l.Request.Method + " " + l.Request.Path
	if len(l.Mix) > 1 {
		what = "the fastest of the requests"
	}
	return fmt.Errorf("%s takes at least %v on an idle server, longer than the objective of %v, so no load can meet it; set a higher one with --p99",
		what, least.Round(100*time.Microsecond), o.Latency)
}

// Check starts each variant that sets the parallelism once, and reads whether it
// took effect: a program may set its own. Variants that had none say so from then
// on. Where the parallelism could not be read of the server as it is, nothing is
// checked; a variant that does not start is left to its search, which reports why.
func Check(ctx context.Context, on platform.Platform, e *experiment.Experiment, asItIs runtimes.Info, variants []Variant, logs string) error {
	if asItIs.Parallelism.Source != runtimes.Read {
		return nil
	}
	for i := range e.Cells {
		c := &e.Cells[i]
		at := slices.IndexFunc(variants, func(v Variant) bool { return v.Service == c.Service.Name && v.sets() })
		if at < 0 {
			continue
		}
		v := &variants[at]
		var found runtimes.Parallelism
		err := whileRunning(ctx, on, c, logs, func(r platform.Replica, _ signals.Start) (err error) {
			if _, err = probe.Ask(ctx, r.Address(), &c.Load); err == nil {
				found = settled(ctx, r, v.Value)
			}
			return err
		})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			v.NoEffect = noEffect(v.Value, found)
		}
	}
	return nil
}

// settled reads the parallelism of a replica until it is what it should be, or
// has had time enough to become it.
func settled(ctx context.Context, r platform.Replica, want int) runtimes.Parallelism {
	end := time.Now().Add(settleFor)
	for {
		info, err := runtimes.DetectTree(r.PIDs(), 0)
		if err != nil {
			return runtimes.Parallelism{}
		}
		if p := info.Parallelism; p.Source != runtimes.Read || p.Value == want || time.Now().After(end) {
			return p
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return runtimes.Parallelism{}
		}
	}
}

// noEffect says in words that a setting which should have given a parallelism of
// want did not, as far as that was read; "" otherwise.
func noEffect(want int, found runtimes.Parallelism) string {
	if found.Source != runtimes.Read || found.Value == want {
		return ""
	}
	return fmt.Sprintf("it still ran with %d (%s)", found.Value, found.From)
}

// notStarted is the error of a server that did not start, without the name that try gave
// it.
type notStarted struct {
	err  error
	text string
}

func (e *notStarted) Error() string { return e.text }
func (e *notStarted) Unwrap() error { return e.err }

// whileRunning starts a cell's service, has its first replica and its start looked at, and
// stops it.
func whileRunning(ctx context.Context, on platform.Platform, c *experiment.Cell, logs string, look func(platform.Replica, signals.Start) error) (err error) {
	s := &c.Service
	env := s.Environment()
	command := s.Command
	if s.Image != "" {
		command = s.Args
	}
	running, starts, err := platform.Timed(ctx, on.Start, platform.UnitSpec{Name: s.Name, Image: s.Image, Command: command, Volumes: s.Volumes, Dir: s.Dir, RunAs: s.User, Env: env.Values, Hidden: env.Hidden, Unset: s.Unset,
		Limits: c.Limits, Ready: s.Ready, Port: s.Port, FindPort: s.FindPort, Logs: logs, LogsRemoved: true})
	if err != nil {
		text := strings.TrimPrefix(err.Error(), fmt.Sprintf("start %q: replica 0: ", s.Name))
		var not *serviceclient.NotHTTP
		if errors.As(err, &not) && not.TLS {
			text += "; " + withoutTLS("https://127.0.0.1:PORT/")
		}
		return &notStarted{err, text}
	}
	defer func() {
		stopping, cancel := platform.Stopping(ctx)
		defer cancel()
		err = errors.Join(err, running.Stop(stopping))
	}()
	r := running.Replicas()[0]
	err = orDied(ctx, r, look(r, starts[0]))
	if overTLS(ctx, r.Address(), err) {
		return fmt.Errorf("the server speaks TLS (HTTPS); %s", withoutTLS("https://"+r.Address()+"/"))
	}
	return err
}

// withoutTLS says what to do with a server that speaks TLS.
func withoutTLS(url string) string {
	return "try loads a server that it starts without TLS: start it yourself, and search it with --attach " + url + " (and --cacert FILE)"
}

// overTLS reports whether a request failed because it was sent without TLS: the connection
// was closed, or the answer was no HTTP or 400, and the server makes a TLS handshake.
func overTLS(ctx context.Context, address string, err error) bool {
	var not *serviceclient.NotHTTP
	var no *probe.Refused
	if errors.As(err, &no) && no.Code == http.StatusBadRequest || errors.As(err, &not) {
		return not != nil && not.TLS || serviceclient.SpeaksTLS(ctx, address)
	}
	return false
}

// diesWithin is how long it may take until the end of a process is known whose connections
// are closed already: the kernel frees its memory first.
const diesWithin = 2 * time.Second

// orDied is an error about a replica's answers, or how the replica died, which explains it.
func orDied(ctx context.Context, r platform.Replica, err error) error {
	reporter, ok := platform.As[platform.EndReporter](r)
	if err == nil || !ok || !errors.As(err, new(*probe.Unanswered)) {
		return err
	}
	for end := time.Now().Add(diesWithin); ; {
		if how, output := reporter.LastEnd(); how != "" {
			return fmt.Errorf("the server served, and then died: %s%s", how, output)
		}
		if time.Now().After(end) {
			return err
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return err
		}
	}
}
