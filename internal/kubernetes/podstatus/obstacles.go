package podstatus

import (
	"fmt"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/data/experiment/span"
)

// Obstacles bounds how long pods may have an obstacle. It has no clock.
type Obstacles struct {
	note  func(string)
	doing string // as in: start "go"

	now   *Obstacle
	since time.Time
	noted bool
}

// noteAfter is how long an obstacle may last before it is reported.
const noteAfter = 10 * time.Second

// NewObstacles returns the obstacles of one start, such as: start "go". note receives those
// that last.
func NewObstacles(note func(string), doing string) *Obstacles {
	return &Obstacles{note: note, doing: doing}
}

// Meet records the current obstacle. The error means that it lasts too long.
func (h *Obstacles) Meet(o *Obstacle, now time.Time) error {
	if h.now == nil || h.now.kind() != o.kind() {
		h.since, h.noted = now, false
	}
	h.now = o
	waited := now.Sub(h.since)
	switch {
	case waited >= o.Patience:
		err := fmt.Errorf("%s", o.What)
		if o.Patience > 0 {
			err = fmt.Errorf("%w (for %v)", err, span.Text(waited.Round(time.Second)))
		}
		if o.How != "" {
			err = fmt.Errorf("%w; %s", err, o.How)
		}
		return err
	case waited >= noteAfter && !h.noted:
		h.noted = true
		h.note(fmt.Sprintf("%s: %s; waiting for up to %v", h.doing, o.What, span.Text(o.Patience)))
	}
	return nil
}

// kind identifies an obstacle without its details: a scheduler's message changes with
// each node.
func (o *Obstacle) kind() string {
	words, _, _ := strings.Cut(o.What, ":")
	return words
}
