package top

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/host/doctor"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/paragraphs"
	"github.com/millicore/millicore/internal/host/runtimes"
)

// seen is a look at a service, so many seconds after the first.
func seen(name string, second int, throttled, periods int64, used time.Duration) inspect.Seen {
	p := inspect.Process{
		PID: 100 + int(name[0]), Name: name, Command: []string{"/app/" + name},
		Info: runtimes.Info{
			Runtime: runtimes.Go, Version: "go1.26.8", Affinity: 8, Go: &runtimes.GoFacts{Aware: true},
			Parallelism: runtimes.Parallelism{Value: 8, Source: runtimes.Read}, Env: map[string]string{"GOMAXPROCS": "8"},
		},
		CPU: inspect.CPULimit{State: inspect.Limited, CPUs: 2, Own: 2, Period: 100 * time.Millisecond, Group: "/" + name, SetBy: "/" + name, Dir: "/cg/" + name},
	}
	return inspect.Seen{
		Dir: "/cg/" + name, At: time.Unix(int64(1000+second), 0), Processes: []inspect.Process{p},
		Counts: inspect.Counts{Periods: periods, Throttled: throttled, Stopped: time.Duration(throttled) * 40 * time.Millisecond, Used: &used},
	}
}

func names(all []*Service) string {
	var list []string
	for _, s := range all {
		list = append(list, s.Name)
	}
	return strings.Join(list, " ")
}

// three are a throttled service, one that is stopped for longer but less often,
// and one that is not throttled and uses most.
func three() Services {
	all := Services{}
	all.Add([]inspect.Seen{seen("often", 0, 0, 0, 0), seen("long", 0, 0, 0, 0), seen("calm", 0, 0, 0, 0)})
	long := seen("long", 10, 10, 100, 5*time.Second)
	long.Counts.Stopped *= 3
	all.Add([]inspect.Seen{seen("often", 10, 38, 100, 8*time.Second), long, seen("calm", 10, 0, 100, 12*time.Second)})
	return all
}

func TestSorted(t *testing.T) {
	all := three()
	for order, want := range map[Order]string{
		ByThrottling: "often long calm", ByStop: "long often calm", ByCPU: "calm often long", ByName: "calm long often",
	} {
		if got := names(all.Sorted(order, "")); got != want {
			t.Errorf("by %s: got %s, want %s", order, got, want)
		}
		if parsed, ok := ParseOrder(order.String()); !ok || parsed != order {
			t.Errorf("%s is not read back", order)
		}
	}
	for filter, want := range map[string]string{"LONG": "long", "go 1.26": "often long calm", "/app/calm": "calm", "none": ""} {
		if got := names(all.Sorted(ByThrottling, filter)); got != want {
			t.Errorf("filter %q: got %q, want %q", filter, got, want)
		}
	}
	if _, ok := ParseOrder("size"); ok {
		t.Error("size is no order")
	}
}

func TestRecent(t *testing.T) {
	all := Services{}
	for second := range 40 {
		throttled := int64(0)
		if second >= 35 { // five of the last ten looks
			throttled = int64(second-34) * 4
		}
		all.Add([]inspect.Seen{seen("a", second, throttled, int64(10*second), time.Duration(second)*time.Second)})
	}
	s := all["/cg/a"]
	if c := s.Recent(); c.Periods != 100 || c.Throttled != 20 || c.Length != 10*time.Second || c.PerThrottled() != 40*time.Millisecond {
		t.Errorf("got %+v", c)
	}
	if used, ok := s.OfLimit(); !ok || used != 0.5 {
		t.Errorf("used %v of the limit, %t", used, ok)
	}
	if len(s.looks) != kept || s.Total.Periods != 390 {
		t.Errorf("%d looks, %+v", len(s.looks), s.Total)
	}
	all.Add([]inspect.Seen{seen("a", 40, 0, 3, 0)}) // created again: its counters restart
	if c := s.Recent(); c.Periods != 0 || len(s.looks) != 0 {
		t.Errorf("got %+v of a group that was created again", c)
	}
	all.Add(nil)
	if len(all) != 0 {
		t.Error("a service that is not there any more is forgotten")
	}
}

