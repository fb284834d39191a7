// Package probe sends the requests of a load to a service before the load begins, one by one or
// by users that do not pause, and judges the answers as the load will.
package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
)

// probes are how many requests are sent one by one: enough to measure what one costs when
// nothing else runs.
const probes = 20

// Asked is what the requests of a probe have shown.
type Asked struct {
	Least  time.Duration // that a good answer took
	Server string        // the header Server of the good answers
	sent   int
	bad    []error // of the requests without a good answer
}

// Good is the number of good answers.
func (a *Asked) Good() int { return a.sent - len(a.bad) }

// And is both probes together.
func (a *Asked) And(b *Asked) *Asked {
	return &Asked{sent: a.sent + b.sent, bad: slices.Concat(a.bad, b.bad)}
}

// Unusable is the error of a server that answers most of the requests badly, even one by
// one: the first that is like most. A search shows what a server does that answers some
// badly.
func (a *Asked) Unusable() error {
	if 2*len(a.bad) <= a.sent {
		return nil
	}
	_, example := a.most()
	return example
}

// Words describe the bad answers, for a line; "": there are none.
func (a *Asked) Words() string {
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
func (a *Asked) most() (what string, example error) {
	for _, err := range a.bad {
		if kind := kindOf(err); example == nil || a.like(kind) > a.like(what) {
			what, example = kind, err
		}
	}
	return what, example
}

func (a *Asked) like(what string) (n int) {
	for _, err := range a.bad {
		if kindOf(err) == what {
			n++
		}
	}
	return n
}

// kindOf is what a bad answer was: its status, or none.
func kindOf(err error) string {
	var no *Refused
	if errors.As(err, &no) {
		return strconv.Itoa(no.Code)
	}
	var failed *failedCall
	if errors.As(err, &failed) {
		return failed.Code
	}
	if errors.As(err, new(*unlike)) {
		return "not as checked"
	}
	return "missing"
}

// Ask sends requests one by one. The first ones warm the server up. The error is that of a
// server to which there is no connection.
func Ask(ctx context.Context, address string, l *experiment.Load) (a Asked, err error) {
	to, err := NewSender(l, address, 1)
	if err != nil {
		return a, err
	}
	defer to.Close()
	for began := time.Now(); a.sent < probes && time.Since(began) < 3*time.Second; {
		start := time.Now()
		server, err := to.Send(ctx)
		var network *net.OpError
		if ctx.Err() != nil || errors.As(err, &network) && network.Op == "dial" {
			return a, err
		}
		a.sent++
		if err != nil {
			a.bad = append(a.bad, err)
			continue
		}
		if took := time.Since(start); a.Good() == 1 || took < a.Least {
			a.Least = took
		}
		a.Server = server
	}
	return a, nil
}
