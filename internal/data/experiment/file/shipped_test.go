package file_test

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/experiments"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
)

// shipped are the experiments that ship, by the names of their files.
func shipped(t *testing.T) map[string][]byte {
	t.Helper()
	names, err := fs.Glob(experiments.Files, "*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatalf("experiments that ship: %v, %v", names, err)
	}
	all := make(map[string][]byte)
	for _, name := range names {
		data, err := experiments.Files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = data
	}
	return all
}

func TestShippedExperimentsAreRight(t *testing.T) {
	for name, data := range shipped(t) {
		e, err := file.Parse(name, data, nil)
		if err != nil {
			t.Errorf("%s:\n%v", name, err)
			continue
		}
		if e.Name != strings.TrimSuffix(name, ".yaml") {
			t.Errorf("%s has the name %q: `millicore run NAME` looks for its file", name, e.Name)
		}
		if e.About == "" {
			t.Errorf("%s does not say what it is about", name)
		}
		if judged := claimsJudged(e); judged != len(e.Claims) {
			t.Errorf("%s: only %d of its %d claims are about cells and levels that it has", name, judged, len(e.Claims))
		}
	}
}

// comments are a file's, each paragraph a line.
func comments(data []byte) []string {
	var all []string
	paragraph := ""
	for line := range strings.Lines(string(data) + "\n") {
		text, ok := strings.CutPrefix(strings.TrimSpace(line), "#")
		if text = strings.TrimSpace(text); ok && text != "" {
			paragraph += " " + text
			continue
		}
		if paragraph != "" {
			all = append(all, paragraph[1:])
		}
		paragraph = ""
	}
	return all
}

var (
	advertisement = regexp.MustCompile(`--set (?:'[^']+'|\S+)(?: --set (?:'[^']+'|\S+))*`)
	oneSet        = regexp.MustCompile(`--set ('[^']+'|\S+)`)
)

// advertised are the command lines in a file's comments, each with its --set.
func advertised(data []byte) map[string][]string {
	all := map[string][]string{}
	for _, paragraph := range comments(data) {
		for _, line := range advertisement.FindAllString(paragraph, -1) {
			for _, set := range oneSet.FindAllStringSubmatch(line, -1) {
				all[line] = append(all[line], strings.Trim(set[1], "'"))
			}
		}
	}
	return all
}