func TestUseThatIsNotMeasured(t *testing.T) {
	all := Services{}
	for second := range 2 {
		one := seen("a", second, 0, 10, 0)
		one.Counts.Used = nil
		all.Add([]inspect.Seen{one})
	}
	if used, ok := all["/cg/a"].OfLimit(); ok {
		t.Errorf("got %v", used)
	}
	if row := fitted(0, 0, screenDrops).row(all["/cg/a"], nil); !strings.Contains(row, display.Absent) {
		t.Errorf("what was not measured is not shown as a number: %s", row)
	}
}

func TestSparkline(t *testing.T) {
	s := &Service{}
	for _, throttled := range []int64{0, 1, 50, 99, 100} {
		s.looks = append(s.looks, inspect.Counts{Periods: 100, Throttled: throttled})
	}
	s.looks = append(s.looks, inspect.Counts{})
	if got := sparkline(s); got != "▁▂▅██·" {
		t.Errorf("got %s", got)
	}
}

// closely adds what is read of the services on the screen: 1.5 CPUs waited for, and 95% of the
// memory limit.
func closely(one inspect.Seen) inspect.Seen {
	waited, used := 1.5, int64(95<<20)
	one.Waited, one.Memory = &waited, &inspect.Memory{State: inspect.Limited, Limit: 100 << 20, Unreclaimable: &used}
	return one
}

// looks are looks that were made before.
type looks struct {
	list [][]inspect.Seen
	at   int
	err  error

	closely []string
}

func (l *looks) Closely(dirs []string) { l.closely = dirs }

func (l *looks) Look() ([]inspect.Seen, error) {
	if l.at == len(l.list) {
		return nil, l.err
	}
	l.at++
	return l.list[l.at-1], nil
}

