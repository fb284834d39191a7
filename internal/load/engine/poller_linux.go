package engine

import (
	"time"

	"github.com/millicore/millicore/internal/load/mux"
	"github.com/millicore/millicore/internal/load/poll"
)

func newPoller(zero time.Time, plan *Plan, share int) (p poller, err error) {
	place := poll.Place{Index: share, Of: plan.shares()}
	if place.Sources, err = poll.Sources(plan.Transport.Sources, plan.Targets); err != nil {
		return nil, err
	}
	if t := plan.Transport; t.TLS {
		p, err = newSecurePoller(zero, plan.Targets, t, place)
	} else {
		p, err = poll.New(zero, plan.Targets, place)
	}
	if err == nil && plan.Transport.HTTP2 {
		p = mux.New(p, len(plan.Targets), mux.Options{HTTPS: plan.Transport.TLS, Streams: plan.Transport.Streams, Shares: plan.shares()})
	}
	return p, err
}

func enter() { poll.Enter() }

func allowFiles(connections, threads int) error { return poll.AllowFiles(connections, threads) }
