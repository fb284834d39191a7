package golang

import (
	"runtime"
	"sync"
)

// maxLoop is the largest n that /loop and /counter take: at some 1 ns an
// iteration a hundred seconds of CPU.
const maxLoop = 100_000_000_000

// loops spreads loops over goroutines that are started for each request, as a
// Go service does it: they cost a microsecond.
type loops struct {
	workers int // 0: GOMAXPROCS at the time of the request
}

// run makes n iterations with as many workers as are wanted, calls done for
// each with the number of its iterations when it has made them, and returns the
// workers and the check value. done is called by many goroutines at once.
func (l loops) run(n uint64, done func(iterations uint64)) (workers int, check uint32) {
	if workers = l.workers; workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	checks := make([]uint32, workers)
	var all sync.WaitGroup
	for i := range workers {
		all.Go(func() {
			iterations := share(n, uint64(i), uint64(workers))
			checks[i] = iterate(uint32(i+1), iterations)
			done(iterations)
		})
	}
	all.Wait()
	for _, c := range checks {
		check ^= c
	}
	return workers, check
}

// share is how many of n iterations are those of worker i, from 0: it begins
// where the one before it ends, and the last ends at n.
func share(n, i, workers uint64) uint64 {
	return n*(i+1)/workers - n*i/workers
}

// iterate advances x by the linear congruential generator of Numerical Recipes.
// Each step needs the one before it, so that no compiler can shorten the loop.
func iterate(x uint32, iterations uint64) uint32 {
	for range iterations {
		x = x*1664525 + 1013904223
	}
	return x
}

// answer runs a loop. As with isPrime, a client that hangs up does not get its
// CPU time back.
func (l loops) answer(c call) (content, error) {
	n, err := number(c.query("n"), 1, maxLoop)
	if err != nil {
		return content{}, err
	}
	workers, check := l.run(n, func(uint64) {})
	return encode(struct {
		N       uint64 `json:"n"`
		Workers int    `json:"workers"`
		Check   uint32 `json:"check"`
	}{n, workers, check})
}
