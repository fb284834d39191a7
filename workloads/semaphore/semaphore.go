// Package semaphore is the Go benchmark of a published article on CPU limits: a
// million integers are appended to one slice under a mutex, by goroutines that a
// semaphore of GOMAXPROCS slots admits. It is there twice: with the two faults
// that it was published with, and without them.
//
// The article's listing is followed in what it does, as it was described; it is
// no copy of it. The package is no service: it answers no requests, and measures
// itself.
package semaphore

import (
	"runtime"
	"sync"
	"testing"
)

// appends is how many integers a round appends.
const appends = 1_000_000

// Benchmarks are those of this package by their names, as `go test` finds them.
func Benchmarks() []testing.InternalBenchmark {
	return []testing.InternalBenchmark{
		{Name: "BenchmarkPublished", F: Published},
		{Name: "BenchmarkCorrected", F: Corrected},
	}
}

// Published does what the published benchmark does, with its two faults, which
// are what is to be seen:
//
//   - It sets GOMAXPROCS to the CPUs of the host, and so undoes what automaxprocs,
//     the environment or the runtime itself had chosen for the container.
//   - It does one round whatever b.N is. Where that takes less than
//     -test.benchtime, the testing package raises b.N without success, until a round
//     happens to take as long or b.N is a thousand million, and prints one round
//     divided by b.N.
func Published(*testing.B) {
	runtime.GOMAXPROCS(runtime.NumCPU())
	round(runtime.GOMAXPROCS(0))
}

// Corrected leaves GOMAXPROCS as it finds it, and does b.N rounds: its time per
// operation is that of a million appends.
func Corrected(b *testing.B) {
	for range b.N {
		round(runtime.GOMAXPROCS(0))
	}
}

// round appends all integers once, each in a goroutine of its own, of which at
// most so many as there are slots run at a time. They come in any order.
func round(slots int) []int {
	var (
		admitted = make(chan struct{}, slots)
		running  sync.WaitGroup
		mu       sync.Mutex
		numbers  []int
	)
	for i := range appends {
		admitted <- struct{}{}
		running.Go(func() {
			defer func() { <-admitted }()
			mu.Lock()
			defer mu.Unlock()
			numbers = append(numbers, i)
		})
	}
	running.Wait()
	return numbers
}
