package guard

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/cgroup"
)

// ancestor is a group above that of a replica, whose limit also applies to the replica.
// Nobody states what it is, so it may have any when the trial begins, and may be raised.
type ancestor struct {
	of    cgroup.Controller
	dir   string
	limit func(dir string) (is bound, known bool)
	was   bound
}

// bound is the limit of an ancestor.
type bound struct {
	what  string  // as in "CPU limit"
	value float64 // comparable; 0: none
	text  string
}

// boundsOf are the readers of the limits of a controller.
func boundsOf(v cgroup.Version, c cgroup.Controller) []func(dir string) (bound, bool) {
	switch v1 := v == cgroup.V1; {
	case c == cgroup.CPU && v1:
		return []func(string) (bound, bool){cpuBound("cpu.cfs_quota_us", "cpu.cfs_period_us")}
	case c == cgroup.CPU:
		return []func(string) (bound, bool){cpuBound("cpu.max")}
	case c == cgroup.Memory && v1:
		return []func(string) (bound, bool){memoryBound("memory.limit_in_bytes")}
	case c == cgroup.Memory:
		return []func(string) (bound, bool){memoryBound("memory.max"), memoryBound("memory.high")}
	}
	return nil
}

func cpuBound(files ...string) func(string) (bound, bool) {
	return func(dir string) (bound, bool) {
		var words []string
		for _, name := range files {
			text, err := os.ReadFile(path.Join(dir, name))
			if err != nil {
				return bound{}, false
			}
			words = append(words, strings.Fields(string(text))...)
		}
		b := bandwidthOf(words)
		return bound{what: "CPU limit", value: b.CPUs(), text: b.String()}, true
	}
}

func memoryBound(file string) func(string) (bound, bool) {
	return func(dir string) (bound, bool) {
		text, err := os.ReadFile(path.Join(dir, file))
		if err != nil {
			return bound{}, false
		}
		n := memoryOf(string(text))
		return bound{what: "memory limit", value: float64(n), text: bytesOf(n)}, true
	}
}

// ascend remembers the limits of a controller in the groups above a directory, up to the
// first that has none: the highest group, or that of a container, above which nothing can
// be seen.
func (g *Limits) ascend(v cgroup.Version, c cgroup.Controller, dir string) {
	if slices.ContainsFunc(g.above, func(a ancestor) bool { return a.of == c && a.dir == path.Dir(dir) }) {
		return // of the group's last life
	}
	for _, limit := range boundsOf(v, c) {
		for above := path.Dir(dir); ; above = path.Dir(above) {
			was, known := limit(above)
			if !known {
				break
			}
			g.above = append(g.above, ancestor{of: c, dir: above, limit: limit, was: was})
		}
	}
}

// lowered describes that the limit of an ancestor is lower than it was; "" if it is not, or
// cannot be read.
func (a *ancestor) lowered() string {
	is, known := a.limit(a.dir)
	if !known || is.value == 0 || a.was.value != 0 && is.value >= a.was.value {
		return ""
	}
	return fmt.Sprintf("the %s of %s, above its control group, was lowered from %s to %s", is.what, a.dir, a.was.text, is.text)
}
