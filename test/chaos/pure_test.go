package chaos

import (
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
)

// The plan of a seed is the same on each machine and in each version of Go.
func TestThePlanOfASeed(t *testing.T) {
	for _, c := range []struct {
		platform string
		seed     uint64
		want     string
	}{
		{"local", 1, "service: SIGTERM, 2.18s after it was first seen; load for 3.538s"},
		{"local", 2, "agent: SIGSTOP, 2.361s after it was first seen; load for 2.38s, with a database"},
		{"local", 20261125, "service: SIGSTOP, 1.28s after it was first seen; load for 2.072s"},
		{"local", 102, "lab: SIGKILL, 8ms after the end of the record; load for 2.134s"},
		{"docker", 7, "service: SIGSTOP, 3.14s after it was first seen; load for 3.252s"},
		{"vm", 3, "machine: clock step, 3.984s after it was first seen; load for 3.003s, by -1.297s"},
		{"kubernetes", 4, "node agent: SIGINT, 842ms after it was first seen; load for 2.177s"},
	} {
		p := Draw(c.platform, c.seed)
		if got := p.String(); got != c.want {
			t.Errorf("%s, seed %d: %q, want %q", c.platform, c.seed, got, c.want)
		}
	}
}

// As many consecutive seeds as a platform has cases have each of them once.
func TestConsecutiveSeedsHaveEachCase(t *testing.T) {
	for _, platform := range []string{"local", "docker", "vm", "kubernetes"} {
		all := cases(platform)
		want := map[Case]int{}
		for _, c := range all {
			want[c]++
		}
		orders := map[string]bool{}
		for block := range uint64(20) {
			got, order := map[Case]int{}, ""
			for i := range uint64(len(all)) {
				p := Draw(platform, block*uint64(len(all))+i)
				got[p.Case]++
				order += p.Name() + ";"
			}
			for c, n := range want {
				if got[c] != n {
					t.Errorf("%s, block %d: %v %d times, want %d", platform, block, c, got[c], n)
				}
			}
			orders[order] = true
		}
		if len(orders) != 20 {
			t.Errorf("%s: %d orders in 20 blocks", platform, len(orders))
		}
	}
}

func TestPlansAreWithinTheirBounds(t *testing.T) {
	forwards, two, databases := 0, 0, 0
	const seeds = 2000
	for seed := range uint64(seeds) {
		for _, platform := range []string{"local", "docker", "vm", "kubernetes"} {
			p := Draw(platform, seed)
			away := p.Step.Abs()
			if p.Load < 2*time.Second || p.Load >= 4*time.Second || p.After < 0 || p.After >= p.Load+1500*time.Millisecond ||
				p.Hold < 100*time.Millisecond || p.Hold >= 2*time.Second || p.Files < 16 || p.Files > 64 ||
				away < time.Second || away > 3*time.Hour || p.Target == Database && !p.Database {
				t.Fatalf("%s, seed %d: %+v", platform, seed, p)
			}
			if platform != "vm" && p.Fault == Clock {
				t.Fatalf("%s, seed %d: the clock of this machine", platform, seed)
			}
		}
		p := Draw("vm", seed)
		if p.Step > 0 {
			forwards++
		}
		if p.Two {
			two++
		}
		if p.Database {
			databases++
		}
	}
	for what, n := range map[string]int{"steps forwards": forwards, "two runs": two, "databases": databases} {
		if n < seeds/5 || n > seeds*3/5 {
			t.Errorf("%s in %d of %d plans", what, n, seeds)
		}
	}
}

// agentFrames are frames of one agent of a trial, of 200 ms each.
func agentFrames(trial, agent int, numbers ...int) (all []*signals.Frame) {
	for _, n := range numbers {
		all = append(all, &signals.Frame{Trial: trial, Agent: &agent, Seq: n, Client: &signals.Client{},
			Start: int64(n) * 2e8, End: int64(n+1) * 2e8})
	}
	return all
}

func seq(frames []*signals.Frame, last error) iter.Seq2[*signals.Frame, error] {
	return func(yield func(*signals.Frame, error) bool) {
		for _, f := range frames {
			if !yield(f, nil) {
				return
			}
		}
		if last != nil {
			yield(nil, last)
		}
	}
}

