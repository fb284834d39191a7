// Package auto sets GOMAXPROCS from the CPU limit when it is imported:
//
//	import _ "github.com/millicore/millicore/maxprocs/auto"
//
// The limit is rounded up, and GOMAXPROCS at least 2, as by Go's own rule; a GOMAXPROCS in
// the environment overrides it. The limit is followed while the program runs. The result
// is logged as one line of the standard log, and so is each change.
//
// For other options call maxprocs.Set, instead or in addition: the last call is in
// force.
package auto

import (
	"context"
	"log"

	"github.com/millicore/millicore/maxprocs"
)

var result, undo = maxprocs.Set(maxprocs.Follow(context.Background()), maxprocs.Logger(log.Printf))

// Result reports what was done at the start of the program.
func Result() maxprocs.Result { return result }

// Undo ends following, and restores the GOMAXPROCS of before the import.
func Undo() { undo() }
