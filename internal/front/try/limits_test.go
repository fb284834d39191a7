package try

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/internal/host/runtimes"
)

func TestLimitsAreQuantitiesOrNone(t *testing.T) {
	for _, c := range []struct {
		flag string
		want []string
		err  string
	}{
		{"500m", []string{"500m"}, ""},
		{"none", []string{""}, ""},
		{"250m, 500m,1", []string{"250m", "500m", "1"}, ""},
		{"250m,none", nil, "leave none out"},
		{"250m,", nil, "write limits as in 250m,500m,1"},
		{"500m,500m", nil, "--cpu: 500m and 500m are the same limit"},
		{"1,1", nil, "--cpu: 1 and 1 are the same limit"},
		{"250m,1,250m", nil, "--cpu: 250m and 250m are the same limit"},
		{"500m,0.5", nil, "--cpu: 500m and 0.5 are the same limit"},
		{"1,1000m", nil, "--cpu: 1 and 1000m are the same limit"},
		{"1,-1", nil, "write limits as in 250m,500m,1"},
		{"x,x", nil, "--cpu: x and x are the same limit"},
		{"0", nil, "--cpu 0: a process cannot run under a limit of 0; write none for no limit"},
		{"500m,0m", nil, "write none for no limit"},
	} {
		got, err := Limits(c.flag)
		if d := cmp.Diff(c.want, got); d != "" || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q: %q, %v, want %q, %q", c.flag, got, err, c.want, c.err)
		}
	}
}

// Several limits: as it is under each, its settings where the parallelism is not the
// number of CPUs of the limit, and once without a limit.
func TestSettingsAreTriedUnderLimitsWhereParallelismCanMatter(t *testing.T) {
	a := testAsk("./server")
	a.CPUs = []string{"500m", "2"}
	seen := func(n int) Seen {
		info := goInfo
		info.Parallelism = runtimes.Parallelism{Value: n, Source: runtimes.Read}
		return Seen{Info: info}
	}
	limits := []experiment.Limits{{CPUMillis: 500}, {CPUMillis: 2000}}
	variants := UnderLimits(a, limits, []Seen{seen(2), seen(2)}, runtimes.Machine{Online: 4})
	e, err := file.Build("x", a.Settings(variants), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range e.Cells {
		c := &e.Cells[i]
		got = append(got, c.Label()+" "+(time.Duration(c.Limits.CPUMillis)*time.Millisecond).String())
	}
	want := []string{"as-is-500m 500ms", "gomaxprocs-1-500m 500ms", "as-is-2 2s", "no-limit 0s"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if e.CommonLoad() == nil {
		t.Error("no common load, so that latencies under the limits cannot be compared")
	}
	a.AsIsOnly = true
	if n := len(UnderLimits(a, limits, []Seen{seen(2), seen(2)}, runtimes.Machine{Online: 4})); n != 2 {
		t.Errorf("%d variants with --as-is, want one under each limit", n)
	}
}

func TestTheLengthOfARunIsAnnounced(t *testing.T) {
	a := testAsk("./server")
	variants := Variants(a, experiment.Limits{CPUMillis: 1500}, Seen{Info: goInfo}, runtimes.Machine{Online: 4})
	e, err := file.Build("x", a.Settings(variants), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := Length(e, 4*time.Minute+10*time.Second), "3 searches, then 12 trials at one load; about 4 min."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	a.AsIsOnly = true
	e, err = file.Build("x", a.Settings(variants[:1]), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := Length(e, 80*time.Second), "1 search; about 80 s."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// The warm-up of every start counts: 3 searches, and 12 trials at one load.
func TestTheWarmUpsCountInTheLengthOfARun(t *testing.T) {
	a := testAsk("./server")
	cold := warmth{requests: []int64{9, 9, 9, 9, 9, 9}, seconds: []float64{2, 2, 2, 2, 2, 2}, costs: []float64{9, 1, 1, 1, 1, 1}}
	e, err := file.Build("x", a.Settings(Variants(a, experiment.Limits{CPUMillis: 1500}, Seen{Info: goInfo}, runtimes.Machine{Online: 4})), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := Lasts(e, time.Minute, []Seen{{}, {warmth: cold}}), time.Minute+15*12*time.Second; got != want {
		t.Errorf("%v with a warm-up of 12 s, want %v", got, want)
	}
	if got := Lasts(e, time.Minute, []Seen{{}}); got != time.Minute {
		t.Errorf("%v without a warm-up, want a minute", got)
	}
}

// No line of the announcement is wider than the terminal, and reasons stand below one
// another.
func TestTheAnnouncementFitsTheTerminal(t *testing.T) {
	a := testAsk("gunicorn", "-w", "2", "-b", "127.0.0.1:${port}", "app:app")
	info := runtimes.Info{Runtime: runtimes.Python, Version: "3.11", By: "executable name", Server: "gunicorn", Workers: 2, Flags: []string{"-w", "2"}}
	variants := Variants(a, experiment.Limits{CPUMillis: 500}, Seen{Info: info}, runtimes.Machine{Online: 4})
	e, err := file.Build("x", a.Settings(variants), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		"Detected gunicorn on Python 3.11 (by its command and executable name)",
		"  as it is                  2 worker processes; each runs one thread of Python",
		"                            code at a time (the global interpreter lock)",
		"  gunicorn -w 1             one worker process: no other one competes for the",
		"                            quota",
		"  without the CPU limit     what the limit costs",
		"3 searches, then 12 trials at one load; about 4 min.", ""}, "\n")
	if d := cmp.Diff(want, Announce(a, info, variants, e, 4*time.Minute, display.Terminal{Width: 80})); d != "" {
		t.Error(d)
	}
}

func TestItIsSaidWhyNothingElseIsTried(t *testing.T) {
	a := testAsk("node", "server.js")
	for _, c := range []struct {
		name  string
		info  runtimes.Info
		seen  int
		want  string
		spoil string
	}{
		{"no setting is known", runtimes.Info{Runtime: runtimes.Node}, 3000, "2 replicas were not tested, because all would listen on port 3000", ""},
		{"none has an effect", goInfo, 0, "Those above have no effect.", "it still ran with 3"},
		{"there are others", goInfo, 0, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			variants := Variants(a, experiment.Limits{CPUMillis: 1500}, Seen{Info: c.info, Port: c.seen}, runtimes.Machine{Online: 4})
			for i := range variants {
				if variants[i].sets() && i > 0 {
					variants[i].NoEffect = c.spoil
				}
			}
			if got := a.nothingElse(variants); !strings.Contains(got, c.want) || c.want == "" && got != "" {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
