package beside

import (
	"context"
	"fmt"
	"log"
	"os"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/millicore/millicore/maxprocs"
	"github.com/millicore/millicore/maxprocs/internal/grouptest"
	automaxprocs "go.uber.org/automaxprocs/maxprocs"
)

// sets are what is compared. Each sets GOMAXPROCS once and returns its undo.
var sets = map[string]func() func(){
	"maxprocs": func() func() {
		_, undo := maxprocs.Set(maxprocs.RoundQuotaFunc(maxprocs.Floor)) // as automaxprocs rounds
		return undo
	},
	"automaxprocs": func() func() {
		undo, _ := automaxprocs.Set()
		return undo
	},
}

// starts are what a new process is started for: sets, what their imports for
// effect do, which is to write a line and in maxprocs to follow, and the call that
// none of them can do without.
var starts = map[string]func(){
	"maxprocs":     func() { sets["maxprocs"]() },
	"automaxprocs": func() { sets["automaxprocs"]() },
	"import-maxprocs": func() {
		maxprocs.Set(maxprocs.Follow(context.Background()), maxprocs.Logger(log.Printf), maxprocs.OverrideDefault())
	},
	"import-automaxprocs": func() { automaxprocs.Set(automaxprocs.Logger(log.Printf)) },
	"GOMAXPROCS":          func() { runtime.GOMAXPROCS(1) },
}

func TestMain(m *testing.M) {
	grouptest.Main(func(name string) string {
		if null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0); err == nil {
			log.SetOutput(null)
		}
		begin := time.Now()
		starts[name]()
		took := time.Since(begin)
		return fmt.Sprintf("%d %d", took.Nanoseconds(), runtime.GOMAXPROCS(0))
	})
	os.Unsetenv("GOMAXPROCS")
	os.Exit(m.Run())
}

// Where the process's own group has the limit, both choose alike if both round down.
func TestBothChooseAlike(t *testing.T) {
	for _, cpus := range []float64{0.5, 1, 1.5, 2} {
		t.Run(fmt.Sprint(cpus), func(t *testing.T) {
			if float64(runtime.NumCPU()) < cpus {
				t.Skip("needs more CPUs")
			}
			g := grouptest.New(t)
			g.Limit(t, cpus)
			var procs []string
			for name := range sets {
				var took, n string
				fmt.Sscan(g.Start(t, nil).Do(name), &took, &n)
				procs = append(procs, n)
			}
			if procs[0] != procs[1] {
				t.Errorf("GOMAXPROCS is %v", procs)
			}
		})
	}
}

// BenchmarkStart is the first call in a new process, which is what a start-up
// pays: a process of each kind in each round, in a group with a limit of 1 CPU.
// It reports microseconds: the lowest, of which it can be said that nothing else
// ran meanwhile, the median, and the value that 9 of 10 are not above.
func BenchmarkStart(b *testing.B) {
	g := grouptest.New(b)
	g.Limit(b, 1)
	took := map[string][]float64{}
	for range b.N {
		for name := range starts {
			var ns, procs string
			fmt.Sscan(g.Start(b, nil).Do(name), &ns, &procs)
			n, err := strconv.ParseFloat(ns, 64)
			if err != nil || procs != "1" {
				b.Fatalf("%s: %q ns, GOMAXPROCS %q", name, ns, procs)
			}
			took[name] = append(took[name], n/1000)
		}
	}
	for name, all := range took {
		slices.Sort(all)
		b.ReportMetric(all[0], name+"-lowest-us")
		b.ReportMetric(all[len(all)/2], name+"-median-us")
		b.ReportMetric(all[len(all)*9/10], name+"-9of10-us")
	}
	b.ReportMetric(0, "ns/op") // of starting processes
}

// BenchmarkSet is a call and its undo over and over, where this process is.
func BenchmarkSet(b *testing.B) {
	for name, set := range sets {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				set()()
			}
		})
	}
}
