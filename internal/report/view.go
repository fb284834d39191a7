package report

import (
	"fmt"
	"html/template"
	"math"
	"regexp"
	"strings"

	"github.com/millicore/millicore/internal/analysis"
)

// view is what the template shows. All its strings are foreign text or made
// from it; html/template escapes them.
type view struct {
	Title    string
	Headline string   // the sentence that says the answer
	More     []string // what adds to it
	Notice   string   // that the record is not whole
	About    string
	Run      []string
	Setup    []string
	Host     []string
	Findings []finding
	Axes     []string
	Rows     []row
	Strip    stripScale
	Judged   bool // an objective was asked
	Flags    []flagNote
	Levels   []levelRow
	LoadUnit string
	Details  []detail
	Charts   template.JS
	Style    template.CSS
	Early    template.JS
	Plot     template.JS
	Script   template.JS
	Policy   string
}

type flagNote struct{ Word, Who, Text string }

// mark is a cell's colour and shape, the same in tables, legend and charts.
// There are eight of each; the ninth cell has the first colour again, with
// another shape and a broken line.
type mark struct {
	Hue   int
	Shape int
}

const hues, shapes = 8, 4

func markOf(cell int) mark {
	return mark{Hue: cell % hues, Shape: (cell + cell/hues) % shapes}
}

// row is one cell in the table.
type row struct {
	Mark      mark
	Index     int
	Name      string
	Service   string
	Settings  []string
	Rate      value
	P50       value
	P99       value
	P999      value
	Available value
	CPU       value
	Throttled value
	Memory    value
	Objective string
	Flags     []string
	Strip     *strip
}

// value is a figure with what stands under it: its interval, its range or its
// parts. Tone is a class: "", "warning" or "bad".
type value struct{ Figure, Under, Tone string }

func newView(d Data) view {
	s := d.Summary
	names := cellNames(s)
	h := headlineOf(s)
	p := view{
		Title: plain(s.Experiment.Name), Headline: typeset(h.answer), More: []string{}, Notice: h.notice, About: plain(s.Experiment.About),
		Run: runFacts(s)[1:], Setup: setupFacts(s), Host: hostFacts(s.Host), Axes: axes(s), Strip: newStripScale(s),
		Findings: findings(s, names),
	}
	for _, text := range h.more {
		p.More = append(p.More, typeset(text))
	}
	for _, f := range flags(s) {
		p.Flags = append(p.Flags, flagNote{Word: plain(f.Word), Who: f.who(names), Text: f.Text})
	}
	for i := range s.Cells {
		c := &s.Cells[i]
		p.Judged = p.Judged || c.Objective != nil
		r := newRow(c, p.Axes)
		r.Mark, r.Index, r.Name, r.Strip = markOf(i), i, names[i], p.Strip.strip(c)
		p.Rows = append(p.Rows, r)
		d := newDetail(c, names[i], markOf(i))
		d.Open = len(s.Cells) == 1
		p.Details = append(p.Details, d)
	}
	p.Levels, p.LoadUnit = levelRows(s, names)
	return p
}

// unitAfterNumber finds a figure and its unit, with a space between them or, as
// Go writes durations, without; afterSign the space after a comparison.
var (
	unitAfterNumber = regexp.MustCompile(`(\d) ?(ms|µs|s|MiB|GiB|requests/s|users|CPUs?)\b`)
	afterSign       = regexp.MustCompile(`([≤≥]) `)
)

// typeset keeps figures and their units on one line, and writes signs as print
// does.
func typeset(text string) string {
	text = strings.NewReplacer("<=", "≤", ">=", "≥").Replace(text)
	return afterSign.ReplaceAllString(unitAfterNumber.ReplaceAllString(text, "$1\u00a0$2"), "$1\u00a0")
}

