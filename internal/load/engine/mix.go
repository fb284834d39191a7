package engine

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/millicore/millicore/internal/load/wire"
)

// Kind is one kind of request, of which each target has its own bytes.
type Kind struct {
	Weight int // how often it is sent, beside the others' weights
	Check  *wire.Checked
}

// maxWeights bounds the sum of the weights: what is drawn is a whole number.
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
	return p.settleTargets(p.Targets)
}

// ofMix sets what is drawn here apart from what else is drawn from the seed.
const ofMix = 0x6d6978

// mix chooses which kind of request is sent next, and fills in what differs from
// one to the next. Both follow from the seed.
type mix struct {
	kinds  []Kind
	ends   []int // of the kinds' shares of all weights
	values wire.Values
	step   uint64
}

func newMix(p *Plan, share int) mix {
	m := mix{
		kinds:  p.Kinds,
		values: wire.Values{Seq: uint64(share) + 1, Random: rand.New(rand.NewPCG(p.Seed^ofMix, uint64(share)))},
		step:   uint64(p.shares()),
	}
	sum := 0
	for _, k := range p.Kinds {
		sum += k.Weight
		m.ends = append(m.ends, sum)
	}
	return m
}

// choose gives a slot the next request that its target gets.
func (m *mix) choose(s *slot, t *Target) {
	s.kind = 0
	if last := len(m.ends) - 1; last > 0 {
		for drawn := m.values.Random.IntN(m.ends[last]); drawn >= m.ends[s.kind]; {
			s.kind++
		}
	}
	template := t.Requests[s.kind]
	if s.request = template.Fixed(); s.request == nil {
		s.own = template.Append(s.own[:0], &m.values)
		s.request = s.own
	}
	s.head = template.Head()
	m.values.Seq += m.step
}

// check is what says whether a slot's answer is good.
func (m *mix) check(s *slot) *wire.Checked { return m.kinds[s.kind].Check }
