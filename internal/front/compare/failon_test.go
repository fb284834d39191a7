package compare

import (
	"fmt"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/analysis/verdict"
)

func TestBoundsAreReadStrictly(t *testing.T) {
	for _, text := range []string{"p99>+10%", "p99 > +10 %", "rate<-5%", "p999>+20ms", "availability<-0.1pp", "throttled>+5pp", "rate<-500", "cpu_per_request>+0.5ms", "breaking_point<-5%", "p99{GET /a?b=<1>}>+10%", "availability{GET /users/{id}} < -1 pp"} {
		if _, err := ParseBound(text); err != nil {
			t.Error(err)
		}
	}
	for text, want := range map[string]string{
		"":                "want a metric, > or <, and a difference, as in p99>+10%",
		"p99":             "want a metric",
		"p98>+10%":        `"p98" is no metric; these are: rate, p50`,
		"p99>10%":         "begins with +, as in p99>+10%",
		"p99>-10%":        "begins with +",
		"rate<+5%":        "begins with -, as in rate<-10%",
		"p99>+10":         "given in %, or ms",
		"p99>+10s":        "given in %, or ms",
		"availability<-1": "given in %, or pp (percentage points)",
		"rate<-5ms":       "given in %, or as a bare number of requests/s",
		"p99>+%":          `"+" is no number`,
		"p99>+1e999ms":    `is no number`,
		"p99>+1.2.3%":     `"+1.2.3" is no number`,
		"p99>=+10%":       "begins with +",
		"p99{}>+10%":      "want a metric",
		"p99{GET /}":      "of one kind of requests, p99{GET /items}>+10%",
		"p98{GET /}>+10%": `"p98" is no metric`,
		"rate{GET /}<-5%": "rate is not compared by kind of request; these are: p99, availability, cpu_per_request",
	} {
		if _, err := ParseBound(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func FuzzParseBound(f *testing.F) {
	for _, text := range []string{"p99>+10%", "rate<-500", "availability<-0.1pp", "><", "p99>+-1%"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b, err := ParseBound(text)
		if err == nil && (b.Metric == "" || b.Value < 0 == b.Above && b.Value != 0) {
			t.Errorf("%q gives %+v", text, b)
		}
	})
}

func TestJudgments(t *testing.T) {
	from0 := one(t, quick, quick)
	row := from0.Pairs[0].Row("throttled")
	row.A, row.Shift, row.Percent, row.Low, row.High, row.Verdict = ptr(0.0), ptr(0.3), nil, ptr(0.2), ptr(0.4), verdict.Higher
	maybe0 := one(t, quick, quick)
	row = maybe0.Pairs[0].Row("throttled")
	row.A, row.Shift, row.Percent, row.Low, row.High = ptr(0.0), ptr(0.1), nil, ptr(0.0), ptr(0.2)
	for name, c := range map[string]struct {
		result  *Result
		bound   string
		outcome verdict.Outcome
		why     string
	}{
		"worse by more":             {one(t, quick, slow), "p99>+10%", verdict.Broken, "p99 +324% (+539 ms, 95%: +527 to +547 ms, p 0.002)"},
		"worse by more, absolutely": {one(t, quick, slow), "p99>+500ms", verdict.Broken, "p99 +324%"},
		"worse by less":             {one(t, quick, slow), "p99>+600ms", verdict.Held, "p99 +324%"},
		"better":                    {one(t, slow, quick), "p99>+10%", verdict.Held, "p99 −76%"},
		"lower than asked":          {one(t, slow, quick), "p99<-10%", verdict.Broken, "p99 −76%"},
		"no difference":             {one(t, quick, quite), "p99>+10%", verdict.Held, "p 0.85"},
		"no difference, and no bound that holds it": {one(t, quick, quite), "p99>+0%", verdict.Undecided, "95%: −5 to +6 ms, p 0.85); the 95% interval, -3.01% to +3.61% of A, includes the bound: more repeats"},
		"another metric":     {one(t, quick, slow), "rate<-5%", verdict.Held, "rate 0.0% (0 requests/s"},
		"in points":          {one(t, quick, slow), "throttled>+50pp", verdict.Broken, "throttled periods +324% (+53.8 points"},
		"in points, by less": {one(t, quick, slow), "throttled>+60pp", verdict.Held, "+53.8 points"},
		"from 0":             {from0, "throttled>+500%", verdict.Broken, "throttled periods +30.0 points (95%: +20.0 to +40.0 points"},
		"from 0, or not":     {maybe0, "throttled>+500%", verdict.Undecided, "95%: 0.0 to +20.0 points, p 1.00); the 95% interval includes the bound"},
		"from 0, in points":  {maybe0, "throttled>+20pp", verdict.Held, "95%: 0.0 to +20.0 points"},
		"too few trials":     {one(t, quick[:3], slow[:3]), "p99>+10%", verdict.Undecided, "3 and 3 trials; at least 4 and 4 are needed"},
		"one side only":      {one(t, quick, nil), "p99>+10%", verdict.Undecided, "measured in A only"},
		"not measured":       {one(t, quick, slow), "breaking_point<-5%", verdict.Undecided, "breaking point was not measured"},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := ParseBound(c.bound)
			if err != nil {
				t.Fatal(err)
			}
			failed := c.result.Judge([]Bound{b}, false)
			j := c.result.FailOn[len(c.result.FailOn)-1]
			if j.Outcome != c.outcome || !strings.Contains(j.Why, c.why) || failed != (c.outcome == verdict.Broken) {
				t.Errorf("failed %v: %+v", failed, j)
			}
			if strict := c.result.Judge([]Bound{b}, true); strict != (c.outcome != verdict.Held) {
				t.Errorf("strictly: failed %v", strict)
			}
		})
	}
}

