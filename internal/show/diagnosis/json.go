package diagnosis

import (
	"io"
	"time"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/host/doctor"
	"github.com/millicore/millicore/internal/host/identity"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/runtimes"
)

// Schema is the version of the JSON. It rises when a key changes its meaning or goes.
const Schema = 2

// Run is where and when doctor ran.
type Run struct {
	Host    string // its name; "": not known
	Time    time.Time
	Version string // of this program
}

// output is the whole answer for programs.
type output struct {
	Schema  int       `json:"schema"`
	Host    *string   `json:"host"`
	Time    time.Time `json:"time"`
	Version string    `json:"version"`
	Watch   float64   `json:"watch_seconds"`
	// Baseline is what the findings are compared with; null: nothing.
	Baseline   *baselineJSON `json:"baseline"`
	Suppressed int           `json:"suppressed"`
	Nodes      []nodeJSON    `json:"nodes"` // null: a single host
	Processes  []processJSON `json:"processes"`
	Findings   []findingJSON `json:"findings"`
}

type baselineJSON struct {
	Host string    `json:"host"`
	Time time.Time `json:"time"`
	Gone []Past    `json:"gone"`
}

// nodeJSON is a node of a cluster.
type nodeJSON struct {
	Name      string  `json:"name"`
	Online    int     `json:"cpus"`
	Processes int     `json:"processes"`
	Error     *string `json:"error"` // why it was not read
}

// JSON writes the processes and the findings for programs. A figure that was not measured,
// or does not exist, is null: no key is ever missing.
func JSON(w io.Writer, host inspect.Host, findings []doctor.Finding, v View) error {
	out := output{Schema: Schema, Host: known(v.Run.Host), Time: v.Run.Time.UTC().Truncate(time.Second), Version: v.Run.Version,
		Watch: host.Watched.Seconds(), Suppressed: v.Suppressed, Processes: []processJSON{}, Findings: []findingJSON{}}
	if s := v.Since; s != nil {
		out.Baseline = &baselineJSON{s.Baseline.Host, s.Baseline.Time, append([]Past{}, s.Gone...)}
	}
	if v.Fleet != nil {
		out.Nodes = []nodeJSON{}
		for _, n := range v.Fleet.Nodes {
			j := nodeJSON{Name: n.Name, Online: n.Host.Online, Processes: len(n.Host.Processes)}
			if n.Err != nil {
				j.Error = known(n.Err.Error())
			}
			out.Nodes = append(out.Nodes, j)
		}
	}
	for _, p := range host.Processes {
		out.Processes = append(out.Processes, processOf(p))
	}
	for _, f := range findings {
		j := findingOf(f)
		if v.Since != nil {
			j.Since = known(v.Since.State(&f))
		}
		out.Findings = append(out.Findings, j)
	}
	return display.WriteJSON(w, out)
}

type findingJSON struct {
	Rule        doctor.Rule  `json:"rule"`
	Level       doctor.Level `json:"level"`
	Since       *string      `json:"since"` // the baseline: new, worse or same; null: none, or below the level
	Fingerprint string       `json:"fingerprint"`
	Service     string       `json:"service"`
	Node        *string      `json:"node"`
	PID         int          `json:"pid"`
	Name        string       `json:"name"`
	Title       string       `json:"title"`
	Evidence    []string     `json:"evidence"`
	Fix         []string     `json:"fix"`

	Mechanism  *string           `json:"mechanism"`
	Expected   *effectJSON       `json:"expected"`
	Confidence doctor.Confidence `json:"confidence"`
	Figures    figures           `json:"figures"`
	Changes    []changeJSON      `json:"changes"`
}

// figures are those of the process and the group that a finding is about.
type figures struct {
	CPUs          *float64 `json:"cpu_limit"`
	Parallelism   *int     `json:"parallelism"`
	Used          *float64 `json:"used_share"`      // of the limit that the finding is about
	Share         *float64 `json:"throttled_share"` // of the periods of the watch
	Periods       *int64   `json:"periods"`
	Throttled     *int64   `json:"throttled_periods"`
	Each          *float64 `json:"throttled_ms_each"` // in a throttled period, summed over the CPUs
	Memory        *int64   `json:"memory_limit_bytes"`
	WorkingSet    *int64   `json:"working_set_bytes"`
	Unreclaimable *int64   `json:"unreclaimable_bytes"`  // in use without page cache
	Stalled       *float64 `json:"memory_stalled_share"` // of the watch
	Kills         *int64   `json:"oom_kills"`
}

