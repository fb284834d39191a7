package supervise

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestBackoff(t *testing.T) {
	b := Backoff{First: time.Second}
	for i, life := range []struct{ ran, wait time.Duration }{
		{0, 1}, {0, 2}, {9, 4}, {10, 8}, {0, 10}, {0, 10}, // doubling to ten
		{11, 1}, {0, 2}, // a longer life than that begins again
	} {
		if wait := b.Next(life.ran * time.Second); wait != life.wait*time.Second {
			t.Errorf("death %d, after %v s: wait %v, want %v s", i, int(life.ran), wait, int(life.wait))
		}
	}
}

func TestTail(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"empty", "", ""},
		{"no end of line", "a\nb", "\n\ta\n\tb"},
		{"more lines than are shown", strings.Repeat("x\n", tailLines) + "last\n", strings.Repeat("\n\tx", tailLines-1) + "\n\tlast"},
		{"a line longer than is read", strings.Repeat("y", 2*tailBytes), "\n\t" + strings.Repeat("y", tailBytes)},
	} {
		t.Run(test.name, func(t *testing.T) {
			log, err := OpenLog(t.TempDir(), "x.log")
			if err != nil {
				t.Fatal(err)
			}
			defer log.File.Close()
			if _, err := log.File.WriteString(test.text); err != nil {
				t.Fatal(err)
			}
			if got := log.Tail(); got != test.want {
				t.Errorf("%.80q, want %.80q", got, test.want)
			}
		})
	}
}

// An error names the log only if it is there for the reader.
func TestExplainNamesNoFileThatIsRemoved(t *testing.T) {
	nothing := func() string { return "it ended with exit status 3" }
	for _, c := range []struct {
		name    string
		text    string
		removed bool
		names   bool
		want    string
	}{
		{"kept", "cannot bind\n", false, true, "\n\tcannot bind"},
		{"removed", "cannot bind\n", true, false, "; the end of its output:\n\tcannot bind"},
		{"removed and empty", "", true, false, "; it has no output"},
	} {
		t.Run(c.name, func(t *testing.T) {
			log, err := OpenLog(t.TempDir(), "x.log")
			if err != nil {
				t.Fatal(err)
			}
			defer log.File.Close()
			if _, err := log.File.WriteString(c.text); err != nil {
				t.Fatal(err)
			}
			log.Removed = c.removed
			got := log.Explain(t.Context(), ErrDied, nothing, nothing)
			if !errors.Is(got, ErrDied) || !strings.HasSuffix(got.Error(), c.want) || strings.Contains(got.Error(), log.File.Name()) != c.names {
				t.Errorf("%q, want %q at its end, and the name of the file: %v", got, c.want, c.names)
			}
		})
	}
}
