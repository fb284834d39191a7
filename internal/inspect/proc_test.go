package inspect

import (
	"strings"
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	for _, name := range []string{"api", "a b", "x) S (", ")", "", "a\nb"} {
		got, err := parseStat([]byte(statLine(7, name, 'R', 3, kernelThread|0x40)))
		want := stat{name: name, state: 'R', parent: 3, kernel: true, used: 3 * time.Second, threads: 3, started: 4242}
		if err != nil || got != want {
			t.Errorf("%q: got %+v, %v", name, got, err)
		}
	}
	for _, text := range []string{"", "7 (x", "7 x) S 1", "7 (x) S 1 2 3", strings.Replace(statLine(7, "x", 'R', 3, 0), " 250 ", " -1 ", 1)} {
		if got, err := parseStat([]byte(text)); err == nil {
			t.Errorf("%q: got %+v", text, got)
		}
	}
}

func TestAProcessThatEndsIsGoneBeforeItsStateTells(t *testing.T) {
	for _, tt := range []struct {
		state byte
		flags int
		gone  bool
	}{{'R', 0, false}, {'S', 0x40, false}, {'R', exiting, true}, {'Z', 0, true}, {'X', exiting, true}} {
		s, err := parseStat([]byte(statLine(7, "x", tt.state, 0, tt.flags)))
		if err != nil || s.gone() != tt.gone {
			t.Errorf("state %c, flags %#x: gone %v, %v", tt.state, tt.flags, s.gone(), err)
		}
	}
}

func TestParseOnline(t *testing.T) {
	for text, want := range map[string]int{"0\n": 1, "0-7\n": 8, "0-3,8,10-11": 7, "": 0, "max": 0, "3-1": 0, "0-": 0, "0-99999999": 0} {
		if got := parseOnline([]byte(text)); got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
}

func TestParseUptime(t *testing.T) {
	for text, want := range map[string]time.Duration{"350735.5 234388.90\n": 350735*time.Second + 500*time.Millisecond, "": 0, "x 1": 0, "-1 0": 0, "NaN 0": 0, "1e99 0": 0} {
		if got := parseUptime([]byte(text)); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

func TestParseUser(t *testing.T) {
	for text, want := range map[string]int{"Uid:\t0\t1000\t0\t0\n": 1000, "Name:\tx\nUid:\t5\t6\t7\t8": 6, "Uid:\t0\n": -1, "Uid:\tx y": -1, "": -1} {
		if got := parseUser([]byte(text)); got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
}

// FuzzProc gives the parsers of /proc foreign bytes.
func FuzzProc(f *testing.F) {
	f.Add([]byte(statLine(7, "a) (b", 'S', 1, 0)))
	f.Add([]byte("Uid:\t0\t0\t0\t0\n"))
	f.Add([]byte("0::/system.slice/docker-" + dockerID + ".scope\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if s, err := parseStat(text); err == nil && (s.used < 0 || s.parent < 0) {
			t.Errorf("%q: %+v", text, s)
		}
		if n := parseOnline(text); n < 0 {
			t.Errorf("%q: %d CPUs", text, n)
		}
		if parseUser(text) < -1 {
			t.Errorf("%q: a user below none", text)
		}
		if in := (containers{}).of(string(text)); in.id != "" && in.name != in.id[:12] {
			t.Errorf("%q: %+v", text, in)
		}
		parseCommand(text)
		telling(text)
	})
}
