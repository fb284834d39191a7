package weights

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/load/schedule"
)

// A stage that omits a kind sends the others in proportion to their weights, all requests of the
// name with it; one that omits all there is sends them.
func TestStagesOmitKinds(t *testing.T) {
	curve, err := schedule.NewCurve([]schedule.Stage{
		{Length: time.Second, From: 1, To: 1}, {Length: time.Second, From: 1, To: 1, Omits: "b"}, {Length: time.Second, From: 1, To: 1, Omits: "none"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var w Weights
	w.Add("a", 6)
	w.Add("b", 3)
	w.Add("c", 2)
	w.Add("b", 1)
	const began = time.Hour
	w.Follow(curve, began)
	random := rand.New(rand.NewPCG(1, 2))
	count := func(at time.Duration) (n [4]int) {
		for range 12_000 {
			n[w.Draw(random, began+at)]++
		}
		return n
	}
	near := func(n, want int) bool { return n > want-400 && n < want+400 } // 7 standard deviations
	for _, at := range []time.Duration{0, time.Second - 1, 2 * time.Second, time.Hour} {
		if n := count(at); !near(n[0], 6000) || !near(n[1], 3000) || !near(n[2], 2000) || !near(n[3], 1000) {
			t.Errorf("at %v: %v", at, n)
		}
	}
	for _, at := range []time.Duration{time.Second, 2*time.Second - 1} {
		if n := count(at); !near(n[0], 9000) || n[1] != 0 || !near(n[2], 3000) || n[3] != 0 {
			t.Errorf("at %v: %v", at, n)
		}
	}
	var alone Weights
	alone.Add("b", 1)
	alone.Follow(curve, 0)
	if kind := alone.Draw(random, time.Second); kind != 0 {
		t.Error(kind)
	}
}