func newRow(c *analysis.CellSummary, axes []string) row {
	r := row{Service: plain(c.Service), Objective: objectiveWord(c)}
	for _, name := range axes {
		text := setting(c, name)
		if text == "" {
			text = absent
		}
		r.Settings = append(r.Settings, plain(text))
	}
	for _, f := range c.Flags {
		r.Flags = append(r.Flags, plain(f))
	}
	trial := func(of func(*analysis.TrialFigures) *float64, path string) string { return under(c, path, of) }
	none := func(*analysis.TrialFigures) *float64 { return nil }
	r.Rate = value{Figure: maybe(c.RateRPS, figure),
		Under: trial(func(t *analysis.TrialFigures) *float64 { return t.RateRPS }, "rate_rps")}
	quantile := func(of func(*analysis.Quantiles) float64, spread string) value {
		if c.LatencyMS == nil {
			return value{Figure: absent}
		}
		return value{Figure: figure(of(c.LatencyMS)), Under: spread}
	}
	r.P50 = quantile(func(q *analysis.Quantiles) float64 { return q.P50 },
		trial(func(t *analysis.TrialFigures) *float64 { return t.P50 }, "latency_ms.p50"))
	r.P99 = quantile(func(q *analysis.Quantiles) float64 { return q.P99 },
		trial(func(t *analysis.TrialFigures) *float64 { return t.P99 }, "latency_ms.p99"))
	r.P999 = quantile(func(q *analysis.Quantiles) float64 { return q.P999 }, trial(none, "latency_ms.p999"))
	r.Available = value{Figure: maybe(c.Availability, percent), Tone: toneClass(availabilityTone(c.Availability))}
	r.CPU = value{Figure: maybe(c.CPU.OfLimit, share), Under: coresOf(c)}
	if part := throttledShare(c); part != nil {
		r.Throttled = value{Figure: share(*part), Tone: toneClass(throttledTone(part)),
			Under: grouped(*c.CPU.ThrottledPeriods) + " of " + grouped(*c.CPU.Periods)}
	} else {
		r.Throttled = value{Figure: absent}
	}
	r.Memory = value{Figure: absent}
	if c.Memory.PeakBytes != nil {
		r.Memory = value{Figure: size(float64(*c.Memory.PeakBytes)), Under: maybe(c.Memory.OfLimit, func(v float64) string { return share(v) + " of limit" })}
		if c.Memory.OfLimit == nil {
			r.Memory.Under = ""
		}
	}
	return r
}

// under is what stands under a figure: its interval, or the range over trials.
// Where both ends read the same it adds nothing.
func under(c *analysis.CellSummary, path string, of func(*analysis.TrialFigures) *float64) string {
	low, high, what := 0.0, 0.0, ""
	if ends, ok := c.Intervals[path]; ok {
		low, high = ends[0], ends[1]
	} else if l, h, n := trialRange(c, of); n > 1 {
		low, high, what = l, h, "range "
	}
	if figure(low) == figure(high) {
		return ""
	}
	return what + figure(low) + "–" + figure(high)
}

// coresOf writes a cell's CPU: "0.98 of 1 CPU".
func coresOf(c *analysis.CellSummary) string {
	if c.CPU.Cores == nil {
		return ""
	}
	if c.CPU.Limit == nil {
		return figure(*c.CPU.Cores) + " CPUs"
	}
	whole := figure(*c.CPU.Limit)
	if *c.CPU.Limit == math.Trunc(*c.CPU.Limit) {
		whole = grouped(int64(*c.CPU.Limit))
	}
	if *c.CPU.Limit == 1 {
		return figure(*c.CPU.Cores) + " of 1 CPU"
	}
	return fmt.Sprintf("%s of %s CPUs", figure(*c.CPU.Cores), whole)
}

func toneClass(t tone) string {
	switch t {
	case warning:
		return "warning"
	case bad:
		return "bad"
	}
	return ""
}

// levelRow is one level of a staged load with each cell's figures at it.
type levelRow struct {
	Target string
	First  bool // the first row of its level
	Span   int  // rows of the level
	Mark   mark
	Name   string
	Rate   string
	P50    string
	P99    string
	P999   string
	Avail  value
	CPU    string
	Thrott string
	tone   tone // of the availability
}

// levelRows puts the cells side by side at each level, upwards.
func levelRows(s *analysis.Summary, names []string) (rows []levelRow, unit string) {
	unit = "requests/s"
	var targets []float64
	for i := range s.Cells {
		if s.Cells[i].Load.Kind == "closed" {
			unit = "users"
		}
		for _, step := range s.Cells[i].Steps {
			targets = append(targets, step.Target)
		}
	}
	for _, target := range sortedSet(targets) {
		start := len(rows)
		for i := range s.Cells {
			for k := range s.Cells[i].Steps {
				step := &s.Cells[i].Steps[k]
				if step.Target != target {
					continue
				}
				r := levelRow{Target: figure(target), First: len(rows) == start, Mark: markOf(i), Name: names[i], Rate: figure(step.RateRPS),
					P50: absent, P99: absent, P999: absent, CPU: maybe(step.CPUOfLimit, share), Thrott: maybe(step.Throttled, share),
					Avail: value{Figure: maybe(step.Availability, percent), Tone: toneClass(availabilityTone(step.Availability))}}
				r.tone = availabilityTone(step.Availability)
				if q := step.LatencyMS; q != nil {
					r.P50, r.P99, r.P999 = figure(q.P50), figure(q.P99), figure(q.P999)
				}
				rows = append(rows, r)
			}
		}
		rows[start].Span = len(rows) - start
	}
	return rows, unit
}
