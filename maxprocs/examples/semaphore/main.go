// Command semaphore reproduces the case of a published article: a service limits its
// concurrency by a semaphore of GOMAXPROCS slots, GOMAXPROCS is the host's number of
// CPUs, and the container's limit is lower. All slots work for a part of each period and
// are then throttled until its end, in the middle of their work. The mean hardly shows
// that, but the p99 of the work is many times higher.
//
// The program does a number of short pieces of work, and prints how long they took and
// in how many periods they were throttled. Run it under a limit below the host's number
// of CPUs, without a flag and with -host, which is the service's configuration:
//
//	go build -o semaphore ./maxprocs/examples/semaphore
//	systemd-run --scope -p CPUQuota=100% ./semaphore
//	systemd-run --scope -p CPUQuota=100% ./semaphore -host
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/millicore/millicore/maxprocs"
)

func main() {
	host := flag.Bool("host", false, "size everything by the host's CPUs, as the service of the article was")
	span := flag.Duration("for", 5*time.Second, "how long to work")
	flag.Parse()
	log.SetFlags(0)

	var slots *Semaphore
	if *host {
		runtime.GOMAXPROCS(runtime.NumCPU())
		slots = NewSemaphore(runtime.NumCPU())
	} else {
		slots = NewSemaphore(1)
		result, undo := maxprocs.Set(
			maxprocs.OverrideDefault(), // one slot under a limit of 1 CPU, where Go itself chooses 2
			maxprocs.Follow(context.Background()),
			maxprocs.OnChange(func(r maxprocs.Result) { slots.Resize(r.After) }),
			maxprocs.Logger(log.Printf),
		)
		defer undo()
		slots.Resize(result.After)
	}
	before := maxprocs.ReadStats()
	took := work(slots, *span)
	after := maxprocs.ReadStats()

	slices.Sort(took)
	at := func(q float64) time.Duration { return took[int(q*float64(len(took)-1))] }
	fmt.Printf("GOMAXPROCS %d: %d pieces of work, p50 %v, p99 %v, p99.9 %v, longest %v\n",
		runtime.GOMAXPROCS(0), len(took), at(0.5), at(0.99), at(0.999), at(1))
	fmt.Println(throttling(before, after))
}

// work has more goroutines than slots do pieces of work for a while, and returns
// how long each piece took once it was admitted.
func work(slots *Semaphore, span time.Duration) []time.Duration {
	var (
		end     = time.Now().Add(span)
		workers sync.WaitGroup
		mu      sync.Mutex
		all     []time.Duration
	)
	for range 4 * runtime.NumCPU() {
		workers.Go(func() {
			var took []time.Duration
			for time.Now().Before(end) {
				slots.Acquire()
				begin := time.Now()
				piece()
				took = append(took, time.Since(begin))
				slots.Release()
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, took...)
		})
	}
	workers.Wait()
	return all
}

// piece is some tens of microseconds of CPU time.
func piece() {
	x := uint64(1)
	for range 30_000 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	if x == 0 {
		panic("xorshift came to 0, which it cannot")
	}
}

// throttling says in how many periods between two readings there was some.
func throttling(before, after maxprocs.Stats) string {
	if after.Limit.State != maxprocs.Limited || before.Throttling == nil || after.Throttling == nil {
		return fmt.Sprintf("the CPU limit is %v: nothing to be throttled by", after.Limit.State)
	}
	return fmt.Sprintf("limit %.6g CPUs: throttled in %d of %d periods", after.Limit.CPUs,
		after.Throttling.ThrottledPeriods-before.Throttling.ThrottledPeriods, after.Throttling.Periods-before.Throttling.Periods)
}
