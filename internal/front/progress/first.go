package progress

import (
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/lab/results"
	"github.com/millicore/millicore/internal/show/answer"
)

// FirstAnswer writes what the first search of one server has shown, from the record of a run
// whose other settings are still to be measured. What to do is not known before they are. It
// writes nothing if the record cannot be read: the run says so at its end.
func (p *Printer) FirstAnswer(dir string) {
	found, err := results.Open(record.Own, dir)
	if err != nil {
		return
	}
	s := found.Summary
	s.Cells, s.Experiment.Interrupted = s.Cells[:1], false // the others go on
	first := answer.Of(s)
	text := "So far: " + first.What
	if first.Why != "" {
		text += " Why: " + first.Why
	}
	p.Note(display.TerminalOf(p.out).Wrap(text, ""))
}
