package maxprocs_test

import (
	"context"
	"fmt"
	"log"

	"github.com/millicore/millicore/maxprocs"
)

func ExampleSet() {
	result, undo := maxprocs.Set()
	defer undo()
	if err := result.Err(); err != nil {
		log.Print(err) // the program runs, with the GOMAXPROCS that it had
	}
}

// A service that takes its parallelism from GOMAXPROCS and whose limit may be
// changed while it runs.
func ExampleFollow() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	result, undo := maxprocs.Set(
		maxprocs.RoundQuotaFunc(maxprocs.Round),
		maxprocs.Min(2),
		maxprocs.Follow(ctx),
		maxprocs.OnChange(func(r maxprocs.Result) { log.Print(r.After, " workers from now on") }),
		maxprocs.Logger(log.Printf),
	)
	defer undo()
	log.Print(result.After, " workers")
}

// A pool of something other than goroutines, such as child processes: the limit
// as a number, and three answers.
func ExampleLimit() {
	workers := 4
	switch limit := maxprocs.Limit(); limit.State {
	case maxprocs.Limited:
		workers = maxprocs.Ceil(limit.CPUs)
	case maxprocs.Unknown:
		log.Print("the CPU limit is not known: ", limit.Err)
	}
	log.Print(workers, " workers")
}

func ExampleReadStats() {
	if t := maxprocs.ReadStats().Throttling; t != nil {
		fmt.Printf("throttled in %d of %d periods\n", t.ThrottledPeriods, t.Periods)
	}
}
