//go:build !go1.25

package maxprocs

import (
	"runtime"
	"time"
)

// Nothing has been read before, and a program must start also where a file system
// does not answer, such as a FUSE mount over /proc whose server is stuck. A
// machine that is only slow needs a thousandth of it.
const patience = time.Second

// The runtime's default is the CPUs at its start, and is never updated.
const hasOwnDefault = false

// setDefault sets the runtime's default.
func setDefault() { runtime.GOMAXPROCS(runtime.NumCPU()) }
