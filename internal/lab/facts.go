package lab

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/internal/record"
)

// facts describes the machine. What cannot be found out is left out.
func facts(ctx context.Context) record.Host {
	h := record.Host{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: cpuCount(), Runtimes: runtimeVersions(ctx)}
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		h.Kernel = unix.ByteSliceToString(u.Release[:])
	}
	if data, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		h.CPUModel = firstMatch(`(?m)^model name\s*:\s*(.+)$`, string(data))
	}
	if data, err := os.ReadFile("/proc/meminfo"); err == nil {
		if kb, err := strconv.ParseInt(firstMatch(`(?m)^MemTotal:\s*(\d+) kB`, string(data)), 10, 64); err == nil {
			bytes := kb << 10
			h.Memory = &bytes
		}
	}
	h.HZ = kernelHZ(h.Kernel)
	h.Cgroup = cgroupVersion()
	return h
}

func firstMatch(pattern, text string) string {
	if m := regexp.MustCompile(pattern).FindStringSubmatch(text); m != nil {
		return strings.TrimSpace(m[1])
	}
	return ""
}

// runtimeVersions asks each runtime that is found for its version; one that does not
// answer within a second is left out.
func runtimeVersions(ctx context.Context) map[string]string {
	ask := map[string][]string{
		"node":    {"node", "--version"},
		"bun":     {"bun", "--version"},
		"deno":    {"deno", "--version"},
		"java":    {"java", "-version"},
		"python":  {"python3", "--version"},
		"dotnet":  {"dotnet", "--version"},
		"go-tool": {"go", "env", "GOVERSION"},
	}
	found := map[string]string{"go": runtime.Version()} // what the programs here were built with
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	var mu sync.Mutex
	var all sync.WaitGroup
	for name, words := range ask {
		all.Go(func() {
			c := exec.CommandContext(ctx, words[0], words[1:]...)
			c.Dir = "/"                                       // no project's own versions
			c.Env = append(os.Environ(), "GOTOOLCHAIN=local") // nothing is fetched
			c.WaitDelay = 100 * time.Millisecond              // a wrapper's child may keep the pipe
			out, err := c.CombinedOutput()
			if err != nil {
				return
			}
			line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
			if version := firstMatch(`(\d+\.\d+[\w.+-]*)`, line); version != "" {
				mu.Lock()
				found[name] = version
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return found
}

// kernelHZ is the kernel's CONFIG_HZ, which sets by how much a CPU can overrun
// its quota; nil where the kernel's configuration cannot be read.
func kernelHZ(release string) *int {
	text, err := os.ReadFile("/boot/config-" + release)
	if err != nil {
		if text, err = gunzip("/proc/config.gz"); err != nil {
			return nil
		}
	}
	n, err := strconv.Atoi(firstMatch(`(?m)^CONFIG_HZ=(\d+)$`, string(text)))
	if err != nil {
		return nil
	}
	return &n
}

func gunzip(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(z, 16<<20))
}

// cgroupVersion tells "v2", "v1", "hybrid" (v1 controllers beside a v2
// hierarchy) or "" from the mounts, as cgroups(7) names their types.
func cgroupVersion() string {
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return ""
	}
	var v1, v2 bool
	for line := range bytes.Lines(mounts) {
		if f := bytes.Fields(line); len(f) > 2 {
			v1 = v1 || string(f[2]) == "cgroup"
			v2 = v2 || string(f[2]) == "cgroup2"
		}
	}
	switch {
	case v1 && v2:
		return "hybrid"
	case v1:
		return "v1"
	case v2:
		return "v2"
	}
	return ""
}
