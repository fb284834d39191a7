package experiment

import (
	"maps"
	"slices"
	"strings"
)

// Claim is a published statement in a form that can be checked: a metric of one
// cell, or its ratio to that of another, lies on one side of a bound; or several
// cells come in an order.
type Claim struct {
	Says      string     `json:"says" yaml:"says,required" names:"letters" doc:"The published statement, in words."`
	Published string     `json:"published,omitempty" yaml:"published" names:"letters" doc:"The published figures, in words."`
	Metric    string     `json:"metric" yaml:"metric,required" kind:"claimMetric" doc:"The metric of the claim."` // one of ClaimMetrics
	Of        *Selector  `json:"of,omitempty" yaml:"of" keys:"varyName" kind:"text" names:"letters" doc:"The cell of the claim: service, and varied names with their values. It must select one cell."`
	Over      *Selector  `json:"over,omitempty" yaml:"over" keys:"varyName" kind:"text" names:"letters" doc:"The metric of the cell in of is divided by that of this cell."`
	Above     *float64   `json:"above,omitempty" yaml:"above,one" kind:"bound" doc:"The metric, or the ratio, is above this bound, which is in the metric's unit."`
	Below     *float64   `json:"below,omitempty" yaml:"below,one" kind:"bound" doc:"The metric, or the ratio, is below this bound, which is in the metric's unit."`
	Order     []Selector `json:"order,omitempty" yaml:"order,one" keys:"varyName" kind:"text" names:"letters" doc:"Cells whose metric rises from one to the next."`
	At        *float64   `json:"at,omitempty" yaml:"at" kind:"level" doc:"The level of a ramp, or of stages, at which the metric is taken: users, or requests per second. Default: the whole load."`
	CPUs      int        `json:"cpus,omitempty" yaml:"cpus" doc:"Number of CPUs that the host needs for the claim to be judged."`
	// Set names the parts of the claim's cells that --set changed: "limits",
	// "load", "the service", "the objective".
	Set []string `json:"set,omitempty"`
}

// Selectors are the cells that a claim names.
func (c *Claim) Selectors() []Selector {
	all := slices.Clone(c.Order)
	for _, one := range []*Selector{c.Of, c.Over} {
		if one != nil {
			all = append(all, *one)
		}
	}
	return all
}

// Selector selects one cell: by its service, which may be absent if there is only
// one, and by varied values. A value of nil is null: unset.
type Selector struct {
	Service string             `json:"service,omitempty"`
	Vary    map[string]*string `json:"vary,omitempty"`
	Cell    int                `json:"cell"` // the index of the cell that it means; NoCell
}

// Label names the cell that is meant, as the file has it: "go procs=6".
func (s *Selector) Label() string {
	var parts []string
	if s.Service != "" {
		parts = append(parts, s.Service)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Vary)) {
		value := "unset"
		if s.Vary[name] != nil {
			value = *s.Vary[name]
		}
		parts = append(parts, name+"="+value)
	}
	if len(parts) == 0 {
		return "the cell"
	}
	return strings.Join(parts, " ")
}

// Means reports whether the selector matches a cell: the cell has all the values
// that the selector names.
func (s *Selector) Means(c *Cell) bool {
	if s.Service != "" && s.Service != c.Service.Name {
		return false
	}
	for name, want := range s.Vary {
		at := slices.IndexFunc(c.Vary, func(v Setting) bool { return v.Name == name })
		if at < 0 {
			return false
		}
		if has := c.Vary[at].Value; (has == nil) != (want == nil) || has != nil && *has != *want {
			return false
		}
	}
	return true
}

// NoCell stands for the cell of a claim that --set removed from the experiment.
// The claim cannot be judged then, which is not an error of the file.
const NoCell = -1

// ClaimMetrics are the metrics of claims. Package analysis defines how each is
// computed from a record, and its unit.
var ClaimMetrics = []string{
	"rate", "requests", "p50", "p90", "p95", "p99", "p999", "min", "max", "availability",
	"cpu_per_request", "cpu_of_limit", "cpu_max", "throttled", "memory_peak", "memory_growth",
	"oom_kills", "restarts", "insert_p99", "dependency_cores", "start_up", MetricBreakingPoint,
}

// MetricBreakingPoint is the metric that a search or a ramp finds.
const MetricBreakingPoint = "breaking_point"

// WholeMetrics are metrics of a whole load; they have no value for one level.
var WholeMetrics = []string{"cpu_max", "memory_peak", "memory_growth", "oom_kills", "restarts", "start_up", MetricBreakingPoint}
