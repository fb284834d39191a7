package compare

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/base/secret"
	"github.com/millicore/millicore/internal/data/experiment"
)

func TestTheFirstLineSaysTheAnswer(t *testing.T) {
	breaks := func(a, b *summary.BreakingPoint) *Result {
		trial := map[string][]float64{"1": {1}}
		return compared(t, perSearch(searched(fixture("before", trial), a)), perSearch(searched(fixture("after", trial), b)))
	}
	several := func(b map[string][]float64) *Result {
		return compared(t, fixture("before", map[string][]float64{"1": quick, "2": quick, "6": quick}), fixture("after", b))
	}
	none := &summary.BreakingPoint{Reason: "the service died"}
	for name, c := range map[string]struct {
		result *Result
		want   string
	}{
		"higher by far":   {one(t, quick, slow), "p99 is 4.2 times as high in B: 166 → 704 ms (95% interval +527 to +547)"},
		"lower":           {one(t, slow, quick), "p99 is 76% lower in B: 704 → 166 ms (95% interval −547 to −527)"},
		"no difference":   {one(t, quick, quite), "No significant difference in p99: medians 166 ms in A, 167 ms in B (95% interval of the shift −5 to +6 ms, p 0.85, 6 and 6 trials)"},
		"too few":         {one(t, quick[:3], slow[:3]), "p99 is 163 in A and 700 ms in B (not tested): 3 and 3 trials; at least 4 and 4 are needed, 6 and 6 are advised (measure.repeats)"},
		"one side":        {one(t, quick, nil), "p99 was measured in A only: 166 ms"},
		"neither":         {one(t, nil, nil), "No p99 was measured on either side"},
		"one search each": {breaks(breaking(310, 300, 320), breaking(428, 410, 440)), "The breaking point is 310 in A and 428 requests/s in B (not tested): 1 and 1 trials; at least 4 and 4 are needed, 6 and 6 are advised (measure.repeats)"},
		"three of one":    {breaks(times(6, breaking(310, 300, 320)), times(3, breaking(428, 410, 440))), "The breaking point is 310 in A and 428 requests/s in B (not tested): 6 and 3 trials; at least 4 and 4 are needed, 6 and 6 are advised (measure.repeats)"},
		"four ramps each": {breaks(times(4, breaking(310, 300, 320)), times(4, breaking(428, 410, 440))), "The breaking point is 38% higher in B: 310 → 428 requests/s (95% interval +90 to +140)"},
		"six ramps each":  {breaks(times(6, breaking(310, 300, 320)), times(6, breaking(428, 410, 440))), "The breaking point is 38% higher in B: 310 → 428 requests/s (95% interval +90 to +140)"},
		"breaks alike":    {breaks(times(6, breaking(310, 300, 320)), times(6, breaking(322, 315, 330))), "No significant difference in the breaking point: 310 requests/s in A, 322 requests/s in B (95% interval of the shift −5 to +30 requests/s, p 1.00, 6 and 6 trials)"},
		"at least":        {breaks(times(6, breaking(310, 300, 320)), &summary.BreakingPoint{RateRPS: ptr(500.0), Low: ptr(490.0), AtLeast: true, Searches: 6}), "The breaking point is at least 55% higher in B: 310 → ≥500 requests/s (95% interval +170 to ∞)"},
		"at least, once":  {breaks(breaking(310, 300, 320), &summary.BreakingPoint{RateRPS: ptr(500.0), Low: ptr(490.0), AtLeast: true, Searches: 1}), "The breaking point is 310 in A and ≥500 requests/s in B (not tested): 1 and 1 trials; at least 4 and 4 are needed, 6 and 6 are advised (measure.repeats)"},
		"never broke":     {breaks(breaking(310, 300, 320), none), "The breaking point was measured in A only: 310 requests/s"},
		"in some cells":   {several(map[string][]float64{"1": quite, "2": slow, "6": quite}), "p99 is higher in B in 1 of 3 cells, most in go procs=2: 166 → 704 ms (95% interval +527 to +547)"},
		"in both ways":    {several(map[string][]float64{"1": {10, 11, 12, 13, 14, 15}, "2": slow, "6": quite}), "p99 is higher in B in 1 and lower in 1 of 3 cells, most in go procs=2: 166 → 704 ms (95% interval +527 to +547)"},
		"in no cell":      {several(map[string][]float64{"1": quite, "2": quite, "6": quite}), "No significant difference in p99 in any of 3 cells"},
		"in some untold":  {several(map[string][]float64{"1": quite, "2": quick[:1], "6": quite}), "No significant difference in p99 in 2 of 3 cells; the others were not tested"},
		"in all too few":  {several(map[string][]float64{"1": quick[:1], "2": quick[:1], "6": quick[:1]}), "p99 was not tested in any of 3 cells: 6 and 1 trials; at least 5 and 5 are needed for 3 cells, 6 and 6 are advised (measure.repeats)"},
		"too few of them": {compared(t, fixture("a", map[string][]float64{"1": quick[:4], "2": quick[:4]}), fixture("b", map[string][]float64{"1": slow[:4], "2": quite[:4]})), "No significant difference in p99 in 1 of 2 cells; the others were not tested"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.result.Answer != c.want {
				t.Errorf("\n got %s\nwant %s", c.result.Answer, c.want)
			}
		})
	}
}

