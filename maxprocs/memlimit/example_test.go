package memlimit_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"runtime/debug"

	"github.com/millicore/millicore/maxprocs/memlimit"
)

// Three quarters of the container's limit, for a service with C libraries, also after a
// resize of its pod.
func ExampleSet() {
	result, undo := memlimit.Set(
		memlimit.Headroom(0.25),
		memlimit.Follow(context.Background()),
		memlimit.Logger(log.Printf),
	)
	defer undo()
	fmt.Println(result.After == debug.SetMemoryLimit(-1))
	// Output: true
}

func ExampleResult() {
	result, undo := memlimit.Set()
	undo()
	switch result.Why {
	case memlimit.FromLimit:
		log.Printf("%d of %d bytes", result.After, result.Limit.Bytes)
	case memlimit.LimitUnknown:
		log.Print(result.Err())
	}
	fmt.Println(memlimit.None == math.MaxInt64)
	// Output: true
}
