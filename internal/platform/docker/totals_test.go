package docker

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/signals"
)

func of[T any](v T) *T { return &v }

func TestADeathForWantOfMemoryIsCountedOnce(t *testing.T) {
	for _, c := range []struct {
		name    string
		last    *int64
		starved bool
		want    *int64
	}{
		{"the kernel's count went with the group", of[int64](0), true, of[int64](1)},
		{"it was never read", nil, true, of[int64](1)},
		{"it was read in time", of[int64](1), true, of[int64](1)},
		{"another death", of[int64](0), false, of[int64](0)},
		{"not measured", nil, false, nil},
	} {
		counters := counterTotals{last: signals.Counters{OOMKills: c.last}}
		counters.end(c.starved)
		got, err := counters.read()
		if err != nil || !cmp.Equal(got.OOMKills, c.want) {
			t.Errorf("%s: %v, %v", c.name, got.OOMKills, err)
		}
	}
}
