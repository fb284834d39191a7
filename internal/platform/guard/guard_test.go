package guard

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/platform/meter"
)

func TestWhichLimitIsBroken(t *testing.T) {
	half := meter.Bandwidth{Period: 100 * time.Millisecond, Quota: 50 * time.Millisecond}
	third := meter.Bandwidth{Period: 33_333 * time.Microsecond, Quota: 16_666 * time.Microsecond}
	limits := experiment.Limits{CPUMillis: 500, Memory: 100_000_000}
	stated := limits
	stated.Period = 100 * time.Millisecond
	for name, c := range map[string]struct {
		want   experiment.Limits
		cpu    meter.Bandwidth
		memory int64
		broken string
	}{
		"as wanted":                {limits, half, 100_000_000, ""},
		"in whole pages":           {limits, half, 100_000_000 &^ 0xfff, ""},
		"in large pages":           {limits, half, 100_000_000 &^ 0xffff, ""},
		"no limits":                {experiment.Limits{}, meter.Bandwidth{Period: 100 * time.Millisecond}, 0, ""},
		"another period":           {limits, third, 100_000_000, ""},
		"another than the stated":  {stated, third, 100_000_000, "its CPU limit was changed from 500m CPU in periods of 100ms to 499.985m CPU in periods of 33.333ms"},
		"no quota":                 {limits, meter.Bandwidth{Period: 100 * time.Millisecond}, 100_000_000, "to no limit"},
		"a quota where none is":    {experiment.Limits{}, half, 0, "its CPU limit was changed from no limit to 500m CPU"},
		"1% more":                  {limits, meter.Bandwidth{Period: 100 * time.Millisecond, Quota: 50_500 * time.Microsecond}, 100_000_000, "to 505m CPU"},
		"more memory":              {limits, half, 100_000_001, "its memory limit was changed from 100000000 bytes to 100000001 bytes"},
		"less memory by a page":    {limits, half, 100_000_000 - largestPage, "its memory limit was changed"},
		"no memory limit":          {limits, half, 0, "its memory limit was changed from 100000000 bytes to no limit"},
		"a memory limit, not none": {experiment.Limits{CPUMillis: 500}, half, 4096, "its memory limit was changed from no limit to 4096 bytes"},
	} {
		if why := cmp.Or(WantedOf(c.want).BrokenCPU(c.cpu), WantedOf(c.want).BrokenMemory(c.memory)); c.broken == "" && why != "" || !strings.Contains(why, c.broken) {
			t.Errorf("%s: %q, want %q", name, why, c.broken)
		}
	}
}
