package doctor

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/trial"
)

// millis writes a time in milliseconds.
func millis(d time.Duration) string {
	return display.Figure(float64(d)/float64(time.Millisecond)) + " ms"
}

func seconds(d time.Duration) string {
	return strconv.FormatFloat(math.Round(d.Seconds()*10)/10, 'f', -1, 64) + " s"
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
		all = append(all, trial.Quantity(r))
	}
	return strings.Join(all, " or ") + " (from the weight of its group)"
}
