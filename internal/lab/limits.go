package lab

import (
	"fmt"
	"sync"
)

// violation is the first limit that did not hold during a trial. Such a trial shows
// nothing about the service under its limits: it ends at once, and is invalid.
type violation struct {
	mu   sync.Mutex
	why  string
	stop func() // ends the measurement; nil: it has not begun
}

// ends sets what ends the measurement.
func (v *violation) ends(stop func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.stop = stop
}

// saw takes a limit of a source that does not hold.
func (v *violation) saw(s *source, why string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.why != "" {
		return
	}
	v.why = fmt.Sprintf("a limit of %s did not hold: %s", s.name(), why)
	if v.stop != nil {
		v.stop()
	}
}

// reason is why the trial is invalid; "": it is not.
func (v *violation) reason() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.why
}

// name names a replica for people.
func (s *source) name() string {
	if s.index == 0 {
		return s.of
	}
	return fmt.Sprintf("replica %d of %s", s.index, s.of)
}
