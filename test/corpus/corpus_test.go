package corpus

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/lab/results"
	"github.com/millicore/millicore/internal/show/answer"
	"github.com/millicore/millicore/test/testkit"
	"github.com/millicore/millicore/test/testkit/golden"
)

func written(t *testing.T, c *Case, seed uint64) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "record")
	if err := c.Write(dir, seed); err != nil {
		t.Fatal(err)
	}
	return dir
}

func summaryOf(t *testing.T, c *Case, seed uint64) *summary.Summary {
	t.Helper()
	r, err := results.Open(record.Own, written(t, c, seed))
	if err != nil {
		t.Fatal(err)
	}
	return r.Summary
}

// constant is one trial of a service at a rate, without a CPU limit unless one is given.
func constant(limit string, rps float64, seconds int, b Behaviour) *Case {
	return &Case{Name: "one", File: rate("one", alone, limit, rps, "p99: 100ms", seconds, 1), Behaves: same(b)}
}

func about(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance*want {
		t.Errorf("%s: got %.4g, want %.4g within %.0f%%", what, got, want, 100*tolerance)
	}
}

// The time in an M/M/1 queue is exponential with the rate mu - lambda (Kleinrock,
// Queueing Systems I, 3.2): here a mean of 10 ms.
func TestAQueueIsThatOfTheory(t *testing.T) {
	s := summaryOf(t, constant("", 100, 600, Behaviour{Service: Service{Workers: 1, Work: Exponential(5 * time.Millisecond)}}), 1)
	c := &s.Cells[0]
	about(t, "mean latency, ms", c.LatencyMS.Mean, 10, 0.06)
	about(t, "p99, ms", c.LatencyMS.P99, -10*math.Log(0.01), 0.1)
	about(t, "cores", *c.CPU.Cores, 0.5, 0.03)
}

// A service that always has work uses its quota, and is throttled in every period if it
// runs faster than the quota. With exactly as many threads as the limit it never is.
func TestAQuotaThrottlesMoreThreadsThanItFeeds(t *testing.T) {
	for _, test := range []struct {
		workers   int
		throttled float64
	}{{1, 0}, {2, 1}, {4, 1}} {
		s := summaryOf(t, constant("1", 600, 20, Behaviour{Service: Service{Workers: test.workers, Work: Fixed(2 * time.Millisecond)}}), 1)
		c := &s.Cells[0]
		about(t, "cores", *c.CPU.Cores, 1, 0.01)
		if got := float64(*c.CPU.ThrottledPeriods) / float64(*c.CPU.Periods); math.Abs(got-test.throttled) > 0.02 {
			t.Errorf("%d workers: throttled in %.2f of the periods, want %.0f", test.workers, got, test.throttled)
		}
	}
}

// A lock is held by one request at a time and uses no CPU: of 300 requests/s the service
// works on 200, with 0.5 ms of CPU each. The generator gives up those that wait.
func TestALockBoundsTheThroughput(t *testing.T) {
	s := summaryOf(t, constant("1", 300, 20, Behaviour{Service: Service{Workers: 16, Work: Fixed(ms / 2), Lock: 5 * ms}}), 1)
	about(t, "cores", *s.Cells[0].CPU.Cores, 0.1, 0.02)
	if s.Cells[0].Errors.Timeouts == 0 {
		t.Error("no request was given up")
	}
}

// Users that wait for their answers keep one worker busy, and share it: each waits for
// the others (Little's law, N = X R).
func TestUsersSendAgainAtOnce(t *testing.T) {
	c := &Case{Name: "one", File: users("one", alone, "", 5, "", 10, 1), Behaves: same(Behaviour{Service: Service{Workers: 1, Work: Fixed(4 * ms)}})}
	s := summaryOf(t, c, 1)
	about(t, "requests/s", *s.Cells[0].RateRPS, 250, 0.01)
	about(t, "mean latency, ms", s.Cells[0].LatencyMS.Mean, 20, 0.01)
}

// What the generator does not send in time is its send lag, and latency includes it.
func TestAStallOfTheGeneratorIsItsLag(t *testing.T) {
	s := summaryOf(t, constant("", 200, 20, Behaviour{Service: Service{Workers: 4, Work: Fixed(ms)}, Stalls: regular(time.Second, 100*ms, time.Minute)}), 1)
	c := &s.Cells[0]
	about(t, "highest latency, ms", c.LatencyMS.Max, 101, 0.03)
	if lag := *c.Generator.SendLagP99US / 1000; lag < 80 || lag > 101 {
		t.Errorf("p99 of the send lag: %.1f ms, want 80 to 101", lag)
	}
}

// While a service is down its requests fail, and it is restarted once.
func TestADeathIsRecorded(t *testing.T) {
	s := summaryOf(t, constant("", 100, 10, Behaviour{Service: Service{Workers: 1, Work: Fixed(ms), OOM: true, Down: []Stretch{{5 * time.Second, 6 * time.Second}}}}), 1)
	c := &s.Cells[0]
	if *c.Restarts != 1 || *c.Memory.OOMKills != 1 {
		t.Errorf("%d restarts, %d OOM kills; want 1 each", *c.Restarts, *c.Memory.OOMKills)
	}
	about(t, "failed requests", float64(c.Errors.Refused+c.Errors.Cut), 100, 0.3)
}

