package narrative

import (
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/display"
)

// Variant is one way to run a server that was tried, the first as it is.
type Variant struct {
	Service   string // its name in the summary
	Label     string // "GOMAXPROCS=1", "without the CPU limit"
	Limits    string // "a limit of 500m CPU"; "": none
	Unlimited bool   // it ran once without the CPU limit
	Replicas  int    // above 1: so many, each under the limit
	NoEffect  string // why the setting changes nothing, and was not measured; "": it was
	Advice    string // sentences of the table of runtimes
}

// comparable reports whether it is a way to run the server at the one limit.
func (v *Variant) comparable() bool { return !v.Unlimited && v.Replicas < 2 }

// Variants are the settings of the one server that a record is about, with the limits
// that the record has.
func Variants(s *summary.Summary) []Variant {
	var all []Variant
	limited := false
	for _, one := range s.Experiment.Server.Settings {
		v := Variant{Service: one.Service, Label: display.Plain(one.Label), NoEffect: display.Plain(one.NoEffect), Advice: display.Plain(one.Advice)}
		if i := slices.IndexFunc(s.Cells, func(c summary.Cell) bool { return c.Service == v.Service }); i >= 0 {
			c := &s.Cells[i]
			v.Limits, v.Replicas = limitWords(&c.Limits), c.Limits.Replicas
			if one.UnknownLimits {
				v.Limits = "limits that are not known"
			}
			limited = limited || c.Limits.CPUMillis != nil
			v.Unlimited = limited && c.Limits.CPUMillis == nil
		}
		all = append(all, v)
	}
	return all
}

// limitWords are limits as a user writes them: "a limit of 500m CPU and 256 MiB of memory";
// "": none.
func limitWords(l *summary.Limits) string {
	var parts []string
	if l.CPUMillis != nil {
		parts = append(parts, "a limit of "+cpuText(*l.CPUMillis))
	}
	if l.MemoryBytes != nil {
		parts = append(parts, display.Bytes(float64(*l.MemoryBytes))+" of memory")
	}
	return strings.Join(parts, " and ")
}

// cpuText writes a CPU limit for a sentence: "500m CPU", "1.5 CPUs".
func cpuText(millis int64) string { return display.CPULimit(float64(millis) / 1000) }
