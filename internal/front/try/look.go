package try

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/millicore/millicore/internal/base/secret"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/host/runtimes"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/attached"
	"github.com/millicore/millicore/internal/platform/supervise"
)

// Looked is what was seen of a server before anything is measured, and what is worth measuring.
type Looked struct {
	Seen     []Seen // under each limit, or of the new server and of the old one
	Variants []Variant
}

// Look starts the server once without its CPU limit, once as it is under each limit, and once
// with each setting whose effect can be read. What the server says goes to a folder of its own,
// which an error shows the end of. asIs is the experiment of the server as it is, build makes one
// of variants, and note takes sentences about what takes long.
func (a *Ask) Look(ctx context.Context, where platform.Platform, asIs *experiment.Experiment, build func([]Variant) (*experiment.Experiment, error), note func(string)) (*Looked, error) {
	folder, err := attached.NewFolder()
	if err != nil {
		return nil, err
	}
	defer func() { _ = folder.Remove() }()
	logs := folder.Path
	free, err := a.freeStarts(ctx, where, asIs, logs, note)
	if err != nil {
		return nil, err
	}
	l := &Looked{}
	var limits []experiment.Limits
	for i := range asIs.Cells {
		c := &asIs.Cells[i]
		one, err := Probe(ctx, where, c, asIs.Objective, logs)
		if err != nil {
			return nil, err
		}
		one.Free = free[i]
		l.Seen, limits = append(l.Seen, one), append(limits, c.Limits)
	}
	a.found(l.Seen)
	if a.First == 0 {
		a.First = Lowest(l.Seen)
	}
	a.Server = Describe(a, l.Seen[0].Info)
	machine := runtimes.Machine{Online: runtime.NumCPU(), Affinity: l.Seen[0].Info.Affinity}
	l.Variants = UnderLimits(a, limits, l.Seen, machine)
	e, err := build(l.Variants)
	if err != nil {
		return nil, err
	}
	return l, Check(ctx, where, e, l.Seen[0].Info, l.Variants, logs)
}

// freeStarts starts each server once without its CPU limit. Under a low limit one that computes
// for long until it is ready needs more than the usual time, which the cells and later
// experiments then give it, unless the user set it. The start of a cell without a limit is nil.
func (a *Ask) freeStarts(ctx context.Context, where platform.Platform, asIs *experiment.Experiment, logs string, note func(string)) ([]*signals.Start, error) {
	all := make([]*signals.Start, len(asIs.Cells))
	longest := a.Ready.Timeout
	for i := range asIs.Cells {
		c := asIs.Cells[i]
		limit := float64(c.Limits.CPUMillis) / 1000
		switch {
		case limit == 0:
			continue
		case a.severalLimits() && i > 0: // it is the same server
			all[i] = all[0]
		default:
			c.Limits.CPUMillis = 0
			late := ""
			start := func() error {
				return whileRunning(ctx, where, &c, logs, func(r platform.Replica, s signals.Start) error {
					all[i], late = &s, a.answersLater(ctx, r.Address(), &c)
					return nil
				})
			}
			err := start()
			if err == nil && late != "" {
				note(fmt.Sprintf("It accepts connections before it can answer: it counts as ready once GET %s answers.", secret.Text(late)))
				a.Ready.Path, c.Service.Ready.Path = late, late
				for k := range asIs.Cells {
					asIs.Cells[k].Service.Ready.Path = late
				}
				err = start()
			}
			if err != nil {
				return nil, err
			}
		}
		if wait := patience(*all[i], limit); !a.ReadyTimeoutSet && wait > longest {
			longest = wait
			note(fmt.Sprintf("Without the CPU limit its start uses %s of CPU time, which takes %s under %s: it may take up to %s to be ready.",
				seconds(*all[i].CPUSeconds), seconds(*all[i].CPUSeconds/limit), display.CPULimit(limit), seconds(wait.Seconds())))
		}
	}
	if longest > a.Ready.Timeout {
		a.Ready.Timeout = longest
		for i := range asIs.Cells {
			asIs.Cells[i].Service.Ready.Timeout = longest
		}
	}
	return all, nil
}

// answersLater is the path whose answer shows that a server is ready which accepts connections
// earlier; "": it does not, it has a check of its own, or no GET shows it.
func (a *Ask) answersLater(ctx context.Context, address string, c *experiment.Cell) string {
	path, ready := c.Load.GetPath(), c.Service.Ready
	if path == "" || ready.Path != "" || a.Image != nil && len(a.Image.Info.Health) > 0 ||
		!supervise.AnswersLater(ctx, c.Load.Protocol, path, address, cmp.Or(ready.Timeout, supervise.ReadyTimeout)) {
		return ""
	}
	return path
}

// patience is how long a server may take to be ready under a limit of CPUs: twice as long as the
// CPU time of its start takes there, beside what it waits for, and no less than usual.
func patience(s signals.Start, limit float64) time.Duration {
	if s.CPUSeconds == nil {
		return supervise.ReadyTimeout
	}
	whole := math.Ceil(s.Seconds + 2**s.CPUSeconds/limit)
	return max(supervise.ReadyTimeout, time.Duration(whole)*time.Second)
}

// StartUps describe the starts that took long enough to matter: of the server under its lowest
// limit, or of the new one and of the old one.
func (a *Ask) StartUps(seen []Seen) (all []string) {
	if a.Against == nil {
		seen = []Seen{slices.MaxFunc(seen, func(x, y Seen) int { return cmp.Compare(x.Start.Seconds, y.Start.Seconds) })}
	}
	for i := range seen {
		text := seen[i].startUp()
		if text != "" && a.Against != nil {
			text = "The " + oldAndNew(a)[i].Label + " one. " + text
		}
		if text != "" {
			all = append(all, text)
		}
	}
	return all
}

// longStart is from how many seconds on a start matters.
const longStart = 1

// startUp describes a start, if it took long enough to matter; "": it did not.
func (s *Seen) startUp() string {
	const killed = 20 // seconds, to 30: a kubelet's first probe is up to 10 s after the start, and the third kills
	if s.Start.Seconds < longStart {
		return ""
	}
	text := fmt.Sprintf("Start-up: ready after %s", seconds(s.Start.Seconds))
	if s.Start.CPUSeconds != nil {
		text += fmt.Sprintf(" and %s of CPU time", seconds(*s.Start.CPUSeconds))
	}
	if s.Start.ThrottledPeriods != nil && s.Start.Periods != nil && *s.Start.ThrottledPeriods > 0 {
		text += fmt.Sprintf(", throttled in %s of %s periods", display.Grouped(*s.Start.ThrottledPeriods), display.Grouped(*s.Start.Periods))
	}
	if s.Free != nil {
		text += fmt.Sprintf("; without the CPU limit after %s", seconds(s.Free.Seconds))
	}
	if s.Start.Seconds > killed {
		text += ". A liveness probe with the defaults of Kubernetes (3 failures, 10 s apart) can kill it before it is ready: add a startup probe"
	}
	return text + "."
}

// seconds writes a time: "1.8 s", "104 s".
func seconds(s float64) string {
	return strconv.FormatFloat(math.Round(s*10)/10, 'f', -1, 64) + " s"
}
