// Package auto sets Go's memory limit (GOMEMLIMIT) from the container's memory limit when
// it is imported:
//
//	import _ "github.com/millicore/millicore/maxprocs/memlimit/auto"
//
// It sets 90% of the limit, or with MEMLIMIT_HEADROOM=0.25 in the environment 75%, and
// follows it while the program runs; a GOMEMLIMIT in the environment overrides it. The result is logged as one line of the standard log, and so
// is each change.
//
// For other options call memlimit.Set, instead or in addition: the last call is in force.
package auto

import (
	"context"
	"log"

	"github.com/millicore/millicore/maxprocs/memlimit"
)

var result, undo = memlimit.Set(memlimit.Follow(context.Background()), memlimit.Logger(log.Printf))

// Result reports what was done at the start of the program.
func Result() memlimit.Result { return result }

// Undo ends following, and removes the limit that was set.
func Undo() { undo() }