// TestOneSearchASideDecidesNoBound: starts of one service break at different
// loads, so two searches, each with a narrow interval of its own, differ without
// any change.
func TestOneSearchASideDecidesNoBound(t *testing.T) {
	bound, err := ParseBound("breaking_point<-4%")
	if err != nil {
		t.Fatal(err)
	}
	trial := map[string][]float64{"1": {1}}
	once := compared(t, searched(fixture("before", trial), breaking(304, 298, 310)), searched(fixture("after", trial), breaking(289, 282, 296)))
	if failed := once.Judge([]Bound{bound}, false); failed || once.FailOn[0].Outcome != verdict.Undecided {
		t.Errorf("one search each: failed %v, %+v", failed, once.FailOn[0])
	}
	if !once.Judge([]Bound{bound}, true) {
		t.Error("one search each: it holds with --strict")
	}
	if row := once.Pairs[0].Row(breakingPoint); row.Low != nil || row.High != nil || row.P != nil {
		t.Errorf("an interval of the difference from one search each: %+v", *row)
	}
	a := searched(fixture("before", map[string][]float64{"1": quick}), times(6, breaking(304, 298, 310)))
	b := searched(fixture("after", map[string][]float64{"1": quick}), times(6, breaking(279, 272, 286)))
	for i := range 6 {
		a.Cells[0].Figures.PerTrial[i].Breaking, b.Cells[0].Figures.PerTrial[i].Breaking = ptr(301+float64(i)), ptr(271+float64(i))
	}
	six := compared(t, a, b)
	if failed := six.Judge([]Bound{bound}, false); !failed || six.FailOn[0].Outcome != verdict.Broken {
		t.Errorf("six searches each: failed %v, %+v", failed, six.FailOn[0])
	}
}

