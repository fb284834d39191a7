package traffic

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/base/phrase"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/show/answer"
	"github.com/millicore/millicore/internal/show/narrative"
)

// Text writes a result: the answer, its latencies, and what failed; with details also the
// other sections of hey, whether the generator was the limit, and what flags mean.
func Text(w io.Writer, url string, r *Result, kept []Kept, details bool, out display.Terminal) error {
	var b strings.Builder
	b.WriteString(first(url, r, kept, details, out) + "\n")
	if details {
		b.WriteString(summaryText(r, out))
	}
	b.WriteString(latencies(r, out))
	if details {
		b.WriteString(bars(r, out))
	}
	if details || r.Client.Good < r.Cell.Requests || len(r.Client.Status) > 1 {
		b.WriteString(answers(r, out))
	}
	if details {
		b.WriteString(generator(r, out))
	}
	b.WriteString(server(r, out))
	b.WriteString(thresholds(kept, out))
	if details {
		for _, text := range flagged(r.Cell, summary.FlagFewTrials) {
			fmt.Fprintf(&b, "%s\n", out.Paint(out.Wrap("! "+text, ""), display.Warning))
		}
	} else {
		fmt.Fprint(&b, out.Line(fmt.Sprintf("%s requests in %s s · %s", display.Grouped(r.Cell.Requests), display.Figure(r.Length.Seconds()), loadOf(r)), display.Quiet))
	}
	_, err := io.WriteString(w, strings.TrimRight(b.String(), "\n")+"\n")
	return err
}

// ofTheAnswer are the flags of which the answer speaks, and one that has no meaning for a single
// load.
var ofTheAnswer = []summary.Flag{summary.FlagFewTrials, summary.FlagSentLate, summary.FlagGeneratorLimited, summary.FlagBusyNeighbour, summary.FlagBusyHypervisor}

// flagged is what the flags of a cell mean, without some of them.
func flagged(c *summary.Cell, without ...summary.Flag) (texts []string) {
	for _, word := range c.Flags {
		if text := narrative.FlagText(word, c); text != "" && !slices.Contains(without, word) {
			texts = append(texts, text)
		}
	}
	return texts
}

// first is the answer, with what to change.
func first(url string, r *Result, kept []Kept, details bool, out display.Terminal) string {
	a := judged(answer.OfLoad(r.Cell, display.Plain(url)), kept)
	if text := hint(r); text != "" {
		a.Do = text
	}
	if text := hiddenStall(r); text != "" {
		a.Caveats = append([]string{text}, a.Caveats...)
	}
	if text := leftOut(r.Addresses); text != "" {
		a.Caveats = append(a.Caveats, text)
	}
	if !details {
		a.Caveats = append(a.Caveats, flagged(r.Cell, ofTheAnswer...)...)
	}
	a.Caveats = a.Caveats[:min(len(a.Caveats), 2)]
	lines := a.Lines()
	text := out.Line(lines[0], display.Strong)
	for _, line := range lines[1:] {
		text += out.Line(line, display.Normal)
	}
	for _, caveat := range a.Caveats {
		text += out.Line("! "+caveat, display.Warning)
	}
	return text
}

// judged is an answer with which thresholds are met: the missed ones, if any are, or those that
// are too close to tell. If all are met there is nothing to do.
func judged(a answer.Answer, kept []Kept) answer.Answer {
	by := map[summary.Outcome][]string{}
	for _, k := range kept {
		by[k.Outcome] = append(by[k.Outcome], k.Threshold)
	}
	switch {
	case len(kept) == 0:
	case len(by[summary.Missed]) > 0:
		a.What += " It misses " + phrase.List(by[summary.Missed]) + "."
	case len(by[summary.Met]) == len(kept):
		a.What += " It meets " + phrase.List(by[summary.Met]) + "."
		a.Why, a.Do = "", "nothing: it meets what is asked."
	case len(by[summary.TooClose]) > 0:
		a.What += " Too close to tell whether it meets " + phrase.List(by[summary.TooClose]) + "."
	}
	return a
}

// hint says what to change if most answers had a status that is not good; "" if they had not.
func hint(r *Result) string {
	most, n := "", int64(0)
	for _, code := range slices.Sorted(maps.Keys(r.Client.Status)) {
		if r.Client.Status[code] > n {
			most, n = code, r.Client.Status[code]
		}
	}
	if r.Client.Good > 0 || 2*n <= r.Cell.Requests {
		return ""
	}
	switch most {
	case "301", "302", "303", "307", "308":
		return "use --follow, or count redirects as good with --status " + most + ": most answers were these."
	case "401", "403", "407":
		return "send credentials with -H 'Name: value', --basic-env or --bearer-env: most answers were " + most + "."
	case "404":
		return "check the path of the URL: most answers were 404."
	case "405":
		return "set another method with -m: most answers were 405."
	}
	if said := r.Client.Said[most]; said != "" {
		return fmt.Sprintf("look into the service's log: most calls ended with %s%s.", most, display.Said(said))
	}
	return ""
}

// hiddenStall says that the percentiles of a closed loop hide a stall; "" if they do not.
// Users wait while the service stalls and send nothing, so that each of them counts one
// slow request (coordinated omission). Of a constant rate, as many requests are slow as the
// stall takes of the time: p99 shows it from 1% on.
func hiddenStall(r *Result) string {
	c := r.Cell
	if c.Load.Kind != "closed" || c.Load.Users == nil || c.Load.Stages || c.LatencyMS == nil || !(c.LatencyMS.P99 > 0) || r.Length <= 0 {
		return ""
	}
	stall := time.Duration(farAboveP99 * c.LatencyMS.P99 * float64(time.Millisecond))
	waited := 0.0
	for bar := range r.Client.Latency.Bars() {
		if from := time.Duration(bar.From) * time.Microsecond; from > stall {
			waited += from.Seconds() * float64(bar.Count)
		}
	}
	share := waited / (*c.Load.Users * r.Length.Seconds())
	if share < 0.01 {
		return ""
	}
	return fmt.Sprintf("The service stalled for %s of the time, which p99 of a closed loop hides: measure with --rate.", display.Share(min(share, 1)))
}

// farAboveP99 is how many times p99 a request takes that met a stall, not a queue.
const farAboveP99 = 5

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
