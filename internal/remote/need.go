package remote

import (
	"fmt"
	"strings"
)

// State is whether something that a run needs is there.
type State int

// The states of a Need.
const (
	There State = iota
	Missing
	Unknown // it cannot be told from here; the run is tried
	Noted   // it is there, with something to know about it
)

// String is a word for a table.
func (s State) String() string {
	return [...]string{"there", "missing", "not known", "note"}[s]
}

// Need is one thing that a run needs of a cluster.
type Need struct {
	What  string // "namespace load"
	State State
	Words string // what was found; of what is missing: what to do
}

// Needs are all that was checked.
type Needs []Need

// Err is an ErrWrong that names what is missing, each on a line; nil where nothing
// is.
func (n Needs) Err() error {
	var lines []string
	for _, one := range n {
		if one.State == Missing {
			lines = append(lines, "  "+one.What+": "+one.Words)
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return wrong("the run cannot take place in this cluster; nothing was started. What is missing:\n" + strings.Join(lines, "\n"))
}

func there(what, format string, args ...any) Need {
	return Need{what, There, fmt.Sprintf(format, args...)}
}

func missing(what, format string, args ...any) Need {
	return Need{what, Missing, fmt.Sprintf(format, args...)}
}

func unknown(what, format string, args ...any) Need {
	return Need{what, Unknown, fmt.Sprintf(format, args...)}
}