// A bound is held or broken by the whole interval, not by the figure in it.
func TestABoundIsJudgedByTheWholeInterval(t *testing.T) {
	for name, c := range map[string]struct {
		bound     string
		a         float64
		low, high *float64 // of the difference
		verdict   verdict.Direction
		want      verdict.Outcome
	}{
		"+43%, and not surely more than 0":       {"p99>+10%", 105, ptr(-7.), ptr(58.), verdict.Alike, verdict.Undecided},
		"+9.8%, surely more than 0":              {"p99>+9%", 100, ptr(6.), ptr(13.), verdict.Higher, verdict.Undecided},
		"surely more than the bound":             {"p99>+5%", 100, ptr(6.), ptr(13.), verdict.Higher, verdict.Broken},
		"surely less than the bound":             {"p99>+14%", 100, ptr(6.), ptr(13.), verdict.Higher, verdict.Held},
		"an end on the bound does not exceed it": {"p99>+13%", 100, ptr(6.), ptr(13.), verdict.Higher, verdict.Held},
		"the other end on the bound":             {"p99>+6%", 100, ptr(6.), ptr(13.), verdict.Higher, verdict.Undecided},
		"beyond, but not among so many cells":    {"p99>+5%", 100, ptr(6.), ptr(13.), verdict.Alike, verdict.Undecided},
		"in milliseconds":                        {"p99>+5ms", 100, ptr(6.), ptr(13.), verdict.Higher, verdict.Broken},
		"in milliseconds, across":                {"p99>+10ms", 100, ptr(6.), ptr(13.), verdict.Higher, verdict.Undecided},
		"a fall that is looked for":              {"rate<-5%", 1000, ptr(-90.), ptr(-60.), verdict.Lower, verdict.Broken},
		"a fall, not surely beyond":              {"rate<-5%", 1000, ptr(-90.), ptr(-40.), verdict.Lower, verdict.Undecided},
		"a fall, surely within":                  {"rate<-10%", 1000, ptr(-90.), ptr(-40.), verdict.Lower, verdict.Held},
		"a fall in requests/s":                   {"rate<-50", 1000, ptr(-90.), ptr(-60.), verdict.Lower, verdict.Broken},
		"a rise keeps a bound on a fall":         {"rate<-5%", 1000, ptr(10.), ptr(20.), verdict.Higher, verdict.Held},
		"no lower end":                           {"breaking_point<-5%", 300, nil, ptr(20.), verdict.Alike, verdict.Undecided},
		"no upper end, and within":               {"breaking_point<-5%", 300, ptr(-10.), nil, verdict.Higher, verdict.Held},
		"no upper end":                           {"breaking_point<-5%", 300, ptr(-20.), nil, verdict.Higher, verdict.Undecided},
		"no end":                                 {"breaking_point<-5%", 300, nil, nil, verdict.Alike, verdict.Undecided},
		"in points, of a share":                  {"throttled>+5pp", 0.2, ptr(0.06), ptr(0.08), verdict.Higher, verdict.Broken},
		"in points, across":                      {"throttled>+7pp", 0.2, ptr(0.06), ptr(0.08), verdict.Higher, verdict.Undecided},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := ParseBound(c.bound)
			if err != nil {
				t.Fatal(err)
			}
			middle := 0.0
			if c.low != nil && c.high != nil {
				middle = (*c.low + *c.high) / 2
			}
			row := verdict.Difference{Metric: b.Metric, Unit: metricOf(b.Metric).Unit, A: &c.a, B: ptr(c.a + middle), Shift: &middle, Percent: ptr(100 * middle / c.a),
				Low: c.low, High: c.high, Verdict: c.verdict}
			r := &Result{Pairs: []Pair{{B: "b", Rows: []verdict.Difference{row}}}}
			failed, strict := r.Judge([]Bound{b}, false), r.Judge([]Bound{b}, true)
			if got := r.FailOn[0]; got.Outcome != c.want || failed != (c.want == verdict.Broken) || strict != (c.want != verdict.Held) {
				t.Errorf("failed %v, strictly %v: %+v; want %s", failed, strict, got, c.want)
			}
		})
	}
}

