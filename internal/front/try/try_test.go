package try

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/internal/host/runtimes"
	said "github.com/millicore/millicore/internal/show/answer"
)

func testAsk(command ...string) *Ask {
	return &Ask{Command: command, Dir: "/", CPU: "1500m", Memory: "256Mi", Request: experiment.Request{Method: "GET", Path: "/"},
		Timeout: 2 * time.Second, Objective: experiment.Objective{Quantile: "p99", Latency: 100 * time.Millisecond, Availability: 99.9}}
}

var goInfo = runtimes.Info{Runtime: runtimes.Go, Version: "go1.26.8", Go: &runtimes.GoFacts{Aware: true}}

func TestVariantsAreAsItIsTheSettingsAndNoLimit(t *testing.T) {
	four := runtimes.Machine{Online: 4}
	for _, c := range []struct {
		name   string
		millis int64
		info   runtimes.Info
		want   []string
	}{
		{"Go under 1.5 CPUs, by default 2", 1500, goInfo, []string{"as-is", "gomaxprocs-1", "no-limit"}},
		{"Go under 3.5 CPUs, by default 4", 3500, goInfo, []string{"as-is", "gomaxprocs-1", "gomaxprocs-3", "no-limit"}},
		{"Go without a limit", 0, goInfo, []string{"as-is", "gomaxprocs-1"}},
		{"Node has no setting, and listens where it likes", 1500, runtimes.Info{Runtime: runtimes.Node}, []string{"as-is", "no-limit"}},
		{"a JVM", 1500, runtimes.Info{Runtime: runtimes.JVM, Version: "17.0.1"},
			[]string{"as-is", "tool-options-xx-activeprocessorcount-1", "no-limit"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, v := range Variants(testAsk("./server"), experiment.Limits{CPUMillis: c.millis}, Seen{Info: c.info}, four) {
				got = append(got, v.Service)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestWhatIsTriedIsAnExperimentThatCanBeRead(t *testing.T) {
	for _, c := range []struct {
		name            string
		change          func(*Ask)
		takes, find     bool
		wantUsers, port float64
	}{
		{"the port is found", func(*Ask) {}, false, true, 0, 0},
		{"the command takes a port", func(a *Ask) { a.Command = []string{"./server", "-p", "${port}"} }, true, false, 0, 0},
		{"the port is given", func(a *Ask) { a.Port = 8080 }, false, false, 0, 8080},
		{"users", func(a *Ask) { a.Users = true }, false, true, 1, 0},
		{"words that YAML and the file's own syntax would read otherwise",
			func(a *Ask) { a.Command = []string{"./server", "${HOME}", "yes", "#x", "{{uuid}}", "a\nb", "01"} }, false, true, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := testAsk("./server", "--fast")
			a.Env = map[string]string{"GOGC": "off"}
			c.change(a)
			variants := Variants(a, experiment.Limits{CPUMillis: 1500}, Seen{Info: goInfo}, runtimes.Machine{Online: 4})
			e, err := file.Build(a.Name(), a.Settings(variants), nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(e.Cells) != len(variants) {
				t.Fatalf("%d cells for %d variants", len(e.Cells), len(variants))
			}
			for i, cell := range e.Cells {
				v, s := variants[i], cell.Service
				if s.Name != v.Service || cell.Label() != v.Service || !cell.Load.Find {
					t.Errorf("cell %d is %q, find %v", i, cell.Label(), cell.Load.Find)
				}
				if got := cell.Limits.CPUMillis; got != 1500 && !v.Unlimited || got != 0 && v.Unlimited {
					t.Errorf("%s has a limit of %dm", v.Service, got)
				}
				if s.FindPort != c.find || float64(s.Port) != c.port || s.Env["GOGC"] != "off" {
					t.Errorf("%s: port %d, find %v, env %v", v.Service, s.Port, s.FindPort, s.Env)
				}
				command := s.Command
				for j, word := range command {
					var err error
					command[j], err = experiment.Expand(word, map[string]string{"port": "7"})
					if err != nil {
						t.Fatal(err)
					}
				}
				want := slices.Clone(a.Command)
				if c.takes {
					want[2] = "7"
				}
				if d := cmp.Diff(want, command); d != "" {
					t.Error(d)
				}
			}
			if got := e.Cells[1].Service.Env["GOMAXPROCS"]; got != "1" {
				t.Errorf("GOMAXPROCS=%q in the second cell", got)
			}
		})
	}
}

func TestErrorsNameTheFlag(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Ask)
		want   string
	}{
		{"cpu", func(a *Ask) { a.CPU = "half" }, `--cpu: "half" is not a quantity of CPUs; write CPUs or thousandths of one, as in 1.5 or 500m`},
		{"get", func(a *Ask) { a.Request.Path = "items" }, `--get: "items": a path begins with /`},
		{"post", func(a *Ask) { a.Request.Method, a.Request.Path = "POST", "items" }, `--post: "items": a path begins with /`},
		{"header", func(a *Ask) { a.Request.Headers = map[string]string{"TE": "x"} }, `--header: header "TE" is set by the agent; leave it out`},
		{"port", func(a *Ask) { a.Port = 70000 }, `--port: "70000" is not a port; write a number from 1 to 65535, or find`},
		{"pids", func(a *Ask) { a.PIDs = -1 }, `--pids: "-1" is not a whole number above 0`},
		{"traffic", func(a *Ask) { a.Traffic = time.Second }, "--traffic: a search needs 10s of traffic or more, not 1s"},
		{"the command", func(a *Ask) { a.Command = []string{"a\x00b"} }, `the command: "a\x00b" contains a zero byte, which cannot be passed to a program`},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := testAsk("./server")
			c.change(a)
			if _, err := file.Build(a.Name(), a.Settings(AsItIs(a)), nil); err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

// verdict is the paragraph of a record in which the variants were searched and, if level
// is not nil, held at one load.
func answer(name string, variants []Variant, found, level *summary.Summary) string {
	found.Experiment.Server, found.Common = &experiment.Server{Name: name}, level
	for _, v := range variants {
		one := experiment.Setup{Service: v.Service, Label: v.Label, NoEffect: v.NoEffect, Advice: v.Advice}
		found.Experiment.Server.Settings = append(found.Experiment.Server.Settings, one)
		for i := range found.Cells {
			if l := &found.Cells[i].Limits; found.Cells[i].Service == v.Service {
				millis, bytes := int64(1500), int64(256<<20)
				l.MemoryBytes, l.Replicas = &bytes, v.Replicas
				if !v.Unlimited {
					l.CPUMillis = &millis
				}
			}
		}
	}
	a := said.Of(found)
	return strings.Join(append(a.Lines(), a.Caveats...), "\n")
}

func cellOf(service string, load, low, high float64) summary.Cell {
	c := summary.Cell{Service: service, Label: service, Load: summary.Load{Kind: "open"}, Breaking: &summary.BreakingPoint{}}
	if load > 0 {
		c.Breaking.RateRPS, c.Breaking.Low, c.Breaking.High = &load, &low, &high
	}
	return c
}

// boundOf was seen to hold a load, and not to break.
func boundOf(service string, load float64) summary.Cell {
	c := cellOf(service, load, load, 0)
	c.Breaking.High, c.Breaking.AtLeast = nil, true
	return c
}

func summaryOf(cells ...summary.Cell) *summary.Summary {
	for i := range cells {
		cells[i].Cell = i
	}
	return &summary.Summary{Cells: cells}
}

func TestTheVerdictSaysNoMoreThanWasSeen(t *testing.T) {
	variants := Variants(testAsk("./server"), experiment.Limits{CPUMillis: 1500}, Seen{Info: goInfo}, runtimes.Machine{Online: 4})
	limited := cellOf("as-is", 400, 380, 420)
	limited.Objective = &summary.Objective{Text: "p99 <= 100ms"}
	limited.Breaking.LimitedBy, limited.Breaking.Evidence = summary.ByThrottling, "it was throttled in 40% of the periods"
	limited.Causes = &summary.Causes{Quantile: "p99", Throttling: 0.61, Rest: 0.39}
	bound := boundOf("no-limit", 900)
	none := cellOf("as-is", 0, 0, 0)
	none.Breaking.Reason = "it misses the objective even at the lowest load tried"
	rate := 210.0
	at := func(service string, p99 float64) summary.Cell {
		c := cellOf(service, 0, 0, 0)
		c.Load.Rate, c.LatencyMS = &rate, &summary.Quantiles{P99: p99}
		return c
	}
	level := summaryOf(at("as-is", 45), at("gomaxprocs-1", 12))
	sure := summaryOf(trialsOf("as-is", 45, 43, 44, 45, 45, 46, 47), trialsOf("gomaxprocs-1", 12, 10, 11, 12, 12, 13, 14))
	unsure := summaryOf(trialsOf("as-is", 45, 10, 11, 45, 45, 46, 47), trialsOf("gomaxprocs-1", 12, 10, 11, 12, 12, 46, 47))

	for _, c := range []struct {
		name         string
		found, level *summary.Summary
		want, not    []string
	}{
		{"where and why", summaryOf(limited, cellOf("gomaxprocs-1", 300, 290, 310), cellOf("no-limit", 900, 850, 950)), nil,
			[]string{"server breaks at 400 requests/s (380–420) under 1.5 CPUs and 256 MiB of memory; without the CPU limit it breaks at 900 requests/s (850–950).\n",
				"Why: its CPU limit.\n", "Do: raise the CPU limit, or add replicas."}, []string{"GOMAXPROCS=1"}},
		{"one search each ranks no settings", summaryOf(limited, cellOf("gomaxprocs-1", 500, 480, 520), bound), nil,
			[]string{"Do: run it again with --repeats 6: GOMAXPROCS=1 held 500 requests/s (480–520) in one search, which is no ranking.", "it holds at least 900 requests/s"}, []string{"use GOMAXPROCS=1"}},
		{"a setting that was not seen to break", summaryOf(limited, boundOf("gomaxprocs-1", 500), bound), nil,
			[]string{"GOMAXPROCS=1 held at least 500 requests/s in one search"}, []string{"use GOMAXPROCS=1"}},
		{"no breaking point", summaryOf(none, cellOf("gomaxprocs-1", 300, 290, 310), bound), nil,
			[]string{"No breaking point was found for server under 1.5 CPUs and 256 MiB of memory.\nWhy: it misses the objective even at the lowest load tried."}, nil},
		{"p99 surely lower", summaryOf(limited, cellOf("gomaxprocs-1", 300, 290, 310), bound), sure,
			[]string{"Do: use GOMAXPROCS=1: at 210/s its p99 is 12.0 ms, against 45.0 ms (p "}, nil},
		{"p99 perhaps lower", summaryOf(limited, cellOf("gomaxprocs-1", 300, 290, 310), bound), unsure, nil, []string{"use GOMAXPROCS=1"}},
		{"p99 with too few trials", summaryOf(limited, cellOf("gomaxprocs-1", 300, 290, 310), bound), level, nil, []string{"use GOMAXPROCS=1"}},
		{"nothing at all", summaryOf(), nil, []string{"The record holds no cell."}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := answer("server", variants, c.found, c.level)
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("%q is missing in:\n%s", want, got)
				}
			}
			for _, not := range c.not {
				if strings.Contains(got, not) {
					t.Errorf("%q is claimed in:\n%s", not, got)
				}
			}
		})
	}
}

func TestTheVerdictSaysWhoDisturbedWhat(t *testing.T) {
	variants := Variants(testAsk("./server"), experiment.Limits{CPUMillis: 1500}, Seen{Info: goInfo}, runtimes.Machine{Online: 4})
	with := func(service string, find bool, d *summary.Disturbance) summary.Cell {
		c := cellOf(service, 400, 380, 420)
		c.Load.Find, c.Disturbance = find, d
		return c
	}
	window := &summary.Disturbance{By: []string{summary.Hypervisor}, Trials: 20, Disturbed: 3}
	few := &summary.Disturbance{By: []string{summary.Hypervisor}, Trials: 20, Disturbed: 1}
	trials := &summary.Disturbance{By: []string{summary.Neighbours, summary.Waiting}, Trials: 6, Disturbed: 3, Kept: 2, Quantile: "p99"}
	limited := with("as-is", false, trials)
	limited.Limits.CPUMillis = new(int64(1500)) // a cell without the limit decides nothing
	for _, c := range []struct {
		name         string
		found, level *summary.Summary
		want         string
	}{
		{"nothing", summaryOf(with("as-is", true, nil), with("no-limit", true, nil)), summaryOf(with("as-is", false, nil)), ""},
		{"a search", summaryOf(with("as-is", true, window), with("no-limit", true, nil)), nil,
			"The hypervisor disturbed 3 of 20 search windows."},
		{"both", summaryOf(with("as-is", true, window), with("no-limit", true, window)), summaryOf(with("as-is", false, trials)),
			"The hypervisor disturbed 6 of 40 search windows."},
		{"a window of a search", summaryOf(with("as-is", true, few), with("no-limit", true, nil)), nil, ""},
		{"a window of a search, and trials", summaryOf(with("as-is", true, few), with("no-limit", true, few)), summaryOf(limited), "disturbed 3 of 6 trials."},
		{"what p99 does not rest on", summaryOf(with("as-is", true, nil), with("no-limit", true, nil)), summaryOf(with("as-is", false, nil), with("no-limit", false, trials)), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := answer("server", variants, c.found, c.level)
			if !strings.HasSuffix(got, c.want) || c.want == "" && strings.Contains(got, "disturbed") {
				t.Errorf("want the verdict to end with %q: %s", c.want, got)
			}
		})
	}
}

// levelled are cells at one load with the p99 of their trials, and that of all their
// requests together, with the tests against the first as analysis makes them.
func levelled(cells ...summary.Cell) *summary.Summary {
	s := summaryOf(cells...)
	s.Comparisons, s.Ranking = verdict.Tests(s, "latency_ms.p99")
	return s
}

func trialsOf(service string, pooled float64, p99s ...float64) summary.Cell {
	rate := 210.0
	c := cellOf(service, 0, 0, 0)
	c.Load.Rate, c.LatencyMS = &rate, &summary.Quantiles{P99: pooled}
	for i := range p99s {
		c.PerTrial = append(c.PerTrial, summary.TrialFigures{P99: &p99s[i]})
	}
	return c
}

// TestP99IsComparedByWhatIsTested looks at every setting's own test, its sign
// included, and at medians over trials: one bad trial decides the p99 of all
// requests together.
func TestP99IsComparedByWhatIsTested(t *testing.T) {
	variants := Variants(testAsk("./server"), experiment.Limits{CPUMillis: 3500}, Seen{Info: goInfo}, runtimes.Machine{Online: 4})
	found := summaryOf(cellOf("as-is", 400, 380, 420), cellOf("gomaxprocs-1", 300, 290, 310), cellOf("gomaxprocs-3", 310, 300, 320), cellOf("no-limit", 900, 850, 950))
	asIs := trialsOf("as-is", 104, 98, 99, 100, 101, 102, 104)
	for _, c := range []struct {
		name      string
		level     *summary.Summary
		want, not []string
	}{
		{"the lowest of all requests together is not the one that is surely lower",
			levelled(asIs, trialsOf("gomaxprocs-1", 40, 20, 30, 60, 110, 120, 130), trialsOf("gomaxprocs-3", 54, 48, 49, 50, 51, 52, 54)),
			[]string{"use GOMAXPROCS=3: at 210/s its p99 is 50.5 ms, against 101 ms (p 0.013), but it breaks at 310"},
			[]string{"GOMAXPROCS=1"}},
		{"both are surely lower", levelled(asIs, trialsOf("gomaxprocs-1", 20, 15, 16, 17, 18, 19, 20), trialsOf("gomaxprocs-3", 54, 48, 49, 50, 51, 52, 54)),
			[]string{"use GOMAXPROCS=1: at 210/s its p99 is 17.5 ms"}, nil},
		{"lower for one bad trial of the server as it is, and surely higher by the test",
			levelled(trialsOf("as-is", 3000, 98, 99, 100, 100, 101, 3000), trialsOf("gomaxprocs-1", 204, 198, 199, 200, 200, 201, 210), trialsOf("gomaxprocs-3", 204, 198, 199, 200, 200, 201, 210)),
			nil, []string{"GOMAXPROCS"}},
		{"one of which nothing was measured", levelled(asIs, cellOf("gomaxprocs-1", 0, 0, 0), trialsOf("gomaxprocs-3", 54, 48, 49, 50, 51, 52, 54)),
			[]string{"use GOMAXPROCS=3: "}, nil},
		{"one with too few trials", levelled(asIs, trialsOf("gomaxprocs-1", 20, 15, 16), trialsOf("gomaxprocs-3", 54, 48, 49, 50, 51, 52, 54)),
			[]string{"use GOMAXPROCS=3: "}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := answer("server", variants, found, c.level)
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("%q is missing in:\n%s", want, got)
				}
			}
			for _, not := range c.not {
				if strings.Contains(got, not) {
					t.Errorf("%q is claimed in:\n%s", not, got)
				}
			}
		})
	}
}
