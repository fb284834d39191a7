package traffic

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/millicore/millicore/internal/data/signals"
)

func recorded(all ...time.Duration) *signals.Histogram {
	h := signals.NewHistogram()
	for _, d := range all {
		h.Record(d)
	}
	return h
}

func TestRowsUseTheFinestSeriesThatFits(t *testing.T) {
	const ms = time.Millisecond
	var b Buckets
	b.Add(recorded(ms, ms, 1100*time.Microsecond, 3*ms, 19*ms, 20*ms))
	for most, want := range map[int]string{
		30: "1:2 1.12:1 1.25:0 1.4:0 1.6:0 1.8:0 2:0 2.24:0 2.5:0 2.8:0 3.2:1 3.6:0 4:0 4.5:0 5:0 5.6:0 6.3:0 7.1:0 8:0 9:0 10:0 11.2:0 12.5:0 14:0 16:0 18:0 20:2",
		14: "1:2 1.25:1 1.6:0 2:0 2.5:0 3.2:1 4:0 5:0 6.3:0 8:0 10:0 12.5:0 16:0 20:2",
		8:  "1:2 1.6:1 2.5:0 4:1 6.3:0 10:0 16:0 25:2",
		7:  "1:2 2:1 5:1 10:0 20:2",
		4:  "1:2 3.2:2 10:0 32:2",
		3:  "1:2 10:2 100:2",
		2:  "10:4 100:2", // the first has all below
		1:  "100:6",
		0:  "",
	} {
		var got []string
		for _, r := range b.Rows(most) {
			got = append(got, fmt.Sprintf("%s:%d", strings.TrimSuffix(fmt.Sprint(float64(r.To)/1e6), ".0"), r.N))
		}
		if d := cmp.Diff(want, strings.Join(got, " ")); d != "" {
			t.Errorf("at most %d rows (-want +got):\n%s", most, d)
		}
	}
	if rows := new(Buckets).Rows(12); rows != nil {
		t.Errorf("of nothing: %v", rows)
	}
}

func TestRowsHoldEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		micros := rapid.SliceOfN(rapid.Int64Range(0, 120_000_000), 1, 50).Draw(t, "us") // beyond the histogram's range
		most := rapid.IntRange(1, 30).Draw(t, "rows")
		h := signals.NewHistogram()
		for _, us := range micros {
			h.Record(time.Duration(us) * time.Microsecond)
		}
		var b Buckets
		b.Add(h)
		rows := b.Rows(most)
		if len(rows) == 0 || len(rows) > most {
			t.Fatalf("%d rows, at most %d", len(rows), most)
		}
		looked := rapid.IntRange(0, len(rows)-1).Draw(t, "row")
		var n, to int64
		for i, r := range rows {
			if n += r.N; i == looked {
				to = n
			}
		}
		if above := h.Above(rows[looked].To); n != h.Count() || to+above != n {
			t.Fatalf("%d of %d in all; up to %v %d, and %d above", n, h.Count(), rows[looked].To, to, above)
		}
		if last := rows[len(rows)-1]; last.N == 0 || last.To < h.Max().Truncate(time.Second) {
			t.Fatalf("the last row is to %v, and has %d", last.To, last.N)
		}
	})
}
