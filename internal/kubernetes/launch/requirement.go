package launch

import (
	"fmt"
	"strings"
)

// State is the result of checking a Requirement.
type State int

// The states of a Requirement.
const (
	There State = iota
	Missing
	Unknown // it cannot be checked; the run is tried
	Noted   // present, with a note for the user
)

// String is the word in JSON.
func (s State) String() string {
	return [...]string{"there", "missing", "not known", "note"}[s]
}

// Requirement is one thing that a run needs of a cluster, and whether it has it.
type Requirement struct {
	What  string // "namespace load"
	State State
	Words string // what was found; if it is missing, what to do
}

// Requirements are the results of all checks.
type Requirements []Requirement

// Err returns an ErrUsage that lists what is missing; nil if nothing is.
func (n Requirements) Err() error {
	var lines []string
	for _, one := range n {
		if one.State == Missing {
			lines = append(lines, "  "+one.What+": "+one.Words)
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return usageError("this cluster cannot run the experiment; nothing was started. What is missing:\n" + strings.Join(lines, "\n"))
}

func there(what, format string, args ...any) Requirement {
	return Requirement{what, There, fmt.Sprintf(format, args...)}
}

func missing(what, format string, args ...any) Requirement {
	return Requirement{what, Missing, fmt.Sprintf(format, args...)}
}

func unknown(what, format string, args ...any) Requirement {
	return Requirement{what, Unknown, fmt.Sprintf(format, args...)}
}
