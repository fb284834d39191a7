package try

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/host/runtimes"
	"github.com/millicore/millicore/internal/load/serviceclient"
	"github.com/millicore/millicore/internal/platform"
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
	err = whileRunning(ctx, on, c, logs, func(r platform.Replica, start signals.Start) (err error) {
		seen.Start = start
		first, err := ask(ctx, r.Address(), &c.Load)
		if err == nil {
			err = first.unusable()
		}
		if err != nil {
			var no *refused
			if errors.As(err, &no) {
				no.ready = c.Service.Ready.Path != ""
			}
			return err
		}
		seen.warmth = warm(ctx, r, &c.Load, cpusOf(c.Limits))
		// Bad answers to these requests are no mistake of the user's: the server has given good
		// ones, and may still shed the load of the warm-up.
		second, err := ask(ctx, r.Address(), &c.Load)
		if err != nil {
			return err
		}
		seen.Least, seen.Doubt = first.least, first.and(&second).words()
		if reporter, ok := platform.As[platform.EndReporter](r); ok && seen.Doubt == "" {
			if how, _ := reporter.LastEnd(); how != "" { // it serves again
				seen.Doubt = "the server died while it was warmed up, and was restarted: " + how
			}
		}
		if second.good() > 0 {
			seen.Least = min(first.least, second.least)
		}
		if err := objectiveBelow(seen.Least, &c.Load, objective); err != nil {
			return err
		}
		seen.Info = detect(func() (runtimes.Info, error) { return runtimes.DetectTree(r.PIDs(), 0) })
		serverVersion(&seen.Info, cmp.Or(second.server, first.server))
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
			if _, err = ask(ctx, r.Address(), &c.Load); err == nil {
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
	var no *refused
	if errors.As(err, &no) && no.code == http.StatusBadRequest || errors.As(err, &not) {
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
	if err == nil || !ok || !errors.As(err, new(*unanswered)) {
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

// asked is what the requests of a probe have shown.
type asked struct {
	least  time.Duration // that a good answer took
	server string        // the header Server of the good answers
	sent   int
	bad    []error // of the requests without a good answer
}

func (a *asked) good() int { return a.sent - len(a.bad) }

// and is both probes together.
func (a *asked) and(b *asked) *asked {
	return &asked{sent: a.sent + b.sent, bad: slices.Concat(a.bad, b.bad)}
}

// unusable is the error of a server that answers most of the requests badly, even one by
// one: the first that is like most. A search shows what a server does that answers some
// badly.
func (a *asked) unusable() error {
	if 2*len(a.bad) <= a.sent {
		return nil
	}
	_, example := a.most()
	return example
}

// words describe the bad answers, for a line; "": there are none.
func (a *asked) words() string {
	if len(a.bad) == 0 {
		return ""
	}
	what, _ := a.most()
	if n := a.like(what); n < len(a.bad) {
		return fmt.Sprintf("%d of %d answers of the probe were bad: %d were %s", len(a.bad), a.sent, n, what)
	}
	if len(a.bad) == 1 {
		return fmt.Sprintf("1 of %d answers of the probe was %s", a.sent, what)
	}
	return fmt.Sprintf("%d of %d answers of the probe were %s", len(a.bad), a.sent, what)
}

// most is what most of the bad answers were, and the first of them.
func (a *asked) most() (what string, example error) {
	for _, err := range a.bad {
		if kind := kindOf(err); example == nil || a.like(kind) > a.like(what) {
			what, example = kind, err
		}
	}
	return what, example
}

func (a *asked) like(what string) (n int) {
	for _, err := range a.bad {
		if kindOf(err) == what {
			n++
		}
	}
	return n
}

// kindOf is what a bad answer was: its status, or none.
func kindOf(err error) string {
	var no *refused
	if errors.As(err, &no) {
		return strconv.Itoa(no.code)
	}
	var failed *failedCall
	if errors.As(err, &failed) {
		return failed.Code
	}
	return "missing"
}

// ask sends requests one by one. The first ones warm the server up. The error is that of a
// server to which there is no connection.
func ask(ctx context.Context, address string, l *experiment.Load) (a asked, err error) {
	client := clientOf(l)
	defer client.CloseIdleConnections()
	for began := time.Now(); a.sent < probes && time.Since(began) < 3*time.Second; {
		start := time.Now()
		server, err := once(ctx, client, address, turn(l, a.sent))
		var network *net.OpError
		if ctx.Err() != nil || errors.As(err, &network) && network.Op == "dial" {
			return a, err
		}
		a.sent++
		if err != nil {
			a.bad = append(a.bad, err)
			continue
		}
		if took := time.Since(start); a.good() == 1 || took < a.least {
			a.least = took
		}
		a.server = server
	}
	return a, nil
}

// clientOf returns a client for the requests of a load, which keeps its connections, and
// trusts the authorities of the load.
func clientOf(l *experiment.Load) *http.Client {
	t := &http.Transport{MaxIdleConnsPerHost: warmMost}
	if len(l.Calls()) > 0 {
		t.Protocols = new(http.Protocols)
		t.Protocols.SetUnencryptedHTTP2(true)
		t.Protocols.SetHTTP2(true)
	}
	if l.CA != "" {
		t.TLSClientConfig = &tls.Config{RootCAs: x509.NewCertPool()}
		t.TLSClientConfig.RootCAs.AppendCertsFromPEM([]byte(l.CA))
	}
	return &http.Client{Transport: t, Timeout: max(l.Timeout, 5*time.Second),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// bodyOf is the body of a request: the text, or what its file has.
func bodyOf(r *experiment.Request) io.Reader {
	if r.BodyFile != "" {
		return bytes.NewReader(r.Inputs.Body)
	}
	return strings.NewReader(r.Body)
}

// unanswered is the error of a request without a whole answer.
type unanswered struct{ err error }

func (u *unanswered) Error() string { return u.err.Error() }
func (u *unanswered) Unwrap() error { return u.err }

// once sends a request and returns the header Server of its answer.
func once(ctx context.Context, client *http.Client, address string, l *experiment.Load) (server string, err error) {
	r := &l.Request
	if r.GRPC != "" {
		return "", call(ctx, client, address, l)
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, serviceclient.URL(l.Protocol, address, r.Path), bodyOf(r))
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
		return "", &unanswered{fmt.Errorf("connect to the server: %w", err)}
	case err != nil:
		return "", &unanswered{fmt.Errorf("the server accepts connections but does not answer: %w", serviceclient.Explain(err))}
	}
	defer answer.Body.Close()
	start, err := io.ReadAll(io.LimitReader(answer.Body, 200))
	if err == nil {
		_, err = io.Copy(io.Discard, answer.Body)
	}
	if err != nil {
		return "", &unanswered{fmt.Errorf("%s %s: the answer broke off: %w", r.Method, r.Path, err)}
	}
	good := answer.StatusCode >= 200 && answer.StatusCode <= 299
	if r.Check != nil && len(r.Check.Status) > 0 {
		good = slices.Contains(r.Check.Status, answer.StatusCode)
	}
	if !good {
		return "", &refused{request: r, mix: len(l.Mix) > 0, code: answer.StatusCode, text: strings.Join(strings.Fields(string(start)), " ")}
	}
	return answer.Header.Get("Server"), nil
}
