package try

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/host/runtimes"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/serviceclient"
)

// probes are how many requests are sent one by one before anything else: enough
// to measure what one costs when nothing else runs.
const probes = 20

// settleFor is how long the workers of a server may take to be there, so that
// their number is not read while it still grows.
const settleFor = 3 * time.Second

// Probe starts the server once under its limits, asks it a few times, warms it up, returns
// its runtime and the least time that a request took, and stops it. The error says
// what the user can change. The cell is the one of the server as it is.
func Probe(ctx context.Context, on platform.Platform, c *experiment.Cell, objective *experiment.Objective, logs string) (seen Seen, err error) {
	err = whileRunning(ctx, on, c, logs, func(r platform.Replica) (err error) {
		if seen.Least, _, err = ask(ctx, r.Address(), &c.Load); err != nil {
			var no *refused
			if errors.As(err, &no) {
				no.ready = c.Service.Ready.Path != ""
			}
			return err
		}
		seen.warmth = warm(ctx, r, &c.Load, cpusOf(c.Limits))
		least, server, err := ask(ctx, r.Address(), &c.Load)
		if err != nil {
			return err
		}
		seen.Least = min(seen.Least, least)
		if err := objectiveBelow(seen.Least, &c.Load.Request, objective); err != nil {
			return err
		}
		if seen.Info, err = runtimes.DetectTree(r.PIDs(), 0); err != nil { // it serves, and can be measured whatever it is
			seen.Info = runtimes.Info{Runtime: runtimes.Unknown}
		}
		serverVersion(&seen.Info, server)
		if c.Service.FindPort {
			if at, err := netip.ParseAddrPort(r.Address()); err == nil {
				seen.Port = int(at.Port())
			}
		}
		return nil
	})
	return seen, err
}

// objectiveBelow is the error of an objective that no request can meet.
func objectiveBelow(least time.Duration, r *experiment.Request, o *experiment.Objective) error {
	if o.Quantile == "" || least <= o.Latency {
		return nil
	}
	return fmt.Errorf("%s %s takes at least %v on an idle server, longer than the objective of %v, so no load can meet it; set a higher one with --p99",
		r.Method, r.Path, least.Round(100*time.Microsecond), o.Latency)
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
		err := whileRunning(ctx, on, c, logs, func(r platform.Replica) (err error) {
			if _, _, err = ask(ctx, r.Address(), &c.Load); err == nil {
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

// whileRunning starts a cell's service, has its first replica looked at, and
// stops it.
func whileRunning(ctx context.Context, on platform.Platform, c *experiment.Cell, logs string, look func(platform.Replica) error) (err error) {
	s := &c.Service
	env := s.Environment()
	running, err := on.Start(ctx, platform.UnitSpec{Name: s.Name, Command: s.Command, Dir: s.Dir, RunAs: s.User, Env: env.Values, Hidden: env.Hidden, Unset: s.Unset,
		Limits: c.Limits, Ready: s.Ready, Port: s.Port, FindPort: s.FindPort, Logs: logs, LogsRemoved: true})
	if err != nil {
		return &notStarted{err, strings.TrimPrefix(err.Error(), fmt.Sprintf("start %q: replica 0: ", s.Name))}
	}
	defer func() {
		stopping, cancel := platform.Stopping(ctx)
		defer cancel()
		err = errors.Join(err, running.Stop(stopping))
	}()
	return look(running.Replicas()[0])
}

// ask sends requests one by one and returns the least time that one took, and the header
// Server of the answers. The first ones warm the server up.
func ask(ctx context.Context, address string, l *experiment.Load) (least time.Duration, server string, err error) {
	client := clientOf(address, l)
	defer client.CloseIdleConnections()
	began := time.Now()
	for i := range probes {
		start := time.Now()
		if server, err = once(ctx, client, address, l); err != nil {
			return 0, "", err
		}
		if took := time.Since(start); i == 0 || took < least {
			least = took
		}
		if time.Since(began) > 3*time.Second {
			break
		}
	}
	return least, server, nil
}

// bodyOf is the body of a request: the text, or what its file has.
func bodyOf(r *experiment.Request) io.Reader {
	if r.BodyFile != "" {
		return bytes.NewReader(r.Inputs.Body)
	}
	return strings.NewReader(r.Body)
}

// once sends a request and returns the header Server of its answer.
func once(ctx context.Context, client *http.Client, address string, l *experiment.Load) (server string, err error) {
	r := &l.Request
	req, err := http.NewRequestWithContext(ctx, r.Method, serviceclient.URL(l.Protocol, hostOf(address), r.Path), bodyOf(r))
	if err != nil {
		return "", err
	}
	for name, value := range r.Headers {
		if strings.EqualFold(name, "Host") {
			req.Host = value
		}
		req.Header.Set(name, value)
	}
	answer, err := client.Do(req)
	var network *net.OpError
	switch {
	case errors.As(err, &network) && network.Op == "dial":
		return "", fmt.Errorf("connect to the server: %w", err)
	case err != nil:
		return "", fmt.Errorf("the server accepts connections but does not answer: %w", err)
	}
	defer answer.Body.Close()
	start, err := io.ReadAll(io.LimitReader(answer.Body, 200))
	if err == nil {
		_, err = io.Copy(io.Discard, answer.Body)
	}
	if err != nil {
		return "", fmt.Errorf("%s %s: the answer broke off: %w", r.Method, r.Path, err)
	}
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return "", &refused{request: r, code: answer.StatusCode, text: strings.Join(strings.Fields(string(start)), " ")}
	}
	return answer.Header.Get("Server"), nil
}
