package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// facts are about the machine and the whole measurement.
type facts struct {
	CPUs                    int
	Model, Arch, Kernel, Go string
	Took                    time.Duration
	Steal                   float64 // cores, on average
}

func openLoop(rate int) string { return fmt.Sprintf("open loop, %s/s", thousands(rate)) }

// tables are all results, in Markdown.
func tables(runs []run, notes []string, versions map[string]string, f facts, b bounds) string {
	var w strings.Builder
	fmt.Fprintf(&w, "Measured by `make bench-load` on %d CPUs (%s, %s), Linux %s, %s, in %s. The tools run on one CPU, the service on another.\n",
		f.CPUs, cmp.Or(f.Model, "unknown"), f.Arch, f.Kernel, f.Go, f.Took.Round(time.Second))
	fmt.Fprintf(&w, "Versions: %s.\n", versionsText(versions))
	fmt.Fprintf(&w, "The hypervisor took %.3f cores on average. %s\n", f.Steal, disturbances(runs, b))
	for _, note := range append(notes, failures(runs)...) {
		fmt.Fprintf(&w, "%s\n", note)
	}
	closedTable(&w, runs)
	protocolTable(&w, runs)
	for _, rate := range rates {
		openTable(&w, runs, rate)
	}
	fastTable(&w, runs)
	memoryTable(&w, runs)
	for i := range freezes {
		freezeTable(&w, runs, &freezes[i])
	}
	return w.String()
}

