// Package advice applies the recommendations of doctor to live processes under real
// limits, and measures them before and after.
package advice

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/host/doctor"
	"github.com/millicore/millicore/test/testkit"
)

// folder has the built programs.
var folder string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "millicore-advice-")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		if err := os.Chmod(dir, 0o755); err != nil { // nginx's workers read it
			panic(err)
		}
		build := exec.Command("go", "build", "-o", dir+"/", "./cmd/millicore", "./cmd/millicore-agent")
		build.Dir = filepath.Join("..", "..")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			panic("build the programs: " + err.Error() + "\n" + string(out))
		}
		folder = dir
		return m.Run()
	}())
}

// ordinary is the share of the saturated rate that is an ordinary load.
const ordinary = 0.6

// row is a line of the matrix: a cell and what a change does to it.
type row struct {
	Cell, Load string // the load under which doctor looked: "idle", "saturated" or "60%"
	Titles     []string
	Evidence   []string
	Change     string // "" if none is recommended
	Before     []pair
	After      []pair
}

// pair is one repeat: the figures at saturation and at the ordinary load, which is the
// same rate before and after.
type pair struct {
	Rate, P50, P99         float64
	LowP50, LowP99, LowGot float64 // LowGot is the rate that was answered
	Survived               bool
	Foreign                float64 // CPUs that other processes used, the higher of both
}

// measure measures a service with changes. rate is the ordinary load; 0: 60% of what it
// does at saturation.
func measure(t *testing.T, c cell, dir string, changes []doctor.Change, rate float64, seconds int) (p pair, at float64, found [3][]doctor.Finding) {
	t.Helper()
	s := serve(t, c, dir, changes)
	defer s.stop()
	if rate == 0 {
		found[0] = s.idle(seconds - 1)
	}
	f, full := s.examined(0, seconds)
	found[1] = full
	p = pair{Rate: f.Rate, P50: f.Latency.P50, P99: f.Latency.P99, Survived: f.survived && f.Availability > 99}
	if rate == 0 {
		rate = max(1, f.Rate*ordinary)
	}
	foreign := func(f figures) {
		if f.Host.Foreign != nil {
			p.Foreign = max(p.Foreign, *f.Host.Foreign)
		}
	}
	foreign(f)
	if !f.survived {
		return p, rate, found
	}
	f, found[2] = s.examined(rate, seconds)
	foreign(f)
	p.LowP50, p.LowP99, p.LowGot = f.Latency.P50, f.Latency.P99, f.Rate
	p.Survived = p.Survived && f.survived
	return p, rate, found
}

// applicable is the first change of the findings that a test can apply, and its words.
func applicable(all []doctor.Finding, c cell) (doctor.Change, string) {
	for _, f := range all {
		if f.Level < doctor.Warning {
			continue
		}
		for _, change := range f.Changes {
			switch {
			case change.Replicas && change.CPUs == 0 && change.Env == nil && change.Command == nil:
				continue // as many CPUs again: not the same cell
			case change.Setting != "" && change.Command == nil && c.program.set == nil:
				continue
			}
			return change, words(change)
		}
	}
	return doctor.Change{}, ""
}

// words describes a change.
func words(c doctor.Change) string {
	var all []string
	if c.CPUs > 0 {
		all = append(all, fmt.Sprintf("limit %v CPU", c.CPUs))
	}
	if c.Memory > 0 {
		all = append(all, fmt.Sprintf("limit %d MiB", c.Memory>>20))
	}
	if c.Burst > 0 {
		all = append(all, "burst "+c.Burst.String())
	}
	for name, value := range c.Env {
		all = append(all, name+"="+value)
	}
	if c.Setting != "" {
		all = append(all, c.Setting+" = "+c.NewValue())
	} else if c.Command != nil {
		all = append(all, "the command")
	}
	return strings.Join(all, ", ")
}

func titles(all []doctor.Finding) (short []string) {
	for _, f := range all {
		short = append(short, f.Level.String()+": "+f.Title)
	}
	return short
}

func evidence(all []doctor.Finding) (lines []string) {
	for _, f := range all {
		lines = append(lines, f.Evidence...)
	}
	return lines
}

// study measures a cell with and without each change that doctor recommends, in turns.
func study(t *testing.T, c cell, repeats, seconds int) (rows []row) {
	t.Helper()
	fresh := t.TempDir
	before, rate, all := measure(t, c, fresh(), nil, 0, seconds)
	var changes []doctor.Change
	for i, found := range all {
		r := row{Cell: c.String(), Load: []string{"idle", "saturated", "60%"}[i], Titles: titles(found), Evidence: evidence(found), Before: []pair{before}}
		change, text := applicable(found, c)
		if text != "" && slices.ContainsFunc(changes, func(o doctor.Change) bool { return reflect.DeepEqual(o, change) }) {
			text = ""
		}
		if r.Change = text; text != "" {
			changes = append(changes, change)
		}
		rows = append(rows, r)
	}
	for n := range repeats {
		i := 0
		for at := range rows {
			if rows[at].Change == "" {
				continue
			}
			if n > 0 {
				again, _, _ := measure(t, c, fresh(), nil, rate, seconds)
				rows[at].Before = append(rows[at].Before, again)
			}
			after, _, _ := measure(t, c, fresh(), changes[i:i+1], rate, seconds)
			rows[at].After = append(rows[at].After, after)
			i++
		}
	}
	return rows
}

