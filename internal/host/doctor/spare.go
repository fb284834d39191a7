package doctor

import (
	"fmt"
	"math"
	"time"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/experiment/span"
	"github.com/millicore/millicore/internal/host/inspect"
)

const (
	// watchedLong is the length of a watch from which doctor says what was never used. A peak
	// of the week needs a watch of the week.
	watchedLong = 10 * time.Minute
	// spareFrom is the ratio of a limit or request to what the busiest second used from which it
	// is far above, and room what a smaller one leaves for a peak that the watch did not see.
	spareFrom, room = 2.5, 1.3
	// leastSpare is the least that is worth freeing, in CPUs, and leastMemory in bytes.
	leastSpare, leastMemory = 0.2, 64 << 20
)

// spareCPU is the finding about a group whose limit, or request, is far above what it used in
// the busiest second of a long watch. It is an observation: a request reserves CPUs for it, a
// limit reserves nothing.
func (s service) spareCPU() []Finding {
	t := s.Throttling
	if t == nil || t.Watch == nil || t.Course == nil || t.Watch.Length < watchedLong || t.Watch.Throttled > 0 || t.Course.Highest <= 0 {
		return nil
	}
	highest := t.Course.Highest
	enough := math.Ceil(10*room*highest-1e-9) / 10
	title := func(what string, has float64) string {
		return fmt.Sprintf("%s of %s: its busiest second of %s used %.2f CPUs", what, display.CPULimit(has), span.Text(t.Watch.Length.Round(time.Second)), highest)
	}
	f := s.finding(Info, SpareCPU)
	f.Evidence = []string{s.limited(), s.counted()}
	if len(s.Requests) > 0 && s.Requests[0] >= spareFrom*highest && s.Requests[0]-enough >= leastSpare {
		f.Title = title("CPU request", s.Requests[0]) + fmt.Sprintf("; a request of %s would free %s of the node", display.CPULimit(enough), display.CPULimit(s.Requests[0]-enough))
		return []Finding{f}
	}
	if s.CPU.CPUs < spareFrom*highest || s.CPU.CPUs-enough < leastSpare {
		return nil
	}
	f.Title = title("CPU limit", s.CPU.CPUs) + fmt.Sprintf("; a limit of %s would have held all of them", display.CPULimit(enough))
	return []Finding{f}
}

// spareMemory is the finding about a group that never used half of its memory limit, page
// cache included, since it was created.
func spareMemory(host inspect.Host) (all []Finding) {
	if host.Watched < watchedLong {
		return nil
	}
	for _, s := range byGroup(host, func(p inspect.Process) (string, bool) {
		return p.Memory.SetBy, p.Memory.State == inspect.Limited && p.Memory.Peak != nil
	}) {
		peak := *s.Memory.Peak
		enough := roundMiB(int64(room * float64(peak)))
		if float64(s.Memory.Limit) < spareFrom*float64(peak) || s.Memory.Limit-enough < leastMemory || peak <= 0 {
			continue
		}
		f := s.ofMemory(Info, SpareMemory)
		f.Title = fmt.Sprintf("memory limit of %s: since the group was created it used at most %s, page cache included; a limit of %s would free %s",
			size(s.Memory.Limit), size(peak), size(enough), size(s.Memory.Limit-enough))
		f.Evidence = s.inUse()
		all = append(all, f)
	}
	return all
}
