package agent

import (
	"cmp"
	"fmt"
)

// build is the version that `make build` links into every program; "": not known, as in a
// test or after `go build`.
var build string

// sameBuild refuses an agent of another version than this program: it may send other
// traffic, and count it in another way. Nothing is refused if the version of this program
// is not known.
func sameBuild(own, agents string) error {
	if own == "" || own == agents {
		return nil
	}
	return fmt.Errorf("the agent has version %s, and this program has version %s: build both with make build, or install both from one release",
		cmp.Or(agents, "unknown"), own)
}
