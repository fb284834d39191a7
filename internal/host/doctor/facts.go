package doctor

import (
	"fmt"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/data/display"
)

// finding returns a new finding about the service's process and its CPU limit.
func (s service) finding(level Level, rule Rule) Finding {
	confidence := Medium
	if level == Info {
		confidence = Low
	}
	f := Finding{Level: level, PID: s.PID, Name: s.Label(), Rule: rule, Limit: display.CPULimit(s.CPU.CPUs), Confidence: confidence, Process: &s.Process}
	if used, ok := s.used(); ok {
		f.Used = &used
	}
	if s.counts != nil {
		share := s.counts.Share()
		f.Throttled = &share
	}
	return f
}

// ofMemory returns a new finding about the service's process and its memory limit.
func (s service) ofMemory(level Level, rule Rule) Finding {
	f := s.finding(level, rule)
	f.Limit, f.Used, f.Throttled = size(s.Memory.Limit), nil, nil
	if used := s.Memory.Unreclaimable; used != nil && s.Memory.Limit > 0 {
		share := float64(*used) / float64(s.Memory.Limit)
		f.Used = &share
	}
	return f
}

// limited describes the limit and the group that sets it.
func (s service) limited() string {
	text := fmt.Sprintf("limit of %s (%s in each %s)", display.CPULimit(s.CPU.CPUs), millis(time.Duration(s.CPU.CPUs*float64(s.CPU.Period))), millis(s.CPU.Period))
	switch {
	case s.CPU.Inherited():
		text += fmt.Sprintf(" set by %s, above its own group %s", s.CPU.SetBy, s.CPU.Group)
	default:
		text += " set by its own group " + s.CPU.Group
	}
	if s.members > 1 {
		text += fmt.Sprintf(", shared by %d processes", s.members)
	}
	if len(s.Requests) > 0 {
		text += "; its CPU request is " + Requests(&s.Process)
	}
	if s.CPU.Hidden {
		text += "; parent groups are not visible from here, so the true limit may be lower"
	}
	return text
}

// counted describes the throttling over the watch and since the group was created.
func (s service) counted() string {
	var parts []string
	if w := s.Throttling.Watch; w != nil {
		text := fmt.Sprintf("watched for %s: %s", seconds(w.Length), periods(w.Throttled, w.Periods))
		if s.CPU.Period > 0 {
			text += fmt.Sprintf(" (%s elapsed)", display.Grouped(int64(w.Length/s.CPU.Period)))
		}
		if w.Throttled > 0 {
			text += ", " + stopped(w.PerThrottled())
		}
		if used, ok := s.used(); ok {
			text += fmt.Sprintf(", %s of the limit used", display.Share(used))
		}
		parts = append(parts, text)
		if text := s.varied(); text != "" {
			parts = append(parts, text)
		}
	}
	since := s.Throttling.Since
	text := "since the group was created: " + periods(since.Throttled, since.Periods)
	if since.Throttled > 0 {
		text += ", " + stopped(since.PerThrottled())
	}
	return strings.Join(append(parts, text), "; ")
}

// threaded describes what the threads of the process and its workers did over the watch,
// the pressure on the group, and the time that a hypervisor took; nil if nothing was
// read.
func (s service) threaded() []string {
	var all []string
	if units, part, whole := s.shortLived(); units != "" {
		all = append(all, fmt.Sprintf("%s, which started or ended during the watch, used %.2f of %.2f CPUs: how many ran at once is not known", units, part, whole))
	}
	t := s.threads
	if t == nil {
		return all
	}
	text := fmt.Sprintf("%s of %d used 5%% of a CPU or more: %.2f CPUs in use, %.2f waited for (throttled or in a run queue)",
		count(int64(t.Busy), "thread", "threads"), t.Read, t.CPUs(t.Ran), t.CPUs(t.Waited))
	if t.Full > 0 {
		text += fmt.Sprintf("; %d wanted a CPU all or almost all the time", t.Full)
	}
	if t.Truncated {
		text += "; there were more threads, which were not read"
	}
	if w := s.Throttling; w != nil && w.Watch != nil && w.Watch.Pressure != nil && w.Watch.Length > 0 {
		text += fmt.Sprintf("; CPU pressure (PSI) %s", display.Share(w.Watch.Pressure.Seconds()/w.Watch.Length.Seconds()))
	}
	if s.steal != nil && *s.steal >= noticeable {
		text += fmt.Sprintf("; a hypervisor took %s of the host's CPU time", display.Share(*s.steal))
	}
	return append(all, text)
}

func stopped(each time.Duration) string {
	return fmt.Sprintf("%s each, summed over the CPUs", millis(each))
}

func periods(throttled, of int64) string {
	return fmt.Sprintf("%s of %s periods throttled", display.Grouped(throttled), display.Grouped(of))
}
