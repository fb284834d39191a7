package corpus

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/show/answer"
	"github.com/millicore/millicore/internal/show/report"
	"github.com/millicore/millicore/internal/show/report/text"
)

// tried are the settings of one server, each a service, as `millicore try` has them.
const tried = `server:
  name: the server
  settings:
    - {label: as it is, service: as-is}
    - {label: GOMAXPROCS=1, service: one}
    - {label: without the CPU limit, service: no-limit}
services:
  as-is: {command: [x, "${port}"]}
  one: {command: [x, "${port}"]}
  no-limit: {command: [x, "${port}"], limits: {cpu: null}}
`

// A lock breaks the server at the same load with and without its CPU limit, of which it
// uses 87 to 96%. The answer, the table, the facts, CSV and JSON agree that the limit is
// not what limits it.
func TestALimitThatCostsNoLoadIsNamedNowhere(t *testing.T) {
	named := regexp.MustCompile(`(?i)limited by[:"]* *"?(throttling|(its )?cpu limit)|,(throttling|cpu limit),`)
	for seed, work := range map[uint64]float64{5: 4.37, 13: 4.62, 15: 4.18, 17: 4.27} {
		s := summaryOf(t, &Case{Name: "tried", File: find("tried", tried, "1", "p99: 50ms", 60, 1),
			Behaves: same(Behaviour{Service: Service{Workers: 16, Work: Fixed(millis(work)), Lock: millis(4.8)}})}, seed)
		for i := range s.Cells {
			if by := s.Cells[i].Breaking.LimitedBy; by == summary.ByThrottling || by == summary.ByCPULimit {
				t.Errorf("seed %d: %s is limited by %s", seed, s.Cells[i].Service, by)
			}
		}
		var shown bytes.Buffer
		shown.WriteString(answer.Of(s).String() + "\n")
		for _, err := range []error{report.CSV(&shown, s), report.JSON(&shown, s),
			text.Markdown(&shown, report.New(s).Whole()), text.Terminal(&shown, report.New(s).Blocks(), display.Terminal{})} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if found := named.FindString(shown.String()); found != "" {
			t.Errorf("seed %d: %q", seed, found)
		}
	}
}

// The same server with work that its limit breaks at three quarters of the load: the limit
// is named.
func TestALimitThatCostsLoadIsNamedInTry(t *testing.T) {
	for seed := range uint64(3) {
		s := summaryOf(t, &Case{Name: "tried", File: find("tried", tried, "1", "p99: 50ms", 60, 1),
			Behaves: same(Behaviour{Service: Service{Workers: 16, Work: Fixed(millis(6.5)), Lock: millis(4.8)}})}, seed+1)
		for i := range s.Cells[:2] {
			if by := s.Cells[i].Breaking.LimitedBy; !strings.Contains(byLimit, by) || by == "" {
				t.Errorf("seed %d: %s is limited by %q", seed+1, s.Cells[i].Service, by)
			}
		}
	}
}

func millis(v float64) time.Duration { return time.Duration(v * float64(ms)) }
