// Package experiment holds an experiment as values: services, limits, loads,
// objectives and claims, and the plan of trials that follows from them. It does
// not read YAML: package file reads and checks an experiment.
package experiment

import (
	"fmt"
	"reflect"
	"strings"
	"time"
)

// Experiment is a file that has been read, checked and resolved: every
// combination of what is varied is a Cell with plain values.
type Experiment struct {
	Name      string     `json:"name"`
	About     string     `json:"about,omitempty"`
	Vary      []Axis     `json:"vary,omitempty"`
	Cells     []Cell     `json:"cells"`
	Measure   Measure    `json:"measure"`
	Objective *Objective `json:"objective,omitempty"`
	Claims    []Claim    `json:"claims,omitempty"`  // what was published, to be checked
	Profile   bool       `json:"profile,omitempty"` // one extra trial a cell, which counts nowhere, takes profiles
	Docker    Docker     `json:"docker,omitzero"`
	// Kubernetes is left out of JSON where the file has nothing of it.
	Kubernetes Kubernetes `json:"kubernetes,omitzero"`
	Source     string     `json:"source"`         // the file's text as it was read
	Sets       []string   `json:"sets,omitempty"` // what --set changed
}

// Docker is what holds with --on docker alone.
type Docker struct {
	// HostNetwork: containers have the machine's network, not the run's own.
	HostNetwork bool `json:"host_network,omitempty"`
}

// Axis is one name of vary with its values in the file's order; nil leaves
// unset what the name stands for.
type Axis struct {
	Name   string    `json:"name"`
	Values []*string `json:"values"`
}

// Cell is one combination of what is varied, for one service.
type Cell struct {
	Index   int       `json:"index"` // from 0, in the file's order
	Service Service   `json:"service"`
	Vary    []Setting `json:"vary,omitempty"` // only the names that this service uses
	Limits  Limits    `json:"limits"`
	Load    Load      `json:"load"`
}

// Setting is one varied name and its value in a cell; nil: unset.
type Setting struct {
	Name  string  `json:"name"`
	Value *string `json:"value"`
}

// Label names the cell for people: "go procs=2", "go procs=unset".
func (c *Cell) Label() string {
	var b strings.Builder
	b.WriteString(c.Service.Name)
	for _, s := range c.Vary {
		b.WriteString(" " + s.Name + "=")
		if s.Value == nil {
			b.WriteString("unset")
		} else {
			b.WriteString(*s.Value)
		}
	}
	return b.String()
}

// Service is what is measured. Exactly one of Workload, Command and Image is
// set. In Command and Env, ${port} stands for the replica's own port and
// ${NAME.address}, ${NAME.host} and ${NAME.port} for a dependency's (${NAME.url}
// where it has one): they are known only once it has started, and put in with
// Expand. So are ${limits.cpu} and ${limits.memory}, which LimitVars gives.
type Service struct {
	Name     string            `json:"name"`
	Workload string            `json:"workload,omitempty"` // a sample service: "go", "node", "bun"
	Command  []string          `json:"command,omitempty"`
	Image    string            `json:"image,omitempty"`
	Dir      string            `json:"dir,omitempty"` // working folder; of a command: relative to the lab's own, not the file's
	Env      map[string]string `json:"env,omitempty"`
	Unset    []string          `json:"unset,omitempty"` // env names that must be absent
	// Port is a fixed port that the service listens on; FindPort has the platform
	// look at what its processes listen on. With neither the platform gives it a
	// port. Both need one replica. Several replicas of an image may have one Port if
	// each has an address of its own.
	Port         int          `json:"port,omitempty"`
	FindPort     bool         `json:"find_port,omitempty"`
	Ready        Ready        `json:"ready"`
	Metrics      *Metrics     `json:"metrics,omitempty"`
	Dependencies []Dependency `json:"dependencies,omitempty"`
	Actions      []Action     `json:"actions,omitempty"`
	Autoscale    *Autoscale   `json:"autoscale,omitempty"` // on Kubernetes alone; the cell's replicas are those that it begins with
}

