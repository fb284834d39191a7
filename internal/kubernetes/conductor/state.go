package conductor

import (
	"sync"
	"time"
)

// Stage is the progress of a run.
type Stage string

// The stages of a run.
const (
	Starting    Stage = "starting"    // the platform is being prepared
	Running     Stage = "running"     // trials are conducted
	Done        Stage = "done"        // the plan is done
	Failed      Stage = "failed"      // Error has the reason
	Interrupted Stage = "interrupted" // the conductor was terminated; another one resumes the run
	Stopped     Stage = "stopped"     // the user ended it; the record has what was measured before
)

// Ended reports whether nothing more will be measured.
func (s Stage) Ended() bool { return s == Done || s == Failed || s == Interrupted || s == Stopped }

// State is the answer to GET /state.
type State struct {
	Run     string    `json:"run"`
	State   Stage     `json:"state"`
	Error   string    `json:"error,omitempty"`
	Exit    int       `json:"exit"`           // of a run that has ended: the exit code of millicore, one of internal/base/exit
	Done    int       `json:"trials_done"`    // that have ended, regardless of the result
	Planned int       `json:"trials_planned"` // as far as is known now; 0: not yet
	At      time.Time `json:"at"`             // when State was reached
}

// board holds the current state of the run.
type board struct {
	mu    sync.Mutex
	state State
}

func (b *board) read() State {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state
}

// set restores an earlier state.
func (b *board) set(s State) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.state = s
}

// change changes the state. A new stage gets the current time.
func (b *board) change(f func(*State)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before := b.state.State
	f(&b.state)
	if b.state.State != before {
		b.state.At = time.Now()
	}
}