// A service that refuses its requests is not faster for it.
func TestRefusalsBreakABoundOnALatency(t *testing.T) {
	records := 0
	side := func(p99 []float64, available ...float64) *Selection {
		records++
		s := fixture(fmt.Sprint("record", records), map[string][]float64{"1": p99})
		for i := range s.Cells[0].Figures.PerTrial {
			t := &s.Cells[0].Figures.PerTrial[i]
			t.Availability = &available[i%len(available)]
			if *t.Availability == 0 {
				t.P50, t.P90, t.P95, t.P99, t.P999 = nil, nil, nil, nil, nil
			}
		}
		return s
	}
	mostly := func(available float64) []float64 {
		return []float64{available, available, 100, available, available, available}
	}
	for name, c := range map[string]struct {
		a, b  *Selection
		bound string
		want  verdict.Outcome
	}{
		"B refuses most, and is quick":      {side(slow, 100), side(quick, 10), "p99>+10%", verdict.Broken},
		"B refuses all":                     {side(slow, 100), side(quick, 0), "p99>+10%", verdict.Broken},
		"as many as a p99 allows":           {side(slow, 100), side(quick, 99), "p99>+10%", verdict.Held},
		"but not a p99.9":                   {side(slow, 100), side(quick, 99), "p999>+10%", verdict.Broken},
		"that is no gain":                   {side(slow, 100), side(quick, 10), "p99<-10%", verdict.Held},
		"A refused, and B does not":         {side(quick, 10), side(slow, 100), "p99>+10%", verdict.Held},
		"both refuse":                       {side(slow, 10), side(quick, 10), "p99>+10%", verdict.Undecided},
		"B refuses in some trials":          {side(slow, 100), side(quick, 100, 10), "p99>+10%", verdict.Undecided},
		"too few trials":                    {side(slow[:3], 100), side(quick[:3], 10), "p99>+10%", verdict.Undecided},
		"what is not a latency is as it is": {side(slow, 100), side(quick, 10), "rate<-5%", verdict.Held},

		// The interval is valid with infinite trials, and decides first.
		"B is slower, and fails in five of six trials": {side(quick, 100), side(slow, mostly(10)...), "p99>+10%", verdict.Broken},
		"in milliseconds":                                     {side(quick, 100), side(slow, mostly(10)...), "p99>+500ms", verdict.Broken},
		"most of its trials exceed any bound":                 {side(quick, 100), side(slow, mostly(10)...), "p99>+600ms", verdict.Broken},
		"slower is no gain":                                   {side(quick, 100), side(slow, mostly(10)...), "p99<-10%", verdict.Held},
		"B is slower, and fails in one trial":                 {side(quick, 100), side(slow, 10, 100, 100, 100, 100, 100), "p99>+10%", verdict.Broken},
		"B is slower, and answers nothing in one trial":       {side(quick, 100), side(slow, 0, 100, 100, 100, 100, 100), "p99>+10%", verdict.Broken},
		"B is alike, and fails in one trial":                  {side(quick, 100), side(quite, 10, 100, 100, 100, 100, 100), "p99>+10%", verdict.Undecided},
		"A fails in one trial, and B is slower":               {side(quick, 10, 100, 100, 100, 100, 100), side(slow, 100), "p99>+10%", verdict.Undecided},
		"A fails in one trial, and B is quicker":              {side(slow, 10, 100, 100, 100, 100, 100), side(quick, 100), "p99>+10%", verdict.Held},
		"that is a gain":                                      {side(slow, 10, 100, 100, 100, 100, 100), side(quick, 100), "p99<-10%", verdict.Broken},
		"both fail in one trial":                              {side(quick, 10, 100, 100, 100, 100, 100), side(slow, 10, 100, 100, 100, 100, 100), "p99>+10%", verdict.Undecided},
		"B fails in 9 of 12 trials, so that no end is finite": {side(append(quick, quite...), 100), side(append(quick, quite...), 10, 10, 10, 100), "p99>+10%", verdict.Broken},
		"A fails in 9 of 12 trials":                           {side(append(quick, quite...), 10, 10, 10, 100), side(append(quick, quite...), 100), "p99>+10%", verdict.Held},
		"a fall, when A fails in 9 of 12 trials":              {side(append(quick, quite...), 10, 10, 10, 100), side(append(quick, quite...), 100), "p99<-10%", verdict.Broken},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := ParseBound(c.bound)
			if err != nil {
				t.Fatal(err)
			}
			r := compared(t, c.a, c.b)
			failed := r.Judge([]Bound{b}, false)
			got := r.FailOn[0]
			if got.Outcome != c.want || failed != (c.want == verdict.Broken) {
				t.Errorf("failed %v: %+v, want %s", failed, got, c.want)
			}
			if strict := r.Judge([]Bound{b}, true); strict != (c.want != verdict.Held) {
				t.Errorf("strictly: failed %v", strict)
			}
			if d := r.Pairs[0].Row(b.Metric); c.want == verdict.Broken && (d.Significant() && d.Better() != !b.Above) {
				t.Errorf("the table says %s: %+v", d.Verdict, got)
			}
		})
	}
}
