package corpus

import (
	"strings"
	"testing"
	"time"
)

// A service that is slower than the first load: 3.3 requests/s against 50. The load is
// halved until it answers. Only a service that answers at no load has no answer.
func TestAServiceSlowerThanTheFirstLoad(t *testing.T) {
	slow := Service{Workers: 64, Work: Fixed(300 * ms)}
	c := &Case{Name: "slow", File: find("slow", alone, "1", "p99: 2s", 60, 1), Behaves: same(Behaviour{CPUs: 64, Service: slow})}
	b := summaryOf(t, c, 1).Cells[0].Breaking
	if b.Load() == nil || *b.Low > 3.3 || b.High == nil || *b.High < 2 || *b.Load() > 5 {
		t.Errorf("%+v, want about 3", b)
	}
	dead := &Case{Name: "dead", File: find("dead", alone, "1", "p99: 2s", 60, 1),
		Behaves: same(Behaviour{Service: Service{Workers: 1, Work: Fixed(time.Hour)}})}
	if b := summaryOf(t, dead, 1).Cells[0].Breaking; b.Load() != nil || !strings.Contains(b.Reason, "does not answer") {
		t.Errorf("%+v, want that it does not answer", b)
	}
}
