package runtimes

import (
	"os"
	"testing"

	"github.com/millicore/millicore/internal/host/proc"
)

// FuzzProc passes the same arbitrary bytes to every parser of this package, and the
// results to decide.
func FuzzProc(f *testing.F) {
	for _, name := range []string{"cmdline", "environ", "maps", "status", "stat", "net/tcp"} {
		if text, err := os.ReadFile("/proc/self/" + name); err == nil {
			f.Add(text)
		}
	}
	f.Add([]byte("java\x00-cp\x00"))
	f.Add([]byte("JAVA_TOOL_OPTIONS=-XX:ActiveProcessorCount=99999999999\x00GOMAXPROCS=-1"))
	f.Fuzz(func(t *testing.T, text []byte) {
		e := Evidence{Args: proc.ParseArgs(text), Env: parseEnv(text), Mappings: parseMaps(text), Affinity: proc.ParseStatus(text).CPUs}
		for _, exe := range []string{"/usr/bin/java", "/usr/bin/python3", "/usr/sbin/nginx", "/usr/bin/deno", string(text)} {
			e.Exe = exe
			info := Decide(e)
			n, why := Default(info, LimitOf(1.5), Machine{Online: 2})
			if n < 0 || why == "" {
				t.Errorf("%s: %d %q", exe, n, why)
			}
			for _, set := range Settings(info, LimitOf(1.5), Machine{Online: 2}, e.Args) {
				if set.Label == "" {
					t.Errorf("%s: a setting without a label", exe)
				}
			}
		}
	})
}
