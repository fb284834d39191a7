//go:build !linux

package agent

// Other systems than Linux make no traffic, so nothing is used for it.

type usage struct{}

func startUsage() *usage { return &usage{} }

func (*usage) since() (cpu float64, runWait *float64) { return 0, nil }

func peakRSS() int64 { return 0 }
