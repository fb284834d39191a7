package answer_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/lab/results"
	"github.com/millicore/millicore/internal/show/answer"
	"github.com/millicore/millicore/test/sample"
	"github.com/millicore/millicore/test/testkit/golden"
)

// most is the number of words that an answer has, with its caveats.
const most = 60

// printed is an answer with its name. It checks the number of words.
func printed(t *testing.T, name string, a answer.Answer) string {
	t.Helper()
	text := strings.Join(append(a.Lines(), a.Caveats...), "\n")
	if words := len(strings.Fields(text)); words > most {
		t.Errorf("%s: %d words, want at most %d", name, words, most)
	}
	return "== " + name + "\n" + text + "\n\n"
}

func TestAnswers(t *testing.T) {
	var b strings.Builder
	for _, one := range []struct {
		name string
		of   results.Results
	}{
		{"cells under one load", sample.Procs()},
		{"many cells", sample.Scaled()},
		{"a ramp without an objective", sample.Ramp()},
		{"searches", sample.Search()},
		{"lower bounds", sample.Bounds()},
		{"settings of one server", sample.Settings()},
		{"benchmarks", sample.Benchmarks(6)},
		{"benchmarks with few trials", sample.Benchmarks(2)},
		{"claims", sample.WithClaims(sample.Procs())},
		{"claims of searches", sample.Runs()},
		{"a failed cell", sample.Failed()},
		{"foreign names", sample.Hostile()},
	} {
		a := answer.Of(one.of.Summary)
		b.WriteString(printed(t, one.name, a))
	}
	golden.Check(t, "answers.txt", b.String())
}

// The second line names the cause that has the largest share of the slow tail, if the tail
// has enough requests to be divided.
func TestTheCauseOfASlowTail(t *testing.T) {
	for _, c := range []struct {
		name string
		tail *summary.Causes
		want string
	}{
		{"nothing was observed", nil, ""},
		{"throttling", &summary.Causes{Requests: 20, Throttling: 0.89, Rest: 0.11}, "its CPU limit: throttling is 89% of the slow tail."},
		{"too few requests", &summary.Causes{Requests: 19, Throttling: 0.89, Rest: 0.11}, ""},
		{"too few requests, which waited for a CPU for less than 2 ms", &summary.Causes{Requests: 1, Generator: 0.59, Rest: 0.41}, ""},
		{"mostly throttling, as far as is certain", &summary.Causes{Requests: 500, Throttling: 0.3, ThrottlingHigh: 0.8, Rest: 0.7}, "its CPU limit: throttling is 30–80% of the slow tail."},
		{"more of its own work for certain", &summary.Causes{Requests: 500, Throttling: 0.3, ThrottlingHigh: 0.6, Rest: 0.7}, "perhaps its CPU limit: throttling is 30–60% of the slow tail."},
		{"perhaps throttling", &summary.Causes{Requests: 500, Throttling: 0.1, ThrottlingHigh: 0.95, Rest: 0.9}, "perhaps its CPU limit: throttling is 10–95% of the slow tail."},
		{"little throttling", &summary.Causes{Requests: 500, Throttling: 0.1, ThrottlingHigh: 0.4, Rest: 0.9}, ""},
		{"its own work", &summary.Causes{Requests: 500, Throttling: 0.4, Rest: 0.6}, ""},
		{"several causes, none of which has a fifth", &summary.Causes{Requests: 500, Throttling: 0.19, Generator: 0.17, Dependency: 0.16, Restart: 0.16, Neighbours: 0.16, Rest: 0.16}, ""},
		{"others", &summary.Causes{Requests: 500, Throttling: 0.2, Neighbours: 0.45, Rest: 0.35}, "CPU used by others is 45% of the slow tail."},
		{"the generator and its queue", &summary.Causes{Requests: 500, Generator: 0.3, GeneratorQueue: 0.25, Throttling: 0.35, Rest: 0.1}, "not known: 55% of the slow tail is the generator's own."},
	} {
		rate := 100.0
		if got := answer.OfLoad(&summary.Cell{RateRPS: &rate, Causes: c.tail}, "http://x/").Why; got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// The rate of a replay is that of its log, so the advice is another speed.
func TestAReplayThatIsTooFast(t *testing.T) {
	rate, available := 48.9, 63.0
	late := &summary.Cell{RateRPS: &rate, Causes: &summary.Causes{Requests: 19, Generator: 0.89, Rest: 0.11}, Load: summary.Load{Kind: "open", Replay: true}, Generator: summary.Generator{SentLate: true}}
	if got := answer.OfLoad(late, "http://x/"); got.Why != "not known: the slowest requests waited mostly in the generator." || got.Do != "replay it with a lower --speed, fewer connections, or from another machine." {
		t.Errorf("%+v", got)
	}
	late.Generator.SentLate = false // an idle process wakes up as late
	if got := answer.OfLoad(late, "http://x/"); got.Why != "" || got.Do != "" {
		t.Errorf("%+v", got)
	}
	slow := &summary.Cell{RateRPS: &rate, Availability: &available, Errors: summary.ErrorCounts{Dropped: 290, Timeouts: 6}, Load: summary.Load{Kind: "open", Replay: true}}
	got := answer.OfLoad(slow, "http://x/")
	if got.Why != "it did not keep up with the log: 296 requests waited too long to be sent, or for an answer." || got.Do != "replay it with a lower --speed, or give the service more CPU." {
		t.Errorf("%+v", got)
	}
	slow.Load.Replay = false
	if got := answer.OfLoad(slow, "http://x/"); got.Why != "" || got.Do != "" {
		t.Errorf("%+v", got)
	}
}

func TestAFewDisturbedWindowsAreNoCaveat(t *testing.T) {
	busy := []signals.Neighbour{{Name: "chromium", PID: 4711, Processes: 12, CPUs: 0.8}}
	long := strings.TrimSpace(strings.Repeat("word ", 50))
	for _, c := range []struct {
		disturbed, of int
		name, want    string
	}{
		{1, 21, "go", ""},
		{2, 20, "go", "Other processes, most of all chromium (12 processes), disturbed 2 of 20 search windows."},
		{2, 20, long, "Other processes disturbed 2 of 20 search windows."}, // there is no room for the names
	} {
		cell := cellOf(c.name, breaksBetween(1300, 1407, 1600, "CPU limit"), testedAt(1390, 1456, false), disturbedBy(summary.Neighbours), func(cell *summary.Cell) {
			cell.Disturbance.Disturbed, cell.Disturbance.Trials, cell.Disturbance.Neighbours = c.disturbed, c.of, busy
		})
		a := answer.Of(&summary.Summary{Cells: numbered(cell)})
		if got := strings.Join(a.Caveats, " "); got != c.want {
			t.Errorf("%d of %d windows: caveats %q, want %q, after %d words", c.disturbed, c.of, got, c.want, len(strings.Fields(a.String())))
		}
	}
}

func TestALoadWithoutAGoodAnswerSaysWhatFailed(t *testing.T) {
	c := summary.Cell{Requests: 1512, Errors: summary.ErrorCounts{Cut: 1500, Timeouts: 12}}
	want := []string{"https://api: no good answer to 1,512 requests.", "Why: 1,500 of 1,512 requests were cut off."}
	if got := answer.OfLoad(&c, "https://api").Lines(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
