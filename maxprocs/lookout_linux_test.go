package maxprocs

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/maxprocs/internal/grouptest"
)

// reads is the number of system calls of this process that have read, so far.
func reads() (int, error) {
	data, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0, err
	}
	_, after, _ := bytes.Cut(data, []byte("syscr: "))
	line, _, _ := bytes.Cut(after, []byte("\n"))
	return strconv.Atoi(string(line))
}

// costOfLooks is what a child does: it counts the reads of looks in which nothing has
// changed, and what they allocate.
func costOfLooks() string {
	const looks = 1000
	l := &lookout{host: thisHost, tracker: thisHost.fs.Track(cgroup.CPU, math.MaxInt)} // never time to locate the group
	defer l.tracker.Close()
	l.look()
	files := l.tracker.Files()
	before, err := reads()
	for i := 0; i < looks; i++ {
		l.look()
	}
	after, err2 := reads()
	if err != nil || err2 != nil {
		return fmt.Sprint(err, err2)
	}
	allocations := testing.AllocsPerRun(looks, func() { l.look() })
	const own = 10 // of reading /proc/self/io, and of what else runs in this process
	return fmt.Sprintf("%d files, %v reads too many, %v allocations", files, max(0, after-before-looks*files-own), allocations)
}

// Following costs one read of an open file for each visible group on v2, and two on v1;
// nothing is opened, and the mounts are not searched.
func TestRealLookReadsOpenFiles(t *testing.T) {
	g := grouptest.New(t)
	g.Limit(t, 1.5)
	names := []string{"cpu.cfs_quota_us", "cpu.cfs_period_us"}
	if g.Version == cgroup.V2 {
		names = []string{"cpu.max"} // which the root has not
	}
	files := 0
	for _, dir := range []string{g.Dir, filepath.Dir(g.Dir)} {
		for _, name := range names {
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				files++
			}
		}
	}
	p := g.Start(t, nil)
	p.Want("looks", fmt.Sprintf("%d files, 0 reads too many, 0 allocations", files))
}
