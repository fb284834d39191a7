package inspect

import (
	"cmp"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/host/proc"
)

// leader is the process of a thread: /proc has directories for threads, although it
// does not list them. It returns pid itself if there is no such process.
func (s *Scanner) leader(pid int) int {
	status, err := s.read(pid, "status")
	if err != nil {
		return pid
	}
	return cmp.Or(proc.ParseStatus(status).Leader, pid)
}

// parseUptime parses uptime (proc_uptime(5)), in seconds since the boot; 0 if it is
// malformed.
//
//	350735.47 234388.90
func parseUptime(text []byte) time.Duration {
	seconds, _, _ := strings.Cut(string(text), " ")
	n, err := strconv.ParseFloat(seconds, 64)
	if err != nil || !(n > 0 && n < 1e9) {
		return 0
	}
	return time.Duration(n * float64(time.Second))
}

// pids returns the pids of all processes.
func (s *Scanner) pids() ([]int, error) { return proc.PIDsIn(s.procDir()) }

func (s *Scanner) procDir() string { return filepath.Join(s.root, "/proc") }

func (s *Scanner) path(pid int, name string) string { return s.procfs.Path(pid, name) }

func (s *Scanner) read(pid int, name string) ([]byte, error) { return s.procfs.Read(pid, name) }

func (s *Scanner) stat(pid int) (proc.Stat, error) {
	text, err := s.read(pid, "stat")
	if err != nil {
		return proc.Stat{}, err
	}
	return proc.ParseStat(text)
}
