package pods

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/kubernetes/nodeagent"
)

func TestTotalsOverContainers(t *testing.T) {
	at := func(s int64, cpu float64) signals.Counters {
		return signals.Counters{At: time.Unix(s, 0), CPU: &cpu, Memory: new(int64(1)), CPULimit: new(0.5)}
	}
	var c sampledTotals
	read := func(down bool, wantAt int64, wantCPU float64) {
		t.Helper()
		got, err := c.read(down)
		if err != nil || got.At != time.Unix(wantAt, 0) || *got.CPU != wantCPU {
			t.Errorf("%+v, %v, want %v at %d", got, err, wantCPU, wantAt)
		}
	}
	fails := func(want error) {
		t.Helper()
		if got, err := c.read(false); !errors.Is(err, want) {
			t.Errorf("%+v, %v, want %v", got, err, want)
		}
	}
	fails(nodeagent.ErrNoNewer) // there is none yet
	c.put("a", at(10, 1))
	read(false, 10, 1)
	fails(nodeagent.ErrNoNewer)
	c.put("a", at(10, 1)) // the same again
	fails(nodeagent.ErrNoNewer)
	c.put("a", at(11, 2))
	c.put("a", at(12, 3))
	read(false, 12, 3)
	away := errors.New("the kubelet is away")
	c.fail(away)
	fails(away)
	c.put("b", at(14, 0.5)) // the next life
	c.put("a", at(15, 3))   // a late sample of the last container
	read(false, 14, 3.5)
	c.put("b", at(16, 1))
	read(false, 16, 4)
	if got, err := c.read(true); err != nil || *got.CPU != 4 || got.Memory != nil || *got.CPULimit != 0.5 || time.Since(got.At) > time.Minute {
		t.Errorf("while it is down: %+v, %v", got, err)
	}
	c.put("b", at(17, 2)) // from before that reading
	fails(nodeagent.ErrNoNewer)
	c.close()
	fails(os.ErrClosed)
}

func TestWhenAReplicaFell(t *testing.T) {
	now := time.Unix(1000, 300e6)
	for _, c := range []struct {
		name string
		end  *int64
		want time.Time
	}{
		{"nobody says", nil, now},
		{"to the second", new(int64(990)), time.Unix(990, 500e6)},
		{"just now", new(int64(1000)), now},
		{"by another clock", new(int64(900)), now},
	} {
		if got := fellAt(endedAt(c.end), now); !got.Equal(c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
