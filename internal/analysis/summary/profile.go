package summary

// Profile is the content of the profiles of one cell; package profile reads them.
type Profile struct {
	Runtime string  `json:"runtime"` // "go", "node"
	Seconds float64 `json:"seconds"` // length of the CPU profile
	// BusySeconds is the CPU time in the profile: of all threads in Go, of the
	// event loops in Node.
	BusySeconds float64           `json:"busy_seconds"`
	Top         []ProfileFunction `json:"top"`   // by SelfShare, the largest first
	Files       []string          `json:"files"` // names of the files that were read
	Notes       []string          `json:"notes"` // remarks, a sentence each
}

// ProfileFunction is one function with its share of the CPU time. Shares are 0 to 1 of
// BusySeconds.
type ProfileFunction struct {
	Name      string  `json:"name"`
	File      string  `json:"file,omitempty"` // with the line at which it begins, where known
	SelfShare float64 `json:"self_share"`     // in itself
	CumShare  float64 `json:"cum_share"`      // in itself and what it calls
	SelfMS    float64 `json:"self_ms"`
}
