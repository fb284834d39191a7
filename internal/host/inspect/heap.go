package inspect

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/host/caches"
	"github.com/millicore/millicore/internal/host/proc"
)

// Heap is the maximum heap size that a runtime reports about itself, in bytes.
type Heap struct {
	Max  int64
	From string // the file, in the process's own root
}

// mostPerfData bounds HotSpot's performance data, which have 32 KiB by default.
const mostPerfData = 1 << 20

// javaHeap reads the maximum heap size of a JVM from its performance data, which every
// process of its user may read: /tmp/hsperfdata_USER/PID, with the pid in the JVM's own
// pid namespace. nil if there is none (-XX:-UsePerfData, -XX:+PerfDisableSharedMem).
func (s *Scanner) javaHeap(pid, user int) *Heap {
	status, err := s.read(pid, "status")
	if err != nil {
		return nil
	}
	inner := cmp.Or(proc.ParseStatus(status).Inner, pid)
	names, _ := s.procfs.List(pid, "/tmp", 4096)
	for _, name := range names {
		if !strings.HasPrefix(name, "hsperfdata_") {
			continue
		}
		file := filepath.Join("/tmp", name, strconv.Itoa(inner))
		data, err := s.procfs.Within(pid, file, mostPerfData)
		if err != nil || data.Owner != user { // every user can make such a file in /tmp
			continue
		}
		if most, ok := caches.JavaHeap(data.Text); ok {
			return &Heap{Max: most &^ 4095, From: file} // collectors add some bytes
		}
	}
	return nil
}

// String names the figure and its source.
func (h Heap) String() string { return fmt.Sprintf("maximum heap size, read from %s", h.From) }
