package compare

import (
	"strings"
	"testing"
)

func TestBoundsAreReadStrictly(t *testing.T) {
	for _, text := range []string{"p99>+10%", "p99 > +10 %", "rate<-5%", "p999>+20ms", "availability<-0.1pp", "throttled>+5pp", "rate<-500", "cpu_per_request>+0.5ms", "breaking_point<-5%"} {
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
		if err == nil && (b.metric == nil || b.value < 0 == b.above && b.value != 0) {
			t.Errorf("%q gives %+v", text, b)
		}
	})
}

func TestJudgments(t *testing.T) {
	from0 := one(t, quick, quick)
	row := from0.Pairs[0].Row("throttled")
	row.A, row.Difference, row.Percent, row.Verdict = ptr(0.0), ptr(0.3), nil, Higher
	for name, c := range map[string]struct {
		result  *Result
		bound   string
		outcome Outcome
		why     string
	}{
		"worse by more":             {one(t, quick, slow), "p99>+10%", Broken, "p99 +324% (+539 ms, 95%: +528 to +547 ms, p 0.002)"},
		"worse by more, absolutely": {one(t, quick, slow), "p99>+500ms", Broken, "p99 +324%"},
		"worse by less":             {one(t, quick, slow), "p99>+600ms", Held, "p99 +324%"},
		"better":                    {one(t, slow, quick), "p99>+10%", Held, "p99 −76%"},
		"lower than asked":          {one(t, slow, quick), "p99<-10%", Broken, "p99 −76%"},
		"no difference":             {one(t, quick, quite), "p99>+0%", Held, "p 0.94"},
		"another metric":            {one(t, quick, slow), "rate<-5%", Held, "rate 0.0% (0 requests/s"},
		"in points":                 {one(t, quick, slow), "throttled>+50pp", Broken, "throttled periods +324% (+53.8 points"},
		"in points, by less":        {one(t, quick, slow), "throttled>+60pp", Held, "+53.8 points"},
		"from 0":                    {from0, "throttled>+500%", Broken, "throttled periods"},
		"too few trials":            {one(t, quick[:3], slow[:3]), "p99>+10%", Untold, "3 and 3 trials; 4 and 4 are needed"},
		"one side only":             {one(t, quick, nil), "p99>+10%", Untold, "measured in A only"},
		"not measured":              {one(t, quick, slow), "breaking_point<-5%", Untold, "breaking point was not measured"},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := ParseBound(c.bound)
			if err != nil {
				t.Fatal(err)
			}
			failed := c.result.Judge([]Bound{b}, false)
			j := c.result.FailOn[len(c.result.FailOn)-1]
			if j.Outcome != c.outcome || !strings.Contains(j.Why, c.why) || failed != (c.outcome == Broken) {
				t.Errorf("failed %v: %+v", failed, j)
			}
			if strict := c.result.Judge([]Bound{b}, true); strict != (c.outcome != Held) {
				t.Errorf("strictly: failed %v", strict)
			}
		})
	}
}
