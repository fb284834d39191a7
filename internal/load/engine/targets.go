package engine

import "fmt"

// present returns the indices of the targets that have not gone.
func present(targets []Target) []int32 {
	var all []int32
	for i := range targets {
		if !targets[i].Gone {
			all = append(all, int32(i))
		}
	}
	return all
}

// settleTargets checks that each target has a request of each kind.
func (p *Plan) settleTargets(targets []Target) error {
	for i := range targets {
		if t := &targets[i]; !t.Gone && len(t.Requests) != len(p.Kinds) {
			return fmt.Errorf("%s has %d requests of %d kinds", t.Addr, len(t.Requests), len(p.Kinds))
		}
	}
	return nil
}

// targetOf is the target of a slot's connection: connection i of all agents goes to
// target i mod n of the present targets.
func (l *loop) targetOf(slot int32) int32 {
	return l.present[(l.from+int(slot))%len(l.present)]
}
