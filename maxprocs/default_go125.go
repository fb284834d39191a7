//go:build go1.25

package maxprocs

import "runtime"

// The runtime locates its group and opens the limit before any code of the program
// runs, regardless of GODEBUG and GOMAXPROCS. If a file system hangs, such as a FUSE
// mount over /proc whose server is stuck, the program never reaches this package. So a
// timeout is not needed, which saves a goroutine. Go's runtime/cgroup_linux.go,
// defaultGOMAXPROCSInit.
const patience = 0

// The runtime has a default that depends on the limit and is updated.
const hasOwnDefault = true

// setDefault gives GOMAXPROCS back to the runtime, which sets its default and
// updates it from then on.
func setDefault() { runtime.SetDefaultGOMAXPROCS() }