// matrix are the cells of the whole matrix: every program with every limit that this
// machine can hold, and the kinds of requests that it has.
func matrix() (all []cell) {
	for _, p := range programs {
		for _, path := range p.paths {
			if path == garbage || strings.Contains(p.name, "old-space") || strings.Contains(p.name, "Xmx") {
				continue
			}
			for _, limit := range []float64{0.2, 0.5, 1, 1.5, 2} {
				all = append(all, cell{program: p, path: path, cpus: limit})
			}
		}
	}
	for _, p := range programs {
		switch p.name {
		case "Node.js, --max-old-space-size=1024":
			all = append(all, cell{program: p, path: garbage, cpus: 1, memory: 128 << 20})
		case "JVM, -Xmx1g":
			all = append(all, cell{program: p, path: garbage, cpus: 1, memory: 192 << 20})
		}
	}
	return all
}

// TestTheMatrix measures the whole matrix (make test-all), or the cells that
// MILLICORE_ADVICE selects by a part of their names, and appends its rows to the file
// MILLICORE_ADVICE_OUT as JSON. MILLICORE_ADVICE_DRAW=10 draws: the cells come in random
// order, and the test ends when so many recommendations were measured.
func TestTheMatrix(t *testing.T) {
	only := os.Getenv("MILLICORE_ADVICE")
	draw, _ := strconv.Atoi(os.Getenv("MILLICORE_ADVICE_DRAW"))
	if only == "" && draw == 0 && !testkit.Campaign() {
		t.Skip("hours: needs MILLICORE_SAMPLES=full, or MILLICORE_ADVICE with a part of the cells' names")
	}
	cells := matrix()
	if draw > 0 {
		rand.Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
	}
	drawn := 0
	for _, c := range cells {
		if draw > 0 && drawn >= draw {
			break
		}
		if only != "" && !slices.ContainsFunc(strings.Split(only, ";"), func(part string) bool { return strings.Contains(c.String(), part) }) {
			continue
		}
		t.Run(c.String(), func(t *testing.T) {
			rows := study(t, c, testkit.Samples(1, 2, 3), 7)
			for _, r := range rows {
				if r.Change != "" {
					drawn++
				}
				note(t, r)
			}
			for _, r := range rows {
				undisturbed(t, r)
				judge(t, r)
			}
		})
	}
}

// TestARecommendationHelps measures two cells of the matrix in which the effect is large:
// their rates almost doubled.
func TestARecommendationHelps(t *testing.T) {
	testkit.Long(t, "live servers under real limits")
	if runtime.NumCPU() < 2 {
		t.Skip("needs two CPUs")
	}
	for _, test := range []struct {
		program string
		cpus    float64
		change  string
		gain    float64 // the least factor of the rate
	}{
		{"nginx, 1 worker", 2, "worker_processes = 2", 1.2},
		{"Go 1.26, GOMAXPROCS=1", 2, "GOMAXPROCS=2", 1.2},
	} {
		t.Run(test.program, func(t *testing.T) {
			at := slices.IndexFunc(programs, func(p program) bool { return p.name == test.program })
			r := study(t, cell{program: programs[at], path: cpu, cpus: test.cpus}, 1, 7)[1]
			note(t, r)
			undisturbed(t, r)
			if r.Change != test.change {
				t.Fatalf("the change is %q, want %q: %q", r.Change, test.change, r.Titles)
			}
			judge(t, r)
			if after, least := r.After[0].Rate, test.gain*r.Before[0].Rate; after < least {
				t.Errorf("%.0f/s after the change, want %.0f/s", after, least)
			}
		})
	}
}

// undisturbed skips a test whose figures others on this machine influenced.
func undisturbed(t *testing.T, r row) {
	t.Helper()
	for _, p := range slices.Concat(r.Before, r.After) {
		if p.Foreign > 0.2 {
			t.Skipf("others used this machine's CPUs: %.2f", p.Foreign)
		}
	}
}

// judge fails if a change made a cell much worse: the medians differ by more than the
// factor, which leaves room for the noise of a machine with two CPUs.
func judge(t *testing.T, r row) {
	t.Helper()
	if r.Change == "" {
		return
	}
	const factor = 1.6
	mid := func(all []pair, of func(pair) float64) float64 {
		var v []float64
		for _, p := range all {
			v = append(v, of(p))
		}
		slices.Sort(v)
		return v[len(v)/2]
	}
	rate := func(p pair) float64 { return p.Rate }
	low := func(p pair) float64 { return p.LowP99 }
	survived := func(all []pair) bool { return !slices.ContainsFunc(all, func(p pair) bool { return !p.Survived }) }
	switch {
	case survived(r.Before) && !survived(r.After):
		t.Errorf("%s: %s: it survived before", r.Cell, r.Change)
	case !survived(r.Before):
	case mid(r.After, rate) < mid(r.Before, rate)/factor:
		t.Errorf("%s: %s: the rate falls from %.0f to %.0f/s", r.Cell, r.Change, mid(r.Before, rate), mid(r.After, rate))
	case mid(r.After, low) > factor*mid(r.Before, low)+5:
		t.Errorf("%s: %s: p99 at 60%% rises from %.0f to %.0f ms", r.Cell, r.Change, mid(r.Before, low), mid(r.After, low))
	}
}

// note keeps a row of the matrix or a result of the campaign.
func note(t *testing.T, r any) {
	t.Helper()
	t.Logf("%+v", r)
	name := os.Getenv("MILLICORE_ADVICE_OUT")
	if name == "" {
		return
	}
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := json.NewEncoder(file).Encode(r); err != nil {
		t.Fatal(err)
	}
}
