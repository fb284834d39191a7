package accesslog

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// replayOf reads lines, and returns what is sent as "12ms GET /path".
func replayOf(t *testing.T, how How, lines ...string) (*Replay, []string) {
	t.Helper()
	l, err := ReadLog(strings.NewReader(strings.Join(lines, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	if how.Kinds == 0 {
		how.Kinds = 20
	}
	if how.Speed == 0 {
		how.Speed = 1
	}
	p := l.Replay(how)
	var all []string
	for i, at := range p.Recording.At {
		q := p.Recording.Requests[p.Recording.Of[i]]
		all = append(all, fmt.Sprintf("%v %s %s", at, p.Kinds[q.Kind].Method, q.Path))
	}
	return p, all
}

func envoy(at, request string) string {
	return fmt.Sprintf(`[2026-11-29T10:20:%sZ] "%s HTTP/1.1" 200 - 0 1 4 1`, at, request)
}

func combined(second int, request string, status int) string {
	return fmt.Sprintf(`192.0.2.7 - - [29/Nov/2026:10:20:%02d +0000] "%s HTTP/1.1" %d 5 "-" "-"`, second, request, status)
}

// Requests are sent at their times and in their order, those of one time in the order of the log.
func TestReplayAtTheRecordedTimes(t *testing.T) {
	lines := []string{envoy("30.500", "GET /a?n=1"), envoy("30.000", "HEAD /b"), envoy("30.500", "GET /c"), envoy("31.250", "GET /a?n=1")}
	p, got := replayOf(t, How{}, lines...)
	want := []string{"0s HEAD /b", "500ms GET /a?n=1", "500.000001ms GET /c", "1.25s GET /a?n=1"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if p.Sorted != 1 || p.Spread || p.Length() != 1251*time.Millisecond || len(p.Recording.Requests) != 3 {
		t.Errorf("%+v, %v", p, p.Length())
	}
	p, got = replayOf(t, How{Speed: 2}, lines...)
	want = []string{"0s HEAD /b", "250ms GET /a?n=1", "250.000001ms GET /c", "625ms GET /a?n=1"}
	if d := cmp.Diff(want, got); d != "" || p.Length() != time.Second {
		t.Error(d, p.Length())
	}
	if d := p.Last.Sub(p.First); d != 1250*time.Millisecond {
		t.Errorf("recorded in %v", d)
	}
}

// Those of whole seconds are spread within them, in their order.
func TestWholeSecondsAreSpread(t *testing.T) {
	lines := []string{combined(30, "GET /1", 200), combined(30, "GET /2", 200), combined(31, "GET /3", 200), combined(33, "GET /4", 200), combined(33, "GET /5", 200)}
	p, got := replayOf(t, How{Even: true}, lines...)
	want := []string{"0s GET /1", "500ms GET /2", "1.25s GET /3", "3s GET /4", "3.5s GET /5"}
	if d := cmp.Diff(want, got); d != "" || !p.Spread {
		t.Error(d, p.Spread)
	}
	first := time.Date(2026, 11, 29, 10, 20, 30, 0, time.UTC)
	for seed := range uint64(20) {
		p, _ := replayOf(t, How{Seed: seed}, lines...)
		from := p.First.Sub(first)
		for i, second := range []time.Duration{0, 0, 1, 3, 3} {
			at := from + p.Recording.At[i]
			if path := p.Recording.Requests[p.Recording.Of[i]].Path; at/time.Second != second || path != fmt.Sprintf("/%d", i+1) {
				t.Errorf("seed %d: %s at %v", seed, path, at)
			}
		}
		if again, _ := replayOf(t, How{Seed: seed}, lines...); !slices.Equal(again.Recording.At, p.Recording.At) {
			t.Errorf("seed %d gives different times", seed)
		}
	}
}

// Where a log has the end and the duration, a request is sent at its begin.
func TestRequestsBeginBeforeTheirEnd(t *testing.T) {
	for name, lines := range map[string][]string{
		"nginx": {`{"time_iso8601":"2026-11-29T10:20:32+00:00","request":"GET /late HTTP/1.1","status":200,"request_time":"0.000"}`,
			`{"time_iso8601":"2026-11-29T10:20:33+00:00","request":"GET /slow HTTP/1.1","status":200,"request_time":"2.250"}`},
		"Caddy": {`{"ts":1795947632.5,"request":{"method":"GET","uri":"/late"},"status":200,"duration":0}`,
			`{"ts":1795947633.5,"request":{"method":"GET","uri":"/slow"},"status":200,"duration":2.25}`},
		"AWS": {`h2 2026-11-29T10:20:33.000000Z app/lb/50 192.0.2.7:1 10.0.0.1:80 0.000 0.001 0.000 200 200 1 2 "GET https://a.example:443/late HTTP/2.0" "curl" X TLSv1.2 arn "Root=1" "-" "-" 0 2026-11-29T10:20:32.250000Z "forward" "-"`,
			`h2 2026-11-29T10:20:33.500000Z app/lb/50 192.0.2.7:1 10.0.0.1:80 0.000 2.001 0.000 200 200 1 2 "GET https://a.example:443/slow HTTP/2.0" "2026-11-29T10:20:00Z" X TLSv1.2 arn "Root=1" "-" "-" 0 2026-11-29T10:20:31.000000Z "forward" "-"`},
	} {
		_, got := replayOf(t, How{Even: true}, lines...)
		if d := cmp.Diff([]string{"0s GET /slow", "1.25s GET /late"}, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	for _, line := range []string{ // these have the begin, and a duration
		`{"start_time":"2026-11-29T10:20:32Z","method":"GET","path":"/a","duration":250,"request_time":3}`,
		`{"StartUTC":"2026-11-29T10:20:32Z","RequestMethod":"GET","RequestPath":"/a","Duration":250,"request_time":3}`,
	} {
		if e, why := parse(line); why != "" || e.Took != 0 {
			t.Errorf("%q, %+v", why, e)
		}
	}
}

func TestWhatIsNotReplayed(t *testing.T) {
	host := func(name, path string) string {
		return fmt.Sprintf(`{"time":"2026-11-29T10:20:30.5Z","method":"GET","path":"%s","host":"%s"}`, path, name)
	}
	lines := []string{host("a.example", "/1"), host("B.example:443", "/2"), host("b.example", "/3"), envoy("30.500", "GET /4"),
		envoy("30.500", "DELETE /5"), envoy("30.500", "PATCH /5"), envoy("30.500", "PATCH /6"), `"GET /7 HTTP/1.1" 200`, combined(30, `\x16`, 400),
		combined(30, "GET /ws", 101), combined(30, "GET /gone", 404), "started"}
	p, got := replayOf(t, How{Host: "other.example"}, lines...)
	if d := cmp.Diff([]string{"0s GET /gone", "500ms GET /2", "500.000001ms GET /3", "500.000002ms GET /4"}, got); d != "" {
		t.Error(d)
	}
	want := []Count{{"PATCH, whose body is not in the log", 2}, {"DELETE, whose body is not in the log", 1}, {reasonUpgrade, 1}, {reasonUnknown, 1}, {reasonRequest, 1}, {reasonTime, 1}}
	if d := cmp.Diff(want, p.Skipped); d != "" {
		t.Error(d)
	}
	if p.Lines != 12 || p.Sent != 4 || p.Host != "b.example" || p.Failed != 1 || !slices.Equal(p.Dropped, []Count{{"a.example", 1}}) {
		t.Errorf("%+v", p)
	}
	if p, got := replayOf(t, How{Host: "A.example"}, lines...); p.Host != "a.example" || len(got) != 3 || !slices.Equal(p.Dropped, []Count{{"b.example", 2}}) {
		t.Errorf("%+v", p)
	}
}

// Requests are counted by route; those beyond the most frequent routes together.
func TestKindsOfAReplay(t *testing.T) {
	p, _ := replayOf(t, How{Kinds: 3}, envoy("30.1", "GET /users/1"), envoy("30.2", "GET /users/2"), envoy("30.3", "GET /"), envoy("30.3", "GET /"), envoy("30.3", "GET /"), envoy("30.4", "GET /x"), envoy("30.5", "HEAD /x"), envoy("30.6", "GET /y"))
	want := []Kind{{"GET /users/{id}", "GET", "/users/{id}", 2}, {"GET /", "GET", "/", 3}, {others, "GET", "/", 2}, {others, "HEAD", "/", 1}}
	if d := cmp.Diff(want, p.Kinds); d != "" {
		t.Error(d)
	}
}

func TestLogsThatCannotBeReplayed(t *testing.T) {
	for name, c := range map[string]struct{ log, want string }{
		"no request":  {"started\n", "no request can be replayed: 1 of 1 lines are left out, 1 " + reasonUnknown},
		"other bytes": {combined(1, "POST /", 200), "no request can be replayed: 1 of 1 lines are left out, 1 POST, whose body is not in the log"},
		"nothing":     {"", "it is empty"},
	} {
		if _, err := ReadLog(strings.NewReader(c.log)); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	log := strings.Join([]string{envoy("30.1", "GET /a"), envoy("30.2", "GET /bc"), envoy("30.3", "GET /a")}, "\n")
	for want, b := range map[string]bounds{
		"it has more than 2 requests; replay a part of it":                         {2, 2, 5},
		"it has more than 1 different paths; replay a part of it":                  {3, 1, 5},
		"its different paths have more than 4 bytes together; replay a part of it": {3, 2, 4},
		"": {3, 2, 5},
	} {
		if _, err := readLog(strings.NewReader(log), b); err == nil && want != "" || err != nil && err.Error() != want {
			t.Errorf("%+v: %v", b, err)
		}
	}
}