// TestLines: at 80 columns whole fields are left out; the PID stays.
func TestLines(t *testing.T) {
	for columns, want := range map[string][]string{
		"130": {
			"TIME      SERVICE                         PID  RUNTIME          PAR/LIMIT     CPU   WAIT   MEM    THROTTLED   STOPPED",
			"often                           211  Go 1.26.8              8/2     40%   1.50   95%    38 of 100   40.0 ms  ▄",
			"calm                            199  Go 1.26.8              8/2     60%      –     –     0 of 100         –  ▁",
			"no process here is under a CPU limit",
		},
		"80": {
			"TIME      SERVICE                 PID  PAR/LIMIT    CPU   WAIT   MEM   THROTTLED",
			"often                   211        8/2    40%   1.50   95%   38 of 100",
			"calm                    199        8/2    60%      –     –    0 of 100",
			"no process here is under a CPU limit",
		},
	} {
		t.Run(columns, func(t *testing.T) {
			t.Setenv("COLUMNS", columns)
			var out bytes.Buffer
			end := errors.New("the end")
			watcher := &looks{err: end, list: [][]inspect.Seen{
				{seen("often", 0, 0, 0, 0), seen("calm", 0, 0, 0, 0)},
				{closely(seen("often", 10, 38, 100, 8*time.Second)), seen("calm", 10, 0, 100, 12*time.Second)},
				{},
			}}
			if err := Lines(context.Background(), &out, watcher, Options{Every: time.Millisecond}); !errors.Is(err, end) {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			if len(lines) != len(want) {
				t.Fatalf("got\n%s", out.String())
			}
			for i, line := range lines {
				if i > 0 {
					line = line[10:] // after the time
				}
				if line != want[i] {
					t.Errorf("line %d: got\n%q, want\n%q", i, line, want[i])
				}
			}
		})
	}
}

// A time too short for a second look has one at its end: nothing at all would say
// nothing.
func TestLinesOfAShortTime(t *testing.T) {
	var out bytes.Buffer
	watcher := &looks{err: errors.New("one too many"), list: [][]inspect.Seen{{}, {}}}
	err := Lines(context.Background(), &out, watcher, Options{Every: time.Hour, For: time.Millisecond, Of: "api"})
	if text := out.String(); err != nil || strings.Count(text, "\n") != 2 || !strings.Contains(text, `no process under a CPU limit is in a container "api"`) {
		t.Errorf("got %v\n%s", err, text)
	}
}

// What costs more is read of the services on the screen only.
func TestTheServicesOnTheScreenAreLookedAtClosely(t *testing.T) {
	watcher := &looks{}
	s := press(t)
	s.watcher = watcher
	var all []inspect.Seen
	for i := range 20 {
		all = append(all, seen(fmt.Sprintf("s%02d", i), 20, 0, 10, 0))
	}
	s.Update(tea.WindowSizeMsg{Width: 80, Height: 9}) // three rows
	s.Update(looked{seen: all})
	if diff := cmp.Diff([]string{"/cg/s00", "/cg/s01", "/cg/s02"}, watcher.closely); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// The findings are those of a scan as doctor makes it, about the chosen service only. The scan
// ends when they are closed, and another begins when it has ended.
func TestFindingsAreThoseOfDoctor(t *testing.T) {
	host := inspect.Host{Online: 8, Watched: 10 * time.Second}
	for _, name := range []string{"often", "calm"} {
		p := seen(name, 0, 0, 0, 0).Processes[0]
		counts := inspect.Counts{Length: 10 * time.Second, Periods: 100, Throttled: 90}
		p.Throttling = &inspect.Throttling{Since: counts, Watch: &counts}
		host.Processes = append(host.Processes, p)
	}
	var scans []context.Context
	s := press(t)
	s.scan = func(ctx context.Context, d time.Duration) (inspect.Host, error) {
		scans = append(scans, ctx)
		return host, nil
	}
	_, begin := s.Update(keyOf("enter"))
	if text := s.View().Content; !strings.Contains(text, "Watching often for 10 s, as millicore doctor does…") {
		t.Errorf("before the scan has ended:\n%s", text)
	}
	_, again := s.Update(begin())
	text := s.View().Content
	if !strings.Contains(text, "often (pid 211): parallelism 8 exceeds the limit of 2 CPUs: throttled in 90% of 100 periods") || strings.Contains(text, "calm") || again == nil {
		t.Errorf("got\n%s", text)
	}
	var want strings.Builder
	one := host
	one.Processes = host.Processes[:1]
	if err := paragraphs.Write(&want, one, doctor.Examine(host)[1:], s.terminal); err != nil || !strings.HasPrefix(text, strings.TrimRight(want.String(), "\n")) {
		t.Errorf("%v: want the text of doctor\n%s\ngot\n%s", err, want.String(), text)
	}
	late := again()
	s.Update(keyOf("esc"))
	if _, cmd := s.Update(late); cmd != nil || s.opened || len(scans) != 2 || scans[1].Err() == nil {
		t.Errorf("after they are closed: opened %v, %d scans", s.opened, len(scans))
	}
	s.Update(keyOf("enter"))
	s.Update(looked{seen: []inspect.Seen{seen("calm", 20, 40, 120, 9*time.Second)}}) // often has ended
	if s.opened {
		t.Error("opened after its end")
	}
}

// press presses keys, a word each, on a screen that has seen two looks.
func press(t *testing.T, keys ...string) *screen {
	t.Helper()
	s := newScreen(context.Background(), &looks{}, nil, Options{Every: time.Second}, display.Terminal{})
	s.Update(tea.WindowSizeMsg{Width: 130, Height: 20})
	s.Update(looked{seen: []inspect.Seen{seen("often", 0, 0, 0, 0), seen("calm", 0, 0, 0, 0)}})
	s.Update(looked{seen: []inspect.Seen{seen("often", 10, 38, 100, 8*time.Second), seen("calm", 10, 0, 100, 12*time.Second)}})
	for _, key := range keys {
		s.Update(keyOf(key))
	}
	return s
}

func keyOf(key string) tea.KeyPressMsg {
	special := map[string]rune{"up": tea.KeyUp, "down": tea.KeyDown, "enter": tea.KeyEnter, "esc": tea.KeyEscape, "backspace": tea.KeyBackspace, "end": tea.KeyEnd}
	if code, ok := special[key]; ok {
		return tea.KeyPressMsg{Code: code}
	}
	if key == "ctrl+c" {
		return tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}
	}
	return tea.KeyPressMsg{Code: []rune(key)[0], Text: key}
}

func TestScreen(t *testing.T) {
	tests := []struct {
		name      string
		keys      []string
		want, not string
	}{
		{"the table", nil, "1 of 2 services under a CPU limit throttled over the last 10 s; by throttling", "PAUSED"},
		{"the sorted column is marked", nil, "THROTTLED▾", "CPU▾"},
		{"the next column is marked", []string{"s", "s"}, "CPU▾", "THROTTLED▾"},
		{"what the table has no room for", nil, "pid 211, limit set by /often: /app/often", "pid 199,"},
		{"the first is chosen", nil, "▸ often", "▸ calm"},
		{"the next is chosen", []string{"down"}, "▸ calm", "▸ often"},
		{"no further than the last", []string{"down", "j", "end"}, "▸ calm", "▸ often"},
		{"and back", []string{"down", "up", "k"}, "▸ often", "▸ calm"},
		{"the cursor stays on its service", []string{"down", "s", "s", "s", "s"}, "▸ calm", "▸ often"},
		{"one that nobody moved stays at the top", []string{"s", "s"}, "▸ calm", "▸ often"},
		{"sorted by the next figure", []string{"s"}, "by stop", "by throttling"},
		{"a filter being typed", []string{"/", "c", "a"}, "/ca█", "  often "},
		{"a filter that is kept", []string{"/", "c", "a", "l", "x", "backspace", "enter"}, `only "cal"`, "often "},
		{"a filter that is taken back", []string{"/", "c", "esc"}, "▸ often", "only"},
		{"a filter that matches nothing", []string{"/", "z", "enter"}, `no service under a CPU limit matches "z"`, "often "},
		{"paused", []string{"p"}, "PAUSED: 1 of 2", ""},
		{"and on", []string{"p", "p"}, "by throttling", "PAUSED"},
		{"findings", []string{"enter"}, "Watching often for 10 s", "SERVICE"},
		{"and back to the table", []string{"enter", "esc"}, "SERVICE", "Watching"},
		{"keys of the table do nothing in the filter", []string{"/", "q", "s"}, "/qs█", "by stop"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			text := press(t, test.keys...).View().Content
			if !strings.Contains(text, test.want) || test.not != "" && strings.Contains(text, test.not) {
				t.Errorf("want %q and not %q in\n%s", test.want, test.not, text)
			}
			if lines := strings.Count(text, "\n") + 1; lines > 20 {
				t.Errorf("%d lines on a screen of 20", lines)
			}
		})
	}
}

