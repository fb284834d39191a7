package program

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/millicore/millicore/test/testkit"
)

// oldGo is the last release series whose programs do not read the limit.
const oldGo = "go1.24.9"

// pool builds the server of docs/howto/roll-out.md with a release of Go, whose go.mod names it.
func pool(t *testing.T, release string) string {
	t.Helper()
	source, err := os.ReadFile("servers/pool/main.go")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"main.go": string(source), "go.mod": "module pool\n\ngo " + strings.TrimPrefix(release, "go") + "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command("go", "build", "-o", "pool", ".")
	c.Dir, c.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=", "GOTOOLCHAIN="+release)
	if out, err := c.CombinedOutput(); err != nil {
		t.Skipf("%s is not available: %s", release, out)
	}
	return filepath.Join(dir, "pool")
}

// TestAgainstAnotherGo: a server built with two releases of Go, which choose GOMAXPROCS by other
// rules. The new one is also measured with the parallelism of the old where that is another, and
// under the name of the setting. The try is interrupted when it begins to search.
func TestAgainstAnotherGo(t *testing.T) {
	needCgroups(t)
	const cpus = 2
	if runtime.NumCPU() != cpus {
		t.Skipf("the machine has %d CPUs, and these are choices on %d", runtime.NumCPU(), cpus)
	}
	for name, c := range map[string]struct {
		setting string   // of the old one
		want    []string // what is announced of the two, and of a third
	}{
		"Go 1.24 and a newer one choose the same on 2 CPUs": {
			want: []string{"old Go 1.24.9, parallelism 2 (read)"},
		},
		"Go 1.24 on 8 CPUs would choose 8": {
			setting: "env GOMAXPROCS=8 ",
			want:    []string{"old Go 1.24.9, parallelism 8 (read)", "new, GOMAXPROCS=8 the parallelism of the old one; its own is 2"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			record := filepath.Join(t.TempDir(), "record")
			p := exec.Command(filepath.Join(bin, "millicore"), "try", "--out", record, "--cpu", "1500m",
				"--against", c.setting+pool(t, oldGo), "--", pool(t, runtime.Version()))
			var said bytes.Buffer
			p.Stdout, p.Stderr = &said, &said
			testkit.Start(t, p)
			waitForFrames(t, record, 1)
			p.Process.Signal(os.Interrupt)
			p.Wait() // the test has interrupted it
			nothingLeft(t, p.Process.Pid)
			text := strings.Join(strings.Fields(said.String()), " ")
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("%s\nwant in it: %s", &said, want)
				}
			}
			if third := len(c.want) > 1; third != strings.Contains(text, " new, ") {
				t.Errorf("%s\nwant the new one with the parallelism of the old: %v", &said, third)
			}
		})
	}
}
