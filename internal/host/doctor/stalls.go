package doctor

import (
	"fmt"
	"strings"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/host/inspect"
)

const (
	// stalled is the share of the watch in which a thread was stalled for memory (PSI) from which
	// that is a finding. Reading a file of 300 MiB again and again under 64 MiB was 3%: page cache
	// is reclaimed at once. A writer that waited for the disk had 62%, and an eighth of its rate.
	stalled = 0.1
	// reread is the number of pages a second of programs and mapped files that were evicted and
	// read again from which that is a finding. Each takes about 0.1 ms from a local disk and 5 ms
	// from a turning one. A file of 26 MiB, mapped where the memory limit left 13 for it, had
	// 19,500, and a seven-hundredth of its rate.
	reread = 100
)

// stalls is the finding about a group that is at its memory limit or its memory.high, page
// cache included, and whose threads wait for memory. That a group is at its limit shows
// nothing: page cache grows to it, and the kernel drops that at once.
func (s service) stalls(host inspect.Host) []Finding {
	m := s.Memory
	if m.Over == nil || m.Over.Length <= 0 || m.Current == nil || float64(*m.Current) < near*float64(m.Limit) {
		return nil
	}
	at := "at its memory limit of " + size(m.Limit)
	if m.High {
		at = "at memory.high of " + size(m.Limit)
	}
	kept := 0.0 // the share that the kernel cannot drop
	if m.Unreclaimable != nil {
		kept = float64(*m.Unreclaimable) / float64(m.Limit)
	}
	f := s.ofMemory(Warning, StalledForMemory)
	some, measured := stallShare(m)
	switch {
	case some >= stalled:
		f.weight = some
		f.Title = fmt.Sprintf("%s: threads were stalled for memory for %s of the time", at, display.Share(some))
		if full := m.Over.Full; full != nil && full.Seconds()/m.Over.Length.Seconds() >= much {
			f.Level = Critical
		}
	case m.Over.Again() >= reread:
		f.weight = m.Over.Again() / reread
		f.Title = fmt.Sprintf("%s: it read %s pages a second again that had been evicted", at, display.Grouped(int64(m.Over.Again())))
	case m.High && !measured && kept >= near && m.Over.Held != nil && *m.Over.Held > 0:
		f.Title = fmt.Sprintf("%s: its processes were held up %s during the watch", at, count(*m.Over.Held, "time", "times"))
	default:
		return nil
	}
	f.Evidence = append(s.inUse(), s.heapSeen()...)
	if kept >= near { // of memory.high
		s.lessMemory(host, &f)
	} else { // the service's own memory leaves too little for files, so a bound of its heap does not act
		s.raiseFor(&f, kept)
	}
	f.Mechanism = "at the limit the kernel makes room before it gives more memory; threads wait meanwhile, and for what they use of the evicted pages"
	if m.High {
		f.Mechanism = "above memory.high the kernel reclaims memory and lets threads sleep that ask for more; it kills none"
	}
	f.Expect = Effect{Saturated: "more throughput", Ordinary: "fewer stops, lower p99"}
	return []Finding{f}
}

// raiseFor completes the finding about a group that is short of memory for files.
func (s service) raiseFor(f *Finding, kept float64) {
	raise := "raise the memory limit"
	if s.Memory.High {
		raise = "raise memory.high"
	} else {
		f.Changes = []Change{{Memory: roundMiB(s.Memory.Limit / 4 * 5)}}
		raise += " to " + size(f.Changes[0].Memory)
	}
	why := ", or use less memory: what it leaves is too little for its programs and files"
	if kept < 0.5 {
		why = ": most of it is page cache, which the service reads or writes faster than the kernel can make room"
	}
	f.Fix = []string{raise + why}
}

// stallShare is the share of the watch in which a thread was stalled for memory; ok is false if
// that was not measured.
func stallShare(m inspect.Memory) (share float64, ok bool) {
	if m.Over == nil || m.Over.Some == nil || m.Over.Length <= 0 {
		return 0, false
	}
	return m.Over.Some.Seconds() / m.Over.Length.Seconds(), true
}

// waited describes what the group waited for; "" if that was nothing.
func waited(m inspect.Memory) string {
	var parts []string
	if share, ok := stallShare(m); ok && share >= worth {
		text := "stalled for memory (PSI): " + display.Share(share) + " of the time"
		if full := m.Over.Full; full != nil {
			text += ", with all threads at once " + display.Share(full.Seconds()/m.Over.Length.Seconds())
		}
		parts = append(parts, text)
	}
	if m.Over != nil && m.Over.Again() >= 1 {
		parts = append(parts, fmt.Sprintf("%s pages a second of programs and mapped files evicted and read again", display.Grouped(int64(m.Over.Again()))))
	}
	if m.Over != nil && m.High && m.Over.Held != nil && *m.Over.Held > 0 {
		parts = append(parts, fmt.Sprintf("held up %s by memory.high", count(*m.Over.Held, "time", "times")))
	}
	if len(parts) == 0 {
		return ""
	}
	return "over " + seconds(m.Over.Length) + ": " + strings.Join(parts, "; ")
}
