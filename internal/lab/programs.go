package lab

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/record"
)

// Programs are where millicore's programs lie: beside one another.
type Programs struct {
	Dir string
}

// FindPrograms looks beside the running program.
func FindPrograms() (Programs, error) {
	self, err := os.Executable()
	if err != nil {
		return Programs{}, fmt.Errorf("find millicore's programs: %w", err)
	}
	if self, err = filepath.EvalSymlinks(self); err != nil {
		return Programs{}, fmt.Errorf("find millicore's programs: %w", err)
	}
	return Programs{Dir: filepath.Dir(self)}, nil
}

// Path gives the path of a program that must be there.
func (p Programs) Path(name string) (string, error) {
	path := filepath.Join(p.Dir, name)
	if _, err := exec.LookPath(path); err != nil {
		return "", fmt.Errorf("find %s: it is not beside millicore in %s; `make build` puts all programs into bin/", name, p.Dir)
	}
	return path, nil
}

// workloads are the sample services: the program, and how it is told where to
// listen.
var workloads = map[string][]string{
	"go": {"millicore-go", "--host", "${host}", "--port", "${port}"},
}

// command gives the command that runs a service.
func (p Programs) command(s *experiment.Service) ([]string, error) {
	if s.Workload == "" {
		return s.Command, nil
	}
	words, ok := workloads[s.Workload]
	if !ok {
		return nil, fmt.Errorf("start service %q: no sample service is named %q", s.Name, s.Workload)
	}
	path, err := p.Path(words[0])
	if err != nil {
		return nil, err
	}
	return append([]string{path}, words[1:]...), nil
}

// facts describes the machine. What cannot be found out is left out.
func (p Programs) facts(ctx context.Context) record.Host {
	h := record.Host{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: cpuCount(), Runtimes: runtimes(ctx, p)}
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

// runtimes asks each runtime that is found for its version; one that does not
// answer within a second is left out.
func runtimes(ctx context.Context, p Programs) map[string]string {
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
			out, err := exec.CommandContext(ctx, words[0], words[1:]...).CombinedOutput()
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