func TestTheSameSeedGivesTheSameRecord(t *testing.T) {
	c := constant("1", 200, 5, Behaviour{Service: Service{Workers: 4, Work: Exponential(4 * ms)}})
	a, b, other := written(t, c, 1), written(t, c, 1), written(t, c, 2)
	for _, name := range []string{"run.json", "trials.ndjson", "frames.ndjson", "windows.ndjson", "slow.ndjson"} {
		one, err := os.ReadFile(filepath.Join(a, name))
		if err != nil {
			t.Fatal(err)
		}
		two, _ := os.ReadFile(filepath.Join(b, name))
		if string(one) != string(two) {
			t.Errorf("%s differs", name)
		}
	}
	one, _ := os.ReadFile(filepath.Join(a, "frames.ndjson"))
	if two, _ := os.ReadFile(filepath.Join(other, "frames.ndjson")); string(one) == string(two) {
		t.Error("another seed gives the same frames")
	}
}

// Each case is simulated, and its record can be read. What limits the service is stated
// as it is by construction, where the case has it. A CPU limit may be "the limit, or a
// lock beside it", in one of ten searches.
func TestCases(t *testing.T) {
	var answers strings.Builder
	answered, limits, undecided := 0, 0, 0
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) {
			for seed := range uint64(testkit.Samples(1, 2, 20)) {
				s := summaryOf(t, &c, seed+1)
				if seed == 0 {
					a := answer.Of(s)
					answered++
					fmt.Fprintf(&answers, "== %s\n%s\n\n", c.Name, strings.Join(append(a.Lines(), a.Caveats...), "\n"))
				}
				for i := range s.Cells {
					b := s.Cells[i].Breaking
					if b != nil && b.Recovery != nil && b.Recovery.Reason == "" && b.Recovery.Hysteresis() != c.Metastable {
						t.Errorf("seed %d, %s: recovers at %v, %+v; metastable: %v", seed+1, s.Cells[i].Label, b.RecoversAt, *b.Recovery, c.Metastable)
					}
					if want := c.Recovers; want[1] > 0 && (b.RecoversAt == nil || *b.RecoversAt < want[0] || *b.RecoversAt > want[1]) {
						t.Errorf("seed %d, %s: recovery %+v, want a load between %v", seed+1, s.Cells[i].Label, b.Recovery, want)
					}
					if c.Limit == "" || b == nil {
						continue
					}
					if strings.Contains(c.Limit, summary.ByCPULimit) {
						limits++
						if len(b.Shown) > 0 && b.Shown[0].Kind == finding.LimitOrLock {
							undecided++
							continue
						}
					}
					if c.Limit == ofAPool && b.LimitedBy == summary.ByDependency && b.Shown[0].Kind != finding.DependencyOrPool {
						t.Errorf("seed %d: a dependency that takes as long at any load is named: %s", seed+1, b.Evidence)
					}
					if b.LimitedBy == "" || !strings.Contains(c.Limit, b.LimitedBy) {
						t.Errorf("seed %d, %s: limited by %q (%s), want %q", seed+1, s.Cells[i].Label, b.LimitedBy, b.Evidence, c.Limit)
					}
				}
			}
		})
	}
	if limits > 0 && 10*undecided > max(limits, 10) {
		t.Errorf("%d of %d limits may be locks", undecided, limits)
	}
	if answered == len(Cases()) { // all of them ran: a person has read their answers
		golden.Check(t, "answers.txt", answers.String())
	}
}

// The figures that a limit rests on come from windows that missed the objective, and
// their loads are stated: the row of the cell has those of windows that met it.
func TestALimitIsShownByWindowsThatMissed(t *testing.T) {
	checked := 0
	for _, c := range Cases() {
		if c.Limit == "" || c.Limit == summary.ByGenerator {
			continue
		}
		s := summaryOf(t, &c, 1)
		for i := range s.Cells {
			b := s.Cells[i].Breaking
			if b == nil || b.LimitedBy == "" || b.AtLeast {
				continue
			}
			// Each search has its evidence above its own answer. The breaking point is the
			// median of the answers.
			least := math.Inf(1)
			for _, one := range s.Cells[i].PerTrial {
				if one.Breaking != nil {
					least = min(least, *one.Breaking)
				}
			}
			if !s.Cells[i].Load.Find && b.Load() != nil {
				least = *b.Load() // of a ramp: the level before the one that missed
			}
			if len(b.EvidenceAt) != 2 || b.Load() != nil && b.EvidenceAt[0] < 0.98*least {
				t.Errorf("%s: evidence at %v, lowest answer %v", c.Name, b.EvidenceAt, least)
				continue
			}
			// Of several windows at the lowest of these loads, some may have met it.
			for _, step := range s.Cells[i].Steps {
				if step.Target == b.EvidenceAt[1] && step.Met != nil && *step.Met {
					t.Errorf("%s: evidence at %v, and %v met the objective", c.Name, b.EvidenceAt, step.Target)
				}
			}
			checked++
		}
	}
	if checked < 3 {
		t.Errorf("checked %d searches", checked)
	}
}
