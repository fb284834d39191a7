package advice

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/analysis/stats"
	"github.com/millicore/millicore/internal/host/doctor"
	"github.com/millicore/millicore/test/testkit"
)

// drawn is one case of the campaign: an entry under a limit, alone or with a neighbour.
type drawn struct {
	entry     *entry
	cpus      float64
	neighbour bool
}

func (d drawn) String() string {
	text := fmt.Sprintf("%s, %v CPU", d.entry.name, d.cpus)
	if d.neighbour {
		text += ", with a neighbour"
	}
	return text
}

// draws are the cases of a seed: entries in random order, each once, with a limit.
// Limits above what leaves CPU time for the load, or for a neighbour, are left out.
func draws(seed uint64, n int) (all []drawn) {
	random := rand.New(rand.NewPCG(seed, 35))
	limits := []float64{0.1, 0.2, 0.35, 0.5, 0.7, 1, 1.4, 1.8}
	order := random.Perm(len(entries))
	for _, at := range order[:min(n, len(order))] {
		d := drawn{entry: &entries[at], cpus: limits[random.IntN(len(limits))], neighbour: random.IntN(4) == 0}
		d.neighbour = d.neighbour && d.cpus <= 0.7
		all = append(all, d)
	}
	return all
}

// applied is a change that was measured against the program as it is.
type applied struct {
	By      string // "doctor, saturated", or "expert"
	Change  string
	Raises  bool // the CPU limit
	Verdict string
	// Rate is the factor of the rate at saturation, and P99 that of the latency at 60%, each
	// with the ends of its 95% interval; nil: not measured.
	Rate, P99 *[3]float64
}

// result is a case that was measured.
type result struct {
	Case, Expert string
	Titles       [3][]string // of the findings: idle, saturated, at 60%
	Applied      []applied
	Skipped      string
}

// The verdicts.
const helps, harms, nothing = "helps", "harms", "no difference"

// TestTheCampaign applies what doctor advises to real programs, and what an expert would
// choose. Nobody here wrote the programs; the expert's setting was written down before
// anything was measured (entries). MILLICORE_ADVICE_CAMPAIGN is the number of cases to draw,
// MILLICORE_ADVICE_SEED repeats a draw, MILLICORE_ADVICE selects cases by a part of their names,
// MILLICORE_ADVICE_CPUS gives all of them one limit, alone, and MILLICORE_ADVICE_OUT is a file of results, whose
// cases are not measured again: so a campaign can be ended and resumed.
func TestTheCampaign(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("MILLICORE_ADVICE_CAMPAIGN"))
	if n == 0 && !testkit.Campaign() {
		t.Skip("hours: needs MILLICORE_SAMPLES=full, or MILLICORE_ADVICE_CAMPAIGN with a number of cases")
	}
	if n == 0 {
		n = 30
	}
	seed, err := strconv.ParseUint(os.Getenv("MILLICORE_ADVICE_SEED"), 10, 64)
	if err != nil {
		seed = uint64(time.Now().Unix())
	}
	t.Logf("MILLICORE_ADVICE_SEED=%d", seed)
	all := resumed(t)
	cpus, _ := strconv.ParseFloat(os.Getenv("MILLICORE_ADVICE_CPUS"), 64)
	for _, d := range draws(seed, n) {
		if cpus > 0 {
			d.cpus, d.neighbour = cpus, false
		}
		if !strings.Contains(d.String(), os.Getenv("MILLICORE_ADVICE")) || slices.ContainsFunc(all, func(r result) bool { return r.Case == d.String() }) {
			continue
		}
		t.Run(d.String(), func(t *testing.T) {
			r := result{Case: d.String(), Expert: d.entry.choice(d.cpus)}
			defer func() {
				if t.Skipped() {
					r.Skipped = "see the log"
				}
				all = append(all, r)
				note(t, r)
			}()
			measured(t, d, &r)
		})
	}
	t.Log(summary(all))
	for _, r := range all {
		for _, a := range r.Applied {
			if a.Verdict == harms && a.By != expert {
				t.Errorf("%s: %s (%s) harms: rate %v, p99 %v", r.Case, a.Change, a.By, a.Rate, a.P99)
			}
		}
	}
}

const expert = "expert"

// candidate is a change with its repeats; the first candidate is the program as it is.
type candidate struct {
	applied
	changes []doctor.Change
	pairs   []pair
}

// measured looks at a case with doctor, and measures each change against the program as it
// is, in turns.
func measured(t *testing.T, d drawn, r *result) {
	seconds, repeats := testkit.Samples(3, 3, 5), testkit.Samples(2, 6, 6)
	c := cell{program: d.entry.program(), path: d.entry.path, cpus: d.cpus, warm: true}
	if d.neighbour {
		besides(t)
	}
	first, rate, found := measure(t, c, t.TempDir(), nil, 0, max(7, seconds))
	candidates := []candidate{{pairs: []pair{first}}}
	add := func(by, words string, changes ...doctor.Change) {
		same := func(o candidate) bool { return reflect.DeepEqual(o.changes, changes) }
		if at := slices.IndexFunc(candidates, same); at >= 0 {
			candidates[at].By += ", " + by
			return
		}
		raises := slices.ContainsFunc(changes, func(c doctor.Change) bool { return c.CPUs > d.cpus })
		candidates = append(candidates, candidate{applied: applied{By: by, Change: words, Raises: raises}, changes: changes})
	}
	for i, load := range []string{"idle", "saturated", "60%"} {
		r.Titles[i] = titles(found[i])
		if change, words := applicable(found[i], c); words != "" {
			add("doctor, "+load, words, change)
		}
	}
	if change, ok := d.entry.chosen(d.cpus); ok {
		add(expert, words(change), change)
	}
	if len(candidates) == 1 {
		return
	}
	for n := range repeats {
		for i := range candidates {
			if i == 0 && n == 0 {
				continue
			}
			p, _, _ := measure(t, c, t.TempDir(), candidates[i].changes, rate, seconds)
			candidates[i].pairs = append(candidates[i].pairs, p)
		}
	}
	for _, of := range candidates[1:] {
		of.judge(candidates[0].pairs)
		r.Applied = append(r.Applied, of.applied)
	}
}

