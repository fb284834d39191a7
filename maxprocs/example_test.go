package maxprocs_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"runtime"

	"github.com/millicore/millicore/maxprocs"
)

// The first lines of main. Without options Go's own default stays where it sees the limit.
func ExampleSet() {
	result, undo := maxprocs.Set(maxprocs.Slog(slog.Default()))
	defer undo()
	if err := result.Err(); err != nil {
		log.Print(err) // the program runs, with the GOMAXPROCS that it had
	}
	fmt.Println(result.After == runtime.GOMAXPROCS(0))
	// Output: true
}

// A service whose pool is sized by GOMAXPROCS, and whose limit may be changed while it
// runs.
func ExampleFollow() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	resize := func(workers int) { fmt.Println(workers > 0) }
	result, undo := maxprocs.Set(
		maxprocs.Follow(ctx),
		maxprocs.OnChange(func(r maxprocs.Result) { resize(r.After) }),
	)
	defer undo()
	resize(result.After)
	// Output: true
}

// GOMAXPROCS 1 under a limit of 1 CPU, where Go and Set choose 2.
func ExampleOverrideDefault() {
	_, undo := maxprocs.Set(maxprocs.OverrideDefault())
	defer undo()
}

// As automaxprocs does: rounded down.
func ExampleRoundQuotaFunc() {
	_, undo := maxprocs.Set(maxprocs.RoundQuotaFunc(maxprocs.Floor))
	defer undo()
	for _, cpus := range []float64{0.5, 1.4, 1.5, 1.9} {
		fmt.Println(cpus, maxprocs.Ceil(cpus), maxprocs.Floor(cpus), maxprocs.Round(cpus))
	}
	// Output:
	// 0.5 1 0 1
	// 1.4 2 1 1
	// 1.5 2 1 2
	// 1.9 2 1 2
}

// A pool of something other than goroutines, such as child processes: the limit as a
// number, and three outcomes.
func ExampleLimit() {
	workers := runtime.NumCPU()
	switch limit := maxprocs.Limit(); limit.State {
	case maxprocs.Limited:
		workers = maxprocs.Ceil(limit.CPUs)
	case maxprocs.Unknown:
		log.Print("the CPU limit is not known: ", limit.Err)
	}
	fmt.Println(workers > 0)
	// Output: true
}

// The share of periods in which the service was throttled, between two readings.
func ExampleReadStats() {
	before := maxprocs.ReadStats()
	// ... a minute later
	after := maxprocs.ReadStats()

	if before.Throttling == nil || after.Throttling == nil {
		log.Print("not measured: ", after.Err)
		return
	}
	periods := after.Throttling.Periods - before.Throttling.Periods
	throttled := after.Throttling.ThrottledPeriods - before.Throttling.ThrottledPeriods
	log.Printf("throttled in %d of %d periods", throttled, periods)
}
