package inspect

import (
	"cmp"
	"path/filepath"

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

// withWorkers returns a process, and those of all that are its children of the same name: its
// workers, whose work is its own.
func (s *Scanner) withWorkers(pid int, all []int) []int {
	own := []int{pid}
	main, err := s.stat(pid)
	if err != nil {
		return own
	}
	for _, child := range all {
		if st, err := s.stat(child); err == nil && child != pid && st.Parent == pid && st.Name == main.Name && !st.Gone() {
			own = append(own, child)
		}
	}
	return own
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
