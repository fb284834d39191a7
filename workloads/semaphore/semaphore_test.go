package semaphore

import (
	"runtime"
	"slices"
	"testing"
)

func BenchmarkPublished(b *testing.B) { Published(b) }
func BenchmarkCorrected(b *testing.B) { Corrected(b) }

func TestARoundAppendsEveryIntegerOnce(t *testing.T) {
	numbers := round(3)
	slices.Sort(numbers)
	if len(numbers) != appends || numbers[0] != 0 || numbers[appends-1] != appends-1 || len(slices.Compact(numbers)) != appends {
		t.Errorf("%d integers, want each below %d once", len(numbers), appends)
	}
}

func TestOnlyTheCorrectedOneLeavesGOMAXPROCSAlone(t *testing.T) {
	before := runtime.GOMAXPROCS(runtime.NumCPU() + 3)
	defer runtime.GOMAXPROCS(before)
	Corrected(&testing.B{N: 1})
	if n := runtime.GOMAXPROCS(0); n != runtime.NumCPU()+3 {
		t.Errorf("Corrected left GOMAXPROCS at %d", n)
	}
	Published(&testing.B{N: 1})
	if n := runtime.GOMAXPROCS(0); n != runtime.NumCPU() {
		t.Errorf("Published left GOMAXPROCS at %d, want the host's CPUs: that is its fault", n)
	}
}

func TestTheBenchmarksHaveTheNamesOfGoTest(t *testing.T) {
	var names []string
	for _, b := range Benchmarks() {
		names = append(names, b.Name)
	}
	if want := []string{"BenchmarkPublished", "BenchmarkCorrected"}; !slices.Equal(names, want) {
		t.Errorf("names %v, want %v", names, want)
	}
}