// TestWhatTheCommentsAdvertiseIsSo applies each --set line of the files' comments
// and holds what comes of it against what the comment promises.
func TestWhatTheCommentsAdvertiseIsSo(t *testing.T) {
	// By file and the beginning of the line.
	want := map[string]map[string]string{
		"automaxprocs-table.yaml": {
			"--set limits.cpu=2": "2000m x 1, /isPrime/66666, 41 users, 1 agents; procs 1 2 3 4 8 null; 0 of 0 claims",
		},
		"breaking-point.yaml": {
			"--set measure.repeats=6": "1000m x 1, /isPrime/666666, a search, 1 agents; procs 1 2 null; 0 of 0 claims",
		},
		"cpu-limits-and-go.yaml": {
			"--set load.request.path": "1000m x 1, /isPrime/1999998, 50 users, 1 agents; procs 1 3 6 null, requests 200 null; 5 of 5 claims",
			"--set measure.duration":  "1000m x 1, /isPrime/666666, 50 users, 1 agents; procs 1 3 6 null, requests 200 null; 5 of 5 claims",
		},
		"frameworks.yaml": {
			"--set measure.repeats": "250m x 1, /devices, a search, 1 agents; 0 of 0 claims",
			"--set limits.cpu":      "2000m x 1, /devices, a search, 4 agents; 0 of 0 claims",
		},
		"go-vs-bun-mongodb.yaml": {
			"--set measure.repeats=4":                 "100m x 2, /devices, 100 to 1800 requests/s in 18 levels of 5s, 1 agents; 4 of 4 claims",
			"--set limits.cpu=1 --set load.rate.ramp": "1000m x 2, /devices, 100 to 28000 requests/s in 57 levels of 5s, 4 agents; 2 of 4 claims",
			"--set limits.cpu=1 --set load.rate=null": "1000m x 2, /devices, 30 to 2010 users in 67 levels of 45s, 4 agents; 2 of 4 claims",
		},
		"go-vs-bun-postgres.yaml": {
			"--set measure.repeats=4":                 "100m x 2, /devices, 100 to 1800 requests/s in 18 levels of 5s, 1 agents; 4 of 4 claims",
			"--set limits.cpu=1 --set load.rate.ramp": "1000m x 2, /devices, 100 to 28000 requests/s in 57 levels of 5s, 4 agents; 2 of 4 claims",
			"--set limits.cpu=1 --set load.rate=null": "1000m x 2, /devices, 30 to 2010 users in 67 levels of 45s, 4 agents; 2 of 4 claims",
		},
		"go-vs-bun.yaml": {
			"--set measure.repeats=4":                 "250m x 2, /devices, 2000 to 24000 requests/s in 23 levels of 5s, 2 agents; 5 of 5 claims",
			"--set limits.cpu=1 --set load.rate.ramp": "1000m x 2, /devices, 2000 to 100000 requests/s in 50 levels of 5s, 4 agents; 5 of 5 claims",
			"--set limits.cpu=1 --set load.rate=null": "1000m x 2, /devices, 30 to 2010 users in 67 levels of 1m48s, 4 agents; 4 of 5 claims",
		},
		"go-vs-node.yaml": {
			"--set measure.repeats=4":                 "250m x 2, /devices, 2000 to 20000 requests/s in 19 levels of 5s, 2 agents; 4 of 4 claims",
			"--set limits.cpu=1 --set load.rate.ramp": "1000m x 2, /devices, 2000 to 80000 requests/s in 79 levels of 5s, 4 agents; 4 of 4 claims",
			"--set limits.cpu=1 --set load.rate=null": "1000m x 2, /devices, 30 to 2010 users in 67 levels of 45s, 4 agents; 2 of 4 claims",
		},
		"gomaxprocs-default.yaml": {
			"--set measure.repeats=4": "1000m x 1, /isPrime/666666, a search, 1 agents; procs 1 null; 4 of 4 claims",
			"--set load.request.path=/devices --set limits.replicas=2 --set load.agents=4":                      "1000m x 2, /devices, a search, 4 agents; procs 1 null; 4 of 4 claims",
			"--set load.request.path=/devices --set limits.replicas=2 --set load.agents=4 --set load.find=null": "1000m x 2, /devices, 30 to 2010 users in 67 levels of 45s, 4 agents; procs 1 null; 4 of 4 claims",
		},
		"ramp.yaml": {
			"--set load.rate.ramp.each": "1000m x 1, /isPrime/666666, 50 to 500 requests/s in 10 levels of 20s, 1 agents; procs 1 null; 0 of 0 claims",
			"--set measure.repeats":     "1000m x 1, /isPrime/666666, 50 to 500 requests/s in 10 levels of 5s, 1 agents; procs 1 null; 0 of 0 claims",
		},
		"semaphore.yaml": {
			"--set limits.cpu=2":                        "2000m x 1, a benchmark; procs null 8 2; 2 of 2 claims",
			"--set services.published.env.BENCHTIME=3x": "1000m x 1, a benchmark; procs null 2 1; 2 of 2 claims",
		},
		"workers-vs-goroutines.yaml": {
			"--set services.go.env.WORKERS=null": "0m x 1, /loop?n=800000000, 10 users, 1 agents; 4 of 4 claims",
		},
	}
	for name, data := range shipped(t) {
		lines := advertised(data)
		got := map[string]string{}
		for line, sets := range lines {
			e, err := file.Parse(name, data, sets)
			if err != nil {
				t.Errorf("%s advertises %s:\n%v", name, line, err)
				continue
			}
			got[line] = restored(e)
		}
		if diff := cmp.Diff(byLongest(want[name], lines), got); diff != "" {
			t.Errorf("%s: what its comments advertise comes out as (-want +got):\n%s", name, diff)
		}
	}
}

// byLongest replaces beginnings of lines by whole lines: of two that fit, the
// longer one.
func byLongest(want map[string]string, lines map[string][]string) map[string]string {
	whole := map[string]string{}
	used := map[string]bool{}
	for line := range lines {
		best := ""
		for start := range want {
			if strings.HasPrefix(line, start) && len(start) > len(best) {
				best = start
			}
		}
		if best != "" {
			whole[line], used[best] = want[best], true
		}
	}
	for start := range want {
		if !used[start] {
			whole[start] = want[start] // no line has it any more
		}
	}
	return whole
}

// restored says what an experiment measures, in a line.
func restored(e *experiment.Experiment) string {
	c := &e.Cells[0]
	text := fmt.Sprintf("%dm x %d, %s", c.Limits.CPUMillis, c.Limits.Replicas, loadOf(c))
	var axes []string
	for _, axis := range e.Vary {
		words := []string{axis.Name}
		for _, v := range axis.Values {
			if v == nil {
				words = append(words, "null")
				continue
			}
			words = append(words, *v)
		}
		axes = append(axes, strings.Join(words, " "))
	}
	if len(axes) > 0 {
		text += "; " + strings.Join(axes, ", ")
	}
	return text + fmt.Sprintf("; %d of %d claims", claimsJudged(e), len(e.Claims))
}