// Whatever the width: the answer, the names, how often they are throttled; no line
// is longer than the terminal, and the columns stand under their heads.
func TestTheTableFits(t *testing.T) {
	for _, test := range []struct {
		width    int
		with, no []string
	}{
		{40, []string{"SERVICE", "PAR/LIMIT", "THROTTLED▾"}, []string{"PID", "STOPPED"}},
		{60, []string{"SERVICE", "PAR/LIMIT", "CPU", "WAIT", "MEM", "THROTTLED▾"}, []string{"PID", "RUNTIME", "STOPPED"}},
		{80, []string{"SERVICE", "RUNTIME", "PAR/LIMIT", "CPU", "WAIT", "MEM", "THROTTLED▾", "STOPPED"}, []string{"PID ", "▄"}},
		{100, []string{"SERVICE", "RUNTIME", "PAR/LIMIT", "CPU", "WAIT", "MEM", "THROTTLED▾", "STOPPED", "▄"}, nil},
		{140, []string{"cart-7d9fc0de-abcde/often"}, []string{"…"}},
	} {
		s := press(t)
		s.Update(tea.WindowSizeMsg{Width: test.width, Height: 24})
		for _, one := range s.services {
			if one.Name == "often" {
				one.Name, one.width = "cart-7d9fc0de-abcde/often", 25
			}
		}
		text := s.View().Content
		for _, want := range test.with {
			if !strings.Contains(text, want) {
				t.Errorf("width %d: %q is missing in\n%s", test.width, want, text)
			}
		}
		for _, no := range test.no {
			if strings.Contains(text, no) {
				t.Errorf("width %d: %q is in\n%s", test.width, no, text)
			}
		}
		if n := strings.Count(text, "\n") + 1; n != 24 {
			t.Errorf("width %d: %d lines", test.width, n)
		}
	}
	for width := 1; width < 250; width++ {
		for _, longest := range []int{0, 5, 33, 200} {
			if g := fitted(width, longest, screenDrops); g.total() > width && width > 36 {
				t.Errorf("width %d, names of %d: %d", width, longest, g.total())
			}
		}
		s := press(t)
		s.Update(tea.WindowSizeMsg{Width: width, Height: 24})
		if got := display.Width(s.View().Content); got > width {
			t.Errorf("width %d: a line of %d", width, got)
		}
	}
}