func versionsText(versions map[string]string) string {
	var all []string
	for name, v := range versions {
		all = append(all, strings.TrimSpace(name+" "+v))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// named is how many disturbed runs are listed by name; all are in the folder.
const named = 20

// disturbances lists the runs that are marked as disturbed.
func disturbances(runs []run, b bounds) string {
	var all []string
	for i := range runs {
		if r := &runs[i]; disturbed(r, b) {
			all = append(all, fmt.Sprintf("%s of %s in round %d (stolen %.2f, others %.2f)", r.Tool, r.Case, r.Round+1, r.Steal, r.Foreign))
		}
	}
	if len(all) == 0 {
		return fmt.Sprintf("In none of %d runs more than %v cores were stolen, nor more than %v used by other processes.", len(runs), b.Steal, b.Foreign)
	}
	marked := len(all)
	if marked > named {
		all = append(all[:named], fmt.Sprintf("and %d more", marked-named))
	}
	return fmt.Sprintf("**Disturbed: %d of %d runs**, with more than %v cores stolen or %v used by other processes; they count nevertheless: %s.",
		marked, len(runs), b.Steal, b.Foreign, strings.Join(all, "; "))
}

// failures lists the runs that failed, and those with answers that were not good.
func failures(runs []run) (all []string) {
	for i := range runs {
		switch r := &runs[i]; {
		case r.Failure != "":
			all = append(all, fmt.Sprintf("**Failed**: %s, %s, round %d: %s", r.Tool, r.Case, r.Round+1, strings.Join(strings.Fields(r.Failure), " ")))
		case r.Bad > 0:
			all = append(all, fmt.Sprintf("**Errors**: %s, %s, round %d: %d of %d requests had no good answer.", r.Tool, r.Case, r.Round+1, r.Bad, r.Good+r.Bad))
		}
	}
	return all
}

// tools are the tools that ran a case, sorted by the median of a figure.
func tools(runs []run, what string, figure func(*run) float64) (names []string) {
	middle := map[string]float64{}
	for i := range runs {
		r := &runs[i]
		if _, there := middle[r.Tool]; r.Case != what || r.Failure != "" || there {
			continue
		}
		middle[r.Tool] = spreadOf(of(runs, what, r.Tool, figure)).Median
		names = append(names, r.Tool)
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(middle[a], middle[b]) })
	return names
}

func closedTable(w *strings.Builder, runs []run) {
	names := tools(runs, closedLoop, perRequest)
	if len(names) == 0 {
		return
	}
	fmt.Fprintf(w, "\n### Closed loop, 64 connections, HTTP/1.1 keep-alive, nginx answers 200 bytes\n\n")
	fmt.Fprintf(w, "CPU is user and system time of all the tool's processes, from start to end. Medians of %s; in brackets their ranges.\n\n", roundsText(runs, closedLoop))
	fmt.Fprintln(w, "| client | thousand requests/s | CPU µs/request | to wrk's, in the same round | thousand requests/s for a core | highest RSS, MB |\n|---|---|---|---|---|---|")
	for _, name := range names {
		figures := func(f func(*run) float64) spread { return spreadOf(of(runs, closedLoop, name, f)) }
		fmt.Fprintf(w, "| %s | %.1f | %s | %s | %.0f | %.0f |\n", name, figures(rate).Median/1000, between(figures(perRequest), "%.2f"),
			between(spreadOf(paired(runs, closedLoop, name, base, perRequest)), "%.2f"), figures(oneCore).Median/1000, figures(peakMemory).Median)
	}
	fmt.Fprintf(w, "\n%s is Millicore's generator alone, as it runs for experiments, controlled by the harness; it is comparable with the others, which make traffic and no record. `millicore load` is the command that users type: the same generator, with the lab that starts it and keeps, analyses and shows its record.\n", self)
}

func openTable(w *strings.Builder, runs []run, rate int) {
	what := openLoop(rate)
	names := tools(runs, what, perRequest)
	if len(names) == 0 {
		return
	}
	fmt.Fprintf(w, "\n### Open loop, %s requests/s, 64 connections, the same nginx\n\n", thousands(rate))
	fmt.Fprintf(w, "Latencies as each tool reports them. Medians of %s; in brackets their ranges.\n\n", roundsText(runs, what))
	fmt.Fprintln(w, "| client | CPU µs/request | p50 µs | p99 µs | answered of the schedule | never sent | send lag p50 / p99 µs |\n|---|---|---|---|---|---|---|")
	for _, name := range names {
		figures := func(f func(*run) float64) spread { return spreadOf(of(runs, what, name, f)) }
		lag := "not reported"
		if p99 := figures(func(r *run) float64 { return micros(r.Lag) }).Median; p99 > 0 {
			lag = fmt.Sprintf("%s / %.0f", known(figures(func(r *run) float64 { return micros(r.LagP50) }).Median, "%.0f"), p99)
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %.1f%% | %.0f | %s |\n", name, between(figures(perRequest), "%.1f"),
			known(figures(func(r *run) float64 { return micros(r.P50) }).Median, "%.0f"), between(figures(func(r *run) float64 { return micros(r.P99) }), "%.0f"),
			100*figures(achieved).Median, figures(func(r *run) float64 { return float64(r.Dropped) }).Median, lag)
	}
}

func fastTable(w *strings.Builder, runs []run) {
	for _, name := range tools(runs, asFast, perRequest) {
		figures := func(f func(*run) float64) spread { return spreadOf(of(runs, asFast, name, f)) }
		fmt.Fprintf(w, "\n### One thread asked for 100,000 requests/s (open loop, 64 connections)\n\n")
		fmt.Fprintf(w, "%s answered requests/s, %s cores, send lag p99 %s µs, latency p50 %.0f and p99 %s µs. Medians of %s; in brackets their ranges.\n",
			between(figures(rate), "%.0f"), between(figures(cores), "%.2f"), between(figures(func(r *run) float64 { return micros(r.Lag) }), "%.0f"),
			figures(func(r *run) float64 { return micros(r.P50) }).Median, between(figures(func(r *run) float64 { return micros(r.P99) }), "%.0f"), roundsText(runs, asFast))
	}
}

func memoryTable(w *strings.Builder, runs []run) {
	names := tools(runs, manyIdle, peakMemory)
	if len(names) == 0 {
		return
	}
	fmt.Fprintf(w, "\n### Memory with 1,000 connections (closed loop)\n\n")
	fmt.Fprintln(w, "RSS of all the tool's processes, after a second, half way, a second before the end, and its highest, which many reach while they work their report out.\n\n| client | after 1 s, MB | half way, MB | at the end, MB | highest, MB | seconds | thousand requests/s |\n|---|---|---|---|---|---|---|")
	for _, name := range names {
		figures := func(f func(*run) float64) float64 { return spreadOf(of(runs, manyIdle, name, f)).Median }
		fmt.Fprintf(w, "| %s | %.1f | %.1f | %.1f | %.1f | %.0f | %.1f |\n", name, figures(func(r *run) float64 { return megabytes(r.First) }),
			figures(func(r *run) float64 { return megabytes(r.Middle) }), figures(func(r *run) float64 { return megabytes(r.Last) }), figures(peakMemory), figures(func(r *run) float64 { return float64(r.Load.Seconds) }), figures(rate)/1000)
	}
}

// A quantile is truthful if it is within a share of the truth, or within the time that
// the network and the two programs add. That time is longest after a freeze, while the
// backlog is sent; the truth includes only the service's work for it.
const (
	truthful = 0.05
	nearby   = 5 * time.Millisecond
)

// accurate reports whether a tool's figure is close enough to the true one.
func accurate(reported, true time.Duration) bool {
	return off(reported, true) <= truthful || (reported-true).Abs() <= nearby
}

func freezeTable(w *strings.Builder, runs []run, c *freezeCase) {
	var rows []*run
	for i := range runs {
		if r := &runs[i]; r.Case == c.Name && r.Freeze != nil && usable(r) {
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return
	}
	wrong := func(r *run) float64 {
		return max(off(r.P95, r.Freeze.P95), off(r.P99, r.Freeze.P99))
	}
	slices.SortStableFunc(rows, func(a, b *run) int { return cmp.Compare(wrong(a), wrong(b)) })
	fmt.Fprintf(w, "\n### A service that freezes: %s\n\n", c.Name)
	truth := c.truth()
	fmt.Fprintf(w, "Answers take 1 ms. Truth: p50 %.1f, p95 %.1f, p99 %.1f ms. Truthful: p95 and p99 within %.0f%% or %v of it.\n\n",
		millis(truth.P50), millis(truth.P95), millis(truth.P99), 100*truthful, nearby)
	fmt.Fprintln(w, "| client | p50 ms | p95 ms | p99 ms | p99 off by | answered of the schedule | never sent | truthful | service late, p99 ms |\n|---|---|---|---|---|---|---|---|---|")
	for _, r := range rows {
		verdict := "no"
		if accurate(r.P95, r.Freeze.P95) && accurate(r.P99, r.Freeze.P99) {
			verdict = "**yes**"
		}
		fmt.Fprintf(w, "| %s | %.2f | %.1f | %.1f | %+.1f%% | %.1f%% | %d | %s | %.2f |\n", r.Tool, millis(r.P50), millis(r.P95), millis(r.P99),
			100*(float64(r.P99)/float64(r.Freeze.P99)-1), 100*achieved(r), r.Dropped, verdict, millis(r.Freeze.Late.P99))
	}
}

// off is the relative error of a latency.
func off(reported, true time.Duration) float64 {
	return math.Abs(float64(reported)/float64(true) - 1)
}

// roundsText is the number of rounds of a case.
func roundsText(runs []run, what string) string {
	most := 0
	for i := range runs {
		if runs[i].Case == what {
			most = max(most, runs[i].Round+1)
		}
	}
	if most == 1 {
		return "1 round"
	}
	return fmt.Sprintf("%d rounds", most)
}

// between is a median and, if there are several values, the range.
func between(s spread, format string) string {
	switch {
	case s.N == 0:
		return "unknown"
	case s.N == 1:
		return known(s.Median, format)
	}
	return fmt.Sprintf(format+" ("+format+" to "+format+")", s.Median, s.Low, s.High)
}

// known formats a figure; 0 is one that the tool does not report.
func known(v float64, format string) string {
	if v == 0 || math.IsNaN(v) {
		return "not reported"
	}
	return fmt.Sprintf(format, v)
}

func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

// line is a run in a few words.
func line(r *run, b bounds) string {
	text := fmt.Sprintf("%s, round %d: %s: ", r.Case, r.Round+1, r.Tool)
	if r.Failure != "" {
		return text + "failed: " + strings.Join(strings.Fields(r.Failure), " ")
	}
	text += fmt.Sprintf("%.0f/s, %.2f µs/request, p50 %.2f ms, p99 %.2f ms, %.0f MB", rate(r), perRequest(r), millis(r.P50), millis(r.P99), peakMemory(r))
	if disturbed(r, b) {
		text += fmt.Sprintf(" (disturbed: stolen %.2f, others %.2f cores)", r.Steal, r.Foreign)
	}
	return text
}
