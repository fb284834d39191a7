package agent

import (
	"bufio"
	"bytes"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/load/protocol"
	"github.com/millicore/millicore/internal/load/session"
	"github.com/millicore/millicore/internal/load/wire"
)

// Walk makes the requests of sessions as an agent does, for a client that is not one. Its users
// do not pause.
type Walk struct {
	mu        sync.Mutex
	began     time.Time
	pool      *session.Pool
	templates []*wire.Template
	values    wire.Values
}

// NewWalk is the walk of sessions with these requests to a host.
func NewWalk(host string, requests []protocol.Request) (*Walk, error) {
	var steps []session.Step
	for _, r := range requests {
		steps = append(steps, session.Step{Capture: r.Step.Capture})
	}
	plan, err := session.NewPlan(steps)
	if err != nil {
		return nil, err
	}
	w := &Walk{began: time.Now(), pool: session.NewPool(plan, false, 0, 0, 1),
		values: wire.Values{Seq: 1, Random: rand.New(rand.NewPCG(rand.Uint64(), 0))}}
	w.templates, err = newTemplates(host, requests)
	return w, err
}

// Next is the next request of a session, and which one of the session it is. done takes the
// answer, in the form of HTTP/1.1 and without codings, and whether it is good. It returns the names
// of the values that a good answer does not have.
func (w *Walk) Next() (step int, r *http.Request, done func(answer []byte, good bool) (missing []string), err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.pool.Take(time.Since(w.began))
	w.values.Session = s
	whole := w.templates[s.Step()].Append(nil, &w.values)
	w.values.Seq++
	r, err = http.ReadRequest(bufio.NewReader(bytes.NewReader(whole)))
	return s.Step(), r, func(answer []byte, good bool) (missing []string) {
		w.mu.Lock()
		defer w.mu.Unlock()
		now := time.Since(w.began)
		if good {
			s.Keep(answer)
			missing = w.pool.Capture(s, now)
		}
		w.pool.End(s, good && len(missing) == 0, now)
		return missing
	}, err
}
