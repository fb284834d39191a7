package traffic

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/base/phrase"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/show/narrative"
)

func summaryText(r *Result, out display.Terminal) string {
	c := r.Cell
	rows := [][2]string{
		{"requests", fmt.Sprintf("%s in %s s", display.Grouped(c.Requests), display.Figure(r.Length.Seconds()))},
		{"good answers", display.Grouped(r.Client.Good) + afterwards(r)},
		{"load", loadOf(r)},
		{"protocol", r.Spoken},
		{"addresses", addresses(r.Addresses)},
		{"received", size(r.Client.Bytes, r.measured, r.Length)},
		{"connections made", display.Grouped(r.Client.Connects) + openAtOnce(c.Generator.OpenConnections)},
		{"connect", dials(c.DialsMS, func(d *summary.Dials) *summary.Quantiles { return d.Connect })},
		{"TLS handshake", dials(c.DialsMS, func(d *summary.Dials) *summary.Quantiles { return d.Handshake })},
		{"retry later", unlessNone(r.Client.Pushbacks, "call", "asked of %s (grpc-retry-pushback-ms), which were not sent again")},
		{"resent", unlessNone(r.Client.Resent, "request", "%s: the service had closed the idle connection, or did not process them")},
		{"stray bytes", unlessNone(r.Client.Stray, "connection", "on %s, which were replaced")},
	}
	rows = slices.DeleteFunc(rows, func(row [2]string) bool { return row[1] == "" })
	return section("Summary", rows, out)
}

// afterwards mentions the answers that came after the load, if they are so many that the
// rate, which has none of them, seems wrong.
func afterwards(r *Result) string {
	if r.after*20 < r.Client.Good || r.after == 0 {
		return ""
	}
	return fmt.Sprintf(", %s of them after the %s s: the rate is without these", display.Grouped(r.after), display.Figure(r.Length.Seconds()))
}

// unlessNone writes a number of what into a text; "" for 0.
func unlessNone(n int64, what, text string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(text, display.Counted(n, what))
}

// openAtOnce is the highest number of open connections.
func openAtOnce(most *int64) string {
	if most == nil {
		return ""
	}
	return ", at most " + display.Grouped(*most) + " open at once"
}

// dials are the times of a part of new connections; "" if there is none.
func dials(d *summary.Dials, part func(*summary.Dials) *summary.Quantiles) string {
	if d == nil || part(d) == nil {
		return ""
	}
	q := part(d)
	return fmt.Sprintf("p50 %s, p99 %s, highest %s", display.WithUnit(q.P50), display.WithUnit(q.P99), display.WithUnit(q.Max))
}

// loadOf describes the load.
func loadOf(r *Result) string {
	l := &r.Cell.Load
	switch {
	case r.Replay != nil:
		return fmt.Sprintf("replay, %s requests/s on average", display.Exact(l.Rate))
	case l.Kind == "open" && l.Rate != nil:
		return fmt.Sprintf("open loop, %s requests/s%s", display.Exact(l.Rate), highest(l.Stages))
	case l.Users != nil:
		return fmt.Sprintf("closed loop, %s%s", display.Users(*l.Users), highest(l.Stages))
	}
	return l.Kind
}

func highest(stages bool) string {
	if stages {
		return " at the highest stage"
	}
	return ""
}

// size formats bytes, and bytes per second of the measured part.
func size(all, measured int64, over time.Duration) string {
	text := display.Bytes(float64(all))
	if over > 0 {
		text += fmt.Sprintf(", %s/s", display.Bytes(float64(measured)/over.Seconds()))
	}
	return text
}

