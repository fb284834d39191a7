//go:build !go1.25

package maxprocs

import (
	"runtime"
	"time"
)

// The runtime has read nothing before, and a program must start even if a file system
// hangs, such as a FUSE mount over /proc whose server is stuck. A slow machine needs
// only a thousandth of this time.
const patience = time.Second

// The runtime's default is the CPUs at its start, and is never updated.
const hasOwnDefault = false

// setDefault sets the runtime's default.
func setDefault() { runtime.GOMAXPROCS(runtime.NumCPU()) }
