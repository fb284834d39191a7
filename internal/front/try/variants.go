package try

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/host/runtimes"
)

// Variant is one way to run the server: a service of the experiment.
type Variant struct {
	Service   string            `json:"service"` // its name there
	Label     string            `json:"label"`   // for people: "as it is", "GOMAXPROCS=1", "without a limit"
	Reason    string            `json:"reason"`
	Command   []string          `json:"command,omitempty"` // nil: as asked
	Env       map[string]string `json:"env,omitempty"`
	Replicas  int               `json:"replicas,omitempty"` // above 1: so many, each under the limit
	Unlimited bool              `json:"unlimited,omitempty"`
	CPU       string            `json:"cpu,omitempty"`     // its limit, of several
	Request   string            `json:"request,omitempty"` // of CPU, beside a neighbour; "": none
	Limits    string            `json:"limits"`            // in words
	Advice    string            `json:"advice,omitempty"`  // sentences, where the runtime has no setting

	// Found is the parallelism that the server was seen to have, where it is stated; 0: not known.
	Found int `json:"parallelism_found,omitempty"`

	unknownLimits bool // it ran already, where its limits cannot be read

	// Value is the parallelism that the setting should give; 0: not known.
	Value int `json:"parallelism,omitempty"`
	// NoEffect is why the setting changes nothing, so that there is nothing to measure;
	// "": it has an effect, or that is not known.
	NoEffect string `json:"no_effect,omitempty"`
}

// Seen is what was seen of the server when it was started once.
type Seen struct {
	Info runtimes.Info
	// Start is its start under its limits, and Free that without the CPU limit; nil: it has none.
	Start signals.Start
	Free  *signals.Start
	// Least is the least time that a request took.
	Least  time.Duration
	warmth warmth
	// Listens is the port on which it listens, and Port the same if it was found; 0: it was
	// given a port.
	Listens, Port int
	// Doubt are the bad answers of the probe, in words; "": there were none.
	Doubt string
}

// Begin is the rate at which a search begins.
func (s *Seen) Begin() float64 { return Begin(s.Least, s.warmth.rate()) }

// Lowest is the rate at which all searches begin, so that none begins too high.
func Lowest(seen []Seen) float64 {
	first := seen[0].Begin()
	for i := range seen {
		first = min(first, seen[i].Begin())
	}
	return first
}

// Doubt are the bad answers to one of the probes, and of which; "": there were none.
func (a *Ask) Doubt(seen []Seen, i int) string {
	switch doubt := seen[i].Doubt; {
	case doubt == "" || len(seen) == 1:
		return doubt
	case a.Against != nil:
		return "of the " + oldAndNew(a)[i].Label + " one, " + doubt
	default:
		return "under " + a.CPUs[i] + ", " + doubt
	}
}

// WarmUp describes the warm-up of a server whose later starts are warmed up too; "" of one
// that needs none.
func (s *Seen) WarmUp() string { return s.warmth.words() }

// takesPORT reports whether it listens on the port in the variable PORT.
func (s *Seen) takesPORT() bool { return s.Port != 0 && s.Port == s.Info.PortEnv }

// Names of services that every try has.
const (
	asIs    = "as-is"
	noLimit = "no-limit"
)

// command is how the variant starts the server.
func (v *Variant) command(a *Ask) []string {
	if v.Command != nil {
		return v.Command
	}
	return a.Command
}

// sets reports whether the variant sets the parallelism.
func (v *Variant) sets() bool { return v.Value > 0 && (v.Env != nil || v.Command != nil) }

// replicas are how many are tried where no setting gives a server a second CPU.
const replicas = 2

// Variants are those worth trying for a server: as it is first, without the limit
// last.
func Variants(a *Ask, limits experiment.Limits, seen Seen, m runtimes.Machine) []Variant {
	cpus := float64(limits.CPUMillis) / 1000
	var all []Variant
	for i, s := range runtimes.Settings(seen.Info, runtimes.LimitOf(cpus), m, a.Command) {
		if !a.canSet(s) {
			continue
		}
		v := Variant{Service: serviceName(s.Label), Label: s.Label, Reason: s.Reason, Command: s.Command, Env: s.Env, Value: s.Value, Limits: limitWords(a)}
		if i == 0 {
			v.Service = asIs
		}
		all = append(all, v)
	}
	knob := runtimes.KnobFor(seen.Info, a.Command)
	if knob.None() {
		all[0].Advice = sentence(knob.Words)
	}
	switch {
	case a.AsIsOnly:
		return all[:1]
	case a.Neighbour != "":
		return a.besideNeighbour(all[0], limits.CPUMillis)
	}
	if why := noSecondCPU(knob, seen.Info, all[0].Value, cpus); why != "" {
		if !knob.None() {
			all[0].Advice = sentence(why)
		}
		if alone := a.alone(&seen); alone != "" {
			all[0].Advice += " " + alone
		} else {
			all = append(all, replicated(a, why))
		}
	}
	if cpus > 0 {
		all = append(all, Variant{Service: noLimit, Label: "without the CPU limit", Unlimited: true, Limits: "no CPU limit",
			Reason: "what the limit costs"})
	}
	return all
}

