package engine

import (
	"time"

	"github.com/millicore/millicore/internal/load/mux"
	"github.com/millicore/millicore/internal/load/poll"
)

func newPoller(zero time.Time, plan *Plan, first int) (p poller, err error) {
	if t := plan.Transport; t.TLS {
		p, err = newSecurePoller(zero, plan.Targets, t, first)
	} else {
		p, err = poll.New(zero, plan.Targets, first)
	}
	if err == nil && plan.Transport.HTTP2 {
		p = mux.New(p, len(plan.Targets), mux.Options{HTTPS: plan.Transport.TLS, Streams: plan.Transport.Streams, Shares: plan.shares()})
	}
	return p, err
}

func enter() { poll.Enter() }

func allowFiles(connections, threads int) error { return poll.AllowFiles(connections, threads) }
