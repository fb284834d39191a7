package summary

import (
	"cmp"

	"github.com/millicore/millicore/internal/analysis/endpoints"
	"github.com/millicore/millicore/internal/data/signals"
)

// KindFigures are those of the requests of one kind, of a load with several.
type KindFigures struct {
	Name         string     `json:"name"`
	Step         int        `json:"step,omitempty"` // of a session: the place of its first request of this name, from 1
	Requests     int64      `json:"requests"`       // that ended
	RateRPS      *float64   `json:"rate_rps"`       // good answers per second
	Share        float64    `json:"share"`          // of all requests, 0..1
	Availability *float64   `json:"availability"`
	Latency      *Quantiles `json:"latency_ms"`
	// CPUMS is the CPU time of a request in ms, and CPULow and CPUHigh its 95% interval; null:
	// the mix did not vary enough to know it.
	CPUMS      *float64 `json:"cpu_per_request_ms"`
	CPULow     *float64 `json:"cpu_per_request_ms_low"`
	CPUHigh    *float64 `json:"cpu_per_request_ms_high"`
	ShareOfCPU *float64 `json:"share_of_cpu"` // of the service, 0..1
	// Varied: they are of intervals in which kinds were left out on purpose.
	Varied bool `json:"varied,omitempty"`
}

// Sessions are those of users, of a load that has them.
type Sessions struct {
	signals.Sessions
	RatePS *float64 `json:"rate_per_s"` // whole ones per second
}

// Cost sets the CPU time of a request.
func (f *KindFigures) Cost(c endpoints.Cost) {
	const ms = 1000
	f.Varied, f.ShareOfCPU = c.Varied, new(min(1, max(0, c.Share)))
	f.CPUMS, f.CPULow, f.CPUHigh = new(ms*max(0, c.Each)), new(ms*max(0, c.Low)), new(ms*max(0, c.High))
}

// Compare orders kinds: those with most CPU time first, else those with most requests.
func (f *KindFigures) Compare(o *KindFigures) int {
	if f.ShareOfCPU != nil && o.ShareOfCPU != nil {
		return cmp.Compare(*o.ShareOfCPU, *f.ShareOfCPU)
	}
	return cmp.Compare(o.Requests, f.Requests)
}

// EndsOfShare are the ends of the 95% interval of ShareOfCPU; false: they are not known.
func (f *KindFigures) EndsOfShare() (low, high float64, known bool) {
	if f.CPUMS == nil || f.CPULow == nil || f.CPUHigh == nil || f.ShareOfCPU == nil || *f.CPUMS <= 0 {
		return 0, 0, false
	}
	share := *f.ShareOfCPU / *f.CPUMS
	return share * *f.CPULow, min(1, share**f.CPUHigh), true
}
