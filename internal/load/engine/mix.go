package engine

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/millicore/millicore/internal/data/recording"
	"github.com/millicore/millicore/internal/load/session"
	"github.com/millicore/millicore/internal/load/weights"
	"github.com/millicore/millicore/internal/load/wire"
)

// Kind is one kind of request. Its bytes are in Target.Requests.
type Kind struct {
	Weight int // how often it is sent, relative to the other kinds
	Check  *wire.Checked
	Name   string // under which its requests are counted apart, with those of the same name; "": they are not
}

// maxWeights bounds the sum of the weights, which must fit into an int.
const maxWeights = math.MaxInt

// settleKinds checks the kinds of requests.
func (p *Plan) settleKinds() error {
	if len(p.Kinds) == 0 {
		return errors.New("no request")
	}
	sum := 0
	for _, k := range p.Kinds {
		if k.Weight < 1 || k.Weight > maxWeights-sum {
			return fmt.Errorf("a weight of %d: want 1 or more, and no more than %d in all", k.Weight, maxWeights)
		}
		sum += k.Weight
	}
	if p.Session != nil && (p.Session.Len() != len(p.Kinds) || p.Transport.HTTP2) {
		return fmt.Errorf("a session of %d steps for %d requests: want one for each, and HTTP/1.1", p.Session.Len(), len(p.Kinds))
	}
	return p.settleTargets(p.Targets)
}

// ofMix makes these random numbers independent of others from the same seed.
const ofMix = 0x6d6978

// mix chooses the kind of the next request and fills in its placeholders. Both are
// determined by the seed.
type mix struct {
	kinds    []Kind
	weights  weights.Weights
	values   wire.Values
	step     uint64
	closes   bool             // a connection has one request at a time, which may be its last: not with HTTP/2
	turns    *session.Pool    // of the users; nil: kinds are drawn
	recorded *recording.Share // has the request that is due at each time; nil: none has
}

func newMix(p *Plan, share int) mix {
	m := mix{
		kinds:  p.Kinds,
		values: wire.Values{Seq: uint64(share) + 1, Random: rand.New(rand.NewPCG(p.Seed^ofMix, uint64(share)))},
		step:   uint64(p.shares()),
		closes: !p.Transport.HTTP2,
	}
	for _, k := range p.Kinds {
		m.weights.Add(k.Name, k.Weight)
	}
	if p.Session != nil {
		m.turns = session.NewPool(p.Session, p.Load.Even, p.Seed, share, p.shares())
	}
	return m
}

// choose sets a slot's request to the next one of its target or, at the time now, of a session.
func (m *mix) choose(s *slot, t *Target, now time.Duration) {
	s.kind = 0
	if m.recorded != nil {
		r := m.recorded.Find(s.intended)
		s.kind, m.values.Path = int32(r.Kind), r.Path
	} else if m.turns != nil {
		s.session = m.turns.Take(now)
		s.kind, m.values.Session = int32(s.session.Step()), s.session
	} else if len(m.kinds) > 1 {
		s.kind = m.weights.Draw(m.values.Random, s.intended)
	}
	template := t.Requests[s.kind]
	if s.request = template.Fixed(); s.request == nil {
		s.own = template.Append(s.own[:0], &m.values)
		if s.request = s.own; m.values.Err != nil {
			s.request = nil // it must not be sent; the loop ends
		}
	}
	s.head, s.call = template.Head(), template.Call()
	s.closes = m.closes && template.Closes()
	s.repeats, s.resent, s.moves = m.closes && template.Idempotent(), false, 0
	m.values.Seq += m.step
}

// check is the check for a slot's answer.
func (m *mix) check(s *slot) *wire.Checked { return m.kinds[s.kind].Check }