func loadOf(c *experiment.Cell) string {
	l := &c.Load
	if l.Benchmark {
		return "a benchmark"
	}
	unit, aim := "requests/s", "a search"
	if l.Users != nil {
		unit = "users"
	}
	switch held := heldLevels(c); {
	case l.Find:
	case len(held) > 0:
		first, last := held[0], held[len(held)-1]
		aim = fmt.Sprintf("%g to %g %s in %d levels of %s", first.Target, last.Target, unit, len(held), short(last.Duration))
	default:
		aim = fmt.Sprintf("%g %s", l.Target().Value, unit)
	}
	return fmt.Sprintf("%s, %s, %d agents", l.Request.Path, aim, l.Agents)
}

func short(d time.Duration) string { return strings.TrimSuffix(d.String(), "m0s") }

// heldLevels are the stages of a ramp that hold a level.
func heldLevels(c *experiment.Cell) []experiment.Stage {
	var held []experiment.Stage
	if target := c.Load.Target(); target != nil {
		for _, s := range target.Stages {
			if s.Duration > 0 {
				held = append(held, s)
			}
		}
	}
	return held
}

// claimsJudged counts the claims whose cells, and level, an experiment has.
func claimsJudged(e *experiment.Experiment) int {
	judged := 0
	for i := range e.Claims {
		c := &e.Claims[i]
		selectors := slices.Clone(c.Order)
		for _, one := range []*experiment.Selector{c.Of, c.Over} {
			if one != nil {
				selectors = append(selectors, *one)
			}
		}
		if len(selectors) > 0 && !slices.ContainsFunc(selectors, func(s experiment.Selector) bool {
			return s.Cell == experiment.NoCell || c.At != nil && !slices.ContainsFunc(heldLevels(&e.Cells[s.Cell]), func(l experiment.Stage) bool { return l.Target == *c.At })
		}) {
			judged++
		}
	}
	return judged
}

// A search lasts this long, warm-up apart; each trial takes about so long beside
// its load.
const besideLoad = time.Second

var minutesStated = regexp.MustCompile(`\b(\d+) minutes\.`)

// TestTheMinutesAreStated holds the minutes that the published experiments state
// against their trials, and the stated sum against theirs.
func TestTheMinutesAreStated(t *testing.T) {
	script := read(t, "scripts/reproduce.sh")
	list := regexp.MustCompile(`(?s)published=\((.*?)\)`).FindStringSubmatch(script)
	if list == nil {
		t.Fatal("scripts/reproduce.sh names no experiments")
	}
	all := shipped(t)
	sum := 0
	for _, name := range strings.Fields(list[1]) {
		data := all[name+".yaml"]
		e, err := file.Parse(name, data, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		match := minutesStated.FindStringSubmatch(comments(data)[0])
		if match == nil {
			t.Errorf("%s: its first paragraph does not end with its minutes, as in \"7 minutes.\"", name)
			continue
		}
		stated, _ := strconv.Atoi(match[1])
		sum += stated
		least := int(math.Ceil(lasts(e).Minutes()))
		// A loop's last requests are awaited, which takes seconds.
		if most := least + 1; stated > most && !e.Cells[0].Load.Benchmark || stated < least {
			t.Errorf("%s states %d minutes; its trials take %v", name, stated, lasts(e))
		}
	}
	for _, file := range []string{"scripts/reproduce.sh", "README.md", "Makefile"} {
		if text := strconv.Itoa(sum) + " minutes"; !strings.Contains(read(t, file), text) {
			t.Errorf("%s does not say that all of them take %s, the sum of what they state", file, text)
		}
	}
}

// lasts is how long an experiment's trials take together, where none is repeated.
func lasts(e *experiment.Experiment) time.Duration {
	var sum time.Duration
	for i := range e.Cells {
		one := besideLoad
		switch c := &e.Cells[i]; {
		case c.Load.Benchmark, c.Load.Requests > 0:
		case c.Load.Find:
			one += e.Measure.Warmup + e.Measure.Duration
		default:
			one += e.Measure.Warmup + e.Measure.Measured(c)
		}
		sum += time.Duration(e.Measure.Repeats) * one
	}
	return sum
}

// read reads a file of the repository.
func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