// A narrow sparkline shows the newest looks.
func TestANarrowSparkline(t *testing.T) {
	s := &Service{}
	for i := range kept {
		s.looks = append(s.looks, inspect.Counts{Periods: 10, Throttled: int64(i / (kept - 3) * 10)})
	}
	row := fitted(88, 5, screenDrops).row(s, nil)
	if !strings.HasSuffix(row, " ▁▁▁▁▁███") {
		t.Errorf("got %s", row)
	}
}

// The first line says the answer, and what there is where there is none yet.
func TestTheAnswer(t *testing.T) {
	one, two := []inspect.Seen{seen("calm", 0, 0, 0, 0)}, []inspect.Seen{seen("calm", 2, 0, 20, time.Second)}
	for _, test := range []struct {
		looks [][]inspect.Seen
		want  string
	}{
		{nil, "reading the processes of this host…"},
		{[][]inspect.Seen{one}, "1 service under a CPU limit; figures follow with the next reading"},
		{[][]inspect.Seen{one, two}, "1 service under a CPU limit, none throttled over the last 2.0 s; by throttling"},
		{[][]inspect.Seen{one, {}}, "no process here is under a CPU limit"},
	} {
		s := newScreen(context.Background(), &looks{}, nil, Options{Every: time.Second}, display.Terminal{})
		for _, look := range test.looks {
			s.Update(looked{seen: look})
		}
		if got := s.summary(); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

func TestLeaving(t *testing.T) {
	for _, keys := range [][]string{{"q"}, {"ctrl+c"}, {"enter", "q"}, {"/", "ctrl+c"}} {
		s := press(t, keys[:len(keys)-1]...)
		_, cmd := s.Update(keyOf(keys[len(keys)-1]))
		if cmd == nil {
			t.Errorf("%v: it goes on", keys)
			continue
		}
		if _, quit := cmd().(tea.QuitMsg); !quit {
			t.Errorf("%v: it goes on", keys)
		}
	}
}

// While it is paused nothing moves; afterwards nothing of what was counted
// meanwhile is lost.
func TestPaused(t *testing.T) {
	s := press(t, "p")
	before := s.View().Content
	s.Update(looked{seen: []inspect.Seen{seen("often", 11, 40, 110, 9*time.Second)}})
	if s.View().Content != before {
		t.Error("it moved while it was paused")
	}
	s.Update(keyOf("p"))
	s.Update(looked{seen: []inspect.Seen{seen("often", 12, 48, 120, 10*time.Second)}})
	if c := s.services["/cg/often"].Recent(); c.Throttled != 48 || c.Periods != 120 {
		t.Errorf("got %+v", c)
	}
}

func TestAScreenFullOfServices(t *testing.T) {
	s := press(t)
	var first, second []inspect.Seen
	for i := range 100 {
		name := fmt.Sprintf("%03d", i)
		first, second = append(first, seen(name, 0, 0, 0, 0)), append(second, seen(name, 1, int64(100-i), 100, time.Second))
	}
	s.Update(looked{seen: first})
	s.Update(looked{seen: second})
	for range 60 {
		s.Update(keyOf("down"))
	}
	text := s.View().Content
	if !strings.Contains(text, "▸ 060") || strings.Contains(text, " 000 ") || strings.Count(text, "\n") != 19 {
		t.Errorf("got\n%s", text)
	}
}

func TestALookThatFails(t *testing.T) {
	s := press(t)
	want := errors.New("no /proc")
	_, cmd := s.Update(looked{err: want})
	if !errors.Is(s.err, want) || cmd == nil {
		t.Errorf("got %v", s.err)
	}
}

// The whole program, without a terminal: it starts, and ends with its context.
func TestTheProgram(t *testing.T) {
	var out bytes.Buffer
	in, keys := io.Pipe()
	defer in.Close()
	go keys.Write([]byte("q"))
	list := make([][]inspect.Seen, 1000)
	for i := range list {
		list[i] = []inspect.Seen{seen("often", i, int64(4*i), int64(10*i), time.Second)}
	}
	err := Screen(context.Background(), in, &out, &looks{list: list}, nil, Options{Every: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
}
