package maxprocs

import (
	"math/rand"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/millicore/millicore/maxprocs/internal/grouptest"
)

// BenchmarkSet is a call and its undo in a warm process. examples/beside has the
// start-up of a cold one.
func BenchmarkSet(b *testing.B) {
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		_, undo := Set()
		undo()
	}
}

// BenchmarkLook is what a look costs while the limit is followed, with the one in twenty
// that locates the group.
func BenchmarkLook(b *testing.B) {
	b.ReportAllocs()
	l := thisHost.lookout()
	defer l.tracker.Close()
	for i := 0; i < b.N; i++ {
		l.look()
	}
}

// BenchmarkLimit is what it would cost to locate the group each time.
func BenchmarkLimit(b *testing.B) {
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		Limit()
	}
}

func BenchmarkReadStats(b *testing.B) {
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		ReadStats()
	}
}

// BenchmarkFollow is the time from a change of the quota to GOMAXPROCS: the
// promise is at most 1 s. It reports the median and the longest.
func BenchmarkFollow(b *testing.B) {
	g := grouptest.New(b)
	g.Limit(b, 1)
	p := g.Start(b, nil)
	p.Do("set follow")
	var took []float64
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		procs := 2 - i%2
		time.Sleep(time.Duration(rand.Intn(500)) * time.Millisecond) // anywhere between two looks
		begin := time.Now()
		g.Limit(b, float64(procs))
		p.Until("procs", strconv.Itoa(procs))
		took = append(took, float64(time.Since(begin).Microseconds())/1000)
	}
	slices.Sort(took)
	b.ReportMetric(took[len(took)/2], "median-ms")
	b.ReportMetric(took[len(took)-1], "longest-ms")
	b.ReportMetric(0, "ns/op") // with the waiting between
}
