package analysis

import (
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/lab/wording"
	"github.com/millicore/millicore/test/testkit/fixture"
)

func TestClaimsComeWithTheSummary(t *testing.T) {
	e := fixture.Experiment(experiment.Load{Users: &experiment.Target{Value: 10}})
	e.Claims = []experiment.Claim{{Says: "it is quick", Published: "10 ms", Metric: "p99", Of: &experiment.Selector{Service: "go"}, Below: new(5.0), CPUs: 4}}
	b := New(e, []Attempt{{Trial: 1, State: Failed, Why: "start service \"go\": no such file"}})
	s := b.Summarize(summary.Experiment{}, record.Host{})
	wording.Fill(s)
	got := s.Claims
	if len(got) != 1 || got[0].Says != "it is quick" || got[0].Verdict != summary.Inconclusive || !strings.Contains(got[0].Reason, "no such file") {
		t.Errorf("%+v", got)
	}
}
