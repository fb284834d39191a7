package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/lab/results"
	"github.com/millicore/millicore/test/corpus"
)

const (
	alone = "services:\n  a: {command: [x, \"${port}\"]}\n"
	pair  = "services:\n  a: {command: [x, \"${port}\"], env: {V: \"${v}\"}}\nvary: {v: [A, B]}\n"
)

// said is one statement of one record.
type said struct {
	What  string `json:"what"`
	Kind  string `json:"kind"`
	Seed  uint64 `json:"seed"`
	False bool   `json:"false,omitempty"`
	Text  string `json:"text,omitempty"` // of a false one
}

// Some are about what is not said, such as whether a record has an answer, or a cause where
// there is one. False is silence.
const (
	silence = "~"
	answers = silence + "answer"
	cause   = silence + "cause"
)

// verbose keeps the texts of true statements as well.
var verbose bool

// judge collects the statements of a record.
type judge struct {
	kind kind
	seed uint64
	text string
	all  []said
}

func (j *judge) say(what string, wrong bool, format string, args ...any) {
	s := said{What: what, Kind: j.kind.name, Seed: j.seed, False: wrong}
	if wrong || verbose {
		s.Text = j.text + " | " + fmt.Sprintf(format, args...)
	}
	j.all = append(j.all, s)
}

func (j *judge) answered(yes bool) { j.say(j.kind.in(answers), !yes, "no answer") }
func (j *judge) caused(yes bool)   { j.say(j.kind.in(cause), !yes, "no cause") }

// in names a statement in the group of its kind.
func (k kind) in(what string) string {
	if k.group == "" {
		return what
	}
	return what + ": " + k.group
}

// limits are the lines of a service's CPU limit.
func (s service) limits() string {
	if s.limit == 0 {
		return ""
	}
	return fmt.Sprintf("limits: {cpu: %dm}\n", int(math.Round(s.limit*1000)))
}

// scratch is where the records are written, one after the other.
var scratch string

func summarize(c *corpus.Case, seed uint64) (*summary.Summary, error) {
	dir := filepath.Join(scratch, "record")
	defer os.RemoveAll(dir)
	if err := c.Write(dir, seed); err != nil {
		return nil, err
	}
	r, err := results.Open(record.Own, dir)
	return r.Summary, err
}
