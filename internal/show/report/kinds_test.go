package report

import (
	"bytes"
	"encoding/csv"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/test/sample"
)

// kinds are two kinds of requests, of which one has a known cost.
func kinds() []summary.KindFigures {
	return []summary.KindFigures{
		{Name: "POST /orders", Requests: 81, Share: 0.081, Availability: new(100.), Latency: &summary.Quantiles{P50: 20, P99: 62.9},
			CPUMS: new(9.), CPULow: new(8.), CPUHigh: new(10.), ShareOfCPU: new(0.45)},
		{Name: "GET /", Requests: 919, Share: 0.919, Availability: new(99.5)},
	}
}

// The bar of a kind has the interval of its share of the CPU time.
func TestBarsOfKindsOfRequests(t *testing.T) {
	table := Kinds(&summary.Summary{Cells: []summary.Cell{{Kinds: kinds()}}}, []string{"api"})
	at := slices.IndexFunc(table.Columns, func(c Column) bool { return c.Kind == Picture })
	if at < 0 || table.Rows() != 2 {
		t.Fatalf("%d rows, the bars in column %d", table.Rows(), at)
	}
	bar := table.Columns[at].Cells[0].Range
	if *bar.Value != 0.45 || math.Abs(*bar.Low-0.4) > 1e-9 || math.Abs(*bar.High-0.5) > 1e-9 || bar.Label != "45% of the CPU time, 40–50%" {
		t.Errorf("from %v over %v to %v: %s", *bar.Low, *bar.Value, *bar.High, bar.Label)
	}
	if table.Columns[at].Cells[1].Range != nil {
		t.Error("a bar without a cost")
	}
	unknown := kinds()[1:]
	table = Kinds(&summary.Summary{Cells: []summary.Cell{{Kinds: unknown}}}, []string{"api"})
	if slices.ContainsFunc(table.Columns, func(c Column) bool { return c.Kind == Picture || c.Head == "CPU" }) {
		t.Error("columns of costs that are not known")
	}
}

// The requests of a session are its steps, in their order, and its sessions are counted.
func TestSessions(t *testing.T) {
	steps := kinds()
	steps[0].Step, steps[1].Step, steps[1].RateRPS = 2, 1, new(91.9)
	s := &summary.Summary{Cells: []summary.Cell{{Kinds: steps, Sessions: &summary.Sessions{RatePS: new(8.1),
		Sessions: signals.Sessions{Begun: 1919, Whole: 81, Broken: 1800, Missing: map[string]int64{"token": 1700, "id": 3}}}}, {}}}
	of := func(table Table) (all []string) {
		for row := range table.Rows() {
			var fields []string
			for _, c := range table.Columns {
				fields = append(fields, c.Head+"="+c.Cells[row].Text)
			}
			all = append(all, strings.Join(fields, " "))
		}
		return all
	}
	names := []string{"api", "plain"}
	if got, want := of(sessions(s, names)), []string{"cell=api whole=8.10 begun=1,919 whole=81 broken off=1,800 answers without=3 {{id}}, 1,700 {{token}}"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	table := Kinds(s, names)
	if got := of(table); table.Title != "Steps of the session" || len(got) != 2 || !strings.HasPrefix(got[0], "cell=api step=GET / good=91.9 ") || !strings.HasPrefix(got[1], "cell=api step=POST /orders good=– ") {
		t.Errorf("%s: %q", table.Title, got)
	}
}

// In CSV a line for each kind follows that of its cell, and has no figures of the whole cell.
func TestKindsOfRequestsAsCSV(t *testing.T) {
	s := sample.Procs().Summary
	s.Cells[0].Kinds = kinds()
	var text bytes.Buffer
	if err := CSV(&text, s); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&text).ReadAll()
	if err != nil || len(lines) != 1+len(s.Cells)+2 {
		t.Fatalf("%d lines of %d cells: %v", len(lines), len(s.Cells), err)
	}
	field := func(line int, name string) string { return lines[line][slices.Index(lines[0], name)] }
	for name, want := range map[string][3]string{
		"kind": {"", "POST /orders", "GET /"}, "kind_cpu_per_request_ms_low": {"", "8", ""}, "kind_share_of_cpu": {"", "0.45", ""},
		"kind_latency_p99_ms": {"", "62.9", ""}, "kind_requests": {"", "81", "919"}, "cell": {"0", "0", "0"},
		"trials": {field(1, "trials"), "", ""}, "vary_procs": {"1", "1", "1"},
	} {
		if got := [3]string{field(1, name), field(2, name), field(3, name)}; got != want || name == "trials" && got[0] == "" {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
