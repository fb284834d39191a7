package summary

// Series are the frames of one trial joined by time, for charts: one Point per
// interval, with all agents merged and all replicas summed.
type Series struct {
	Cell   int     `json:"cell"`
	Trial  int     `json:"trial"`
	Points []Point `json:"points"`
}

// Point is one interval of a trial; null means "not measured".
type Point struct {
	T            float64  `json:"t"` // seconds since the trial's load began, at the interval's end
	Phase        string   `json:"phase"`
	Target       *float64 `json:"target"` // configured users or requests/s
	RateRPS      *float64 `json:"rate"`
	P50          *float64 `json:"p50"` // ms
	P99          *float64 `json:"p99"`
	P999         *float64 `json:"p999"`
	Availability *float64 `json:"availability"`       // percent
	CPU          *float64 `json:"cpu"`                // cores, all replicas
	CPUOfLimit   *float64 `json:"cpu_of_limit"`       // 0..1
	Replicas     *float64 `json:"replicas,omitempty"` // that serve
	Memory       *float64 `json:"memory"`             // bytes, the largest replica
	MemoryLimit  *float64 `json:"memory_limit"`       // bytes
	Throttled    *float64 `json:"throttled"`          // share of periods, 0..1
	ThrottledMS  *float64 `json:"throttled_ms"`       // per throttled period and replica
	AgentCPU     *float64 `json:"agent_cpu"`          // cores
	Idle         *float64 `json:"idle"`               // cores
	Foreign      *float64 `json:"foreign"`            // cores
	WaitP50      *float64 `json:"wait_p50"`           // ms that the service reports it waited for its dependency
	WaitP99      *float64 `json:"wait_p99"`
	WaitMean     *float64 `json:"wait_mean"`
	// Dependencies are those with data, by name.
	Dependencies map[string]DependencyPoint `json:"dependencies,omitempty"`
}

// DependencyPoint is one dependency in one interval.
type DependencyPoint struct {
	CPU    *float64 `json:"cpu"`    // cores, of all its processes
	Memory *float64 `json:"memory"` // bytes, likewise
}