// besides starts a process that uses a CPU as long as the test runs.
func besides(t *testing.T) {
	t.Helper()
	testkit.StartTied(t, exec.Command("/bin/sh", "-c", "while :; do :; done"))
}

// judge says whether a change helps: the rate at saturation rises or the p99 at 60% falls,
// and neither becomes worse, by the test that `compare` uses, at 5% for both together.
func (a *candidate) judge(before []pair) {
	better, worse := false, false
	for _, of := range []struct {
		to    **[3]float64
		value func(pair) float64
		sign  int
	}{
		{&a.Rate, func(p pair) float64 { return p.Rate }, 1},
		{&a.P99, func(p pair) float64 { return p.LowP99 }, -1},
	} {
		x, y := values(a.pairs, of.value), values(before, of.value)
		if len(x) == 0 || len(y) == 0 {
			continue
		}
		sign, p := stats.CensoredTest(x, y)
		*of.to = factor(y, x)
		if p < 0.05/2 {
			better, worse = better || sign == of.sign, worse || sign == -of.sign
		}
	}
	survived := func(all []pair) bool { return !slices.ContainsFunc(all, func(p pair) bool { return !p.Survived }) }
	switch {
	case worse || survived(before) && !survived(a.pairs):
		a.Verdict = harms
	case better || survived(a.pairs) && !survived(before):
		a.Verdict = helps
	default:
		a.Verdict = nothing
	}
}

// values are a figure of the repeats that have it.
func values(all []pair, of func(pair) float64) (v []stats.Observed) {
	for _, p := range all {
		if of(p) > 0 {
			v = append(v, stats.Known(of(p)))
		}
	}
	return v
}

// factor is the factor between the medians, with the interval of the factor between the
// samples, rounded to three digits.
func factor(base, value []stats.Observed) *[3]float64 {
	m, _ := stats.CensoredMedian(value)
	b, _ := stats.CensoredMedian(base)
	const most = 1e9 // JSON has no infinity
	f := [3]float64{m.Low / b.Low, 0, most}
	if interval := stats.CensoredFactor(base, value); interval != nil {
		f[1], f[2] = interval.Low, min(most, interval.High)
	}
	for i := range f {
		f[i], _ = strconv.ParseFloat(strconv.FormatFloat(f[i], 'g', 3, 64), 64)
	}
	return &f
}

// summary counts: of doctor's changes those that help and harm, and of the expert's that
// raise the rate by 10% those that doctor found, or that are no better than one of doctor's.
func summary(all []result) string {
	counts := map[string]int{}
	found, worth := 0, 0
	for _, r := range all {
		var best *applied
		for i := range r.Applied {
			a := &r.Applied[i]
			if strings.Contains(a.By, "doctor") {
				counts[a.Verdict]++
			}
			if strings.Contains(a.By, expert) && a.Verdict == helps && a.Rate != nil && a.Rate[0] >= 1.1 {
				best = a
			}
		}
		if best == nil {
			continue
		}
		worth++
		as := func(a applied) bool {
			return strings.Contains(a.By, "doctor") && (!a.Raises || best.Raises) && a.Rate != nil && a.Rate[0] >= 0.95*best.Rate[0]
		}
		if slices.ContainsFunc(r.Applied, as) {
			found++
		}
	}
	return fmt.Sprintf("%d cases. Of doctor's changes %d help, %d make no difference, %d harm. The expert's setting raises the rate by 10%% in %d cases; doctor found it or one as good in %d",
		len(all), counts[helps], counts[nothing], counts[harms], worth, found)
}

// resumed are the results of the file, those of an earlier run.
func resumed(t *testing.T) (all []result) {
	t.Helper()
	file, err := os.Open(os.Getenv("MILLICORE_ADVICE_OUT"))
	if err != nil {
		return nil
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r result
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatalf("%s: %v", file.Name(), err)
		}
		all = append(all, r)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestTheEntries starts each entry without a limit that matters, loads it for two seconds,
// and requires that it does something: a campaign must not measure a program that fails.
func TestTheEntries(t *testing.T) {
	only := os.Getenv("MILLICORE_ADVICE_ENTRIES")
	if only == "" && !testkit.Campaign() {
		t.Skip("minutes: needs MILLICORE_SAMPLES=full, or MILLICORE_ADVICE_ENTRIES with a part of their names, or all")
	}
	if len(entries) < 60 {
		t.Errorf("%d entries, want 60", len(entries))
	}
	for i := range entries {
		e := &entries[i]
		if only != "" && only != "all" && !strings.Contains(e.name, only) {
			continue
		}
		t.Run(e.name, func(t *testing.T) {
			works := func(changes ...doctor.Change) {
				s := serve(t, cell{program: e.program(), path: e.path, cpus: 1}, t.TempDir(), changes)
				defer s.stop()
				f := s.load(0, 2)
				t.Logf("%.1f/s, %.1f%% answered", f.Rate, f.Availability)
				if f.Rate <= 0 || f.Availability < 99 || !f.survived {
					t.Errorf("with the changes %+v: %+v", changes, f)
				}
			}
			works()
			if change, ok := e.chosen(1); ok {
				works(change)
			}
		})
	}
}
