package report

import (
	"fmt"
	"html/template"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/narrative"
	"github.com/millicore/millicore/internal/results"
)

// view is what the template shows. All its strings are foreign text or made
// from it; html/template escapes them.
type view struct {
	Title      string
	Headline   string   // the sentence that says the answer
	More       []string // what adds to it
	Notice     string   // that the record is not whole
	About      string
	Run        []string
	Setup      []string
	Host       []string
	Claims     []claimRow
	ClaimCount string
	Findings   []narrative.Finding
	Axes       []string
	Rows       []row
	Bench      []benchView // instead of Rows, for services that measure themselves
	Strip      stripScale
	Judged     bool // an objective was asked
	Flags      []flagNote
	Levels     []levelRow
	LoadUnit   string
	Sheets     []sheet
	Details    []detail
	Searched   bool // breaking points were looked for
	Units      string
	Breaks     stripScale // of the breaking points
	Kneed      bool       // a cell has a knee
	Curved     bool       // a cell has loads to draw a curve through
	Tails      []tailRow
	TailKeys   []tailKey
	Slowest    []slowest
	Profiles   []profiled
	Down       bool // a slow request lay in a time in which its replica was down
	GivenUp    bool // a slow request timed out
	Shifts     []*shifts
	Untested   string
	Charts     template.JS
	Style      template.CSS
	Early      template.JS
	Plot       template.JS
	Script     template.JS
	Policy     string
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
	Breaks    value
	Limited   string
	Knee      value
	Tail      []tailPart
	TailText  string
}

// value is a figure with what stands under it: its interval, its range or its
// parts. Tone is a class: "", "warning" or "bad".
type value struct{ Figure, Under, Tone string }

func newView(d results.Results) view {
	s := d.Summary
	names := narrative.CellNames(s)
	h := narrative.HeadlineOf(s)
	p := view{
		Title: display.Plain(s.Experiment.Name), Headline: typeset(h.Answer), More: []string{}, Notice: h.Notice, About: display.Plain(s.Experiment.About),
		Run: narrative.RunFacts(s)[1:], Host: narrative.HostFacts(s.Host), Axes: narrative.Axes(s), Strip: newStripScale(s),
		Findings: narrative.Findings(s, names), Searched: results.KindOf(s) == results.Search, Units: strings.Join(narrative.LoadUnits(s), " or "), Breaks: newBreakScale(s),
		Shifts: newShifts(s), Untested: untested(s), Slowest: newSlowest(s, names), Profiles: newProfiles(s, names),
	}
	p.Claims, p.ClaimCount = newClaims(s, names), claimCount(s)
	p.Tails, p.TailKeys = newTails(s, names)
	for _, t := range p.Shifts {
		t.forests()
	}
	for _, one := range p.Slowest {
		for _, r := range one.Rows {
			p.GivenUp = p.GivenUp || r.TimedOut
			p.Down = p.Down || slices.ContainsFunc(r.Windows, func(w slowWindow) bool { return w.Class == "down" })
		}
	}
	for _, text := range narrative.SetupFacts(s) {
		p.Setup = append(p.Setup, typeset(text))
	}
	for _, text := range h.More {
		p.More = append(p.More, typeset(text))
	}
	for _, f := range narrative.Flags(s) {
		p.Flags = append(p.Flags, flagNote{Word: display.Plain(f.Word), Who: f.Who(names), Text: f.Text})
	}
	for i := range s.Cells {
		c := &s.Cells[i]
		p.Judged = p.Judged || c.Objective != nil && !results.Searched(c)
		p.Kneed, p.Curved = p.Kneed || c.Knee != nil, p.Curved || len(c.Steps) > 0
		r := newRow(c, p.Axes)
		r.Mark, r.Index, r.Name, r.Strip = markOf(i), i, names[i], p.Strip.strip(c)
		if p.Searched {
			r.Strip = p.Breaks.breakStrip(c)
		}
		p.Rows = append(p.Rows, r)
		d := newDetail(c, names[i], markOf(i))
		d.Open = len(s.Cells) == 1
		p.Details = append(p.Details, d)
	}
	p.Sheets = sheets(s)
	p.Bench = newBenchViews(s, p.Rows)
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
	r := row{Service: display.Plain(c.Service), Objective: narrative.ObjectiveWord(c)}
	for _, name := range axes {
		text := narrative.Setting(c, name)
		if text == "" {
			text = display.Absent
		}
		r.Settings = append(r.Settings, display.Plain(text))
	}
	for _, f := range c.Flags {
		r.Flags = append(r.Flags, display.Plain(string(f)))
	}
	none := func(*analysis.TrialFigures) *float64 { return nil }
	trial := func(of func(*analysis.TrialFigures) *float64, path string) string {
		if results.Searched(c) { // each trial has a load of its own: their range says nothing
			of = none
		}
		return under(c, path, of)
	}
	r.Rate = value{Figure: display.Maybe(c.RateRPS, display.Figure),
		Under: trial(func(t *analysis.TrialFigures) *float64 { return t.RateRPS }, "rate_rps")}
	quantile := func(of func(*analysis.Quantiles) float64, spread string) value {
		if c.LatencyMS == nil {
			return value{Figure: display.Absent}
		}
		return value{Figure: display.Milliseconds(of(c.LatencyMS)), Under: spread}
	}
	r.P50 = quantile(func(q *analysis.Quantiles) float64 { return q.P50 },
		trial(func(t *analysis.TrialFigures) *float64 { return t.P50 }, "latency_ms.p50"))
	r.P99 = quantile(func(q *analysis.Quantiles) float64 { return q.P99 },
		trial(func(t *analysis.TrialFigures) *float64 { return t.P99 }, "latency_ms.p99"))
	r.P999 = quantile(func(q *analysis.Quantiles) float64 { return q.P999 }, trial(none, "latency_ms.p999"))
	r.Available = value{Figure: display.Maybe(c.Availability, display.Percent), Tone: toneClass(availabilityTone(c.Availability))}
	r.CPU = value{Figure: display.Maybe(c.CPU.OfLimit, display.Share), Under: coresOf(c)}
	if part := results.ThrottledShare(c); part != nil {
		r.Throttled = value{Figure: display.Share(*part), Tone: toneClass(throttledTone(part)),
			Under: display.Grouped(*c.CPU.ThrottledPeriods) + " of " + display.Grouped(*c.CPU.Periods)}
	} else {
		r.Throttled = value{Figure: display.Absent}
	}
	r.Memory = value{Figure: display.Absent}
	r.verdicts(c)
	if c.Memory.PeakBytes != nil {
		r.Memory = value{Figure: display.Bytes(float64(*c.Memory.PeakBytes)), Under: display.Maybe(c.Memory.OfLimit, func(v float64) string { return display.Share(v) + " of limit" })}
		if c.Memory.OfLimit == nil {
			r.Memory.Under = ""
		}
	}
	return r
}

