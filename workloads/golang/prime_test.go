package golang

import (
	"math/big"
	"testing"
)

func TestIsPrimeAgreesWithBigInt(t *testing.T) {
	for n := range uint64(2000) {
		if got, want := isPrime(n), new(big.Int).SetUint64(n).ProbablyPrime(0); got != want {
			t.Errorf("isPrime(%d) = %v, want %v", n, got, want)
		}
	}
}

// BenchmarkIsPrime is what GET /isPrime/666666 costs in CPU, and what shows that
// an even number is not cheaper than a prime of its size.
func BenchmarkIsPrime(b *testing.B) {
	for name, n := range map[string]uint64{"even": 666666, "prime": 666667} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				isPrime(n)
			}
		})
	}
}
