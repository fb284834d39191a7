package program

import (
	"encoding/json"
	"errors"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
)

// BenchmarkSearch searches the breaking point of the sample service repeatedly, each time
// after a restart. It reports the median of the results, the largest deviation from it,
// and the number of searches without a result.
//
//	go test ./test/program -run '^$' -bench Search -benchtime 10x -timeout 30m
func BenchmarkSearch(b *testing.B) {
	if why := cgroups(); why != "" {
		b.Skip(why)
	}
	var loads, widths, traffic []float64
	for b.Loop() {
		p := searched(b)
		traffic = append(traffic, p.TrafficS)
		b.Logf("%s requests/s, %s to %s, %.0f s of traffic; %s", figure(p.RateRPS), figure(p.Low), figure(p.High), p.TrafficS, p.Reason)
		if p.RateRPS != nil && p.High != nil {
			loads = append(loads, *p.RateRPS)
			widths = append(widths, 100*(*p.High-*p.Low) / *p.RateRPS)
		}
	}
	b.ReportMetric(float64(b.N-len(loads)), "untold")
	b.ReportMetric(slices.Max(traffic), "s-of-traffic")
	if len(loads) == 0 {
		return
	}
	slices.Sort(loads)
	slices.Sort(widths)
	median := loads[len(loads)/2]
	b.ReportMetric(median, "requests/s")
	b.ReportMetric(100*max(loads[len(loads)-1]/median-1, 1-loads[0]/median), "%-farthest")
	b.ReportMetric(widths[len(widths)/2], "%-width")
}

// searched is one search of the shipped experiment.
func searched(b *testing.B) *summary.BreakingPoint {
	b.Helper()
	c := exec.Command(filepath.Join(bin, "millicore"), "run", "breaking-point", "--json", "--out", filepath.Join(b.TempDir(), "record"), "--set", "vary.procs=[1]")
	out, err := c.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() != 98 && exit.ExitCode() != 99 {
		b.Fatalf("%v\n%s", err, exit.Stderr)
	}
	var s summary.Summary
	if err := json.Unmarshal(out, &s); err != nil {
		b.Fatal(err)
	}
	return s.Cells[0].Breaking
}

func figure(v *float64) string {
	if v == nil || math.IsInf(*v, 0) {
		return "–"
	}
	return strconv.FormatFloat(*v, 'f', 0, 64)
}