func figuresOf(f doctor.Finding) figures {
	p := f.Process
	j := figures{CPUs: known(p.CPU.CPUs), Parallelism: known(p.Info.Parallelism.Value), Used: f.Used, Share: f.Throttled,
		Memory: known(p.Memory.Limit), WorkingSet: p.Memory.WorkingSet, Unreclaimable: p.Memory.Unreclaimable, Kills: p.Memory.OOMKills}
	if n := int64(len(p.Kills)); n > 0 && (j.Kills == nil || *j.Kills < n) {
		j.Kills = &n // of earlier runs of the group, whose counter began again
	}
	if o := p.Memory.Over; o != nil && o.Some != nil && o.Length > 0 {
		share := o.Some.Seconds() / o.Length.Seconds()
		j.Stalled = &share
	}
	if t := p.Throttling; t != nil && t.Watch != nil {
		each := inMillis(t.Watch.PerThrottled())
		j.Periods, j.Throttled, j.Each = &t.Watch.Periods, &t.Watch.Throttled, &each
	}
	return j
}

type effectJSON struct {
	Saturated string `json:"saturated"`
	Ordinary  string `json:"at_60_percent"`
}

// changeJSON is a change; a null field stays as it is.
type changeJSON struct {
	Env      map[string]string `json:"env"`
	Command  []string          `json:"command"`
	CPUs     *float64          `json:"cpu_limit"`
	Burst    *float64          `json:"burst_ms"`
	Memory   *int64            `json:"memory_limit_bytes"`
	Replicas bool              `json:"more_replicas"`
	Setting  *string           `json:"setting"`
	File     *string           `json:"set_in"`
	Value    *int              `json:"value"`
	Text     *string           `json:"value_text"`
}

func findingOf(f doctor.Finding) findingJSON {
	j := findingJSON{Rule: f.Rule, Level: f.Level, Fingerprint: f.Fingerprint(), Service: identity.Service(f.Process), Node: known(f.Process.Node), PID: f.PID, Name: f.Name,
		Title: f.Title, Evidence: append([]string{}, f.Evidence...), Fix: append([]string{}, f.Fix...),
		Mechanism: known(f.Mechanism), Confidence: f.Confidence, Figures: figuresOf(f), Changes: []changeJSON{}}
	if f.Expect != (doctor.Effect{}) {
		j.Expected = &effectJSON{f.Expect.Saturated, f.Expect.Ordinary}
	}
	for _, c := range f.Changes {
		j.Changes = append(j.Changes, changeJSON{c.Env, c.Command, known(c.CPUs), known(inMillis(c.Burst)), known(c.Memory), c.Replicas,
			known(c.Setting), known(c.File), known(c.Value), known(c.Text)})
	}
	return j
}

type processJSON struct {
	Node      *string `json:"node"` // null: of a single host
	PID       int     `json:"pid"`
	Parent    int     `json:"ppid"`
	User      *int    `json:"user"`
	Name      string  `json:"name"`
	Command   string  `json:"command"`
	Container *string `json:"container"`
	ID        *string `json:"container_id"`
	Pod       *string `json:"pod_uid"`

	Runtime     runtimes.Name         `json:"runtime"`
	Version     *string               `json:"version"`
	VersionFrom *runtimes.Source      `json:"version_from"`
	Parallelism *runtimes.Parallelism `json:"parallelism"`
	Threads     int                   `json:"threads"`
	Watched     *threadsJSON          `json:"threads_watch"`
	Heap        *int64                `json:"heap_max_bytes"`
	Requests    []float64             `json:"cpu_requests"`
	Restarts    *int                  `json:"restarts"`
	Kills       []killJSON            `json:"oom_kills_logged"`
	Affinity    *int                  `json:"affinity"`

	CPU        cpuJSON         `json:"cpu"`
	Memory     memoryJSON      `json:"memory"`
	Throttling *throttlingJSON `json:"throttling"`
	Shared     []sharedJSON    `json:"shared_limits"`
	Unseen     []string        `json:"unseen"`
}

// killJSON is a process of the group or the pod that the kernel killed.
type killJSON struct {
	Ago   float64 `json:"seconds_ago"`
	Name  string  `json:"name"`
	PID   int     `json:"pid"`
	Group string  `json:"cgroup"`
}

type cpuJSON struct {
	State  inspect.State `json:"state"`
	CPUs   *float64      `json:"limit"`
	Own    *float64      `json:"own_limit"`
	Period *float64      `json:"period_ms"`
	Burst  *float64      `json:"burst_ms"`
	Group  *string       `json:"cgroup"`
	SetBy  *string       `json:"set_by"`
	Hidden bool          `json:"ancestors_hidden"`
	Why    *string       `json:"why"`
}

// sharedJSON is a limit of a parent of the group that sets the tightest limit.
type sharedJSON struct {
	CPUs       float64         `json:"limit"`
	SetBy      string          `json:"set_by"`
	Throttling *throttlingJSON `json:"throttling"`
}

type memoryJSON struct {
	State      inspect.State `json:"state"`
	Limit      *int64        `json:"limit_bytes"`
	SetBy      *string       `json:"set_by"`
	Current    *int64        `json:"current_bytes"`
	WorkingSet *int64        `json:"working_set_bytes"`
	OOMKills   *int64        `json:"oom_kills"`
}

