// Package auto sets GOMAXPROCS from the CPU limit when it is imported:
//
//	import _ "github.com/millicore/millicore/maxprocs/auto"
//
// The limit is rounded down, and GOMAXPROCS at least 1; a GOMAXPROCS in the
// environment wins. The limit is followed while the program runs. What is done
// is said in one line of the standard log, and so is each change.
//
// For other choices call maxprocs.Set instead, or as well: the last call is in
// force.
package auto

import (
	"context"
	"log"

	"github.com/millicore/millicore/maxprocs"
)

var result, undo = maxprocs.Set(maxprocs.Follow(context.Background()), maxprocs.Logger(log.Printf))

// Result tells what was done at the start of the program.
func Result() maxprocs.Result { return result }

// Undo ends following, and makes GOMAXPROCS what it was before the import.
func Undo() { undo() }
