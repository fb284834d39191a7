package conductor

import (
	"sync"
	"time"
)

// Stage is where a run stands.
type Stage string

// The stages of a run.
const (
	Starting    Stage = "starting"    // what it needs is brought up
	Running     Stage = "running"     // trials are conducted
	Done        Stage = "done"        // the plan was worked through
	Failed      Stage = "failed"      // it could not be; Error says why
	Interrupted Stage = "interrupted" // the conductor was told to end; another goes on with the run
	Stopped     Stage = "stopped"     // its user ended it; the record holds what was measured until then
)

// Ended reports whether nothing more will be measured.
func (s Stage) Ended() bool { return s == Done || s == Failed || s == Interrupted || s == Stopped }

// State is what GET /state answers.
type State struct {
	Run     string    `json:"run"`
	State   Stage     `json:"state"`
	Error   string    `json:"error,omitempty"`
	Exit    int       `json:"exit"`           // of a run that has ended: the exit code of millicore, one of internal/exit
	Done    int       `json:"trials_done"`    // that have ended, however they did
	Planned int       `json:"trials_planned"` // as far as is known now; 0: not yet
	At      time.Time `json:"at"`             // when State was reached
}

// board holds the run's state for those who ask.
type board struct {
	mu    sync.Mutex
	state State
}

func (b *board) read() State {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state
}

// set takes up a state that was reached before.
func (b *board) set(s State) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.state = s
}

// change changes the state; a new stage is stamped with the time.
func (b *board) change(f func(*State)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before := b.state.State
	f(&b.state)
	if b.state.State != before {
		b.state.At = time.Now()
	}
}
