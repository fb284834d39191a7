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

	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/platform/meter"
)

// host describes this machine. Facts that cannot be read are left out, and so are the
// versions of its runtimes unless they are wanted.
func host(ctx context.Context, runtimes bool) record.Host {
	h := record.Host{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: cpuCount(), Runtimes: map[string]string{"go": runtime.Version()}}
	if runtimes {
		addRuntimes(ctx, h.Runtimes)
	}
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

// addRuntimes runs each installed runtime for its version. A runtime that does not answer
// within a second is left out.
func addRuntimes(ctx context.Context, found map[string]string) {
	commands := map[string][]string{
		"node":    {"node", "--version"},
		"bun":     {"bun", "--version"},
		"deno":    {"deno", "--version"},
		"java":    {"java", "-version"},
		"python":  {"python3", "--version"},
		"dotnet":  {"dotnet", "--version"},
		"go-tool": {"go", "env", "GOVERSION"},
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	var mu sync.Mutex
	var all sync.WaitGroup
	for name, words := range commands {
		all.Go(func() {
			c := exec.CommandContext(ctx, words[0], words[1:]...)
			c.Dir = "/"                                       // not the version that a project selects
			c.Env = append(os.Environ(), "GOTOOLCHAIN=local") // no download
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
}

// kernelHZ is the kernel's CONFIG_HZ, which determines by how much a CPU can overrun its
// quota; nil if the kernel's configuration cannot be read.
func kernelHZ(release string) *int {
	text, err := os.ReadFile("/boot/config-" + release)
	if err != nil {
		if text, err = gunzip("/proc/config.gz"); err != nil {
			return nil
		}
	}
	_, value, _ := bytes.Cut(text, []byte("\nCONFIG_HZ="))
	value, _, _ = bytes.Cut(value, []byte("\n"))
	n, err := strconv.Atoi(string(value))
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

// cgroupVersion is "v2", "v1", "hybrid" (v1 controllers beside a v2 hierarchy) or "",
// from the types of mounts in cgroups(7).
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

// ownCPU is the CPU time of this process, in seconds.
func ownCPU() float64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// cpuCount is the number of online CPUs of this machine.
func cpuCount() int {
	if t, err := meter.ReadHost(); err == nil {
		return t.CPUs
	}
	return runtime.NumCPU()
}
