package traffic

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/recording"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/front/reach"
)

const accessLog = `{"time":"2026-11-29T10:00:00Z","method":"GET","path":"/users/1?k={{x}}","host":"a.example"}
{"time":"2026-11-29T10:00:03Z","method":"GET","path":"/users/2","host":"a.example","request_time":0.5}
{"time":"2026-11-29T10:00:02Z","method":"HEAD","path":"/","host":"a.example","status":404}
{"time":"2026-11-29T10:00:02Z","method":"GET","path":"/","host":"b.example"}
{"time":"2026-11-29T10:00:02Z","method":"POST","path":"/","host":"a.example"}
`

func replayOf(t *testing.T, text string) (*Options, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "access.log")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o := &Options{Users: 50, Waiting: -1, Duration: 10 * time.Second, Timeout: time.Second, Threads: 1, Even: true, Replaying: Replaying{File: file, Speed: 2}}
	return o, o.CheckFiles()
}

func TestTheLoadOfAReplay(t *testing.T) {
	o, err := replayOf(t, accessLog)
	if err != nil {
		t.Fatal(err)
	}
	target, err := reach.ParseTarget("http://127.0.0.1:8080/", nil)
	if err != nil {
		t.Fatal(err)
	}
	o.Headers, o.Status = []string{"A: b"}, []string{"200", "404"}
	e, err := o.Experiment(target, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := "Replay of 3 of the 5 lines of access.log on http://127.0.0.1:8080/ at speed 2"; e.About != want {
		t.Errorf("it is about %q, want %q", e.About, want)
	}
	l := &e.Cells[0].Load
	if len(l.Mix) != 2 || l.Mix[0].Weight != 2 || l.Mix[0].Path != "/users/{id}" || l.Mix[1].Method != "HEAD" || l.Mix[1].Headers["A"] != "b" || len(l.Mix[1].Check.Status) != 2 {
		t.Errorf("%+v", l.Mix)
	}
	if e.Measure.Duration != 1251*time.Millisecond || l.Rate.Value != 2.398 || !l.Even || l.Replay != "access.log" {
		t.Errorf("%v at %v", e.Measure.Duration, l.Rate)
	}
	r, err := recording.Decode(l.Recording, len(l.Mix))
	if err != nil {
		t.Fatal(err)
	}
	ms := time.Millisecond
	want := &recording.Recording{Requests: []recording.Request{{Kind: 0, Path: "/users/1?k={{x}}"}, {Kind: 0, Path: "/users/2"}, {Kind: 1, Path: "/"}},
		At: []time.Duration{0, 1000 * ms, 1250 * ms}, Of: []uint32{0, 2, 1}}
	if d := cmp.Diff(want, r); d != "" {
		t.Error(d)
	}
	c := answered(0)
	c.Replay, c.Client.SendLag = o.Replayed(), signals.NewHistogram()
	c.Client.SendLag.Record(ms)
	c.Replay.File = "access.log"
	text := strings.Join(strings.Fields(replayed(c, display.Terminal{})), " ")
	if d := cmp.Diff("Replay sent 3 requests of access.log in 1.251s, at speed 2; recorded in 2.5s from 2026-11-29 10:00:00 UTC on "+
		"not sent 1 POST, whose body is not in the log, 1 to 1 host other than a.example "+
		"times the log has whole seconds, within which the requests are spread evenly; logged at their end, and sent at that time less their duration: 1; earlier than the line before, and sorted: 1 "+
		"failed then 1 request, with a status of 400 or above in the log fell behind by 1.00 ms at p99, 1.00 ms at most", text); d != "" {
		t.Error(d)
	}
	for speed, want := range map[float64]string{
		1e-9:  "--replay " + o.Replaying.File + ": its 2.5s take 28,935 days at --speed 1e-09, and a load takes at most one: use --speed 0.01 or more",
		1e-30: " days at --speed 1e-30, and a load takes at most one: use --speed 0.01 or more", // more than a time.Duration
	} {
		o.Speed = speed
		if _, err := o.Experiment(target, nil); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if err := checkLength("", 168*time.Hour, 7); err == nil || err.Error() != ": its 168h take 1 days at --speed 7, and a load takes at most one: use --speed 7.01 or more" {
		t.Error(err) // and the millisecond after the last request
	}
	if err := checkLength("", 168*time.Hour, 7.01); err != nil {
		t.Error(err)
	}
	target.Path = "/c"
	if _, err := o.Experiment(target, nil); err == nil || !strings.Contains(err.Error(), "leave out the path") {
		t.Error(err)
	}
}

func TestReplaysThatAreRefused(t *testing.T) {
	for line, want := range map[string]string{
		"speed":             "--speed needs --replay, the access log to replay",
		"replay rate":       "--replay has the requests and their times: leave out --rate",
		"replay open users": "--replay has the requests and their times: leave out --users",
		"replay speed":      "",
		"seed":              "",
	} {
		err := (&Replaying{File: "x", Speed: 1}).contradiction(func(name string) bool { return strings.Contains(" "+line+" ", " "+name+" ") })
		if err == nil && want != "" || err != nil && err.Error() != want {
			t.Errorf("%s: %v", line, err)
		}
	}
	for speed, want := range map[float64]string{0: "--speed 0: want a number above 0", math.Inf(1): "--speed +Inf: want a number above 0"} {
		if err := (&Replaying{File: "x", Speed: speed}).contradiction(func(name string) bool { return name == "replay" }); err == nil || err.Error() != want {
			t.Error(err)
		}
	}
	if _, err := replayOf(t, "started\n"); err == nil || !strings.Contains(err.Error(), "access.log: no request can be replayed: 1 of 1 lines are left out") {
		t.Error(err)
	}
	if err := (&Options{Replaying: Replaying{File: "/no/such"}}).CheckFiles(); err == nil || err.Error() != "--replay: /no/such does not exist" {
		t.Error(err)
	}
}