func TestRowsHaveTheTests(t *testing.T) {
	r := compared(t, fixture("before", map[string][]float64{"1": quick, "2": quick}), fixture("after", map[string][]float64{"1": slow, "2": quite}))
	row := r.Pairs[0].Row("p99")
	if *row.A != 166 || *row.B != 704 || row.Verdict != verdict.Higher || row.Trials != [2]int{6, 6} {
		t.Errorf("%+v", *row)
	}
	// Six and six that do not overlap: 2 of 924; two cells.
	if math.Abs(*row.P-2.0/924) > 1e-12 || math.Abs(*row.PHolm-2*2.0/924) > 1e-12 {
		t.Errorf("P %v, after Holm %v", *row.P, *row.PHolm)
	}
	if got := *row.Percent; math.Abs(got-100**row.Shift/166) > 1e-9 {
		t.Errorf("percent %v", got)
	}
	if row := r.Pairs[0].Row("availability"); row.Verdict != verdict.Alike || *row.PHolm != 1 || *row.Shift != 0 {
		t.Errorf("the same in all trials: %+v", *row)
	}
	if row := r.Pairs[0].Row(breakingPoint); row != nil {
		t.Errorf("a breaking point that was not searched: %+v", *row)
	}
	if r.Pairs[0].Main != "p99" || r.Pairs[1].Row("p99").Verdict != verdict.Alike {
		t.Errorf("%+v", r.Pairs)
	}
}

func TestSearchesOfManyTrialsAreTested(t *testing.T) {
	a, b := fixture("before", map[string][]float64{"1": quick}), fixture("after", map[string][]float64{"1": slow})
	searched(a, times(6, breaking(310, 100, 900)))
	searched(b, times(6, breaking(428, 100, 900)))
	for i := range 6 { // the intervals overlap, the trials do not
		a.Cells[0].Figures.PerTrial[i].Breaking = ptr(305 + float64(i))
		b.Cells[0].Figures.PerTrial[i].Breaking = ptr(420 + float64(i))
	}
	row := compared(t, a, b).Pairs[0].Row(breakingPoint)
	if row.Censored || row.Verdict != verdict.Higher || *row.Shift != 115 {
		t.Errorf("%+v", *row)
	}
	// Lower bounds rank by what they bound.
	for i := range 6 {
		b.Cells[0].Figures.PerTrial[i].Breaking, b.Cells[0].Figures.PerTrial[i].BreakingFrom = nil, ptr(420+float64(i))
	}
	b.Cells[0].Figures.Breaking.AtLeast, b.Cells[0].Figures.Breaking.High = true, nil
	row = compared(t, a, b).Pairs[0].Row(breakingPoint)
	if !row.Censored || row.Verdict != verdict.Higher || row.High != nil || *row.Low < 100 || row.AtLeast != [2]bool{false, true} {
		t.Errorf("%+v", *row)
	}
}

func TestWhatIsNotComparableIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Cell)
		want   string
	}{
		"another CPU":         {func(c *Cell) { c.Run.Host.CPUModel = "Xeon" }, "CPU: A: EPYC; B: Xeon"},
		"more CPUs":           {func(c *Cell) { c.Run.Host.CPUs = 4 }, "CPUs: A: 2; B: 4"},
		"more memory":         {func(c *Cell) { c.Run.Host.Memory = ptr(int64(16 << 30)) }, "memory: A: 8 GiB; B: 16 GiB"},
		"another kernel":      {func(c *Cell) { c.Run.Host.Kernel = "6.1.0" }, "kernel: A: 6.18.2; B: 6.1.0"},
		"another HZ":          {func(c *Cell) { c.Run.Host.HZ = ptr(1000) }, "kernel's HZ: A: 250; B: 1000"},
		"another cgroup":      {func(c *Cell) { c.Run.Host.Cgroup = "v1" }, "cgroups: A: v2; B: v1"},
		"another platform":    {func(c *Cell) { c.Run.Platform = "docker" }, "platform: A: local; B: docker"},
		"another request":     {func(c *Cell) { c.Plan.Load.Request.Path = "/devices" }, "request: A: GET /isPrime/666666; B: GET /devices"},
		"another body":        {func(c *Cell) { c.Plan.Load.Request.Body = "{}" }, "request body: A: none; B: 2 bytes"},
		"another header":      {func(c *Cell) { c.Plan.Load.Request.Headers = map[string]string{"Accept": "*/*"} }, "request headers: A: none; B: Accept: */*"},
		"another timeout":     {func(c *Cell) { c.Plan.Load.Timeout = time.Second }, "timeout: A: 2s; B: 1s"},
		"another objective":   {func(c *Cell) { c.Run.Experiment.Objective = nil }, "objective: A: p99 <= 250ms; B: none"},
		"open against closed": {func(c *Cell) { c.Plan.Load.Rate, c.Plan.Load.Users = c.Plan.Load.Users, nil }, "load: A: closed loop, constant; B: open loop, constant"},
		"a search":            {func(c *Cell) { c.Plan.Load.Find = true }, "load: A: closed loop, constant; B: closed loop, searched for its breaking point"},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := fixture("before", map[string][]float64{"1": quick}), fixture("after", map[string][]float64{"1": slow})
			c.change(&b.Cells[0])
			_, err := Compare(matched(t, a, b), false)
			var refused *RefusedError
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "--anyway") {
				t.Fatalf("%v; want %q", err, c.want)
			}
			if len(refused.Contrasts) != 1 {
				t.Errorf("%v", refused.Contrasts)
			}
			r, err := Compare(matched(t, a, b), true)
			if err != nil || len(r.Incomparable) != 1 {
				t.Errorf("with --anyway: %v, %v", r, err)
			}
		})
	}
}