// noSecondCPU is why no setting can give a server more CPUs than it uses, so that replicas
// are tried; "": a setting can. present is its parallelism under a limit in CPUs.
func noSecondCPU(knob runtimes.Knob, info runtimes.Info, present int, cpus float64) string {
	switch few := runtimes.FewWorkers(info); {
	case knob.None() && knob.File != "":
		return "its parallelism is set in " + knob.File + ", which try does not change"
	case knob.None() && info.Workers > 1:
		return "no known setting changes the number of its worker processes"
	case knob.None():
		return "no known setting gives it a second CPU"
	case cpus > float64(present):
		return few
	}
	return ""
}

// replicated runs the server more than once.
func replicated(a *Ask, why string) Variant {
	v := Variant{Service: fmt.Sprintf("replicas-%d", replicas), Label: fmt.Sprintf("%d replicas", replicas), Replicas: replicas,
		Reason: why, Limits: limitWords(a)}
	if a.CPU != "" || a.Memory != "" {
		v.Limits += " each"
		v.Reason += fmt.Sprintf("; the limit is each replica's own, so these are %d limits", replicas)
	}
	return v
}

// alone is why the server cannot run more than once on this machine, as a sentence;
// "": it can.
func (a *Ask) alone(seen *Seen) string {
	switch {
	case a.Image != nil && !a.Image.HostNetwork: // each has an address of its own
		return ""
	case a.Port != 0:
		return fmt.Sprintf("%d replicas were not tested, because all would listen on port %d; leave out --port, and let the server listen on ${port} or $PORT.", replicas, a.Port)
	case a.takesPort() || seen.takesPORT():
		return ""
	}
	return fmt.Sprintf("%d replicas were not tested, because all would listen on port %d; let the server listen on ${port} or $PORT.", replicas, seen.Port)
}

// AsItIs is what is known before the server has run: the server as it is, under each
// limit, or the new one and the old.
func AsItIs(a *Ask) []Variant {
	if a.Against != nil {
		return oldAndNew(a)
	}
	if !a.severalLimits() {
		return []Variant{{Service: asIs, Label: runtimes.AsItIs, Limits: limitWords(a)}}
	}
	var all []Variant
	for _, cpu := range a.CPUs {
		all = append(all, Variant{Service: asIs + "-" + serviceName(cpu), Label: runtimes.AsItIs, Limits: limitWords(a.under(cpu)), CPU: cpu})
	}
	return all
}

const noLimitWords = "no limit"

// limitWords are the limits for a sentence. Those that are no quantities are refused when
// the experiment is built.
func limitWords(a *Ask) string {
	var parts []string
	if q, err := resource.ParseQuantity(a.CPU); err == nil {
		parts = append(parts, "a limit of "+display.CPULimit(q.AsApproximateFloat64()))
	}
	if q, err := resource.ParseQuantity(a.Memory); err == nil {
		parts = append(parts, display.Bytes(q.AsApproximateFloat64())+" of memory")
	}
	if len(parts) == 0 {
		return noLimitWords
	}
	return strings.Join(parts, " and ")
}

// sentence begins with a capital letter and ends with a period.
func sentence(words string) string {
	if words == "" {
		return ""
	}
	if first, _, _ := strings.Cut(words, " "); strings.ContainsAny(first, "_-") {
		return strings.TrimSuffix(words, ".") + "." // the name of a setting stays as it is
	}
	return strings.ToUpper(words[:1]) + strings.TrimSuffix(words[1:], ".") + "."
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// longestName is the length of a service's name at most, in letters.
const longestName = 40

// serviceName makes a label a name: "gomaxprocs-1".
func serviceName(label string) string {
	name := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(label), "-"), "-")
	if len(name) > longestName { // long ones differ at their end, which is kept from a whole word on
		name = name[len(name)-longestName-1:]
		if _, whole, ok := strings.Cut(name, "-"); ok {
			name = whole
		}
		name = name[max(0, len(name)-longestName):]
	}
	return name
}
