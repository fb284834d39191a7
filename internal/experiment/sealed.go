package experiment

import (
	"bytes"
	"fmt"
)

// Sealed is what Gather found for an experiment: all that its text does not say.
// It is sent to where the experiment runs. It is in no record, since it has
// credentials.
type Sealed struct {
	Supplies []Supplies `json:"supplies,omitempty"` // each once, however many requests want it
	// Requests has for each cell, and for each of its requests as Load.Asked has
	// them, the index in Supplies; -1: it wants nothing. A cell without one that
	// wants anything has none.
	Requests [][]int `json:"requests,omitempty"`
}

// Seal takes what Gather put into the experiment's requests.
func (e *Experiment) Seal() Sealed {
	var out Sealed
	requests := make([][]int, len(e.Cells))
	for i := range e.Cells {
		asked := e.Cells[i].Load.Asked()
		indexes := make([]int, len(asked))
		wants := false
		for j := range asked {
			indexes[j] = -1
			if asked[j].supplied() {
				indexes[j] = out.add(asked[j].Supplies)
				wants = true
			}
		}
		if wants {
			requests[i] = indexes
		}
	}
	if len(out.Supplies) > 0 {
		out.Requests = requests
	}
	return out
}

// add gives the index of supplies, which are kept once.
func (s *Sealed) add(one Supplies) int {
	for i, have := range s.Supplies {
		if have.Authorization == one.Authorization && (have.Body == nil) == (one.Body == nil) && bytes.Equal(have.Body, one.Body) {
			return i
		}
	}
	s.Supplies = append(s.Supplies, one)
	return len(s.Supplies) - 1
}

// Unseal gives the experiment's requests what was sealed, instead of Gather. An
// error means that it was sealed for another experiment. The error contains
// nothing of what was sealed.
func (e *Experiment) Unseal(s Sealed) error {
	for i := range e.Cells {
		l := &e.Cells[i].Load
		var indexes []int
		if i < len(s.Requests) {
			indexes = s.Requests[i]
		}
		for j := range l.Mix {
			if err := l.Mix[j].unseal(s.Supplies, indexes, j); err != nil {
				return fmt.Errorf("cell %d: %w", i, err)
			}
		}
		if err := l.Request.unseal(s.Supplies, indexes, 0); err != nil {
			return fmt.Errorf("cell %d: %w", i, err)
		}
	}
	return nil
}

// unseal gives request j of a cell what was sealed for it.
func (r *Request) unseal(supplies []Supplies, indexes []int, j int) error {
	r.Supplies = Supplies{}
	if j < len(indexes) && indexes[j] >= 0 && indexes[j] < len(supplies) {
		r.Supplies = supplies[indexes[j]]
	}
	switch {
	case r.BodyFile != "" && r.Supplies.Body == nil:
		return fmt.Errorf("request %s %s: the sealed supplies have no body for it; seal this experiment again", r.Method, r.Path)
	case r.Auth != nil && r.Supplies.Authorization == "":
		return fmt.Errorf("request %s %s: the sealed supplies have no credentials for it; seal this experiment again", r.Method, r.Path)
	case r.BodyFile == "" && r.Supplies.Body != nil, r.Auth == nil && r.Supplies.Authorization != "":
		return fmt.Errorf("request %s %s: the sealed supplies have more than it needs; seal this experiment again", r.Method, r.Path)
	}
	return nil
}

// supplied reports whether something of the request came from outside.
func (r *Request) supplied() bool {
	return r.Supplies.Body != nil || r.Supplies.Authorization != ""
}
