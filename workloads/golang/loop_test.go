package golang

import (
	"testing"

	"pgregory.net/rapid"
)

func TestSharesAddUpAndAreEven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1, maxLoop).Draw(t, "n")
		workers := rapid.Uint64Range(1, 1024).Draw(t, "workers")
		sum := uint64(0)
		for i := range workers {
			s := share(n, i, workers)
			if s != n/workers && s != n/workers+1 {
				t.Fatalf("worker %d makes %d of %d iterations", i, s, n)
			}
			sum += s
		}
		if sum != n {
			t.Fatalf("the shares add up to %d", sum)
		}
	})
}

func TestCheckIsThatOfTheContractsExample(t *testing.T) {
	if workers, check := (loops{workers: 2}).run(1000, func(uint64) {}); workers != 2 || check != 2671344051 {
		t.Errorf("%d workers, check %d; want 2, 2671344051", workers, check)
	}
}

// BenchmarkIterate is what a thousand iterations of /loop cost in CPU.
func BenchmarkIterate(b *testing.B) {
	x := uint32(1)
	for b.Loop() {
		x = iterate(x, 1000)
	}
}