type throttlingJSON struct {
	Since countsJSON  `json:"since_start"`
	Watch *countsJSON `json:"watch"`
}

// threadsJSON is what the threads did over the watch. A thread is busy from 5% of a CPU
// on; full is one that always wanted a CPU.
type threadsJSON struct {
	Seconds   float64 `json:"seconds"`
	Read      int     `json:"read"`
	Truncated bool    `json:"truncated"`
	Busy      int     `json:"busy"`
	Full      int     `json:"full"`
	Ran       float64 `json:"ran_seconds"`
	Waited    float64 `json:"waited_seconds"`
}

type countsJSON struct {
	Seconds   *float64 `json:"seconds"`
	Periods   int64    `json:"periods"`
	Throttled int64    `json:"throttled_periods"`
	Stopped   float64  `json:"throttled_ms"`
	Used      *float64 `json:"cpu_seconds"`
	Pressure  *float64 `json:"pressure_seconds"`
}

func processOf(p inspect.Process) processJSON {
	j := processJSON{
		Node: known(p.Node), PID: p.PID, Parent: p.Parent, Name: p.Name, Command: p.Shown(), Container: known(p.Container), ID: known(p.ContainerID), Pod: known(p.Pod),
		Runtime: p.Info.Runtime, Version: known(p.Info.Version), VersionFrom: known(p.Info.VersionFrom), Threads: p.Info.Threads,
		CPU: cpuJSON{
			State: orUnknown(p.CPU.State), CPUs: known(p.CPU.CPUs), Own: known(p.CPU.Own), Group: known(p.CPU.Group),
			SetBy: known(p.CPU.SetBy), Hidden: p.CPU.Hidden, Why: known(p.CPU.Why),
		},
		Memory: memoryJSON{
			State: orUnknown(p.Memory.State), Limit: known(p.Memory.Limit), SetBy: known(p.Memory.SetBy),
			Current: p.Memory.Current, WorkingSet: p.Memory.WorkingSet, OOMKills: p.Memory.OOMKills,
		},
		Unseen: append([]string{}, p.Unseen...),
	}
	if p.Refused != "" {
		j.Unseen = append(j.Unseen, "could not inspect it: "+p.Refused)
	}
	if p.User >= 0 {
		j.User = &p.User
	}
	j.Affinity = known(p.Info.Affinity)
	j.Requests = append([]float64{}, p.Requests...)
	if p.Heap != nil {
		j.Heap = &p.Heap.Max
	}
	if p.Restarts != nil {
		j.Restarts = &p.Restarts.Count
	}
	j.Kills = []killJSON{}
	for _, k := range p.Kills {
		j.Kills = append(j.Kills, killJSON{k.Ago.Seconds(), k.Name, k.PID, k.Group})
	}
	if t := p.Threads; t != nil {
		j.Watched = &threadsJSON{t.Length.Seconds(), t.Read, t.Truncated, t.Busy, t.Full, t.Ran.Seconds(), t.Waited.Seconds()}
	}
	if p.Info.Parallelism.Value > 0 {
		j.Parallelism = &p.Info.Parallelism
	}
	if p.CPU.State == inspect.Limited {
		j.CPU.Period = known(inMillis(p.CPU.Period))
		if p.CPU.CanBurst {
			burst := inMillis(p.CPU.Burst)
			j.CPU.Burst = &burst
		}
	}
	j.Throttling, j.Shared = throttlingOf(p.Throttling), []sharedJSON{}
	for _, above := range p.Shared {
		j.Shared = append(j.Shared, sharedJSON{above.CPU.CPUs, above.CPU.SetBy, throttlingOf(above.Throttling)})
	}
	return j
}

func throttlingOf(t *inspect.Throttling) *throttlingJSON {
	if t == nil {
		return nil
	}
	j := &throttlingJSON{Since: countsOf(t.Since)}
	if t.Watch != nil {
		watch := countsOf(*t.Watch)
		j.Watch = &watch
	}
	return j
}

func countsOf(c inspect.Counts) countsJSON {
	j := countsJSON{Seconds: known(c.Length.Seconds()), Periods: c.Periods, Throttled: c.Throttled, Stopped: inMillis(c.Stopped)}
	if c.Used != nil {
		used := c.Used.Seconds()
		j.Used = &used
	}
	if c.Pressure != nil {
		pressure := c.Pressure.Seconds()
		j.Pressure = &pressure
	}
	return j
}

func inMillis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// known returns nil for the zero value, where that means unknown or absent.
func known[T comparable](v T) *T {
	var none T
	if v == none {
		return nil
	}
	return &v
}

func orUnknown(s inspect.State) inspect.State {
	if s == "" {
		return inspect.Unknown
	}
	return s
}
