package proc

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"
)

// line is a line of /proc/PID/stat of a process that used 200 ticks.
func line(name string, state byte, flags int) string {
	return fmt.Sprintf("42 (%s) %c 7 2 2 0 -1 %d 1 2 3 4 150 50 0 0 20 0 9 0 4242 123456 789 18446744073709551615 1\n", name, state, flags)
}

func TestParseStat(t *testing.T) {
	for _, c := range []struct{ situation, name string }{
		{"plain", "api"},
		{"space", "a b"},
		{"brackets", "x) S ("},
		{"only-bracket", ")"},
		{"smiley", ":) ) (x"},
		{"empty-name", ""},
		{"newline", "a\nb"},
	} {
		t.Run(c.situation, func(t *testing.T) {
			got, err := ParseStat([]byte(line(c.name, 'R', 0x40)))
			want := Stat{Name: c.name, State: 'R', Parent: 7, Session: 2, Ticks: 200, Threads: 9, Started: 4242, Resident: 789}
			if err != nil || got != want {
				t.Errorf("got %+v, %v; want %+v", got, err, want)
			}
			if got.Used() != 2*time.Second {
				t.Errorf("used %v, want 2s", got.Used())
			}
		})
	}
}

func TestParseStatMalformed(t *testing.T) {
	for situation, text := range map[string]string{
		"empty":         "",
		"no-bracket":    "7 x) S 1",
		"no-end":        "7 (x",
		"no-fields":     "7 (x)",
		"few-fields":    "7 (x) S 1 2 3",
		"short-by-one":  "42 (x) S 1 2 2 0 -1 4194560 1 2 3 4 150 50 0 0 20 0 9 0 100 123456",
		"no-number":     "42 (x) S 1 2 2 0 -1 4194560 1 2 3 4 x 50 0 0 20 0 9 0 100 123456 789 1",
		"negative-time": "42 (x) S 1 2 2 0 -1 4194560 1 2 3 4 -1 50 0 0 20 0 9 0 100 123456 789 1",
		"long-state":    "42 (x) SS 1 2 2 0 -1 4194560 1 2 3 4 1 50 0 0 20 0 9 0 100 123456 789 1",
	} {
		t.Run(situation, func(t *testing.T) {
			if got, err := ParseStat([]byte(text)); err == nil {
				t.Errorf("%q: got %+v, want an error", text, got)
			}
		})
	}
}

func TestStatOfAnEndingProcess(t *testing.T) {
	for _, c := range []struct {
		situation string
		state     byte
		flags     int
		gone      bool
	}{
		{"running", 'R', 0, false},
		{"sleeping", 'S', 0x40, false},
		{"exiting", 'R', flagExiting, true},
		{"zombie", 'Z', 0, true},
		{"dead", 'X', flagExiting, true},
	} {
		t.Run(c.situation, func(t *testing.T) {
			s, err := ParseStat([]byte(line("x", c.state, c.flags)))
			if err != nil || s.Gone() != c.gone {
				t.Errorf("gone %v, %v; want %v", s.Gone(), err, c.gone)
			}
		})
	}
}

func TestStatOfAKernelThread(t *testing.T) {
	s, err := ParseStat([]byte(line("kthreadd", 'S', flagKernel|0x40)))
	if err != nil || !s.Kernel {
		t.Errorf("got %+v, %v; want a kernel thread", s, err)
	}
}

func TestParseStatOfThisProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux's /proc")
	}
	text, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		t.Fatal(err)
	}
	s, err := ParseStat(text)
	if err != nil || s.Parent != os.Getppid() || s.Threads < 1 || s.Resident < 1 || s.Started == 0 || s.Kernel || s.Gone() {
		t.Errorf("%q: got %+v, %v", text, s, err)
	}
}

func TestParseArgs(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                  nil,
		"\x00\x00":                          nil,
		"node\x00server.js\x00\x00":         {"node", "server.js"},
		"/bin/api\x00":                      {"/bin/api"},
		"node\x00\x00a b\x00":               {"node", "", "a b"},
		"nginx: master process\x00\x00\x00": {"nginx: master process"},
	} {
		if got := ParseArgs([]byte(text)); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestCountCPUs(t *testing.T) {
	for list, want := range map[string]int{
		"0": 1, "0\n": 1, "0-1": 2, "0-7\n": 8, "0-3,8,10-11": 7,
		"": 0, "max": 0, "x": 0, "3-1": 0, "0-": 0, "0-99999": 0, "0-99999999": 0, "0-65535,0-65535": 0,
	} {
		if got := CountCPUs(list); got != want {
			t.Errorf("%q: got %d, want %d", list, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(line("a) (b", 'S', 0)))
	f.Add([]byte("17 (a) R (b ) Z 1 2 3"))
	f.Add([]byte("java\x00-cp\x00"))
	f.Add([]byte("0-3,8,10-11"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if s, err := ParseStat(text); err == nil && (s.Used() < 0 || s.Parent < 0 || s.Threads < 0 || s.Resident < 0) {
			t.Errorf("%q: %+v", text, s)
		}
		ParseArgs(text)
		if n := CountCPUs(string(text)); n < 0 || n > maxCPUs {
			t.Errorf("%q: %d CPUs", text, n)
		}
	})
}
