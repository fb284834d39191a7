//go:build go1.25

package maxprocs

import "runtime"

// Before any code of a program runs, the runtime looks for its group and opens
// the limit, whatever GODEBUG and GOMAXPROCS are. Where a file system does not
// answer, such as a FUSE mount over /proc whose server is stuck, no program gets
// as far as to this package, so that there is nothing to be patient with, and a
// goroutine is saved. Go's runtime/cgroup_linux.go, defaultGOMAXPROCSInit.
const patience = 0

// The runtime has a default of its own that looks at the limit and is updated.
const hasOwnDefault = true

// setDefault gives GOMAXPROCS back to the runtime, which sets its default and
// updates it from then on.
func setDefault() { runtime.SetDefaultGOMAXPROCS() }
