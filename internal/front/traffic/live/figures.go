package live

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/display"
)

// figures are the lines of the table.
func (p *drawing) figures() []line {
	last, all := &p.last, &p.all
	rate := line{name: "rate", last: perSecond(last), all: perSecond(all), over: p.trend.rate, top: highest(p.trend.rate), merged: mean, least: 1}
	if rate.top > 0 {
		rate.note = "to " + display.Figure(rate.top) + "/s"
	}
	latency := func(name string, least int, of func(*stretch) time.Duration) line {
		return line{name: name, last: last.shown(of(last)), all: all.shown(of(all)), least: least}
	}
	p99 := latency("p99", 2, func(s *stretch) time.Duration { return s.p99 })
	p99.over, p99.top, p99.merged = p.trend.p99, highest(p.trend.p99), highest
	if p99.top > 0 {
		p99.note = "to " + display.WithUnit(p99.top)
	}
	bad := line{name: "errors", last: display.Grouped(last.bad), all: display.Grouped(all.bad), least: 3}
	if last.bad > 0 || all.bad > 0 {
		bad.over, bad.top, bad.merged, bad.tone = p.trend.errors, highest(p.trend.errors), highest, display.Bad
	}
	if all.bad > 0 {
		bad.note = display.Share(float64(all.bad)/float64(all.requests())) + " of all"
	}
	lines := []line{rate}
	if all.bad == 0 || all.latency.Count() > 0 { // otherwise there are only errors
		lines = append(lines,
			latency("p50", 4, func(s *stretch) time.Duration { return s.p50 }),
			latency("p90", 6, func(s *stretch) time.Duration { return s.p90 }),
			p99,
			latency("highest", 5, func(s *stretch) time.Duration { return s.highest }))
	}
	return append(append(lines, bad), p.target()...)
}

// perSecond is the rate of good answers.
func perSecond(s *stretch) string {
	if s.seconds == 0 {
		return display.Absent
	}
	return display.Figure(s.rate()) + "/s"
}

// shown formats one of the latencies.
func (s *stretch) shown(latency time.Duration) string {
	if s.latency.Count() == 0 {
		return display.Absent
	}
	return display.WithUnit(milliseconds(latency))
}

// target has the CPU, the throttling and the memory of the observed process.
func (p *drawing) target() []line {
	if p.plan.Target == "" {
		return nil
	}
	last, all := &p.last.used, &p.all.used
	cpu := line{name: "CPU", last: cores(last), all: cores(all), over: p.trend.cpu, merged: mean, top: highest(p.trend.cpu), least: 3}
	if all.used != nil {
		cpu.note = "no limit"
	}
	if all.limit != nil || last.limit != nil {
		limit := cmp.Or(last.limit, all.limit)
		cpu.last, cpu.all, cpu.top = ofLimit(last), ofLimit(all), 1
		cpu.note = "of " + counted(*limit, "CPU")
	}
	lines := []line{cpu}
	if all.periods != nil || last.periods != nil {
		share := all.throttledShare()
		l := line{name: "throttled", last: display.Share(last.throttledShare()), all: display.Share(share), over: p.trend.throttled, merged: mean, top: 1,
			note: "of the periods", least: 3}
		switch {
		case share >= 0.25:
			l.tone = display.Bad
		case share >= 0.05:
			l.tone = display.Warning
		}
		lines = append(lines, l)
	}
	memory := line{name: "memory", last: display.Maybe(last.memory, bytes), all: display.Maybe(all.memory, bytes), least: 7, note: "so far: the highest"}
	if limit := cmp.Or(last.memoryLimit, all.memoryLimit); limit != nil {
		memory.note = "of " + display.Bytes(float64(*limit))
	}
	lines = append(lines, memory)
	if p.ended > 0 {
		lines[0].note, lines[0].tone = "ended at "+display.Clock(p.ended), display.Bad
	}
	return lines
}

// cores is the number of CPUs used, without a limit.
func cores(u *usage) string {
	if v := u.cpu(); !math.IsNaN(v) {
		return display.Figure(v) + " CPUs"
	}
	return display.Absent
}

// ofLimit is the used share of the limit. It can exceed 100%, because the kernel enforces
// the limit over periods, which do not align with intervals.
func ofLimit(u *usage) string {
	return display.Share(u.cpu())
}

func bytes(n int64) string { return display.Bytes(float64(n)) }

func counted(n float64, unit string) string {
	if n == 1 {
		return "1 " + unit
	}
	return display.Exact(&n) + " " + unit + "s"
}

// kinds are the errors by kind, the most frequent first.
func (p *drawing) kinds() []string {
	if len(p.errors) == 0 {
		return nil
	}
	names := slices.SortedFunc(maps.Keys(p.errors), func(a, b string) int {
		return cmp.Or(cmp.Compare(p.errors[b], p.errors[a]), cmp.Compare(a, b))
	})
	var others int64
	if len(names) > maxKinds {
		for _, name := range names[maxKinds-1:] {
			others += p.errors[name]
		}
		names = names[:maxKinds-1]
	}
	var list []summary.Failure
	for _, name := range names {
		list = append(list, summary.Failure{Name: name, N: p.errors[name]})
	}
	if others > 0 {
		list = append(list, summary.Failure{Name: "others", N: others})
	}
	widest := 0
	for _, k := range list {
		widest = max(widest, len(k.Name))
	}
	lines := []string{p.out.Paint(p.fit("Errors so far"), display.Quiet)}
	for _, k := range list {
		lines = append(lines, p.fit(fmt.Sprintf("%-*s  %s", widest, k.Name, display.Grouped(k.N))))
	}
	return lines
}
