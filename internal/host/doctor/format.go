package doctor

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/host/inspect"
)

// Quantity writes CPUs as Kubernetes does: 2, 1500m.
func Quantity(cpus float64) string {
	millis := int64(math.Round(cpus * 1000))
	if millis%1000 == 0 {
		return strconv.FormatInt(millis/1000, 10)
	}
	return strconv.FormatInt(millis, 10) + "m"
}

// millis writes a time in milliseconds.
func millis(d time.Duration) string {
	return display.Figure(float64(d)/float64(time.Millisecond)) + " ms"
}

func seconds(d time.Duration) string {
	return strconv.FormatFloat(math.Round(d.Seconds()*10)/10, 'f', -1, 64) + " s"
}

// Mebibytes writes a size as Kubernetes does: 256Mi.
func Mebibytes(bytes int64) string {
	if bytes%(1<<20) != 0 {
		return strconv.FormatInt(bytes, 10)
	}
	return strconv.FormatInt(bytes>>20, 10) + "Mi"
}

// BurstFile is the file of the CPU burst, in microseconds.
func BurstFile(s *inspect.Process) string {
	if s.CPU.Version == 1 {
		return s.CPU.Dir + "/cpu.cfs_burst_us"
	}
	return s.CPU.Dir + "/cpu.max.burst"
}

// Requests are the CPU requests that the weight of the group can stand for.
func Requests(s *inspect.Process) string {
	var all []string
	for _, r := range s.Requests {
		all = append(all, Quantity(r))
	}
	return strings.Join(all, " or ") + " (from the weight of its group)"
}