func TestWhatIsNotKnownIsNoReasonToRefuse(t *testing.T) {
	a, b := fixture("before", map[string][]float64{"1": quick}), fixture("after", map[string][]float64{"1": slow})
	host := &b.Cells[0].Run.Host
	host.HZ, host.CPUModel, host.Memory = nil, "", ptr(int64(8<<30)-4096) // a kernel that keeps a page more
	if _, err := Compare(matched(t, a, b), false); err != nil {
		t.Error(err)
	}
}

func TestSettingsThatDifferAreNamed(t *testing.T) {
	a, b := fixture("before", map[string][]float64{"1": quick}), fixture("after", map[string][]float64{"1": slow})
	c := &b.Cells[0]
	c.Plan.Limits.CPUMillis, c.Plan.Limits.Memory = 500, 0
	c.Plan.Service.Env = map[string]string{"GOMAXPROCS": "1", "GOGC": "off"}
	c.Plan.Load.Users.Value = 80
	c.Run.Host.Runtimes = map[string]string{"go": "1.27.0", "node": "26"}
	want := "GOGC unset → off, CPU limit 1000m → 500m, memory limit 256 MiB → none, highest load 50 → 80, go 1.26.8 → 1.27.0"
	if got := compared(t, a, b).Pairs[0].differs(); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	same := one(t, quick, slow).Pairs[0]
	if got := same.differs(); got != "nothing, as far as the records show" {
		t.Error(got)
	}
}

// The hashes of a record show that a value differs which no record has.
func TestSecretsThatDifferAreNamed(t *testing.T) {
	a, b := fixture("before", map[string][]float64{"1": quick}), fixture("after", map[string][]float64{"1": slow})
	key := secret.NewKey()
	service := func(reference, token string, key secret.Key) *experiment.Service {
		return &experiment.Service{Name: "go", EnvFrom: map[string]experiment.Reference{"TOKEN": {FromEnv: reference}, "SAME": {FromFile: "x"}},
			EnvHashes: map[string]string{"TOKEN": key.Hash("TOKEN", token), "SAME": key.Hash("SAME", "s")}}
	}
	for name, c := range map[string]struct {
		other *experiment.Service
		want  string
	}{
		"another value":     {service("A", "2", key), "TOKEN a hidden value → another one"},
		"another reference": {service("B", "1", key), "TOKEN from_env A → from_env B"},
		"the same":          {service("A", "1", key), "nothing, as far as the records show"},
		"of another key":    {service("A", "2", secret.NewKey()), "nothing, as far as the records show"},
	} {
		a.Cells[0].Plan.Service, b.Cells[0].Plan.Service = *service("A", "1", key), *c.other
		if got := compared(t, a, b).Pairs[0].differs(); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

func TestNotesTellOfFlagsAndReasons(t *testing.T) {
	a, b := fixture("before", map[string][]float64{"1": {1}}), fixture("after", map[string][]float64{"1": {1}})
	searched(a, breaking(310, 300, 320))
	searched(b, &summary.BreakingPoint{Reason: "the service died"})
	a.Cells[0].Figures.Flags = summary.Flags{"unsteady"}
	got := strings.Join(compared(t, a, b).Pairs[0].Notes, "; ")
	want := "A is flagged not settled; B's breaking point: the service died; latencies and rates are those at each side's own highest load that was tested"
	if got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

// Two settings of a server are named by their labels, not by the names of their services,
// which are made for files.
func TestSettingsOfAServerAreNamedByTheirLabels(t *testing.T) {
	s := fixture("try", map[string][]float64{"1": quick, "2": slow})
	s.Cells[0].Plan.Service.Name, s.Cells[1].Plan.Service.Name = "as-is", "gomaxprocs-1"
	for i := range s.Cells {
		s.Cells[i].Plan.Vary = nil
	}
	s.Cells[0].Run.Experiment.Server = &experiment.Server{Name: "api", Settings: []experiment.Setup{
		{Service: "as-is", Label: "as it is"}, {Service: "gomaxprocs-1", Label: "GOMAXPROCS=1"}}}
	p := Pair{Differs: settings(&Match{s.Cells[0], s.Cells[1]})}
	if got := p.differs(); got != "setting as it is → GOMAXPROCS=1" {
		t.Errorf("set differently: %q", got)
	}
}