// Dependency runs beside the service and is observed, but not loaded. Exactly
// one of Builtin, Command, Image and URL is set.
type Dependency struct {
	Name    string            `json:"name"`
	Builtin string            `json:"builtin,omitempty"` // a database that Millicore starts itself: "postgres", "mongodb"
	Command []string          `json:"command,omitempty"`
	Image   string            `json:"image,omitempty"`
	URL     string            `json:"url,omitempty"` // one that already runs: nothing is started or observed
	Dir     string            `json:"dir,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Unset   []string          `json:"unset,omitempty"`
	Ready   Ready             `json:"ready"`
	Limits  Limits            `json:"limits"`
}

// The databases that Millicore starts itself: values of Dependency.Builtin.
const (
	Postgres = "postgres"
	MongoDB  = "mongodb"
)

// Metrics is where a service reports, in Prometheus' text format, how long it
// waited for its dependencies.
type Metrics struct {
	Path       string `json:"path"`       // "/metrics"
	Dependency string `json:"dependency"` // a histogram's name; seconds
}

// Ready is when a replica serves: when its port accepts, or when Path answers
// with a status of 200 to 299.
type Ready struct {
	Path    string        `json:"path,omitempty"`
	Timeout time.Duration `json:"timeout"` // nanoseconds in JSON
	// Protocol is that of the requests to Path: the load's, which the lab sets when
	// it starts the service; "" is the first of Protocols.
	Protocol string `json:"-"`
}

// Action is a request that the lab sends to each replica once, At after the
// measured part of a trial began.
type Action struct {
	At      time.Duration `json:"at"`
	Request Request       `json:"request"`
}

// Limits hold for each replica. Zero is "no limit".
type Limits struct {
	CPUMillis   int64         `json:"cpu_millis,omitempty"`   // quota = CPUMillis / 1000 x Period
	BurstMillis int64         `json:"burst_millis,omitempty"` // saved-up quota, likewise times Period
	Period      time.Duration `json:"period,omitempty"`       // of CFS; 100 ms
	Memory      int64         `json:"memory_bytes,omitempty"`
	CPUSet      string        `json:"cpuset,omitempty"` // as in cpuset.cpus: "0", "0-1,4"
	Replicas    int           `json:"replicas"`         // at least 1
}

// Load is the traffic of a cell. Exactly one of Users, Rate and Benchmark is set.
type Load struct {
	Request Request   `json:"request"`
	Mix     []Request `json:"mix,omitempty"` // several requests; Request is the first then
	// Protocol is one of Protocols; empty for the first, as in older records.
	Protocol string  `json:"protocol,omitempty"`
	Insecure bool    `json:"insecure,omitempty"` // any certificate will do
	Users    *Target `json:"users,omitempty"`    // closed loop
	Rate     *Target `json:"rate,omitempty"`     // open loop, requests/s
	// Find says that the highest such load is searched that meets the objective;
	// Users or Rate is then a number, where the search begins.
	Find bool `json:"find,omitempty"`
	// Benchmark says that the service measures itself and ends: nothing is sent,
	// and nothing else is set.
	Benchmark   bool          `json:"benchmark,omitempty"`
	Requests    int64         `json:"requests,omitempty"`
	Even        bool          `json:"even,omitempty"`    // spacing: even
	Think       time.Duration `json:"think,omitempty"`   // of users, on average
	Waiting     *int64        `json:"waiting,omitempty"` // requests that may be due and wait for a connection; nil: no bound
	Agents      int           `json:"agents"`
	Threads     int           `json:"threads"`               // event loops of an agent
	Connections int           `json:"connections,omitempty"` // 0: users, or enough for the rate
	Timeout     time.Duration `json:"timeout"`
}

// Protocols are the words of load.protocol, of which the first is usual.
var Protocols = []string{"http/1.1", "https", "h2", "h2c"}

// Target is what the load aims at: its Users or its Rate; nil for a benchmark.
func (l *Load) Target() *Target {
	if l.Users != nil {
		return l.Users
	}
	return l.Rate
}

// Asked are the requests that are sent, each in proportion to its weight.
func (l *Load) Asked() []Request {
	if len(l.Mix) > 0 {
		return l.Mix
	}
	return []Request{l.Request}
}

// Request is what is sent.
type Request struct {
	Weight   int               `json:"weight,omitempty"` // beside the others of a mix
	Method   string            `json:"method"`
	Path     string            `json:"path"`
	Headers  map[string]string `json:"headers,omitempty"`
	Body     string            `json:"body,omitempty"`
	BodyFile string            `json:"body_file,omitempty"` // instead of Body
	Auth     *Auth             `json:"auth,omitempty"`
	Check    *Check            `json:"check,omitempty"`

	// Supplies come from outside of the file, and stay out of the record.
	Supplies Supplies `json:"-"`
}

// Auth names the variable of Millicore's environment that has the credentials;
// one of the two is set.
type Auth struct {
	Basic  string `json:"basic_env,omitempty"` // user:password
	Bearer string `json:"bearer_env,omitempty"`
}

// Check says which answers are good.
type Check struct {
	Status   []int  `json:"status,omitempty"` // none: 200 to 299
	Contains string `json:"contains,omitempty"`
}

// Target is a number, constant over the trial, or stages. A file's ramp is a
// stage of no time to each level and one that holds it.
type Target struct {
	Value  float64 `json:"value,omitempty"`
	Stages []Stage `json:"stages,omitempty"`
}

// Highest is the highest load of the target.
func (t *Target) Highest() float64 {
	highest := t.Value
	for _, s := range t.Stages {
		highest = max(highest, s.Target)
	}
	return highest
}

// Length is how long the stages take; 0 for a number.
func (t *Target) Length() time.Duration {
	var sum time.Duration
	for _, s := range t.Stages {
		sum += s.Duration
	}
	return sum
}

// Levels are those that the load holds for a while, in their order.
func (t *Target) Levels() []float64 {
	if t == nil {
		return nil
	}
	var levels []float64
	before, held := 0.0, false // whether the stage before held its level
	for _, s := range t.Stages {
		if s.Duration == 0 && s.Target == before {
			continue
		}
		holds := s.Target == before && s.Target > 0 && s.Duration > 0
		if holds && !held {
			levels = append(levels, s.Target)
		}
		before, held = s.Target, holds
	}
	return levels
}

// Stage moves the target in a straight line from the stage before (0 at first)
// to Target, as k6 does; a Duration of 0 jumps.
type Stage struct {
	Duration time.Duration `json:"duration"`
	Target   float64       `json:"target"`
}

// Measure says how long and how often. Duration is that of a trial's measured
// part; with stages it is theirs, with a number of requests there is none; while
// the breaking point is searched it is the most traffic of a search; of a benchmark
// it is the most that a trial may take.
type Measure struct {
	Warmup   time.Duration `json:"warmup"`
	Duration time.Duration `json:"duration"`
	Repeats  int           `json:"repeats"`
	Interval time.Duration `json:"interval"` // length of a frame
	// Kept says that a service stays up between the trials of its cell, which then
	// follow one another: growth from run to run becomes visible.
	Kept bool `json:"kept,omitempty"`
	// Resize says that a service stays up from one trial to the next wherever it is
	// the same but for its limits, which are changed while it runs.
	Resize bool `json:"resize,omitempty"`
	// Whole has a load that moves be reported as one, its ramps included: the
	// question is what users saw, not what a level does.
	Whole bool `json:"whole,omitempty"`
}

// StaysUp reports whether a service can be older than the trial that it is in.
func (m Measure) StaysUp() bool { return m.Kept || m.Resize }

// Resizable reports whether a change of limits turns the running service of one
// cell into that of another. The number of replicas and the cpuset cannot be
// changed while a service runs.
func (c *Cell) Resizable(to *Cell) bool {
	return c.Limits.Replicas == to.Limits.Replicas && c.Limits.CPUSet == to.Limits.CPUSet && reflect.DeepEqual(c.Service, to.Service)
}

// Resizes reports whether there are cells between which limits can be changed.
func (e *Experiment) Resizes() bool {
	for i := range e.Cells {
		for j := range e.Cells[:i] {
			if a, b := &e.Cells[i], &e.Cells[j]; a.Limits != b.Limits && a.Resizable(b) {
				return true
			}
		}
	}
	return false
}

// Measured is how long the measured part of the cell's trials lasts, without
// warm-up and drain. It is 0 where a number of requests ends it, a search, or the
// benchmark itself.
func (m Measure) Measured(c *Cell) time.Duration {
	switch {
	case c.Load.Requests > 0, c.Load.Find, c.Load.Benchmark:
		return 0
	case len(c.Load.Target().Stages) > 0:
		return c.Load.Target().Length()
	}
	return m.Duration
}

// Objective is what counts as good.
type Objective struct {
	Quantile     string        `json:"quantile,omitempty"` // "p50", "p90", "p95", "p99", "p999"; empty: none asked
	Latency      time.Duration `json:"latency,omitempty"`
	Availability float64       `json:"availability,omitempty"` // percent; 0: none asked
}

// String is the objective in words: "p99 <= 250ms, availability >= 99.9%".
func (o *Objective) String() string {
	var parts []string
	if o.Quantile != "" {
		parts = append(parts, fmt.Sprintf("%s <= %v", o.Quantile, o.Latency))
	}
	if o.Availability > 0 {
		parts = append(parts, fmt.Sprintf("availability >= %v%%", o.Availability))
	}
	return strings.Join(parts, ", ")
}
