package progress

import (
	"testing"
	"time"

	"github.com/millicore/millicore/internal/lab"
)

func TestLine(t *testing.T) {
	rate, p99, periods, throttled := 381.2, 560*time.Millisecond, int64(32), int64(29)
	for _, c := range []struct {
		name  string
		in    lab.Progress
		width int
		want  string
	}{
		{"nothing measured yet", lab.Progress{Label: "go procs=2", Trial: 3, Of: 18, Repeat: 1, Repeats: 6, State: "starting", Left: 49 * time.Second}, 0,
			"[ 3/18] go procs=2                   1/6    0:49 left  starting"},
		{"under load", lab.Progress{Label: "go procs=2", Trial: 12, Of: 18, Repeat: 4, Repeats: 6, State: "measure", Left: 75 * time.Minute,
			Rate: &rate, P99: &p99, Periods: &periods, ThrottledPeriods: &throttled}, 0,
			"[12/18] go procs=2                   4/6  1:15:00 left       381/s  p99   560 ms  throttled  29 of  32"},
		{"at 80 columns", lab.Progress{Label: "go procs=2", Trial: 12, Of: 18, Repeat: 4, Repeats: 6, State: "measure", Left: 75 * time.Minute,
			Rate: &rate, P99: &p99, Periods: &periods, ThrottledPeriods: &throttled}, 80,
			"[12/18] go procs=2           4/6  1:15:00 left       381/s  p99   560 ms"},
		{"a long label", lab.Progress{Label: "the-service-of-the-catalogue workers=16 threads=2", Trial: 12, Of: 18, Repeat: 4, Repeats: 6, State: "warm-up", Left: 75 * time.Minute, Rate: &rate}, 80,
			"[12/18] the-serv…6 threads=2 4/6  1:15:00 left       381/s  warm-up"},
		{"settings of one runtime", lab.Progress{Label: "tool-options-xx-activeprocessorcount-2", Trial: 2, Of: 3, Repeat: 1, Repeats: 1, State: "measure", Left: time.Minute, Rate: &rate, P99: &p99, Search: "narrow 300"}, 80,
			"[2/3] tool-opt…ssorcount-2    1:00 left       381/s  p99   560 ms  narrow 300"},
		{"at 20 columns", lab.Progress{Label: "the-service-of-the-catalogue", Trial: 1, Of: 2, Repeat: 1, Repeats: 1, State: "measure"}, 20,
			"[1/2] the-serv…e-ca…"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := line(c.in, c.width); got != c.want {
				t.Errorf("\n got %q\nwant %q", got, c.want)
			}
		})
	}
}
