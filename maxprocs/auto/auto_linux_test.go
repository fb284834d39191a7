package auto

import (
	"fmt"
	"go/build"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/millicore/millicore/maxprocs/internal/grouptest"
)

func inGroup() { grouptest.Main(do) }

// A runtime that sees the limit is left alone.
func TestRealImportLeavesGoDefault(t *testing.T) {
	if runtime.NumCPU() < 2 || !slices.Contains(build.Default.ReleaseTags, "go1.25") {
		t.Skip("needs 2 CPUs, and Go 1.25, whose runtime looks at the limit")
	}
	g := grouptest.New(t)
	g.Limit(t, 1)
	p := g.Start(t, []string{"GODEBUG=containermaxprocs=1,updatemaxprocs=1"})
	p.Want("result", "2 -> 2, Go's own default, following true")
	p.Want("undo", "2")
}

// Elsewhere the import alone does it: the limit rounded up, at least 2, and followed.
func TestRealImport(t *testing.T) {
	if runtime.NumCPU() < 2 {
		t.Skip("needs 2 CPUs")
	}
	g := grouptest.New(t)
	g.Limit(t, 1.5)
	p := g.Start(t, []string{"GODEBUG=containermaxprocs=0,updatemaxprocs=0"})
	if got := p.Do("result"); !strings.HasSuffix(got, " -> 2, the limit, rounded, following true") {
		t.Errorf("got %q, want 2", got)
	}
	p.Want("procs", "2")
	p.Want("undo", strconv.Itoa(runtime.NumCPU()))

	g.Limit(t, 0.5)
	p = g.Start(t, []string{"GODEBUG=containermaxprocs=0,updatemaxprocs=0"})
	if got := p.Do("result"); !strings.HasSuffix(got, " -> 2, the minimum, following true") {
		t.Errorf("got %q, want 2", got)
	}
	p.Want("procs", "2")
}

func TestRealImportWithTheEnvironment(t *testing.T) {
	g := grouptest.New(t)
	g.Limit(t, 1)
	p := g.Start(t, []string{"GOMAXPROCS=3"})
	p.Want("result", "3 -> 3, GOMAXPROCS is in the environment, following false")
	p.Want("procs", "3")
}

func TestRealImportWithoutALimit(t *testing.T) {
	g := grouptest.New(t)
	n := runtime.NumCPU()
	p := g.Start(t, nil)
	p.Want("result", fmt.Sprintf("%d -> %d, there is no limit, following true", n, n))
}