// verdicts fills in what analysis concludes of the cell.
func (r *row) verdicts(c *analysis.CellSummary) {
	r.Breaks, r.Limited, r.Knee = value{Figure: narrative.BreaksAt(c), Under: narrative.BreakInterval(c.Breaking), Tone: toneClass(breakTone(c))}, display.Absent, value{Figure: display.Absent}
	if c.Breaking != nil && c.Breaking.LimitedBy != "" {
		r.Limited = display.Plain(c.Breaking.LimitedBy)
	}
	if k := c.Knee; k != nil {
		load := display.Figure(k.Load) + " " + narrative.LoadUnit(c)
		r.Knee = value{Figure: load}
		if k.OfLimit != nil {
			r.Knee = value{Figure: display.Share(*k.OfLimit), Under: "at " + display.Figure(k.Load)}
		}
	}
	r.TailText = tailWord(c)
	if c.Causes != nil {
		for _, p := range narrative.Parts(c.Causes) {
			r.Tail = append(r.Tail, newTailPart(c.Causes, p))
		}
	}
}

// coresOf writes a cell's CPU: "0.98 of 1 CPU".
func coresOf(c *analysis.CellSummary) string {
	if c.CPU.Cores == nil {
		return ""
	}
	if c.CPU.Limit == nil {
		return display.Figure(*c.CPU.Cores) + " CPUs"
	}
	whole := display.Figure(*c.CPU.Limit)
	if *c.CPU.Limit == math.Trunc(*c.CPU.Limit) {
		whole = display.Grouped(int64(*c.CPU.Limit))
	}
	if *c.CPU.Limit == 1 {
		return display.Figure(*c.CPU.Cores) + " of 1 CPU"
	}
	return fmt.Sprintf("%s of %s CPUs", display.Figure(*c.CPU.Cores), whole)
}

func toneClass(t display.Tone) string {
	switch t {
	case display.Warning:
		return "warning"
	case display.Bad:
		return "bad"
	}
	return ""
}