func TestCount(t *testing.T) {
	others := []*signals.Frame{{Trial: 1, Server: &signals.Server{}}, {Trial: 1, Host: &signals.Host{}}}
	at := func(seconds float64) time.Time { return time.Unix(0, int64(seconds*1e9)) }
	for _, c := range []struct {
		name   string
		frames []*signals.Frame
		at     time.Time
		want   Intervals
	}{
		{"nothing", nil, time.Time{}, Intervals{}},
		{"nothing of a trial that began", append(agentFrames(1, 0, 0, 1), others...), at(8.5), Intervals{2, 7}},
		{"nothing of a trial that began just now", append(agentFrames(1, 0, 0, 1), others...), at(7.1), Intervals{2, 0}},
		{"nothing, and it broke off", others, at(1), Intervals{}},
		{"all", agentFrames(1, 0, 0, 1, 2, 3), time.Time{}, Intervals{4, 0}},
		{"two gaps", agentFrames(1, 0, 0, 2, 3, 5), time.Time{}, Intervals{4, 2}},
		{"the first ones are missing", agentFrames(1, 0, 2, 3), time.Time{}, Intervals{2, 2}},
		{"it broke off within an interval", agentFrames(1, 0, 0, 1, 2), at(0.799), Intervals{3, 0}},
		{"a complete one is missing", agentFrames(1, 0, 0, 1, 2), at(0.8), Intervals{3, 1}},
		{"it broke off after the load", agentFrames(1, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9), at(60), Intervals{10, 0}},
		{"it broke off before the last frame", agentFrames(1, 0, 0, 1, 2), at(0.1), Intervals{3, 0}},
		{"two agents", append(agentFrames(1, 0, 0, 1, 2), agentFrames(1, 1, 0, 2)...), at(0.85), Intervals{5, 3}},
		{"only the last trial broke off", append(agentFrames(1, 0, 0), agentFrames(2, 0, 0, 1)...), at(0.65), Intervals{3, 1}},
	} {
		var began map[int]time.Time
		if strings.Contains(c.name, "that began") {
			began = map[int]time.Time{1: at(0), 2: at(7)}
		}
		got, err := Count(seq(c.frames, nil), 200*time.Millisecond, 10, c.at, began)
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v; want %+v", c.name, got, err, c.want)
		}
	}
	broken := errors.New("line 3")
	if _, err := Count(seq(agentFrames(1, 0, 0), broken), time.Second, 1, time.Time{}, nil); err != broken {
		t.Errorf("error %v, want that of the frames", err)
	}
}

func TestFollow(t *testing.T) {
	server := func(replica int, start, end float64) *signals.Frame {
		return &signals.Frame{Trial: 1, Of: "go", Index: replica, Server: &signals.Server{}, Start: int64(start * 1e9), End: int64(end * 1e9)}
	}
	for _, c := range []struct {
		name   string
		frames []*signals.Frame
		follow bool
	}{
		{"all follow", append(agentFrames(1, 0, 0, 1, 2), server(0, 0, 0.2), server(0, 0.2, 0.4)), true},
		{"a gap", []*signals.Frame{server(0, 0, 0.2), server(0, 0.8, 1)}, true},
		{"two replicas", []*signals.Frame{server(0, 0, 0.2), server(1, 0, 0.2)}, true},
		{"two trials", append(agentFrames(1, 0, 5), agentFrames(2, 0, 0)...), true},
		{"back before the last", []*signals.Frame{server(0, 10, 10.2), server(0, 9.4, 9.6)}, false},
		{"it ends before it begins", []*signals.Frame{server(0, 10, 9)}, false},
		{"it is too long", []*signals.Frame{server(0, 0, 10.1)}, false},
	} {
		if err := Follow(seq(c.frames, nil), 10*time.Second); (err == nil) != c.follow {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	broken := errors.New("line 3")
	if err := Follow(seq(nil, broken), time.Second); err != broken {
		t.Errorf("error %v, want that of the frames", err)
	}
}

func TestResultsAreReadFromALog(t *testing.T) {
	want := []Result{
		{Plan: Draw("vm", 3), Intervals: Intervals{9, 1}, Left: 4},
		{Plan: Draw("vm", 4), Late: true, Failed: true, Remained: 1},
	}
	log := "=== RUN   TestCampaign\r\n"
	for _, r := range want {
		log += "    campaign.go:1: " + r.Logged() + "\r\n--- PASS: x\r\n"
	}
	got, err := Results(log)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if _, err := Results(resultMark + `{"Platform":`); err == nil {
		t.Error("a line that was cut off is no error")
	}
}

func TestTable(t *testing.T) {
	got := Table([]Result{
		{Plan: Plan{Platform: "local", Case: Case{Full, State}}, Failed: true, Remained: 2},
		{Plan: Plan{Platform: "local", Case: Case{Kill, Lab}}, Intervals: Intervals{9, 1}, Left: 4},
		{Plan: Plan{Platform: "docker", Case: Case{Kill, Agent}}, Late: true},
		{Plan: Plan{Platform: "local", Case: Case{Kill, Lab}}, Intervals: Intervals{9, 2}, Left: 3},
	})
	want := strings.Join([]string{
		"| platform | fault | runs | too late | lost intervals | left for `clean` | left after `clean` | failed |",
		"|---|---|---:|---:|---:|---:|---:|---:|",
		"| docker | SIGKILL of agent | 1 | 1 | 0 | 0 | 0 | 0 |",
		"| local | SIGKILL of lab | 2 | 0 | 3 | 7 | 0 | 0 |",
		"| local | disk full of state | 1 | 0 | 0 | 0 | 2 | 1 |",
		"| **all** | | 4 | 1 | 3 | 7 | 2 | 1 |",
		"",
	}, "\n")
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