// section formats a title with rows of names and figures, which are broken within their
// column.
func section(title string, rows [][2]string, out display.Terminal) string {
	widest := 0
	for _, row := range rows {
		widest = max(widest, display.Width(row[0]))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", title)
	indent := strings.Repeat(" ", widest+4)
	for _, row := range rows {
		figures := strings.TrimPrefix(out.Wrap(row[1], indent), indent)
		fmt.Fprintf(&b, "  %s%s  %s\n", row[0], strings.Repeat(" ", widest-display.Width(row[0])), figures)
	}
	b.WriteString("\n")
	return b.String()
}

// early is the most that the time to the first byte is of the latency where it is shown.
const early = 0.95

// latencies has the latencies from intended, which users experience, and the service times
// from sent, which most generators report.
func latencies(r *Result, out display.Terminal) string {
	c := r.Cell
	if c.LatencyMS == nil || c.ServiceMS == nil {
		return ""
	}
	names := []string{"lowest", "mean", "p50", "p90", "p95", "p99", "p99.9", "highest"}
	values := func(q *summary.Quantiles) []string {
		all := []string{display.Milliseconds(q.Min), display.MeanMilliseconds(q.Mean, q.Beyond)}
		for _, one := range q.All() {
			all = append(all, display.Milliseconds(one.Value))
		}
		return all
	}
	columns := []display.Column{
		{Head: "Latency, ms", Left: true, Cells: indented(names)},
		{Head: "from intended", Cells: values(c.LatencyMS)},
		{Head: "from sent", Cells: values(c.ServiceMS)},
	}
	if f := c.FirstByteMS; f != nil && c.StreamsMS == nil && (f.P50 < early*c.LatencyMS.P50 || f.P99 < early*c.LatencyMS.P99) {
		columns = append(columns, display.Column{Head: "to the first byte", Cells: values(f)})
	}
	if s := c.StreamsMS; s != nil {
		columns = append(columns, display.Column{Head: "first message", Cells: values(s.First)})
		if s.Between != nil {
			columns = append(columns, display.Column{Head: "between messages", Cells: values(s.Between)})
		}
	}
	return out.Table(columns) + "\n"
}

func indented(all []string) []string {
	var lines []string
	for _, one := range all {
		lines = append(lines, "  "+one)
	}
	return lines
}

// maxBars is the maximum number of lines of a histogram.
const maxBars = 14

// bars is the histogram of latencies.
func bars(r *Result, out display.Terminal) string {
	var all Buckets
	all.Add(r.Client.Latency)
	rows := all.Rows(maxBars)
	if len(rows) == 0 {
		return ""
	}
	highest := int64(0)
	for _, row := range rows {
		highest = max(highest, row.N)
	}
	const width = 40
	var bounds, counts, blocks []string
	for _, row := range rows {
		to := display.WithUnit(float64(row.To) / 1e6)
		if row.To >= time.Hour { // beyond the range of the histogram
			to = display.Figure(row.To.Seconds()) + " s"
		}
		bounds = append(bounds, fmt.Sprintf("  to %8s", to))
		counts = append(counts, display.Grouped(row.N))
		length := int(math.Round(float64(row.N) / float64(highest) * width))
		bar := strings.Repeat("■", length)
		if row.N > 0 && length == 0 {
			bar = "▏"
		}
		blocks = append(blocks, bar)
	}
	table := out.Table([]display.Column{
		{Head: "Histogram", Left: true, Cells: bounds}, {Head: "requests", Cells: counts}, {Head: "", Left: true, Cells: blocks},
	})
	return table + "\n"
}

func answers(r *Result, out display.Terminal) string {
	var codes, errors [][2]string
	for _, code := range slices.Sorted(maps.Keys(r.Client.Status)) {
		codes = append(codes, [2]string{code, display.Grouped(r.Client.Status[code]) + display.Said(r.Client.Said[code])})
	}
	for _, k := range Failures(&r.Client) {
		text := display.Grouped(k.N)
		if k.Name == summary.Refused {
			text += by(r.Client.RefusedBy)
		}
		errors = append(errors, [2]string{k.Name, text})
	}
	text := ""
	if len(codes) > 0 {
		text += section("Status codes", codes, out)
	}
	if len(errors) > 0 {
		text += section("Errors", errors, out)
	}
	return text
}

// by names the addresses of a number of requests; "" if there are none.
func by(addresses map[string]int64) string {
	var all []string
	for _, one := range slices.Sorted(maps.Keys(addresses)) {
		if len(addresses) == 1 {
			return " by " + display.Plain(one)
		}
		all = append(all, fmt.Sprintf("%s by %s", display.Grouped(addresses[one]), display.Plain(one)))
	}
	if len(all) == 0 {
		return ""
	}
	return ": " + phrase.List(all)
}

// generator has the generator's measurements of itself.
func generator(r *Result, out display.Terminal) string {
	g := &r.Cell.Generator
	rows := [][2]string{}
	if g.SendLagP99US != nil {
		rows = append(rows, [2]string{"send lag, p99", display.WithUnit(*g.SendLagP99US / 1000)})
	}
	if g.Cores != nil {
		rows = append(rows, [2]string{"CPU used", display.Figure(*g.Cores) + " CPUs" + each(r)})
	}
	verdict := "not the limit: the figures are those of the service"
	tone := display.Good
	switch {
	case r.Client.Latency.Count() == 0:
		verdict, tone = "none: there are no latencies", display.Quiet
	case g.Limited:
		verdict, tone = "THE LIMIT: the rate is a lower bound, and the latencies include its own delay", display.Bad
	case g.SentLate:
		verdict, tone = "sent late: the latencies include its own delay; it reached the rate", display.Bad
	}
	rows = append(rows, [2]string{"verdict", out.Paint(verdict, tone)})
	return section("Generator", rows, out)
}

func each(r *Result) string {
	if r.Client.Good == 0 {
		return ""
	}
	return fmt.Sprintf(", %s µs per good answer", display.Figure(r.Client.CPU*1e6/float64(r.Client.Good)))
}

// server has the measurements of the observed process.
func server(r *Result, out display.Terminal) string {
	c := r.Cell
	var rows [][2]string
	if c.CPU.Cores != nil {
		text := display.Figure(*c.CPU.Cores) + " CPUs"
		if c.CPU.OfLimit != nil {
			text += ", " + display.Share(*c.CPU.OfLimit) + " of its limit"
		}
		rows = append(rows, [2]string{"CPU used", text})
	}
	if c.CPU.Periods != nil && c.CPU.ThrottledPeriods != nil && *c.CPU.Periods > 0 {
		rows = append(rows, [2]string{"throttled", fmt.Sprintf("%s of %s periods", display.Grouped(*c.CPU.ThrottledPeriods), display.Grouped(*c.CPU.Periods))})
	}
	if c.Memory.PeakBytes != nil {
		rows = append(rows, [2]string{"memory, peak", display.Bytes(float64(*c.Memory.PeakBytes))})
	}
	if r.Ended > 0 {
		rows = append(rows, [2]string{"ended", display.Clock(r.Ended) + " after the load began; it was not measured after that"})
	}
	if len(rows) == 0 {
		return ""
	}
	if line := narrative.CausesLine(c); line != "" {
		rows = append(rows, [2]string{"slow tail", line})
	}
	return section("Target", rows, out)
}

func thresholds(kept []Kept, out display.Terminal) string {
	var rows [][2]string
	for _, k := range kept {
		tone := display.Good
		switch k.Outcome {
		case summary.Missed:
			tone = display.Bad
		case summary.TooClose:
			tone = display.Warning
		}
		rows = append(rows, [2]string{k.Threshold, out.Paint(string(k.Outcome), tone) + ", " + k.Text()})
	}
	if len(rows) == 0 {
		return ""
	}
	return section("Thresholds", rows, out)
}
