package search

import (
	"reflect"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/lab/wording"
)

func asked() Config {
	return Config{First: 50, AllowedLate: 0.01, AllowedBad: -1, Late: 100 * time.Millisecond, Block: 500 * time.Millisecond, Budget: 58 * time.Second}
}

// walk runs a search on a service that meets the objective up to 300 and never above,
// and returns the steps and their observations.
func walk(s *Search, most int) (steps []Step, seen []Observation) {
	for range most {
		step, ok := s.Next()
		if !ok {
			break
		}
		var o Observation
		for range step.Window / (500 * time.Millisecond) {
			b := Block{Requests: int64(step.Load / 2)}
			if step.Load > 300 {
				b.Late = b.Requests
			}
			o.Blocks = append(o.Blocks, b)
		}
		steps, seen = append(steps, step), append(seen, o)
		s.Saw(o)
	}
	return steps, seen
}

func TestARecordOfOtherStepsIsReplayed(t *testing.T) {
	other := asked()
	other.First = 40 // an earlier version started elsewhere, for example
	steps, seen := walk(New(other), 100)
	s := New(asked())
	for i, step := range steps {
		if next, ok := s.Next(); !ok || next.Load != step.Load {
			s.Took(step)
		}
		s.Saw(seen[i])
	}
	s.End(true)
	if r := s.Result(); r.Low > 300 || r.High < 300 {
		t.Errorf("%+v does not hold 300, what the record's windows show", r)
	}
}

// A record whose search took longer than this version would take is used to its end.
func TestARecordOfALongerSearchIsReplayed(t *testing.T) {
	longer, shorter := New(asked()), asked()
	steps, seen := walk(longer, 100)
	shorter.Budget /= 2
	s := New(shorter)
	for i, step := range steps {
		if next, ok := s.Next(); !ok || next != step {
			s.Took(step)
		}
		s.Saw(seen[i])
	}
	s.Next()
	s.End(false)
	if got, want := s.Result(), longer.Result(); got.Load != want.Load || got.Low != want.Low || got.High != want.High || got.Tested != want.Tested {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestASearchThatIsBrokenOffSaysWhatItKnows(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps int
		found bool
	}{
		{"before its first window", 0, false},
		{"while doubling", 2, true},
		{"while narrowing", 8, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := New(asked())
			walk(s, c.steps)
			s.End(true)
			r := s.Result()
			if (r.Load > 0) != c.found {
				t.Errorf("%+v", r)
			}
			if (r.Load == 0 || r.AtLeast) && r.Why.Kind != finding.Interrupted {
				t.Errorf("reason %q", wording.Of(r.Why))
			}
			if _, ok := s.Next(); ok {
				t.Error("it goes on after its end")
			}
		})
	}
	s := New(asked())
	walk(s, 1000)
	before := s.Result()
	if s.End(true); !reflect.DeepEqual(s.Result(), before) {
		t.Errorf("%+v became %+v", before, s.Result())
	}
}
