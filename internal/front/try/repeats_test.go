package try

import (
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/front/reach"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/internal/host/runtimes"
	said "github.com/millicore/millicore/internal/show/answer"
)

// searchedOften is a cell with a search for each load.
func searchedOften(service string, loads ...float64) summary.Cell {
	c := cellOf(service, loads[len(loads)/2], loads[0], loads[len(loads)-1])
	c.Load.Find, c.Trials = true, len(loads)
	for _, v := range loads {
		c.PerTrial = append(c.PerTrial, summary.TrialFigures{Breaking: &v})
	}
	return c
}

func TestSeveralSearchesRankTheSettings(t *testing.T) {
	variants := Variants(testAsk("./server"), experiment.Limits{CPUMillis: 1500}, Seen{Info: goInfo}, runtimes.Machine{Online: 4})
	low := searchedOften("as-is", 396, 398, 399, 400, 401, 402)
	for _, c := range []struct {
		name  string
		other summary.Cell
		want  string
	}{
		{"more", searchedOften("gomaxprocs-1", 496, 498, 499, 500, 501, 502), "Do: use GOMAXPROCS=1: it holds 500 requests/s (496–502) (p "},
		{"less", searchedOften("gomaxprocs-1", 296, 298, 299, 300, 301, 302), ""},
		{"alike", searchedOften("gomaxprocs-1", 395, 397, 399, 400, 402, 404), ""},
		{"too few", searchedOften("gomaxprocs-1", 496, 500, 502), "Do: run it again with --repeats 6: GOMAXPROCS=1 held 500 requests/s (496–502) in 3 searches"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := answer("server", variants, summaryOf(low, c.other, searchedOften("no-limit", 896, 898, 899, 900, 901, 902)), nil)
			if !strings.Contains(got, c.want) || strings.Contains(got, "one search") || c.want == "" && strings.Contains(got, "GOMAXPROCS") {
				t.Errorf("%q is missing, or more is claimed, in:\n%s", c.want, got)
			}
		})
	}
}

// Of a service without counters no limit is claimed, and no absence of one.
func TestLimitsThatAreNotKnownAreNoAbsence(t *testing.T) {
	target, err := reach.ParseTarget("http://api.test/", nil)
	if err != nil {
		t.Fatal(err)
	}
	a := testAsk(target.URL)
	at := &Attached{Target: target, Unseen: "The service runs on another host."}
	e, err := file.Build(a.Name(), at.Settings(a), nil)
	if err != nil {
		t.Fatal(err)
	}
	found := summaryOf(cellOf("as-is", 400, 380, 420))
	found.Experiment.Server = e.Server
	got := said.Of(found).String()
	for _, want := range []string{"api.test breaks at 400 requests/s (380–420) under limits that are not known.", "the service runs on another host. So its limits, its CPU and its throttling are not known."} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in:\n%s", want, got)
		}
	}
}
