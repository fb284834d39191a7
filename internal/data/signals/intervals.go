package signals

import "time"

// Intervals cuts a trial into the intervals of its frames. Agents and the sampler cut
// at the same times, so that frames can be joined by time: first the warm-up in pieces
// of Every, with a shorter last one if it does not divide; then the measurement
// likewise; then the drain, which has no end of its own.
type Intervals struct {
	Warmup  time.Duration
	Measure time.Duration // 0: no end of its own (a fixed number of requests)
	Every   time.Duration
}

// At returns interval number seq, from 0, as times since the trial's load began, and
// its phase.
func (c Intervals) At(seq int) (start, end time.Duration, phase Phase) {
	warmups := pieces(c.Warmup, c.Every)
	if seq < warmups {
		start = time.Duration(seq) * c.Every
		return start, min(start+c.Every, c.Warmup), Warmup
	}
	seq -= warmups
	if c.Measure == 0 {
		start = c.Warmup + time.Duration(seq)*c.Every
		return start, start + c.Every, Measure
	}
	measures := pieces(c.Measure, c.Every)
	if seq < measures {
		start = c.Warmup + time.Duration(seq)*c.Every
		return start, min(start+c.Every, c.Warmup+c.Measure), Measure
	}
	start = c.Warmup + c.Measure + time.Duration(seq-measures)*c.Every
	return start, start + c.Every, Drain
}

func pieces(whole, every time.Duration) int { return int((whole + every - 1) / every) }
