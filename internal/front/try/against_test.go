package try

import (
	"slices"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/analysis/stats"
	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/internal/host/runtimes"
)

// TestOldAndNew: both are services of one experiment, each with its own command, and the new one
// also runs with the parallelism of the old where that was another.
func TestOldAndNew(t *testing.T) {
	a := testAsk("./new", "${port}")
	a.Against = []string{"./old"}
	a.Server, a.Repeats = "new (Go 1.26)", 6
	of := func(n int) Seen {
		info := goInfo
		info.Parallelism = runtimes.Parallelism{Value: n, Source: runtimes.Read}
		return Seen{Info: info}
	}
	for _, c := range []struct {
		now, before int
		want        []string
	}{
		{2, 2, []string{"new", "old"}},
		{2, 8, []string{"new", "old", "new-gomaxprocs-8"}},
	} {
		variants := UnderLimits(a, nil, []Seen{of(c.now), of(c.before)}, runtimes.Machine{Online: 8})
		e, err := file.Build(a.Name(), a.Settings(variants), nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for i := range e.Cells {
			names = append(names, e.Cells[i].Service.Name)
		}
		slices.Sort(names)
		slices.Sort(c.want)
		if !slices.Equal(names, c.want) {
			t.Errorf("services %q, want %q", names, c.want)
		}
		if e.Server.Against() != "old" || e.Server.Settings[1].Parallelism != c.before || e.Measure.Repeats != 6 || e.CommonLoad().Repeats != againstTrials {
			t.Errorf("the server is %+v, %d searches, %d trials at the common load", e.Server, e.Measure.Repeats, e.CommonLoad().Repeats)
		}
		for i := range e.Cells {
			s := &e.Cells[i].Service
			command := strings.Join(s.Command, " ")
			if isOld := s.Name == "old"; isOld != (command == "./old") || isOld != s.FindPort {
				t.Errorf("%s runs %q, and its port is to be found: %v", s.Name, command, s.FindPort)
			}
			if setting := s.Env["GOMAXPROCS"]; (setting == "8") != (s.Name == "new-gomaxprocs-8") {
				t.Errorf("%s runs with GOMAXPROCS=%q", s.Name, setting)
			}
		}
		if IsAsItIs(variants, "old") || !IsAsItIs(variants, "new") {
			t.Error("the new server, and not the old one, decides the exit code")
		}
	}
}

// TestTheOldParallelismOfAJVM is a setting that has the value of the old one.
func TestTheOldParallelismOfAJVM(t *testing.T) {
	a := testAsk("java", "-jar", "api.jar")
	a.Against = []string{"java", "-XX:ActiveProcessorCount=1", "-jar", "api.jar"}
	of := func(n int) Seen {
		return Seen{Info: runtimes.Info{Runtime: runtimes.JVM, Parallelism: runtimes.Parallelism{Value: n}}}
	}
	all := changed(a, []Seen{of(2), of(1)})
	if len(all) != 3 || all[2].Label != "new, JAVA_TOOL_OPTIONS=-XX:ActiveProcessorCount=1" || all[2].Value != 1 {
		t.Errorf("got %+v", all)
	}
}

// TestHoldAgainstRefuses what no answer could come of, before anything starts.
func TestHoldAgainstRefuses(t *testing.T) {
	for name, change := range map[string]func(*Ask){
		"several limits": func(a *Ask) { a.CPUs = []string{"500m", "1"} },
		"as it is only":  func(a *Ask) { a.AsIsOnly = true },
		"too few":        func(a *Ask) { a.Repeats = 4 },
	} {
		a := testAsk("./new")
		if change(a); a.HoldAgainst("./old") == nil {
			t.Errorf("%s: no error", name)
		}
	}
	a := testAsk("./new")
	if err := a.HoldAgainst("./old"); err != nil || a.Repeats != 6 {
		t.Errorf("error %v, %d searches, want 6", err, a.Repeats)
	}
	if a.Repeats = 12; a.compareTrials() != 14 {
		t.Errorf("%d trials at the common load with 12 searches, want 14: more show smaller changes", a.compareTrials())
	}
	if n := stats.TrialsNeeded(5); n != leastSearches {
		t.Errorf("five tests need %d searches, and %d are asked for", n, leastSearches)
	}
}
