package memlimit

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/millicore/millicore/maxprocs/internal/grouptest"
)

// The tests named TestReal run this test program in control groups of their own in the
// running kernel.

func inGroup() { grouptest.Main(new(child).do) }

// child is what does what the tests ask for within the group.
type child struct{ undo func() }

func (c *child) do(line string) string {
	switch words := strings.Fields(line); words[0] {
	case "set":
		var opts []Option
		if len(words) > 1 {
			opts = append(opts, Follow(context.Background()))
		}
		var r Result
		r, c.undo = Set(opts...)
		return fmt.Sprintf("%s -> %s, %v, following %v", size(r.Before), size(r.After), r.Why, r.Following)
	case "undo":
		c.undo()
	case "program":
		debug.SetMemoryLimit(32 << 20)
	}
	return size(debug.SetMemoryLimit(-1))
}

func TestRealResize(t *testing.T) {
	above := grouptest.NewMemory(t)
	g := above.Below(t)
	g.LimitMemory(t, 400<<20)
	p := g.Start(t, nil)
	p.Want("set follow", "off -> 360MiB, the memory limit, with headroom, following true")
	g.LimitMemory(t, 200<<20)
	p.Until("now", "180MiB")
	g.LimitMemory(t, 800<<20)
	p.Until("now", "720MiB")
	above.LimitMemory(t, 300<<20)
	p.Until("now", "270MiB")
	above.LimitMemory(t, 0)
	p.Until("now", "720MiB")
	g.LimitMemory(t, 0)
	p.Until("now", "off")
	g.LimitMemory(t, 100<<20)
	p.Until("now", "90MiB")
	p.Want("undo", "off")
}

func TestRealProgramsOwn(t *testing.T) {
	g := grouptest.NewMemory(t)
	g.LimitMemory(t, 400<<20)
	p := g.Start(t, nil)
	p.Want("program", "32MiB")
	p.Want("set follow", "32MiB -> 32MiB, the program has set it, following false")
	p.Want("undo", "32MiB")
}

func TestRealEnvironment(t *testing.T) {
	g := grouptest.NewMemory(t)
	g.LimitMemory(t, 400<<20)
	for value, want := range map[string]string{"64MiB": "64MiB", "off": "off", "": "off"} {
		t.Run(value, func(t *testing.T) {
			p := g.Start(t, []string{"GOMEMLIMIT=" + value})
			p.Want("set follow", want+" -> "+want+", GOMEMLIMIT is in the environment, following false")
			p.Want("undo", want)
		})
	}
}
